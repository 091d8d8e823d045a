/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits: `x264 --fullhelp` of 0.164 and `x265 --fullhelp` of 3.5. */
#include "encode/options.h"

#include "base/grid.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *gpume_encoder_name(enum gpume_encoder encoder)
{
    static const char *const names[GPUME_ENCODERS] = {
        [GPUME_ENCODER_X264] = "x264", [GPUME_ENCODER_X265] = "x265"};
    return names[encoder];
}

#define ROW(option, kind, field, least, most)                                                      \
    .name = option, .type = GPUME_ENCODE_##kind,                                                   \
    .offset = offsetof(struct gpume_encode_options, field), .min = least, .max = most
#define X264 (1u << GPUME_ENCODER_X264)
#define X265 (1u << GPUME_ENCODER_X265)
#define BOTH (X264 | X265)
#define X265_REFERENCES_MAX 8u
#define KEYINT_MAX 100000
#define VBV_MAX 2000000

static const struct gpume_encode_option rows[] = {
    {ROW("keyint", NUMBER, keyint, 1, KEYINT_MAX), .of = BOTH, .compared = BOTH},
    {ROW("min-keyint", NUMBER, min_keyint, 0, KEYINT_MAX), .of = BOTH, .compared = X265},
    {ROW("scenecut", NUMBER, scenecut, 0, 400), .of = BOTH, .compared = X265},
    {ROW("bframes", NUMBER, bframes, 0, GPUME_BFRAMES_MAX), .of = BOTH, .compared = BOTH},
    {ROW("b-adapt", NUMBER, b_adapt, 0, 2), .of = BOTH, .compared = BOTH},
    {ROW("b-pyramid", NUMBER, b_pyramid, 0, 2), .of = X264, .compared = X264},
    {ROW("b-pyramid", SWITCH, b_pyramid, 0, 1), .of = X265, .compared = X265},
    {ROW("open-gop", FLAG, open_gop, 0, 1), .of = BOTH, .compared = BOTH, .has_no_no = X264},
    {ROW("weightp", NUMBER, weightp, 0, 2), .of = X264, .compared = X264},
    {ROW("weightp", SWITCH, weightp, 0, 1), .of = X265, .compared = X265},
    {ROW("weightb", SWITCH, weightb, 0, 1), .of = BOTH, .compared = X265},
    {ROW("rc-lookahead", NUMBER, rc_lookahead, 0, GPUME_RC_LOOKAHEAD_MAX), .of = BOTH,
        .compared = BOTH},
    {ROW("mbtree", FLAG, tree, 0, 1), .of = X264, .compared = X264},
    {ROW("cutree", FLAG, tree, 0, 1), .of = X265, .compared = X265},
    {ROW("ref", NUMBER, ref, 1, GPUME_REF_MAX), .of = X264},
    {ROW("ref", NUMBER, ref, 1, X265_REFERENCES_MAX), .of = X265},
    {ROW("aq-mode", NUMBER, aq_mode, 0, 3), .of = BOTH},
    {ROW("aq-strength", REAL, aq_strength, 0, GPUME_AQ_STRENGTH_MAX), .of = BOTH},
    {ROW("qcomp", REAL, qcomp, 0, 1), .of = X264},
    {ROW("qcomp", REAL, qcomp, 0.5, 1), .of = X265}, /* crashes or hangs with less */
    {ROW("ipratio", REAL, ipratio, 0.1, 10), .of = BOTH},
    {ROW("pbratio", REAL, pbratio, 0.1, 10), .of = BOTH},
    {ROW("ratetol", REAL, ratetol, 0.011, 100), .of = X264, .optional = true},
    {ROW("vbv-maxrate", NUMBER, vbv_maxrate, 0, VBV_MAX), .unit = "kbit/s", .of = BOTH,
        .optional = true},
    {ROW("vbv-bufsize", NUMBER, vbv_bufsize, 0, VBV_MAX), .unit = "kbit", .of = BOTH,
        .optional = true},
};

const struct gpume_encode_option *gpume_encode_option_next(
    const struct gpume_encode_option *option, enum gpume_encoder encoder)
{
    const struct gpume_encode_option *end = rows + sizeof(rows) / sizeof(rows[0]);
    option = option ? option + 1 : rows;
    while (option < end && !(option->of & 1u << encoder)) {
        option++;
    }
    return option < end ? option : NULL;
}

const struct gpume_encode_option *gpume_encode_option_find(
    const char *name, enum gpume_encoder encoder)
{
    const struct gpume_encode_option *option = NULL;
    do {
        option = gpume_encode_option_next(option, encoder);
    } while (option && strcmp(option->name, name) != 0);
    return option;
}

static const void *field_of(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    return (const char *)options + option->offset;
}

uint32_t gpume_encode_option_number(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    const void *field = field_of(option, options);
    return option->type == GPUME_ENCODE_FLAG ? *(const bool *)field : *(const uint32_t *)field;
}

static double value_of(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    return option->type == GPUME_ENCODE_REAL ? *(const double *)field_of(option, options)
                                             : gpume_encode_option_number(option, options);
}

bool gpume_encode_option_is_given(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    return !option->optional || value_of(option, options) > 0;
}

void gpume_encode_option_copy(const struct gpume_encode_option *option,
    struct gpume_encode_options *to, const struct gpume_encode_options *from)
{
    const size_t bytes = option->type == GPUME_ENCODE_REAL   ? sizeof(double)
                         : option->type == GPUME_ENCODE_FLAG ? sizeof(bool)
                                                             : sizeof(uint32_t);
    memcpy((char *)to + option->offset, field_of(option, from), bytes);
}

bool gpume_encode_option_is_switch(const struct gpume_encode_option *option)
{
    return option->type == GPUME_ENCODE_SWITCH || option->type == GPUME_ENCODE_FLAG;
}

static unsigned thousandths(double value)
{
    return (unsigned)(value * 1000 + 0.5);
}

void gpume_encode_option_text(const struct gpume_encode_option *option,
    const struct gpume_encode_options *options, char text[GPUME_ENCODE_TEXT_BYTES])
{
    if (option->type == GPUME_ENCODE_REAL) {
        const unsigned parts = thousandths(*(const double *)field_of(option, options));
        snprintf(text, GPUME_ENCODE_TEXT_BYTES, "%u.%03u", parts / 1000, parts % 1000);
        text[strlen(text) - (parts % 10 ? 0 : parts % 100 ? 1 : 2)] = '\0';
    } else {
        snprintf(
            text, GPUME_ENCODE_TEXT_BYTES, "%" PRIu32, gpume_encode_option_number(option, options));
    }
}

static int check_limits(const struct gpume_encode_options *options, const struct gpume_log *log)
{
    const struct gpume_encode_option *option = NULL;
    while ((option = gpume_encode_option_next(option, options->encoder)) != NULL) {
        const double value = value_of(option, options);
        if (gpume_encode_option_is_given(option, options) &&
            !(value >= option->min && value <= option->max)) {
            return gpume_log_fail(log, GPUME_INVALID,
                "%s: --%s takes %.10g to %.10g%s%s, not %.10g",
                gpume_encoder_name(options->encoder), option->name, option->min, option->max,
                option->unit ? " " : "", option->unit ? option->unit : "", value);
        }
    }
    return GPUME_OK;
}

/* Both passes know the same decimals. */
static void round_values(struct gpume_encode_options *options)
{
    const struct gpume_encode_option *option = NULL;
    while ((option = gpume_encode_option_next(option, options->encoder)) != NULL) {
        if (option->type == GPUME_ENCODE_REAL) {
            double *value = (double *)(void *)((char *)options + option->offset);
            *value = thousandths(*value) / 1000.0;
        }
    }
}

/* x265 3.5 crashes or hangs with more references. A frame has at most 8 (ITU-T H.265 7.4.7.1), of
 * which one is taken if there are B frames, and another one if B frames are references. */
static int check_x265(const struct gpume_encode_options *options, const struct gpume_log *log)
{
    const uint32_t taken = options->bframes == 0                            ? 0
                           : options->bframes > 1 && options->b_pyramid > 0 ? 2
                                                                            : 1;
    if (options->ref > X265_REFERENCES_MAX - taken) {
        return gpume_log_fail(log, GPUME_INVALID,
            "x265: --ref %" PRIu32 " is too many: with --bframes %" PRIu32
            "%s it takes 1 to %" PRIu32,
            options->ref, options->bframes, taken == 2 ? " and --b-pyramid" : "",
            X265_REFERENCES_MAX - taken);
    }
    return GPUME_OK;
}

/* What the encoder would refuse, or would change with consequences for other options. */
static int check_together(const struct gpume_encode_options *options, const struct gpume_log *log)
{
    const char *name = gpume_encoder_name(options->encoder);
    if (options->min_keyint > options->keyint) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --min-keyint %" PRIu32 " is more than --keyint %" PRIu32
            "; reduce it, or increase --keyint",
            name, options->min_keyint, options->keyint);
    }
    if (options->rc_lookahead <= options->bframes && options->keyint > 1) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --rc-lookahead %" PRIu32 " must be more than --bframes %" PRIu32
            "; give --rc-lookahead %" PRIu32 "%s",
            name, options->rc_lookahead, options->bframes, options->bframes + 1,
            options->bframes > 0 ? " or fewer B frames" : "");
    }
    if (options->encoder == GPUME_ENCODER_X265) {
        GPUME_CHECK(check_x265(options, log));
    }
    if ((options->vbv_maxrate == 0) != (options->vbv_bufsize == 0)) {
        const bool rate = options->vbv_maxrate > 0;
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --vbv-%s needs --vbv-%s; give both, or neither", name,
            rate ? "maxrate" : "bufsize", rate ? "bufsize" : "maxrate");
    }
    return GPUME_OK;
}

/* What the encoder does without B frames, or with fewer, before it looks at other options. */
static void reduce_bframes(struct gpume_encode_options *options)
{
    if (options->keyint == 1) {
        options->bframes = options->b_adapt = options->weightp = options->weightb = 0;
        options->open_gop = options->tree = false;
    } else if (options->encoder == GPUME_ENCODER_X264) {
        options->bframes = gpume_min_u32(options->bframes, options->keyint - 1);
    }
}

static void settle_x264(struct gpume_encode_options *options)
{
    options->min_keyint = gpume_min_u32(options->min_keyint, options->keyint / 2 + 1);
    options->rc_lookahead = gpume_min_u32(options->rc_lookahead, options->keyint);
    options->b_pyramid = options->bframes > 1 ? options->b_pyramid : 0;
    if (options->bframes == 0) {
        options->b_adapt = options->weightb = 0;
        options->open_gop = false;
    }
    options->tree = options->tree && options->qcomp < 1;
}

static void settle_x265(struct gpume_encode_options *options)
{
    options->scenecut = options->keyint > 1 ? options->scenecut : 0;
    options->b_pyramid = options->bframes > 0 ? options->b_pyramid : 0;
}

int gpume_encode_options_settle(struct gpume_encode_options *options, uint32_t rate_num,
    uint32_t rate_den, const struct gpume_log *log)
{
    GPUME_CHECK(check_limits(options, log));
    round_values(options);
    reduce_bframes(options);
    GPUME_CHECK(check_together(options, log));
    if (options->min_keyint == 0) {
        const uint32_t second = rate_den > 0 ? rate_num / rate_den : options->keyint;
        options->min_keyint = gpume_min_u32(options->keyint / 10, second);
    }
    options->min_keyint = options->min_keyint < 1 ? 1 : options->min_keyint;
    options->horizon = (uint32_t)gpume_max_u64(options->horizon, options->rc_lookahead);
    if (options->encoder == GPUME_ENCODER_X264) {
        settle_x264(options);
    } else {
        settle_x265(options);
    }
    return GPUME_OK;
}
