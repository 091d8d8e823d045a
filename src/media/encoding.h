/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes luma planes, or R, G, B planes, with one libavcodec encoder. One thread. */
#ifndef GPUME_MEDIA_ENCODING_H
#define GPUME_MEDIA_ENCODING_H

#include "media/video.h"

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

struct AVCodecContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;

struct gpume_encoding_options {
    const char *label;             /* name of the output in messages; kept, not copied */
    const char *encoder;           /* libavcodec's name */
    const char *settings;          /* "key=value:key=value" for the encoder, or NULL */
    const char *remedy;            /* what to do if that is missing or fails; kept, too */
    enum AVPixelFormat formats[2]; /* tried in turn; AV_PIX_FMT_NONE = no second one */
    uint32_t width, height;        /* of the planes */
    bool pad;                      /* to even sizes, by repeating the edge */
    bool colour;                   /* planes hold R, G, B byte triples */
    bool full_range;
    bool global_header;
    int threads; /* 0 = all */
    AVRational time_base;
    AVRational rate;   /* 0/1 unknown */
    AVRational aspect; /* of a pixel; num 0: unknown */
    /* What the planes are of, chroma included, if that is a video as it was read; only for opening.
     * NULL: luma alone, or colours of our own. */
    const struct gpume_source_info *video;
    struct gpume_log log;
};

struct gpume_encoding {
    struct AVCodecContext *codec;
    struct AVFrame *frame;
    struct AVPacket *packet;     /* the packet from gpume_encoding_receive */
    bool chroma;                 /* planes of it follow that of luma */
    struct AVFrame *rgb;         /* colours, in the encoder's size; NULL: luma */
    struct SwsContext *from_rgb; /* converts them to the encoder's format */
    const char *label, *remedy;
    struct gpume_log log;
};

/* Fills a zeroed *encode; close it also after a failure, which is logged. GPUME_UNSUPPORTED: this
 * FFmpeg has no such encoder, or it cannot do this size. */
int gpume_encoding_open(
    struct gpume_encoding *encode, const struct gpume_encoding_options *options);

/* The plane has the size that the options state, as have those of chroma behind it in their way.
 * Samples deeper than the encoder's are shifted down; others keep their values. NULL: no more.
 * Receive until GPUME_AGAIN before the next call. */
int gpume_encoding_send(
    struct gpume_encoding *encode, const struct gpume_plane *planes, int64_t pts);

/* GPUME_AGAIN, GPUME_EOF, or a packet in encode->packet. */
int gpume_encoding_receive(struct gpume_encoding *encode);

/* Logs that the output could not be made, and returns the status for a libav error. */
int gpume_encoding_refuse(const struct gpume_encoding *encode, const char *what, int error);

void gpume_encoding_close(struct gpume_encoding *encode);

#endif
