/* SPDX-License-Identifier: BSD-2-Clause */
/* One input opened by libavformat: names, standard input, and what is said when it cannot be. */
#ifndef GPUME_MEDIA_INPUT_H
#define GPUME_MEDIA_INPUT_H

#include "base/log.h"
#include "media/reach.h"

#include <stdatomic.h>
#include <stdbool.h>

struct AVFormatContext;
struct AVIOContext;

struct gpume_input {
    struct AVFormatContext *format;
    struct AVIOContext *pipe; /* standard input and named pipes */
    int fd;                   /* what it reads */
    bool piped;               /* something came through it */
    atomic_bool *cancel;
    struct gpume_reach reach;
    int64_t data;       /* where the header ends in it */
    bool cut;           /* opening came upon an end within something */
    int64_t max_pixels; /* of a picture decoded to learn of streams, as decoders count */
};

/* What messages call the input: the path, or "standard input". */
const char *gpume_input_label(const char *path);

/* Fills an *input that is zero but for reach and max_pixels, and must stay where it is until
 * closed, also after a failure. Failures are logged. *cancel, set from any thread, ends blocking
 * calls on the format with AVERROR_EXIT; GPUME_CANCELLED if that happened here. */
int gpume_input_open(
    struct gpume_input *input, const char *path, atomic_bool *cancel, const struct gpume_log *log);

/* How to mend what libavformat cannot make sense of: from a pipe, which cannot go back, it may be
 * the pipe's fault; else as given. */
const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise);

void gpume_input_close(struct gpume_input *input);

#endif
