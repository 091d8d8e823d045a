/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoders turn the video stream of an input into frames in presentation order. One thread.
 * gpume_decode_lavf is FFmpeg's; decode_y4m.h reads raw video, and pictures that are too large for
 * FFmpeg.
 */
#ifndef GPUME_MEDIA_DECODE_H
#define GPUME_MEDIA_DECODE_H

#include "base/log.h"
#include "media/division.h"
#include "media/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/rational.h>

struct AVFrame;
struct gpume_hwaccel;

struct gpume_decode_options {
    const char *path;              /* kept, not copied */
    int stream;                    /* counts video streams from 0; -1 = best */
    uint32_t threads;              /* 0 = all */
    uint32_t copy_threads;         /* that move samples, at most */
    struct gpume_hwaccel *hwaccel; /* NULL = software; outlives the decoder */
    const char *graph;             /* filters that take the frames, or NULL */
    bool motion;                   /* export motion vectors: see media/motion.h */
    bool whole;                    /* frames as software would return them, not only their luma */
    bool divisible;                /* `divide` may be called */
    const void *first;             /* state of the first input's decoder, which may be this one */
    struct gpume_trust trust;
    atomic_bool *cancel; /* outlives the decoder */
    struct gpume_log log;
};

struct gpume_decode_facts {
    const char *codec;        /* a string constant */
    AVRational time_base;     /* of the frames' pts */
    AVRational rate;          /* frames per second; 0/1 unknown */
    uint64_t frames;          /* according to the container; 0 = unknown */
    int64_t start_us;         /* where the container's time begins, for all of its streams */
    bool late;                /* the ffmpeg program may count from the stream's own, later start */
    bool picture;             /* a still picture, or several in a row, rather than a video */
    uint64_t frame_bytes;     /* of a decoded frame, according to the container; 0 = unknown */
    bool progressive;         /* according to the container or the codec */
    uint32_t stream, streams; /* number of the video stream that is read, of so many */
    bool list;                /* its data are in other files, which it names: FFmpeg's concat */
    AVRational aspect; /* width of a pixel by its height, according to the container; 0/1 unknown */
};

struct gpume_decoder {
    size_t bytes; /* of its state, which the caller allocates, zeroed, and frees after close */

    /* Close follows, also after a failure. Failures other than GPUME_NOMEM are logged.
     * GPUME_AGAIN: no more threads can be started. */
    int (*open)(
        void *state, const struct gpume_decode_options *options, struct gpume_decode_facts *facts);

    /* Moves the next frame into an empty *frame and sets its pts. Packets that the decoder refuses
     * are counted and skipped. GPUME_EOF at the end, also of a truncated input; GPUME_CANCELLED;
     * GPUME_DEVICE, logged: a frame could not be copied from the hardware. */
    int (*next)(void *state, struct AVFrame *frame);

    /* Right after open: moves frame `index`, counted from 0, into an empty *frame without decoding
     * all frames before it; `next` then goes on. start: the pts of frame 0. GPUME_UNSUPPORTED,
     * noted in the log: this is not certain to give what `next` would give; GPUME_CANCELLED,
     * GPUME_NOMEM: close follows. NULL: never possible. */
    int (*seek)(void *state, uint64_t index, int64_t start, struct AVFrame *frame);

    /* After the first `next`: from now on several decoders may work side by side, which changes no
     * frame and no count. Reduces *division to what will be used. NULL: never possible. */
    void (*divide)(void *state, struct gpume_division *division);

    /* Writes the decoder and its device, such as "h264 on cuda". Returns the number of threads.
     * Call this after the first frame. */
    int (*describe)(const void *state, char *text, size_t bytes);

    /* Number of packets that the decoder refused, plus an incomplete last frame. */
    uint64_t (*refused)(const void *state);

    /* Warns about a damaged input: at most one line about damage that the decoder met and, after
     * GPUME_EOF, at most one about a premature end. */
    void (*warn)(const void *state);

    /* After GPUME_EOF without a frame: logs the reason and returns GPUME_FORMAT. */
    int (*no_frame)(const void *state);

    void (*close)(void *state);
};

extern const struct gpume_decoder gpume_decode_lavf;

#endif
