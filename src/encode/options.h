/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two passes of an encoder must agree on, under the encoder's own names, with its own
 * defaults.
 */
#ifndef GPUME_ENCODE_OPTIONS_H
#define GPUME_ENCODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define GPUME_BFRAMES_MAX 16
#define GPUME_RC_LOOKAHEAD_MAX 250

enum gpume_encoder { GPUME_ENCODER_X264, GPUME_ENCODER_X265 };

/* Costs of blocks and QP offsets refer to squares of 16x16 pixels, 8x8 at half resolution. */
struct gpume_encode_options {
    enum gpume_encoder encoder;
    uint32_t bits; /* of a sample in the encoder */
    uint32_t keyint, min_keyint;
    uint32_t scenecut; /* 0: none */
    uint32_t bframes, b_adapt;
    uint32_t b_pyramid; /* 0 none, 1 strict, 2 normal; x265: 0 or 1 */
    uint32_t weightp, weightb;
    uint32_t rc_lookahead; /* frames */
    bool open_gop;
    bool tree; /* x264 mbtree, x265 cutree */
    uint32_t ref;
    uint32_t aq_mode;
    double aq_strength;
    double qcomp, ipratio, pbratio;
    uint32_t vbv_maxrate, vbv_bufsize; /* kbit/s and kbit; 0: none */
};

/* Those of the encoder's preset medium. */
void gpume_encode_options_default(struct gpume_encode_options *options, enum gpume_encoder encoder);

#endif
