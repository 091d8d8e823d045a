/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two passes of an encoder must agree on, under the encoder's own names, with its own
 * defaults.
 */
#ifndef GPUME_ENCODE_OPTIONS_H
#define GPUME_ENCODE_OPTIONS_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_BFRAMES_MAX 16
#define GPUME_RC_LOOKAHEAD_MAX 250
#define GPUME_REF_MAX 16
#define GPUME_AQ_STRENGTH_MAX 3
#define GPUME_HORIZON 60 /* quality gains: tests/bench/firstpass/FINDINGS.md */

enum gpume_encoder { GPUME_ENCODER_X264, GPUME_ENCODER_X265, GPUME_ENCODERS };

/* Costs of blocks and QP offsets refer to squares of 16x16 pixels, 8x8 at half resolution. */
struct gpume_encode_options {
    enum gpume_encoder encoder;
    const char *preset, *tune; /* presets.h; tune NULL: none */
    uint32_t bits;             /* of a sample in the encoder */
    uint32_t keyint;
    uint32_t min_keyint; /* 0: keyint / 10, at most a second; only before they are settled */
    uint32_t scenecut;   /* 0: none */
    uint32_t bframes, b_adapt;
    uint32_t b_pyramid; /* 0 none, 1 strict, 2 normal; x265: 0 or 1 */
    uint32_t weightp, weightb;
    uint32_t rc_lookahead; /* frames */
    bool open_gop;
    bool tree; /* x264 mbtree, x265 cutree */
    /* With a tree: how many frames after the last I or P frame are known for a decision, and how
     * far the tree follows the use of a block. The encoders have no such option and use
     * rc_lookahead instead; when settled, it is at least rc_lookahead. */
    uint32_t horizon;
    uint32_t ref;
    uint32_t aq_mode;
    double aq_strength;
    double qcomp, ipratio, pbratio;
    double ratetol;                    /* x264; 0: its default, 1 */
    uint32_t vbv_maxrate, vbv_bufsize; /* kbit/s and kbit; 0: none */
};

const char *gpume_encoder_name(enum gpume_encoder encoder);

/* Those of the encoder's preset medium, without a tuning. */
void gpume_encode_options_default(struct gpume_encode_options *options, enum gpume_encoder encoder);

/* Checks the options against each other, and replaces values that the encoder would replace without
 * a word, for a video of so many frames per second. GPUME_INVALID after one line. */
int gpume_encode_options_settle(struct gpume_encode_options *options, uint32_t rate_num,
    uint32_t rate_den, const struct gpume_log *log);

enum gpume_encode_type {
    GPUME_ENCODE_NUMBER, /* a uint32_t */
    GPUME_ENCODE_SWITCH, /* the same, 0 or 1 */
    GPUME_ENCODE_FLAG,   /* a bool */
    GPUME_ENCODE_REAL,   /* a double, with three decimals when settled */
};

/* An option of an encoder. */
struct gpume_encode_option {
    const char *name;
    enum gpume_encode_type type;
    size_t offset; /* of its field in struct gpume_encode_options */
    double min, max;
    const char *unit; /* NULL: none */
    bool optional;    /* 0 means that it is not given */
    /* Sets of encoders: bits 1 << encoder. */
    unsigned of;
    unsigned compared;  /* the second pass compares it with the first line of the statistics */
    unsigned has_no_no; /* the command line has no --no-NAME */
};

/* The encoder's next option after this one, or its first one after NULL; NULL after the last. */
const struct gpume_encode_option *gpume_encode_option_next(
    const struct gpume_encode_option *option, enum gpume_encoder encoder);

/* The encoder's option of this name, or NULL. */
const struct gpume_encode_option *gpume_encode_option_find(
    const char *name, enum gpume_encoder encoder);

/* Does the encoder need it on its command line? */
bool gpume_encode_option_is_given(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options);

/* Copies the option's field. */
void gpume_encode_option_copy(const struct gpume_encode_option *option,
    struct gpume_encode_options *to, const struct gpume_encode_options *from);

/* The value of a number, switch or flag. */
uint32_t gpume_encode_option_number(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options);

/* The value as the encoder reads it. */
#define GPUME_ENCODE_TEXT_BYTES 32
void gpume_encode_option_text(const struct gpume_encode_option *option,
    const struct gpume_encode_options *options, char text[GPUME_ENCODE_TEXT_BYTES]);

/* Is it 0 or 1, so that on the encoder's command line it is --NAME or --no-NAME? */
bool gpume_encode_option_is_switch(const struct gpume_encode_option *option);

#endif
