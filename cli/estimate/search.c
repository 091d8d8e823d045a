/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/search.h"

#include "console.h"
#include "library_log.h"
#include "options/line.h"

#include <stdio.h>
#include <string.h>

static bool parse_predictor(const struct gpume_option *row, const char *text, void *field)
{
    struct gpume_predictor_option *out = field;
    (void)row;
    if (text[0] == '\0') {
        return false;
    }
    const bool zero = strcmp(text, "zero") == 0, median = strcmp(text, "median") == 0;
    out->kind = zero     ? GPUME_PREDICTOR_ZERO
                : median ? GPUME_PREDICTOR_MEDIAN
                         : GPUME_PREDICTOR_GIVEN;
    out->file = zero || median ? NULL : text;
    return true;
}

static void predictor_words(const struct gpume_option *row, char *text, size_t bytes)
{
    (void)row;
    snprintf(text, bytes, "zero median");
}

const struct gpume_option_type gpume_type_predictor = {
    sizeof(struct gpume_predictor_option), parse_predictor, NULL, predictor_words};

/* Replaced before the run, by a function that reads the file. */
static int predict_nothing(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque;
    (void)frame;
    (void)ref;
    (void)vectors;
    return GPUME_INVALID;
}

static int apply_direction(const struct gpume_line *line, struct gpume_params *params)
{
    if (!params->bidirectional) {
        return GPUME_OK;
    }
    if (gpume_line_has(line, "direction") && params->direction != GPUME_DIRECTION_BOTH) {
        return gpume_refuse(GPUME_INVALID,
            "--bidirectional: needs past and future references; leave out --direction");
    }
    params->direction = GPUME_DIRECTION_BOTH;
    params->best_reference = true;
    return GPUME_OK;
}

int gpume_search_choice_check_used(const struct gpume_line *line, const struct gpume_params *params)
{
    const bool median = params->predictor == GPUME_PREDICTOR_MEDIAN, fractions = params->subpel > 1;
    const bool several = params->distance_count > 1 || params->direction == GPUME_DIRECTION_BOTH;
    const struct {
        const char *option, *needed;
        bool used;
    } options[] = {
        {"passes", "--predictor median", median},
        {"interpolation", "--subpel 2 or 4", fractions},
        {"subpel-search", "--subpel 2 or 4", fractions},
        {"best-reference",
            "several references; list distances in --ref-distance, or add --direction both",
            several},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (gpume_line_has(line, options[i].option) && !options[i].used) {
            return gpume_refuse(
                GPUME_INVALID, "--%s: needs %s", options[i].option, options[i].needed);
        }
    }
    return GPUME_OK;
}

int gpume_search_choice_apply(const struct gpume_search_choice *choice,
    const struct gpume_line *line, struct gpume_params *params)
{
    gpume_shape_list_apply(&choice->shapes, params);
    gpume_distance_list_apply(&choice->distances, params);
    gpume_lambda_apply(choice->lambda, choice->qp, params);
    params->predictor = choice->predictor.kind;
    params->predict = choice->predictor.file ? predict_nothing : NULL;
    if (gpume_line_has(line, "predictor") && !params->rate) {
        return gpume_refuse(GPUME_INVALID, "--predictor: needs --lambda L or --qp Q");
    }
    const int status = apply_direction(line, params);
    return status ? status : gpume_library_check(params);
}
