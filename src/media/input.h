/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files, standard input and URLs with libavformat, and explains failures. */
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
    bool piped;               /* some data has been read from it */
    atomic_bool *cancel;
    struct gpume_reach reach;
    int64_t data;       /* position after the header */
    bool cut;           /* libavformat found the input incomplete while opening it */
    int64_t max_pixels; /* limit for pictures decoded while probing, as decoders count */
};

/* The name of the input in messages: the path, or "standard input". */
const char *gpume_input_label(const char *path);

/* A regular file, which can be opened again. */
bool gpume_input_is_file(const char *path);

/* The caller has zeroed *input, set reach and max_pixels, and does not move it until it is closed,
 * which is required even after a failure. Failures are logged. If any thread sets *cancel, blocking
 * calls on the format return AVERROR_EXIT, and this one GPUME_CANCELLED. */
int gpume_input_open(
    struct gpume_input *input, const char *path, atomic_bool *cancel, const struct gpume_log *log);

/* Whether it holds pictures rather than a video: libavformat has demuxers of their own for them. */
bool gpume_input_has_pictures(const struct gpume_input *input);

/* What to do about an input that libavformat cannot read: give a file name if it was a pipe, which
 * cannot seek, else `otherwise`. */
const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise);

void gpume_input_close(struct gpume_input *input);

#endif
