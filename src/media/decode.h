/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes the video stream of an input into frames in presentation order. One thread. */
#ifndef GPUME_MEDIA_DECODE_H
#define GPUME_MEDIA_DECODE_H

#include "base/log.h"
#include "media/trust.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/rational.h>

struct AVFrame;
struct gpume_decode;
struct gpume_hwaccel;

struct gpume_decode_options {
    const char *path;              /* kept, not copied */
    int stream;                    /* counts video streams from 0; -1 = best */
    uint32_t threads;              /* 0 = all */
    struct gpume_hwaccel *hwaccel; /* NULL = software; outlives the decoder */
    bool whole; /* convert frames from hardware to the format that software would return */
    struct gpume_trust trust;
    atomic_bool *cancel; /* outlives the decoder */
    struct gpume_log log;
};

struct gpume_decode_facts {
    const char *codec;    /* a string constant */
    AVRational time_base; /* of the frames' pts */
    AVRational rate;      /* frames per second; 0/1 unknown */
    uint64_t frames;      /* according to the container; 0 = unknown */
    uint64_t frame_bytes; /* of a decoded frame, according to the container; 0 = unknown */
};

/* Failures other than GPUME_NOMEM are logged. GPUME_AGAIN: no more threads can be started. */
int gpume_decode_open(struct gpume_decode **decode, const struct gpume_decode_options *options,
    struct gpume_decode_facts *facts);

/* Moves the next frame into an empty *frame and sets its pts. Packets that the decoder refuses are
 * counted and skipped. GPUME_EOF at the end, also of a truncated input; GPUME_CANCELLED;
 * GPUME_DEVICE, logged: a frame could not be copied from the hardware. */
int gpume_decode_next(struct gpume_decode *decode, struct AVFrame *frame);

/* The decoder and its device, such as "h264 on cuda". Call this after the first frame. */
void gpume_decode_describe(const struct gpume_decode *decode, char *text, size_t bytes);
int gpume_decode_threads(const struct gpume_decode *decode);

/* Number of packets that the decoder refused, plus an incomplete last frame. */
uint64_t gpume_decode_refused(const struct gpume_decode *decode);

/* Warns about a damaged input: at most one line about damage that the decoder met and, after
 * GPUME_EOF, at most one about a premature end. */
void gpume_decode_warn(const struct gpume_decode *decode);

/* After GPUME_EOF without a frame: logs the reason and returns GPUME_FORMAT. */
int gpume_decode_no_frame(const struct gpume_decode *decode);

void gpume_decode_close(struct gpume_decode **decode);

#endif
