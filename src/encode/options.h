/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two passes of an encoder must agree on, under the encoder's own names, with its own
 * defaults. Which options an encoder has, and what it does with them, is in its file in encoders/.
 */
#ifndef GPUME_ENCODE_OPTIONS_H
#define GPUME_ENCODE_OPTIONS_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_BFRAMES_MAX 16
#define GPUME_RC_LOOKAHEAD_MAX 250
#define GPUME_AQ_STRENGTH_MAX 3
#define GPUME_HORIZON 60 /* quality gains: tests/bench/firstpass/FINDINGS.md */

struct gpume_encoder;

/* Costs of blocks and QP offsets refer to squares of 16x16 pixels, 8x8 at half resolution. */
struct gpume_encode_options {
    const struct gpume_encoder *encoder;
    const char *preset, *tune; /* tune NULL: none */
    uint32_t bits;             /* of a sample in the encoder */
    uint32_t keyint;
    uint32_t min_keyint; /* 0: keyint / 10, at most a second; only before they are settled */
    uint32_t scenecut;   /* 0: none */
    uint32_t bframes, b_adapt;
    uint32_t b_pyramid; /* 0: no B frame is a reference */
    uint32_t weightp, weightb;
    uint32_t rc_lookahead; /* frames */
    bool open_gop;
    bool tree; /* QP offsets by what later frames reuse */
    /* With a tree: how many frames after the last I or P frame are known for a decision, and how
     * far the tree follows the use of a block. The encoders have no such option and use
     * rc_lookahead instead; when settled, it is at least rc_lookahead. */
    uint32_t horizon;
    uint32_t ref;
    uint32_t aq_mode;
    double aq_strength;
    double qcomp, ipratio, pbratio;
    double ratetol;                    /* 0: the encoder's default */
    uint32_t vbv_maxrate, vbv_bufsize; /* kbit/s and kbit; 0: none */
    /* It keeps texture at the price of error (psy-rd), and takes more bits for that: by preset and
     * tuning. */
    bool psy;
};

enum gpume_encode_type {
    GPUME_ENCODE_NUMBER, /* a uint32_t */
    GPUME_ENCODE_SWITCH, /* the same, 0 or 1 */
    GPUME_ENCODE_FLAG,   /* a bool */
    GPUME_ENCODE_REAL,   /* a double, with three decimals when settled */
};

/* An option of an encoder. */
struct gpume_encode_option {
    const char *name; /* NULL: the end of a list */
    enum gpume_encode_type type;
    size_t offset; /* of its field in struct gpume_encode_options */
    double min, max;
    const char *unit; /* NULL: none */
    const char *help; /* without limits and default; NULL: that of the encoder before it */
    /* For numbers that gpume takes as words, the word for each, then NULL. Those for more than max
     * stand for max. NULL: it takes numbers. */
    const char *const *words;
    const char *zero; /* what 0 stands for, if it is the default */
    bool optional;    /* with 0 the encoder does not get it */
    bool compared;    /* the second pass compares it with the first line of the statistics */
    bool has_no_no;   /* the command line has no --no-NAME */
};

/* The beginning of an option: its name, its type, its field and its limits. */
#define GPUME_ENCODE_OPTION(option, kind, field, least, most)                                      \
    .name = option, .type = GPUME_ENCODE_##kind,                                                   \
    .offset = offsetof(struct gpume_encode_options, field), .min = least, .max = most

/* Those of the encoder's default preset, without a tuning. */
void gpume_encode_options_default(
    struct gpume_encode_options *options, const struct gpume_encoder *encoder);

/* All options as the encoder's preset or tuning of this name has them. False: there is none. A
 * tuning comes after the preset. */
bool gpume_encode_options_preset(
    struct gpume_encode_options *options, const struct gpume_encoder *encoder, const char *preset);
bool gpume_encode_options_tune(struct gpume_encode_options *options, const char *tune);

/* Checks the options against each other, and replaces values that the encoder would replace
 * without a message, for a video with this frame rate. GPUME_INVALID after one line. */
int gpume_encode_options_settle(struct gpume_encode_options *options, uint32_t rate_num,
    uint32_t rate_den, const struct gpume_log *log);

/* The encoder's option of this name, or NULL. */
const struct gpume_encode_option *gpume_encode_option_find(
    const struct gpume_encoder *encoder, const char *name);

/* Whether the encoder needs it on its command line. */
bool gpume_encode_option_is_given(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options);

/* Stores a value, which a number, switch or flag can hold. */
void gpume_encode_option_set(
    const struct gpume_encode_option *option, struct gpume_encode_options *options, double value);

double gpume_encode_option_value(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options);

/* The value as the encoder reads it. */
#define GPUME_ENCODE_TEXT_BYTES 32
void gpume_encode_option_text(const struct gpume_encode_option *option,
    const struct gpume_encode_options *options, char text[GPUME_ENCODE_TEXT_BYTES]);

/* Whether it is 0 or 1, so that on the encoder's command line it is --NAME or --no-NAME. */
bool gpume_encode_option_is_switch(const struct gpume_encode_option *option);

#endif
