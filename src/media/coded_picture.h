/* SPDX-License-Identifier: BSD-2-Clause */
/* What the headers of a packet say about its picture, without decoding it: H.264, HEVC, MPEG-2
 * and VP9. */
#ifndef GPUME_MEDIA_CODED_PICTURE_H
#define GPUME_MEDIA_CODED_PICTURE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct AVCodecContext;
struct AVCodecParameters;
struct AVCodecParserContext;
struct AVPacket;
struct gpume_coded_packet;

struct gpume_coded_picture {
    bool restarts;    /* pictures shown after it need none that were sent before it */
    uint64_t section; /* counts the pictures that restart the numbers below */
    int64_t number;   /* rises in the order of presentation, within a section */
};

struct gpume_coded_pictures {
    void (*sum_up)(
        struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes); /* or NULL */
    struct AVCodecParserContext *parser;
    struct AVCodecContext *codec;
    bool hevc;
    bool foreign;      /* its extradata are not understood, or frames may be hidden */
    int length_bytes;  /* of the size before each unit; 0: units follow start codes */
    uint64_t sections; /* so far */
    uint64_t sets;     /* hash of the parameter sets in packets */
    uint64_t taken;    /* packets */
    int width, height, format;
};

/* Whether pictures of this codec, by FFmpeg's name, are understood. */
bool gpume_coded_pictures_know(const char *codec);

/* GPUME_UNSUPPORTED: another codec; GPUME_NOMEM. Close follows, also after a failure. The caller
 * has zeroed *pictures. */
int gpume_coded_pictures_open(
    struct gpume_coded_pictures *pictures, const struct AVCodecParameters *codec);

/* Takes all packets in their order. GPUME_UNSUPPORTED: the packet is damaged, may show more or less
 * than one frame, or changes the size or the parameter sets. */
int gpume_coded_pictures_take(struct gpume_coded_pictures *pictures, const struct AVPacket *packet,
    struct gpume_coded_picture *picture);

void gpume_coded_pictures_close(struct gpume_coded_pictures *pictures);

struct AVFrame;

/*
 * --- the motion vectors of a coded stream, as FFmpeg's decoders export them: H.264, MPEG-1,
 * MPEG-2, MPEG-4, H.263 and their relatives. FFmpeg says of each vector whether it belongs to the
 * first list of references, which are usually past frames, or to the second; it does not name the
 * frame. So this also tells what narrows that down: a frame's place in coding order, and whether
 * other frames may refer to it. One thread.
 */

struct gpume_motion_vector {
    int32_t x, y;   /* upper left corner of the block, pixels; may lie outside the picture */
    uint16_t w, h;  /* of the block as coded, pixels */
    int32_t dx, dy; /* quarter pixels, with the sign of gpume.h */
    int32_t source; /* -k: its k-th reference in the past; k: in the future */
};

/* Of one frame. Intra blocks have no vector, and blocks that predict from two frames have two. */
struct gpume_motion {
    char type;       /* how the frame is coded: I, P or B; '?': unknown */
    bool reference;  /* other frames may be predicted from it */
    bool interlaced; /* the places and vectors of blocks of one field are those of its own lines */
    uint64_t coded;  /* place in coding order */
    uint32_t units;  /* in which the stream counts, in a pixel: 1, 2 or 4; 0: no vectors */
    size_t count;
    const struct gpume_motion_vector *vectors;
};

/* Asks a decoder that is about to be opened for vectors. */
void gpume_motion_request(struct AVCodecContext *codec);

/* Marks a packet that is about to be decoded, the number-th of the stream. */
void gpume_motion_mark(struct AVCodecContext *codec, const struct AVCodecParameters *stream,
    struct AVPacket *packet, uint64_t number);

/* Owns the vectors of the latest frame. Starts as zero. */
struct gpume_motion_taker {
    struct gpume_motion motion;
    struct gpume_motion_vector *vectors;
    size_t capacity;
};

/* Takes the vectors of a decoded frame. GPUME_NOMEM; GPUME_UNSUPPORTED: a vector is no multiple of
 * a quarter of a pixel. Neither is logged. */
int gpume_motion_take(struct gpume_motion_taker *taker, const struct AVFrame *frame);

void gpume_motion_finish(struct gpume_motion_taker *taker);

#endif
