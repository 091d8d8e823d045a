/* SPDX-License-Identifier: BSD-2-Clause */
/* One input's video stream as decoded frames in presentation order. One thread. */
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
    bool whole;                    /* from hardware too, the stream's own format */
    struct gpume_trust trust;
    atomic_bool *cancel; /* outlives the decoder */
    struct gpume_log log;
};

struct gpume_decode_facts {
    const char *codec;    /* a constant */
    AVRational time_base; /* of the frames' pts */
    AVRational rate;      /* frames a second; 0/1 unknown */
    uint64_t frames;      /* according to the container; 0 = unknown */
    uint64_t frame_bytes; /* of a decoded frame, according to the container; 0 = unknown */
};

/* Failures are logged, GPUME_NOMEM aside. GPUME_AGAIN: the system lets no more threads start. */
int gpume_decode_open(struct gpume_decode **decode, const struct gpume_decode_options *options,
    struct gpume_decode_facts *facts);

/* Moves the next frame into an empty *frame; its pts is always set. GPUME_EOF at the end,
 * GPUME_CANCELLED. What the decoder refuses is counted and stepped over; an input that breaks off
 * ends there. GPUME_DEVICE: a frame could not be had from the hardware; logged. */
int gpume_decode_next(struct gpume_decode *decode, struct AVFrame *frame);

/* Which decoder, and the device that it works on, such as "h264 on cuda"; after the first frame. */
void gpume_decode_describe(const struct gpume_decode *decode, char *text, size_t bytes);
int gpume_decode_threads(const struct gpume_decode *decode);

/* Packets that the decoder refused, and a last frame that is cut. */
uint64_t gpume_decode_refused(const struct gpume_decode *decode);

/* Warns about a damaged input: at most one line about what the decoder made of it, and, after
 * GPUME_EOF, at most one about an end that comes too early. */
void gpume_decode_warn(const struct gpume_decode *decode);

/* After GPUME_EOF without a frame: says why there is none, and returns GPUME_FORMAT. */
int gpume_decode_no_frame(const struct gpume_decode *decode);

void gpume_decode_close(struct gpume_decode **decode);

#endif
