/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/pass_format.h"

#include "encode/bits.h"
#include "encode/fixed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char letters[] = "IiPBb";

const struct gpume_pass_format *gpume_pass_format_of(enum gpume_encoder encoder)
{
    static const struct gpume_pass_format *const formats[GPUME_ENCODERS] = {
        [GPUME_ENCODER_X264] = &gpume_x264_pass, [GPUME_ENCODER_X265] = &gpume_x265_pass};
    return formats[encoder];
}

char gpume_pass_letter(enum gpume_frame_type type)
{
    return letters[type];
}

int32_t gpume_pass_qp_of_ratio(double ratio)
{
    const int64_t fixed = gpume_fixed_from_double(ratio);
    const int64_t log = (int64_t)gpume_fixed_log2((uint64_t)fixed) - gpume_fixed_log2(65536);
    return (int32_t)(log * 6 * GPUME_QP_ONE / 65536);
}

/* As it stands in the line, after a blank. */
static void spell(char text[GPUME_PASS_LINE_BYTES], const struct gpume_encode_option *option,
    const struct gpume_encode_options *options)
{
    const struct gpume_pass_format *format = gpume_pass_format_of(options->encoder);
    const uint32_t value = gpume_encode_option_number(option, options);
    if (format->as_words && gpume_encode_option_is_switch(option)) {
        snprintf(text, GPUME_PASS_LINE_BYTES, "%s%s", value ? "" : "no-", option->name);
    } else {
        snprintf(text, GPUME_PASS_LINE_BYTES, "%s=%" PRIu32, option->name, value);
    }
    for (char *at = text; *at; at++) {
        *at = *at == '-' ? format->dash : *at;
    }
}

static const struct gpume_encode_option *next_compared(
    const struct gpume_encode_option *option, enum gpume_encoder encoder)
{
    do {
        option = gpume_encode_option_next(option, encoder);
    } while (option && !(option->compared & 1u << encoder));
    return option;
}

static void append(char line[GPUME_PASS_LINE_BYTES], const char *text)
{
    const size_t used = strlen(line);
    snprintf(line + used, GPUME_PASS_LINE_BYTES - used, " %s", text);
}

void gpume_pass_header(char line[GPUME_PASS_LINE_BYTES], const struct gpume_pass_video *video,
    const struct gpume_encode_options *options)
{
    const struct gpume_pass_format *format = gpume_pass_format_of(options->encoder);
    const struct gpume_encode_option *option = NULL;
    char text[GPUME_PASS_LINE_BYTES];
    format->begin(line, video, options);
    while ((option = next_compared(option, options->encoder)) != NULL) {
        spell(text, option, options);
        append(line, text);
    }
    append(line, format->constant);
}
