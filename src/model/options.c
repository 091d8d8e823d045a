/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/options.h"

#include "base/args.h"
#include "base/status.h"
#include "model/rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REFUSE(log, message, ...) gpume_log_refuse(log, GPUME_INVALID, message, __VA_ARGS__)

/* What the machine decides, gpume_open checks, and the size of pictures the plan. */
static int check_ranges(const struct gpume_params *p, const struct gpume_log *log)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < gpume_params_count && status == GPUME_OK; i++) {
        const struct gpume_param *param = &gpume_params_table[i];
        const bool is_number =
            param->type == GPUME_PARAM_NUMBER || param->type == GPUME_PARAM_CHOICE;
        const bool is_elsewhere = param->speed_only || param == GPUME_PARAM(width) ||
                                  param == GPUME_PARAM(height) || param == GPUME_PARAM(block);
        if (is_number && param->most > 0 && !is_elsewhere) {
            status = gpume_args_check_number(param, gpume_param_value(param, p), log);
        }
    }
    return status;
}

/* --- shapes */

static int check_side(uint32_t side, const struct gpume_log *log)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, side);
    return side < GPUME_BLOCK_MIN || side > GPUME_BLOCK_MAX || side % 4 != 0
               ? REFUSE(log, gpume_about(GPUME_PARAM(block), text),
                     "must be a multiple of 4 from %d to %d", GPUME_BLOCK_MIN, GPUME_BLOCK_MAX)
               : GPUME_OK;
}

static int check_shape(const struct gpume_params *p, const struct gpume_log *log, uint32_t index)
{
    const struct gpume_block_size shape = p->shapes[index];
    int status;
    GPUME_TRY(check_side(shape.width, log));
    GPUME_TRY(check_side(shape.height, log));
    for (uint32_t i = 0; i < index; i++) {
        if (p->shapes[i].width == shape.width && p->shapes[i].height == shape.height) {
            return REFUSE(log, gpume_about(GPUME_PARAM(shapes), NULL), "lists %ux%u twice",
                shape.width, shape.height);
        }
    }
fail:
    return status;
}

static int check_shapes(const struct gpume_params *p, const struct gpume_log *log)
{
    int status = p->shape_count == 0 ? check_side(p->block, log) : GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < p->shape_count; i++) {
        status = check_shape(p, log, i);
    }
    return status;
}

static bool has_shape(const struct gpume_params *p, uint32_t width, uint32_t height)
{
    bool found = false;
    for (uint32_t i = 0; i < p->shape_count; i++) {
        found |= p->shapes[i].width == width && p->shapes[i].height == height;
    }
    return found;
}

/* Counts the shapes that a partition can use: squares by halves from the largest on, and both
 * halves of all but the smallest. */
static uint32_t usable_shapes(const struct gpume_params *p, uint32_t largest)
{
    uint32_t count = 0;
    for (uint32_t side = largest; has_shape(p, side, side); side /= 2) {
        bool smallest = !has_shape(p, side / 2, side / 2);
        count++;
        if (!smallest) {
            count += has_shape(p, side, side / 2);
            count += has_shape(p, side / 2, side);
        }
    }
    return count;
}

static int check_partition(const struct gpume_params *p, const struct gpume_log *log)
{
    uint32_t largest = 0;
    if (!p->partition) {
        return GPUME_OK;
    }
    if (!p->rate || p->lambda == 0) {
        return REFUSE(log,
            gpume_about_two(GPUME_PARAM(partition), NULL, GPUME_PARAM(lambda), "above 0"), "needs");
    }
    for (uint32_t i = 0; i < p->shape_count; i++) {
        largest = p->shapes[i].width > largest ? p->shapes[i].width : largest;
        largest = p->shapes[i].height > largest ? p->shapes[i].height : largest;
    }
    if (p->shape_count < 2 || usable_shapes(p, largest) != p->shape_count) {
        return REFUSE(log, gpume_about_two(GPUME_PARAM(partition), NULL, GPUME_PARAM(shapes), NULL),
            "needs squares by halves such as 64,32,16, where both halves may follow each square "
            "but the smallest, in");
    }
    return GPUME_OK;
}

/* --- cost */

static int check_fractions(const struct gpume_params *p, const struct gpume_log *log)
{
    if (p->subpel != 1 && p->subpel != 2 && p->subpel != 4) {
        char text[16];
        snprintf(text, sizeof(text), "%" PRIu32, p->subpel);
        return REFUSE(log, gpume_about(GPUME_PARAM(subpel), text), "must be 1, 2 or 4");
    }
    if (p->subpel > 1 && p->interpolation == GPUME_INTERPOLATION_HEVC && p->bits > 12) {
        char text[16];
        snprintf(text, sizeof(text), "%" PRIu32, p->bits);
        return REFUSE(log,
            gpume_about_two(GPUME_PARAM(bits), text, GPUME_PARAM(interpolation), "hevc"),
            "must be at most 12 with");
    }
    return GPUME_OK;
}

static int check_metrics(const struct gpume_params *p, const struct gpume_log *log)
{
    const bool fractions = p->subpel > 1;
    if (p->refine_metric == GPUME_REFINE_BY_METRIC ||
        (fractions && p->subpel_search == GPUME_SUBPEL_REFINE)) {
        return GPUME_OK;
    }
    return REFUSE(log,
        gpume_about_two(GPUME_PARAM(refine_metric), NULL,
            fractions ? GPUME_PARAM(subpel_search) : GPUME_PARAM(subpel),
            fractions ? "refine" : "2 or 4"),
        "needs");
}

static int check_rate(const struct gpume_params *p, const struct gpume_log *log)
{
    if (!p->rate && (p->lambda > 0 || p->predictor != GPUME_PREDICTOR_ZERO)) {
        return REFUSE(log,
            gpume_about_two(p->lambda > 0 ? GPUME_PARAM(lambda) : GPUME_PARAM(predictor), NULL,
                GPUME_PARAM(rate), NULL),
            "needs");
    }
    if (p->predictor == GPUME_PREDICTOR_GIVEN && !p->predict) {
        return REFUSE(log,
            gpume_about_two(GPUME_PARAM(predictor), "given", GPUME_PARAM(predict), NULL), "needs");
    }
    return GPUME_OK;
}

/* Of one vector. */
static uint32_t largest_bits(const struct gpume_params *p)
{
    int window_x = (int)(p->window_x * p->subpel), window_y = (int)(p->window_y * p->subpel);
    switch (p->predictor) {
    case GPUME_PREDICTOR_ZERO:
        return gpume_rate_bits(-window_x, -window_y, 0, 0);
    case GPUME_PREDICTOR_MEDIAN:
        return gpume_rate_bits(-window_x, -window_y, window_x, window_y);
    default:
        return gpume_rate_bits(-window_x, -window_y, INT16_MAX, INT16_MAX);
    }
}

static uint64_t largest_difference(
    const struct gpume_params *p, enum gpume_metric metric, uint32_t width, uint32_t height)
{
    uint64_t peak = (1u << p->bits) - 1, pixels = (uint64_t)width * height;
    switch (metric) {
    case GPUME_METRIC_SAD:
        return pixels * peak;
    case GPUME_METRIC_SATD: /* of a tile of n x n: n * sum of |differences| at most */
        return 2 * pixels * peak;
    default:
        return pixels * peak * peak;
    }
}

/* Every cost by a metric fits 32 bits. */
static int check_costs(const struct gpume_params *p, const struct gpume_log *log,
    enum gpume_metric metric, const struct gpume_param *param)
{
    uint32_t bits = p->rate ? largest_bits(p) << p->bidirectional : 0, index = 0;
    uint64_t rate = gpume_rate_cost(p->lambda, bits);
    do {
        uint32_t width = p->shape_count > 0 ? p->shapes[index].width : p->block;
        uint32_t height = p->shape_count > 0 ? p->shapes[index].height : p->block;
        uint64_t cost = largest_difference(p, metric, width, height) + rate;
        if (cost > UINT32_MAX) {
            const uint64_t least =
                largest_difference(p, metric, GPUME_BLOCK_MIN, GPUME_BLOCK_MIN) + rate;
            return REFUSE(log, gpume_about(param, NULL),
                "a block of %ux%u could cost %llu, more than 4294967295; use %s", width, height,
                (unsigned long long)cost,
                least > UINT32_MAX ? "another metric" : "smaller blocks or another metric");
        }
    } while (++index < p->shape_count);
    return GPUME_OK;
}

/* --- references and candidates */

static int check_distances(const struct gpume_params *p, const struct gpume_log *log)
{
    for (uint32_t i = 0; i < p->distance_count; i++) {
        GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(distances), p->distances[i], log));
        for (uint32_t j = 0; j < i; j++) {
            if (p->distances[i] == p->distances[j]) {
                return REFUSE(log, gpume_about(GPUME_PARAM(distances), NULL), "lists %u twice",
                    p->distances[i]);
            }
        }
    }
    return GPUME_OK;
}

static int check_references(const struct gpume_params *p, const struct gpume_log *log)
{
    const struct gpume_param *bidirectional = GPUME_PARAM(bidirectional);
    if (!p->bidirectional) {
        return GPUME_OK;
    }
    if (p->direction != GPUME_DIRECTION_BOTH && p->direction != GPUME_DIRECTION_MANUAL) {
        return REFUSE(
            log, gpume_about_two(bidirectional, NULL, GPUME_PARAM(direction), "both"), "needs");
    }
    if (p->confidence || p->candidates > 1) {
        return REFUSE(log,
            p->confidence
                ? gpume_about_two(bidirectional, NULL, GPUME_PARAM(confidence), NULL)
                : gpume_about_two(bidirectional, NULL, GPUME_PARAM(candidates), "above 1"),
            "cannot be combined with");
    }
    return GPUME_OK;
}

/* What the entries stand for, the machine says. */
static int check_devices(const struct gpume_params *p, const struct gpume_log *log)
{
    const char *list = p->devices;
    const size_t length = list ? strlen(list) : 1;
    if (length == 0 ||
        (list && (list[0] == ',' || list[length - 1] == ',' || strstr(list, ",,")))) {
        return REFUSE(log, gpume_about(GPUME_PARAM(devices), list),
            "has an empty entry; separate devices by single commas");
    }
    return GPUME_OK;
}

void gpume_options_complete(struct gpume_params *params)
{
    params->subpel = params->subpel ? params->subpel : 1;
    params->passes = params->passes ? params->passes : 2;
    params->candidates = params->candidates ? params->candidates : 1;
    params->best_reference |= params->bidirectional;
}

int gpume_options_check(const struct gpume_params *params, const struct gpume_log *log)
{
    int status;
    GPUME_TRY(check_ranges(params, log));
    GPUME_TRY(check_shapes(params, log));
    GPUME_TRY(check_fractions(params, log));
    GPUME_TRY(check_metrics(params, log));
    GPUME_TRY(check_rate(params, log));
    GPUME_TRY(check_partition(params, log));
    GPUME_TRY(check_distances(params, log));
    GPUME_TRY(check_references(params, log));
    GPUME_TRY(check_devices(params, log));
    GPUME_TRY(check_costs(params, log, params->metric, GPUME_PARAM(metric)));
    GPUME_TRY(check_costs(params, log, gpume_cost_metric(params), GPUME_PARAM(refine_metric)));
fail:
    return status;
}
