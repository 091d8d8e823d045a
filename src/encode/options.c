/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/options.h"

#include "base/base.h"
#include "encode/encoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- one option */

const struct gpume_encode_option *gpume_encode_option_find(
    const struct gpume_encoder *encoder, const char *name)
{
    for (const struct gpume_encode_option *option = encoder->options; option->name; option++) {
        if (strcmp(option->name, name) == 0) {
            return option;
        }
    }
    return NULL;
}

double gpume_encode_option_value(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    const void *field = (const char *)options + option->offset;
    return option->type == GPUME_ENCODE_REAL   ? *(const double *)field
           : option->type == GPUME_ENCODE_FLAG ? *(const bool *)field
                                               : *(const uint32_t *)field;
}

void gpume_encode_option_set(
    const struct gpume_encode_option *option, struct gpume_encode_options *options, double value)
{
    void *field = (char *)options + option->offset;
    if (option->type == GPUME_ENCODE_REAL) {
        *(double *)field = value;
    } else if (option->type == GPUME_ENCODE_FLAG) {
        *(bool *)field = value > 0;
    } else {
        *(uint32_t *)field = (uint32_t)value;
    }
}

bool gpume_encode_option_is_given(
    const struct gpume_encode_option *option, const struct gpume_encode_options *options)
{
    return !option->optional || gpume_encode_option_value(option, options) > 0;
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
    const double value = gpume_encode_option_value(option, options);
    if (option->type == GPUME_ENCODE_REAL) {
        const unsigned parts = thousandths(value);
        snprintf(text, GPUME_ENCODE_TEXT_BYTES, "%u.%03u", parts / 1000, parts % 1000);
        text[strlen(text) - (parts % 10 ? 0 : parts % 100 ? 1 : 2)] = '\0';
    } else {
        snprintf(text, GPUME_ENCODE_TEXT_BYTES, "%" PRIu32, (uint32_t)value);
    }
}

size_t gpume_encode_options_append(char line[GPUME_PASS_LINE_BYTES],
    const struct gpume_encode_options *options, enum gpume_encode_spelling spelling)
{
    size_t used = strlen(line);
    for (const struct gpume_encode_option *o = options->encoder->options; o->name; o++) {
        if (!o->compared) {
            continue;
        }
        char *text = line + used;
        const uint32_t value = (uint32_t)gpume_encode_option_value(o, options);
        if (spelling == GPUME_ENCODE_WORDS && gpume_encode_option_is_switch(o)) {
            snprintf(text, GPUME_PASS_LINE_BYTES - used, " %s%s", value ? "" : "no-", o->name);
        } else {
            snprintf(text, GPUME_PASS_LINE_BYTES - used, " %s=%" PRIu32, o->name, value);
        }
        for (; spelling == GPUME_ENCODE_UNDERSCORES && *text; text++) {
            *text = *text == '-' ? '_' : *text;
        }
        used = strlen(line);
    }
    return used;
}

/* --- all options together */

bool gpume_encode_options_preset(
    struct gpume_encode_options *options, const struct gpume_encoder *encoder, const char *preset)
{
    const struct gpume_encode_options *found = encoder->presets;
    while (found->preset && strcmp(found->preset, preset) != 0) {
        found++;
    }
    if (!found->preset) {
        return false;
    }
    *options = *found;
    options->encoder = encoder;
    options->bits = 8;
    options->horizon = GPUME_HORIZON;
    return true;
}

void gpume_encode_options_default(
    struct gpume_encode_options *options, const struct gpume_encoder *encoder)
{
    (void)gpume_encode_options_preset(options, encoder, encoder->preset);
}

bool gpume_encode_options_tune(struct gpume_encode_options *options, const char *tune)
{
    const struct gpume_tuning *tuning = options->encoder->tunings;
    while (tuning->name && strcmp(tuning->name, tune) != 0) {
        tuning++;
    }
    if (!tuning->name) {
        return false;
    }
    options->tune = tuning->name;
    tuning->apply(options);
    return true;
}

/* Checks every option's limits, and rounds to the decimals that both passes know. */
static int check_limits(struct gpume_encode_options *options, const struct gpume_log *log)
{
    for (const struct gpume_encode_option *o = options->encoder->options; o->name; o++) {
        const double value = gpume_encode_option_value(o, options);
        if (gpume_encode_option_is_given(o, options) && !(value >= o->min && value <= o->max)) {
            return gpume_log_fail(log, GPUME_INVALID,
                "%s: --%s takes %.10g to %.10g%s%s, not %.10g", options->encoder->name, o->name,
                o->min, o->max, o->unit ? " " : "", o->unit ? o->unit : "", value);
        }
        if (o->type == GPUME_ENCODE_REAL) {
            gpume_encode_option_set(o, options, thousandths(value) / 1000.0);
        }
    }
    return GPUME_OK;
}

int gpume_encode_options_settle(struct gpume_encode_options *options, uint32_t rate_num,
    uint32_t rate_den, const struct gpume_log *log)
{
    const char *name = options->encoder->name;
    GPUME_CHECK(check_limits(options, log));
    if (options->min_keyint > options->keyint) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --min-keyint %" PRIu32 " is more than --keyint %" PRIu32
            "; reduce it, or increase --keyint",
            name, options->min_keyint, options->keyint);
    }
    if (options->min_keyint == 0) {
        const uint32_t second = rate_den > 0 ? rate_num / rate_den : options->keyint;
        options->min_keyint = gpume_min_u32(options->keyint / 10, second);
    }
    options->min_keyint = options->min_keyint < 1 ? 1 : options->min_keyint;
    options->horizon = (uint32_t)gpume_max_u64(options->horizon, options->rc_lookahead);
    if (options->keyint == 1) {
        options->bframes = options->b_adapt = options->weightp = options->weightb = 0;
        options->open_gop = options->tree = false;
    }
    GPUME_CHECK(options->encoder->settle(options, log));
    if (options->rc_lookahead <= options->bframes && options->keyint > 1) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --rc-lookahead %" PRIu32 " must be more than --bframes %" PRIu32
            "; give --rc-lookahead %" PRIu32 "%s",
            name, options->rc_lookahead, options->bframes, options->bframes + 1,
            options->bframes > 0 ? " or fewer B frames" : "");
    }
    if ((options->vbv_maxrate == 0) != (options->vbv_bufsize == 0)) {
        const bool rate = options->vbv_maxrate > 0;
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: --vbv-%s needs --vbv-%s; give both, or neither", name,
            rate ? "maxrate" : "bufsize", rate ? "bufsize" : "maxrate");
    }
    return GPUME_OK;
}
