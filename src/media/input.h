/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens an input with libavformat: file names, standard input, and errors for what cannot be
 * opened. */
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
    int fd;                   /* its descriptor */
    bool piped;               /* data has come through it */
    atomic_bool *cancel;
    struct gpume_reach reach;
    int64_t data;       /* position after the header */
    bool cut;           /* the input ended within something while it was opened */
    int64_t max_pixels; /* limit for pictures decoded while probing, as decoders count */
};

/* The name of the input in messages: the path, or "standard input". */
const char *gpume_input_label(const char *path);

/* Fills an *input that is zero but for reach and max_pixels, and must stay where it is until
 * closed, also after a failure. Failures are logged. *cancel, set from any thread, ends blocking
 * calls on the format with AVERROR_EXIT; GPUME_CANCELLED if that happened here. */
int gpume_input_open(
    struct gpume_input *input, const char *path, atomic_bool *cancel, const struct gpume_log *log);

/* The remedy for an input that libavformat cannot read: naming the file if it came from a pipe,
 * which cannot seek back, else `otherwise`. */
const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise);

void gpume_input_close(struct gpume_input *input);

#endif
