/* SPDX-License-Identifier: BSD-2-Clause */
/* What the headers of a packet say about its picture, without decoding it: H.264, HEVC, MPEG-2
 * and VP9. */
#ifndef GPUME_MEDIA_CODED_PICTURE_H
#define GPUME_MEDIA_CODED_PICTURE_H

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

/* The next start code, 00 00 01, or the end. */
const uint8_t *gpume_start_code(const uint8_t *at, const uint8_t *end);

#endif
