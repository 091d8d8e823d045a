/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/options.h"

#include "base/status.h"
#include "model/rate.h"

#include <string.h>

int gpume_options_refuse(
    const struct gpume_log *log, const char *name, uint64_t value, const char *allowed)
{
    return gpume_log_fail(
        log, GPUME_INVALID, "%s %llu: must be %s", name, (unsigned long long)value, allowed);
}

static int exclude(const struct gpume_log *log, const char *first, const char *second)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s: %s", first, second);
}

int gpume_options_check_ranges(
    const struct gpume_range *ranges, size_t count, const struct gpume_log *log)
{
    for (size_t i = 0; i < count; i++) {
        const struct gpume_range *range = &ranges[i];
        if (range->value < range->least || range->value > range->most) {
            return gpume_options_refuse(log, range->name, range->value, range->allowed);
        }
    }
    return GPUME_OK;
}

static int check_ranges(const struct gpume_params *p, const struct gpume_log *log)
{
    const struct gpume_range ranges[] = {
        {"params.bits", p->bits, 8, 16, "from 8 to 16"},
        {"params.window_x", p->window_x, 0, GPUME_WINDOW_MAX, "from 0 to 512"},
        {"params.window_y", p->window_y, 0, GPUME_WINDOW_MAX, "from 0 to 512"},
        {"params.ref_distance", p->ref_distance, 1, GPUME_DISTANCE_MAX, "from 1 to 1024"},
        {"params.edge", p->edge, 0, GPUME_EDGE_INSIDE, "one of enum gpume_edge"},
        {"params.direction", p->direction, 0, GPUME_DIRECTION_MANUAL,
            "one of enum gpume_direction"},
        {"params.shape_count", p->shape_count, 0, GPUME_SHAPES_MAX, "from 0 to 32"},
        {"params.interpolation", p->interpolation, 0, GPUME_INTERPOLATION_BILINEAR,
            "one of enum gpume_interpolation"},
        {"params.subpel_search", p->subpel_search, 0, GPUME_SUBPEL_FULL,
            "one of enum gpume_subpel_search"},
        {"params.metric", p->metric, 0, GPUME_METRIC_SSD, "one of enum gpume_metric"},
        {"params.refine_metric", p->refine_metric, 0, GPUME_REFINE_BY_SSD,
            "one of enum gpume_refine_metric"},
        {"params.lambda", p->lambda, 0, GPUME_LAMBDA_MAX, "at most 256000"},
        {"params.predictor", p->predictor, 0, GPUME_PREDICTOR_GIVEN, "one of enum gpume_predictor"},
        {"params.passes", p->passes, 1, GPUME_PASSES_MAX, "from 1 to 8"},
        {"params.distance_count", p->distance_count, 0, GPUME_DISTANCES_MAX, "from 0 to 16"},
        {"params.candidates", p->candidates, 1, GPUME_CANDIDATES_MAX, "from 1 to 8"},
    };
    return gpume_options_check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), log);
}

/* --- shapes */

static int check_side(uint32_t side, const struct gpume_log *log)
{
    return side < GPUME_BLOCK_MIN || side > GPUME_BLOCK_MAX || side % 4 != 0
               ? gpume_options_refuse(log, "params.block", side, "a multiple of 4 from 4 to 128")
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
            return gpume_log_fail(
                log, GPUME_INVALID, "params.shapes: lists %ux%u twice", shape.width, shape.height);
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
        return exclude(log, "params.partition", "needs params.rate and params.lambda above 0");
    }
    for (uint32_t i = 0; i < p->shape_count; i++) {
        largest = p->shapes[i].width > largest ? p->shapes[i].width : largest;
        largest = p->shapes[i].height > largest ? p->shapes[i].height : largest;
    }
    if (p->shape_count < 2 || usable_shapes(p, largest) != p->shape_count) {
        return exclude(log, "params.partition",
            "needs a list of squares by halves in params.shapes, where both halves may follow each "
            "square but the smallest");
    }
    return GPUME_OK;
}

/* --- cost */

static int check_fractions(const struct gpume_params *p, const struct gpume_log *log)
{
    if (p->subpel != 1 && p->subpel != 2 && p->subpel != 4) {
        return gpume_options_refuse(log, "params.subpel", p->subpel, "1, 2 or 4");
    }
    if (p->subpel > 1 && p->interpolation == GPUME_INTERPOLATION_HEVC && p->bits > 12) {
        return gpume_options_refuse(
            log, "params.bits", p->bits, "at most 12 with GPUME_INTERPOLATION_HEVC");
    }
    return GPUME_OK;
}

static int check_metrics(const struct gpume_params *p, const struct gpume_log *log)
{
    bool refines = p->subpel > 1 && p->subpel_search == GPUME_SUBPEL_REFINE;
    if (p->refine_metric != GPUME_REFINE_BY_METRIC && !refines) {
        return exclude(
            log, "params.refine_metric", "needs params.subpel 2 or 4 and GPUME_SUBPEL_REFINE");
    }
    return GPUME_OK;
}

static int check_rate(const struct gpume_params *p, const struct gpume_log *log)
{
    if (!p->rate && (p->lambda > 0 || p->predictor != GPUME_PREDICTOR_ZERO)) {
        return exclude(
            log, p->lambda > 0 ? "params.lambda" : "params.predictor", "needs params.rate");
    }
    if (p->predictor == GPUME_PREDICTOR_GIVEN && !p->predict) {
        return exclude(log, "params.predictor GPUME_PREDICTOR_GIVEN", "needs params.predict");
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

static const char *smaller_costs(
    const struct gpume_params *p, enum gpume_metric metric, uint64_t rate)
{
    uint64_t least = largest_difference(p, metric, GPUME_BLOCK_MIN, GPUME_BLOCK_MIN) + rate;
    return least > UINT32_MAX ? "another metric" : "smaller blocks or another metric";
}

/* Every cost by a metric fits 32 bits. */
static int check_costs(const struct gpume_params *p, const struct gpume_log *log,
    enum gpume_metric metric, const char *name)
{
    uint32_t bits = p->rate ? largest_bits(p) << p->bidirectional : 0, index = 0;
    uint64_t rate = gpume_rate_cost(p->lambda, bits);
    do {
        uint32_t width = p->shape_count > 0 ? p->shapes[index].width : p->block;
        uint32_t height = p->shape_count > 0 ? p->shapes[index].height : p->block;
        uint64_t cost = largest_difference(p, metric, width, height) + rate;
        if (cost > UINT32_MAX) {
            return gpume_log_fail(log, GPUME_INVALID,
                "%s: a block of %ux%u could cost %llu, more than 4294967295; use %s", name, width,
                height, (unsigned long long)cost, smaller_costs(p, metric, rate));
        }
    } while (++index < p->shape_count);
    return GPUME_OK;
}

/* --- references and candidates */

static int check_distances(const struct gpume_params *p, const struct gpume_log *log)
{
    for (uint32_t i = 0; i < p->distance_count; i++) {
        if (p->distances[i] < 1 || p->distances[i] > GPUME_DISTANCE_MAX) {
            return gpume_options_refuse(log, "params.distances", p->distances[i], "from 1 to 1024");
        }
        for (uint32_t j = 0; j < i; j++) {
            if (p->distances[i] == p->distances[j]) {
                return gpume_log_fail(
                    log, GPUME_INVALID, "params.distances: lists %u twice", p->distances[i]);
            }
        }
    }
    return GPUME_OK;
}

static int check_references(const struct gpume_params *p, const struct gpume_log *log)
{
    if (!p->bidirectional) {
        return GPUME_OK;
    }
    if (p->direction != GPUME_DIRECTION_BOTH && p->direction != GPUME_DIRECTION_MANUAL) {
        return exclude(log, "params.bidirectional", "needs GPUME_DIRECTION_BOTH");
    }
    if (p->candidates > 1 || p->confidence) {
        return exclude(log, "params.bidirectional",
            p->confidence ? "cannot be combined with params.confidence"
                          : "cannot be combined with params.candidates above 1");
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
        return gpume_log_fail(log, GPUME_INVALID,
            "params.devices %s: has an empty entry; separate devices by single commas", list);
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
    GPUME_TRY(check_costs(params, log, params->metric, "params.metric"));
    GPUME_TRY(check_costs(params, log, gpume_cost_metric(params), "params.refine_metric"));
fail:
    return status;
}
