/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files, standard input and URLs with libavformat, explains failures, and enforces what an
 * input may open and how large it may be. */
#ifndef GPUME_MEDIA_INPUT_H
#define GPUME_MEDIA_INPUT_H

#include "media/video.h"

#include <stdatomic.h>

struct AVCodecParameters;
struct AVDictionary;
struct AVFormatContext;
struct AVIOContext;

struct gpume_input {
    const struct gpume_source_options *options;
    const char *path, *label; /* label: in messages */
    atomic_bool *cancel;
    struct AVFormatContext *format;
    struct AVIOContext *pipe; /* standard input and named pipes */
    int fd;                   /* its descriptor */
    bool piped;               /* some data has been read from it */
    int64_t data;             /* position after the header */
    bool cut;                 /* libavformat found the input incomplete while opening it */
    bool opened;              /* the name that the user gave has been opened */
    char refused[512];        /* the first name in it that was refused; "": none */
    bool is_remote;           /* the refused name is remote */
    int (*open)(struct AVFormatContext *format, struct AVIOContext **stream, const char *url,
        int flags, struct AVDictionary **options); /* libavformat's own io_open */
};

/* The name of the input in messages: the path, or "standard input". */
const char *gpume_input_label(const char *path);

/* index: of the path. The caller does not move *input until it is closed, which is required even
 * after a failure. The other arguments outlive it. Failures are logged. If any thread sets *cancel,
 * blocking calls on the format return AVERROR_EXIT, and this one GPUME_CANCELLED. */
int gpume_input_open(struct gpume_input *input, const struct gpume_source_options *options,
    uint32_t index, atomic_bool *cancel);

/* Whether it holds pictures rather than a video: libavformat has other demuxers for them. */
bool gpume_input_has_pictures(const struct gpume_input *input);

/* What to do about an input that libavformat cannot read: give a file name if it was a pipe, which
 * cannot seek, else `otherwise`. */
const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise);

void gpume_input_close(struct gpume_input *input);

/* --- how large pictures may be: --max-pixels, --max-memory, and the engine's largest side */

/* The AVCodecContext.max_pixels that enforces both options. */
int64_t gpume_limits_decoder(const struct gpume_trust *trust);

/* Bytes of a decoded picture, according to the container; 0: unknown. */
uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec);

/* Checks a picture of the input called `label`. GPUME_UNSUPPORTED, logged: it has too many pixels.
 * graph: the filters that produced it, or NULL. */
int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log);

/* Checks the size for the engine. GPUME_UNSUPPORTED, logged: a side above GPUME_SIDE_MAX. */
int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log);

/* Checks the bytes that pictures of `inputs` inputs take. GPUME_UNSUPPORTED, logged: too many. */
int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log);

/* Call this when the decoder has refused a picture because of max_pixels after `frames` good ones.
 * Logs the option that set the limit and returns GPUME_UNSUPPORTED, or GPUME_OK if none did. */
int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log);

#endif
