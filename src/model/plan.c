/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/plan.h"

#include "base/base.h"
#include "base/params.h"
#include "model/cost.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what a filter's parameters say, as whole numbers */

#define WEIGHT_SUM 65536 /* of GAUSS in one axis; of BILATERAL in both, at most */
#define LIKENESS_MAX 32768.0
#define SIGMA_MIN 0.3 /* below, the weight of the centre would take all but a few of 2^16 */
#define MAGNITUDE_MAX 1e9
#define MAGNITUDE_MIN 1e-9

static int refuse_real(
    const struct gpume_log *log, const char *name, double value, const char *allowed)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s %g: must be %s", name, value, allowed);
}

static int refuse_side(const struct gpume_log *log, const char *name,
    const struct gpume_prefilter *f, const char *must)
{
    return gpume_log_fail(
        log, GPUME_INVALID, "%s of %ux%u pixels: must be %s", name, f->width, f->height, must);
}

static bool odd_side(uint32_t side, uint32_t least)
{
    return side >= least && side <= GPUME_PREFILTER_SIDE_MAX && side % 2 == 1;
}

static int check_weights(const struct gpume_prefilter *f, const struct gpume_log *log)
{
    bool any = false;
    if (!f->weights) {
        return gpume_log_fail(log, GPUME_INVALID, "filter kernel: its weights are missing");
    }
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        double magnitude = fabs(f->weights[i]);
        if (magnitude == 0) {
            continue;
        }
        if (!(magnitude >= MAGNITUDE_MIN && magnitude <= MAGNITUDE_MAX)) { /* nor not a number */
            return refuse_real(
                log, "filter weight", f->weights[i], "0 or of a magnitude from 1e-9 to 1e9");
        }
        any = true;
    }
    return any ? GPUME_OK : refuse_real(log, "filter weights, all", 0, "something else somewhere");
}

static int check(const struct gpume_prefilter *f, const struct gpume_log *log)
{
    switch (f->kind) {
    case GPUME_PREFILTER_GAUSS:
        return f->sigma >= SIGMA_MIN && f->sigma <= 16
                   ? GPUME_OK
                   : refuse_real(log, "filter gauss", f->sigma, "from 0.3 to 16");
    case GPUME_PREFILTER_BOX:
        return odd_side(f->width, 3) && f->width == f->height
                   ? GPUME_OK
                   : refuse_side(log, "filter box", f, "square, its side odd, from 3 to 31");
    case GPUME_PREFILTER_MEDIAN:
        return (f->width == 3 || f->width == 5) && f->width == f->height
                   ? GPUME_OK
                   : refuse_side(log, "filter median", f, "3x3 or 5x5");
    case GPUME_PREFILTER_BILATERAL:
        if (!(f->sigma >= SIGMA_MIN && f->sigma <= 5)) {
            return refuse_real(log, "filter bilateral", f->sigma, "from 0.3 to 5");
        }
        return f->range >= 0.1 && f->range <= 1000
                   ? GPUME_OK
                   : refuse_real(log, "filter bilateral, range", f->range, "from 0.1 to 1000");
    case GPUME_PREFILTER_KERNEL:
        return odd_side(f->width, 1) && odd_side(f->height, 1)
                   ? check_weights(f, log)
                   : refuse_side(log, "filter kernel", f, "odd in width and height, up to 31");
    }
    return gpume_log_fail(log, GPUME_INVALID, "filter %u: must be one of enum gpume_prefilter_kind",
        (unsigned)f->kind);
}

static int32_t nearest(double value)
{
    return (int32_t)round(value); /* callers stay below 2^31 */
}

static double bell(double sigma, double i, double j)
{
    return exp(-(i * i + j * j) / (2 * sigma * sigma));
}

static void make_gauss(double sigma, uint32_t bits, struct gpume_prefilter_tables *t)
{
    uint32_t radius = (uint32_t)ceil(3 * sigma);
    double total = 1;
    int32_t centre = WEIGHT_SUM;
    for (uint32_t i = 1; i <= radius; i++) {
        total += 2 * bell(sigma, i, 0);
    }
    for (uint32_t i = 1; i <= radius; i++) {
        int32_t weight = nearest(WEIGHT_SUM * bell(sigma, i, 0) / total);
        t->weights[radius - i] = t->weights[radius + i] = weight;
        centre -= 2 * weight; /* what rounding leaves goes here */
    }
    t->weights[radius] = centre;
    t->radius_x = t->radius_y = radius;
    t->shift = bits;
    t->divisor = 1u << (32 - bits);
}

static void make_bilateral(
    const struct gpume_prefilter *f, uint32_t bits, struct gpume_prefilter_tables *t)
{
    int32_t radius = (int32_t)ceil(3 * f->sigma);
    double total = 0;
    for (int32_t j = -radius; j <= radius; j++) {
        for (int32_t i = -radius; i <= radius; i++) {
            total += bell(f->sigma, i, j);
        }
    }
    int32_t *weight = t->weights;
    for (int32_t j = -radius; j <= radius; j++) {
        for (int32_t i = -radius; i <= radius; i++) { /* rounded down: no more than WEIGHT_SUM */
            *weight++ = (int32_t)(WEIGHT_SUM * bell(f->sigma, i, j) / total);
        }
    }
    t->radius_x = t->radius_y = (uint32_t)radius;
    uint32_t kept = gpume_min_u32(bits, 10);
    t->shift = bits - kept;
    for (uint32_t i = 0; i < 1u << kept; i++) {
        double d = (double)i / (1u << (kept - 8)) / f->range;
        t->likeness[i] = nearest(LIKENESS_MAX * exp(-d * d / 2));
    }
}

/* weights * 2^k rounded; the sum of their magnitudes. */
static double scale(const struct gpume_prefilter *f, int k, int32_t *weights)
{
    double magnitudes = 0;
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        weights[i] = nearest(ldexp(f->weights[i], k));
        magnitudes += fabs((double)weights[i]);
    }
    return magnitudes;
}

/*
 * 32 bits hold every sum: with M = 2^(31-bits) the magnitudes come to M - 1 at most and half of the
 * divisor to M / 2, so |sum| <= (M - 1) (2^bits - 1) + M / 2 < M 2^bits = 2^31.
 */
static int make_kernel(const struct gpume_prefilter *f, uint32_t bits, const struct gpume_log *log,
    struct gpume_prefilter_tables *t)
{
    double sum = 0, magnitudes = 0, limit = ldexp(1, 31 - (int)bits);
    int64_t whole = 0;
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        sum += f->weights[i];
        magnitudes += fabs(f->weights[i]);
    }
    int exponent, k;
    (void)frexp(magnitudes, &exponent); /* 2^(exponent-1) <= magnitudes < 2^exponent */
    k = 31 - (int)bits - exponent;
    while (scale(f, k, t->weights) >= limit) {
        k--;
    }
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        whole += t->weights[i];
    }
    whole = sum < 0 ? -whole : whole;
    bool none = fabs(sum) < magnitudes / 1000 || whole <= 0;
    if (none && k < 0) {
        return refuse_real(log, "filter weights of sum 0, their magnitudes together", magnitudes,
            "less than 2^(31 - bits)");
    }
    if (none && k > 31 - (int)bits) {
        k = 31 - (int)bits;
        scale(f, k, t->weights);
    }
    t->radius_x = f->width / 2;
    t->radius_y = f->height / 2;
    t->divisor = none ? 1u << k : (uint32_t)whole;
    for (uint32_t i = 0; !none && sum < 0 && i < f->width * f->height; i++) {
        t->weights[i] = -t->weights[i];
    }
    return GPUME_OK;
}

int gpume_prefilter_make(const struct gpume_prefilter *f, uint32_t bits,
    const struct gpume_log *log, struct gpume_prefilter_tables *tables)
{
    int status = check(f, log);
    if (status != GPUME_OK) {
        return status;
    }
    memset(tables, 0, sizeof(*tables));
    tables->kind = f->kind;
    tables->peak = (1u << bits) - 1;
    switch (f->kind) {
    case GPUME_PREFILTER_GAUSS:
        make_gauss(f->sigma, bits, tables);
        break;
    case GPUME_PREFILTER_BOX:
        tables->radius_x = tables->radius_y = f->width / 2;
        for (uint32_t i = 0; i < f->width; i++) {
            tables->weights[i] = 1;
        }
        tables->divisor = f->width * f->width;
        break;
    case GPUME_PREFILTER_MEDIAN:
        tables->radius_x = tables->radius_y = f->width / 2;
        break;
    case GPUME_PREFILTER_BILATERAL:
        make_bilateral(f, bits, tables);
        break;
    case GPUME_PREFILTER_KERNEL:
        status = make_kernel(f, bits, log, tables);
        break;
    }
    return status;
}

/* --- what parameters may say: depth, window, shapes, fractions, metric, rate, references,
 * candidates. Each function checks one group and says which value is out of range, or which two
 * parameters exclude each other. */

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
    GPUME_TRY(params->shape_count == 0 ? check_side(params->block, log) : GPUME_OK);
    for (uint32_t i = 0; i < params->shape_count; i++) {
        GPUME_TRY(check_shape(params, log, i));
    }
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

/* --- sizes, counts and limits */

#define PIXELS_MAX (1ull << 32)         /* pixels: 2^32 * 65535^2 < 2^64 bounds every squared sum */
#define BATCH_BLOCKS (1u << 20)         /* blocks of a submission: enough for any device */
#define BATCH_BYTES (48ull << 20)       /* of frames in a submission: more hides its cost */
#define THREAD_WORK (32ull << 20)       /* differences of samples that are worth a thread */
#define TASK_THREADS 8u                 /* that share a task */
#define LARGE_PLANE_BYTES (32ull << 20) /* above, memory matters more than overlap */

static int check_frames(const struct gpume_params *p, const struct gpume_log *log)
{
    const struct gpume_param *target =
        p->first_target > 0 ? GPUME_PARAM(first_target) : GPUME_PARAM(target_count);
    const uint64_t pixels = (uint64_t)p->width * p->height;
    /* GPUME_SIDE_MAX keeps coordinates and strides within 31 bits. */
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(width), p->width, log));
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(height), p->height, log));
    if (pixels > PIXELS_MAX) {
        return gpume_log_fail(log, GPUME_INVALID, "pixels %llu: must be at most 4294967296",
            (unsigned long long)pixels);
    }
    if (p->direction == GPUME_DIRECTION_MANUAL && gpume_param_value(target, p) > 0) {
        return gpume_log_refuse(log, GPUME_INVALID,
            gpume_about_two(target, NULL, GPUME_PARAM(direction), "manual"), "must be 0 with");
    }
    return GPUME_OK;
}

/* Along one axis, the sum over its blocks. units: candidates per pixel. */
static uint64_t axis_candidates(
    uint32_t size, uint32_t block, uint32_t window, bool inside, uint32_t units)
{
    uint64_t sum = 0;
    for (uint32_t at = 0; at < size; at += block) {
        uint32_t after = size - at < block ? 0 : size - at - block;
        uint32_t pixels =
            gpume_plan_reach(window, at, inside) + gpume_plan_reach(window, after, inside);
        sum += (uint64_t)pixels * units + 1;
    }
    return sum;
}

static uint64_t layer_candidates(
    const struct gpume_params *p, const struct gpume_shape *layer, uint32_t units)
{
    bool inside = p->edge == GPUME_EDGE_INSIDE;
    return axis_candidates(p->width, layer->block_w, p->window_x, inside, units) *
           axis_candidates(p->height, layer->block_h, p->window_y, inside, units);
}

/* sample_max: the largest value that a sample's memory can hold. What follows from more than these
 * stays 0. */
static struct gpume_shape make_shape(
    uint32_t width, uint32_t height, uint32_t block_w, uint32_t block_h, uint32_t sample_max)
{
    struct gpume_shape shape = {
        .block_w = block_w,
        .block_h = block_h,
        .blocks_x = (uint32_t)gpume_div_up(width, block_w),
        .blocks_y = (uint32_t)gpume_div_up(height, block_h),
    };
    /* The plan allows 2^32 pixels and blocks of 16 or more: at most 2^28 and a few cut ones. */
    shape.blocks = shape.blocks_x * shape.blocks_y;
    shape.cost_bits = gpume_bit_width(gpume_cost_max(block_w, block_h, sample_max));
    shape.index_bits = gpume_bit_width(shape.blocks - 1);
    return shape;
}

static void add_layer(
    struct gpume_plan *plan, uint32_t block_w, uint32_t block_h, uint32_t sample_max)
{
    const struct gpume_params *p = &plan->params;
    struct gpume_shape *layer = &plan->layers[plan->layer_count++];
    *layer = make_shape(p->width, p->height, block_w, block_h, sample_max);
    layer->first = plan->blocks;
    plan->blocks += layer->blocks;
    layer->candidates = layer_candidates(p, layer, 1);
    plan->field_candidates += layer->candidates;
}

static uint32_t area(const struct gpume_block_size *shape)
{
    return shape->width * shape->height;
}

/* Picture and sides are checked: at most 2^28 blocks in a layer and a few cut ones. */
static int plan_blocks(struct gpume_plan *plan, const struct gpume_log *log)
{
    const struct gpume_params *p = &plan->params;
    const struct gpume_block_size square = {p->block, p->block};
    const struct gpume_block_size *shapes = p->shape_count > 0 ? p->shapes : &square;
    uint32_t count = p->shape_count > 0 ? p->shape_count : 1;
    uint64_t blocks = 0;
    plan->kept = gpume_max_u32(p->candidates, p->confidence ? 2 : 1);
    plan->sample_bytes = p->bits > 8 ? 2 : 1;
    plan->candidates = (2ull * p->window_x + 1) * (2ull * p->window_y + 1);
    /* Raw files exist whose 10-bit samples use all 16: bound by what the memory can hold. */
    uint32_t sample_max = plan->sample_bytes == 2 ? 65535 : 255;
    for (uint32_t i = 0; i < count; i++) {
        add_layer(plan, shapes[i].width, shapes[i].height, sample_max);
        plan->finest = area(&shapes[i]) < area(&shapes[plan->finest]) ? i : plan->finest;
        blocks += plan->layers[i].blocks;
    }
    const uint64_t matches = blocks * plan->kept;
    return matches <= UINT32_MAX ? GPUME_OK
                                 : gpume_log_fail(log, GPUME_INVALID,
                                       "matches of all blocks %llu: must be at most 4294967295",
                                       (unsigned long long)matches);
}

/* The padded width must hold whole blocks of every layer. */
static uint32_t covered_width(const struct gpume_plan *plan)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        width = gpume_max_u32(width, layer->blocks_x * layer->block_w);
    }
    return width;
}

static void sort_distances(struct gpume_plan *plan)
{
    const struct gpume_params *p = &plan->params;
    plan->distances[0] = p->ref_distance;
    plan->distance_count = 1;
    for (uint32_t i = 0; i < p->distance_count; i++) {
        uint32_t at = i;
        for (; at > 0 && plan->distances[at - 1] > p->distances[i]; at--) {
            plan->distances[at] = plan->distances[at - 1];
        }
        plan->distances[at] = p->distances[i];
        plan->distance_count = i + 1;
    }
}

static uint32_t references_of(const struct gpume_plan *plan)
{
    if (!plan->params.best_reference) {
        return 1;
    }
    switch (plan->params.direction) {
    case GPUME_DIRECTION_MANUAL:
        return GPUME_REFERENCES_MAX;
    case GPUME_DIRECTION_BOTH:
        return 2 * plan->distance_count;
    default:
        return plan->distance_count;
    }
}

/* A frame completes the references of one target at most. */
static uint32_t requests_of(const struct gpume_plan *plan)
{
    const struct gpume_params *p = &plan->params;
    uint32_t sides = p->direction == GPUME_DIRECTION_BOTH ? 2 : 1;
    uint32_t pairs = sides * plan->distance_count;
    uint32_t tasks = p->best_reference ? 1 : pairs;
    if (p->direction == GPUME_DIRECTION_MANUAL) {
        return 2; /* any number would do: gpume_search can refuse a request for the time being */
    }
    return plan->returns ? tasks + pairs : tasks;
}

/* What is searched, beyond blocks and windows. */
static void plan_search(struct gpume_plan *plan, const struct gpume_caps *caps)
{
    const struct gpume_params *p = &plan->params;
    plan->units = p->subpel;
    plan->planes = p->subpel * p->subpel;
    plan->passes = p->predictor == GPUME_PREDICTOR_MEDIAN ? p->passes : 1;
    sort_distances(plan);
    plan->references = references_of(plan);
    plan->returns = (p->confidence || (p->want_returns && !p->bidirectional)) &&
                    p->direction == GPUME_DIRECTION_BOTH;
    /* While one field waits and the receiver keeps another, a third submission must be possible: a
     * run with little memory rather searches twice. The same on every engine of a run. */
    plan->mutual = plan->returns && !p->best_reference && plan->distance_count == 1 &&
                   plan->distances[0] == 1 && p->memory_max == 0;
    plan->requests = requests_of(plan);
    bool one_by_sad = p->metric == GPUME_METRIC_SAD && !p->rate && !p->partition && plan->kept == 1;
    bool full = p->subpel_search == GPUME_SUBPEL_FULL;
    plan->general = p->subpel > 1 || p->best_reference || !one_by_sad;
    plan->fast_pixels =
        plan->general && one_by_sad && !(p->subpel > 1 && full) &&
        (!p->best_reference ||
            /* tasks that the caller makes may have far fewer references than they could */
            (caps->fast_references && p->direction != GPUME_DIRECTION_MANUAL));
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        struct gpume_shape *layer = &plan->layers[i];
        layer->cost_bits = gpume_plan_searches_fast(plan) ? layer->cost_bits : 32;
        plan->sweep_candidates += layer_candidates(p, layer, full ? plan->units : 1);
    }
}

static void plan_layout(struct gpume_plan *plan, const struct gpume_caps *caps)
{
    const struct gpume_params *p = &plan->params;
    plan->plane_stride = (uint32_t)gpume_round_up((uint64_t)p->width * plan->sample_bytes, 64);
    plan->plane_bytes = (uint64_t)plan->plane_stride * p->height;
    plan->pad_x = (uint32_t)gpume_round_up(p->window_x, 4);
    plan->pad_y = p->window_y;
    plan->dx_quads = (uint32_t)gpume_div_up(plan->pad_x + p->window_x + 1, 4);
    /* The last block's last quad of dx reads samples up to blocks_x * block_w + 4 dx_quads - 1. */
    plan->padded_stride = covered_width(plan) + 4 * plan->dx_quads;
    plan->padded_rows = p->height + 2 * p->window_y;
    plan->padded_bytes = gpume_round_up(
        (uint64_t)plan->padded_stride * plan->padded_rows * plan->sample_bytes, caps->align_bytes);
    plan->surface_bytes = plan->padded_bytes * plan->planes;
}

/* Differences of samples in a task: below 2^32 * 2^21 in each layer, for each of its searches. Once
 * that is more than `enough`, how much more does not matter. */
static uint64_t field_work(const struct gpume_plan *plan, uint64_t enough)
{
    const struct gpume_params *p = &plan->params;
    uint64_t once = (uint64_t)p->width * p->height * plan->candidates * plan->layer_count;
    uint64_t means = p->bidirectional ? 8 : 0; /* turns in which a side is searched anew */
    uint64_t searches = (uint64_t)plan->passes * plan->kept * plan->references + means;
    return once > enough ? once : once * gpume_plan_search_planes(plan) * searches;
}

/* Few threads search one task after the other. More of them than a task is worth, or than can share
 * one without waiting for each other, search several, and two more are ready for them. */
static uint32_t overlap_of(const struct gpume_plan *plan, uint32_t threads)
{
    const uint64_t worth = field_work(plan, TASK_THREADS * THREAD_WORK) / THREAD_WORK;
    const uint64_t useful = gpume_max_u64(gpume_min_u64(worth, TASK_THREADS), 1);
    return threads > useful ? (uint32_t)gpume_min_u64(2 + threads / useful, GPUME_SLOTS_MAX) : 1;
}

/* The largest batch for which the 16-bit box sums of its frames and their references fit one
 * window, if there is any such batch. A sixteenth of the window is kept for rounding. Several
 * engines need not be as fast as one, and open sooner with less memory. */
static uint64_t batch_of(const struct gpume_plan *plan, const struct gpume_caps *caps)
{
    uint64_t window = caps->window_bytes / 16 * 15 / 2 * plan->sample_bytes;
    uint64_t most = plan->params.devices ? BATCH_BYTES / 2 : BATCH_BYTES;
    uint64_t frames = window / plan->surface_bytes, batch = most / plan->padded_bytes;
    return frames > plan->reach ? gpume_min_u64(batch, frames - plan->reach) : batch;
}

/* The queue; the fields that are under way with their predictors, parts and returns; the vectors of
 * reverse pairs, and what ranking parts takes: at most 2^28 blocks and a few cut ones, 2^8 fields,
 * 2^9 bytes each, and less than 2^15 reverse pairs. */
static uint64_t run_bytes(const struct gpume_plan *plan)
{
    const struct gpume_params *p = &plan->params;
    uint64_t vectors = (uint64_t)plan->blocks * sizeof(struct gpume_vector);
    uint64_t predictors = p->predictor == GPUME_PREDICTOR_GIVEN ? plan->references * vectors : 0;
    uint64_t parts = p->partition ? plan->layers[plan->finest].blocks : 0;
    uint64_t returns = plan->returns ? plan->blocks * sizeof(uint32_t) : 0;
    uint64_t layers = plan->layer_count * (sizeof(struct gpume_layer) + sizeof(void *));
    uint64_t of_field =
        GPUME_FIELD_BYTES + layers + predictors + parts * sizeof(struct gpume_part) + returns;
    uint64_t fields = plan->slots * plan->batch;
    return (gpume_plan_waiting_max(plan, plan->pool) + fields) * GPUME_QUEUED_BYTES +
           fields * of_field + (plan->returns ? gpume_plan_reverse_pairs(plan) * vectors : 0) +
           parts * 4 * sizeof(uint32_t);
}

/* Everything that depends on the number of frames in a submission. */
static void plan_batch(struct gpume_plan *plan, const struct gpume_caps *caps, uint64_t batch)
{
    const struct gpume_params *p = &plan->params;
    bool large = plan->plane_bytes > LARGE_PLANE_BYTES;
    bool several = p->direction != GPUME_DIRECTION_MANUAL && plan->requests > 1;
    uint64_t ring_bytes = (plan->reach + batch) * plan->surface_bytes;
    plan->one_window = ring_bytes <= caps->window_bytes;
    plan->batch = plan->one_window ? (uint32_t)batch : 1;
    plan->ring = plan->reach + plan->batch;
    bool slow = field_work(plan, caps->batch_work) > caps->batch_work;
    /* Of several engines, one waits for the fields before its own while it should be at work. */
    bool alone = p->devices == NULL;
    plan->slots = (large || (slow && alone)) && !plan->mutual ? 2 : 3;
    plan->overlap = large ? 1 : overlap_of(plan, caps->threads);
    plan->slots = gpume_max_u32(plan->slots, plan->overlap);
    /* Frames are read until their submission is collected. With want_frames, a field in a slot
     * keeps its target and its reference, however old they are, and the frames that a later task
     * may look at are kept: the newest `reach`, and one more while some of a frame's tasks wait for
     * the next submission. Some more frames are being filled. */
    uint32_t in_slots = plan->slots * plan->batch;
    bool kept = gpume_plan_keeps_frames(p);
    /* Of several engines, each has memory for copies of the others' frames, too. A slot whose
     * fields wait for others needs no frames, and opening takes as long as there is memory. */
    uint32_t own = alone || plan->slots < 3 ? in_slots : in_slots - plan->batch;
    plan->pool = own + (large ? 1 : 3) + (kept ? plan->reach + several : 0) +
                 (p->want_frames ? in_slots : 0);
    plan->run_bytes = run_bytes(plan);
}

/* What every engine needs: frames, less than 2^12 of less than 2^34 bytes each, and run_bytes. */
static uint64_t least_bytes(const struct gpume_plan *plan)
{
    return plan->pool * plan->plane_bytes + (plan->reach + 1ull) * plan->surface_bytes +
           plan->run_bytes;
}

static bool fits(const struct gpume_plan *plan)
{
    return plan->params.memory_max == 0 || least_bytes(plan) <= plan->params.memory_max;
}

/* Frames before the newest one that has been submitted that a task may look at. */
static uint32_t reach_of(const struct gpume_plan *plan)
{
    uint32_t distance = plan->distances[plan->distance_count - 1];
    switch (plan->params.direction) {
    case GPUME_DIRECTION_BOTH: /* frame m brings (m - d, m), then (m - d + 1, m - 2d + 1), or all
                                  references of m - d at once */
        return 2 * distance - (plan->distance_count == 1 && !plan->params.best_reference);
    case GPUME_DIRECTION_MANUAL: /* the next frame may be submitted before a task that waits */
        return distance + 1;
    default:
        return distance;
    }
}

static void plan_counts(struct gpume_plan *plan, const struct gpume_caps *caps)
{
    plan->reach = reach_of(plan);
    uint64_t batch = gpume_min_u64(BATCH_BLOCKS / plan->blocks, batch_of(plan, caps));
    batch = gpume_min_u64(batch, caps->batch_work / field_work(plan, caps->batch_work));
    uint64_t most = gpume_plan_searches_fast(plan) ? GPUME_BATCH_MAX / plan->references
                                                   : GPUME_BATCH_MAX; /* pairs of the fast search */
    batch = gpume_min_u64(gpume_min_u64(batch, caps->batch_max), most);
    plan_batch(plan, caps, gpume_max_u64(batch, 1));
    while (plan->batch > 1 && !fits(plan)) {
        plan_batch(plan, caps, plan->batch - 1);
    }
}

/* Bands of at most that many picture rows; one, if those are all. */
static void set_bands(struct gpume_plan *plan, uint64_t rows)
{
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        struct gpume_shape *layer = &plan->layers[i];
        bool whole = rows >= plan->params.height;
        layer->band_rows = whole ? layer->blocks_y : (uint32_t)(rows / layer->block_h);
        layer->band_count = (uint32_t)gpume_div_up(layer->blocks_y, layer->band_rows);
    }
}

static int plan_bands(
    struct gpume_plan *plan, const struct gpume_caps *caps, const struct gpume_log *log)
{
    const struct gpume_params *p = &plan->params;
    set_bands(plan, p->height);
    plan->filter_rows = p->height;
    if (plan->one_window || plan->surface_bytes <= caps->window_bytes) {
        return GPUME_OK;
    }
    /* A band of n block rows sees n * block_h + 2 window_y rows of the reference, and up to
     * align_bytes before its first row. */
    uint32_t block_h = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        block_h = gpume_max_u32(block_h, plan->layers[i].block_h);
    }
    uint64_t row_bytes = (uint64_t)plan->padded_stride * plan->sample_bytes;
    uint64_t rows = (caps->window_bytes - caps->align_bytes) / row_bytes;
    uint64_t filtered = 2ull * plan->prefilter.radius_y + 1; /* rows that one row is made of */
    uint64_t needed = gpume_max_u64(2ull * p->window_y + block_h, filtered);
    if (rows < needed) {
        return gpume_log_fail(log, GPUME_UNSUPPORTED,
            "%ux%u with window %u%s needs %llu bytes of a frame at once, the device allows %llu; "
            "use a smaller %s or the CPU engine",
            p->width, p->height, p->window_y, gpume_plan_filters(plan) ? " and a filter" : "",
            (unsigned long long)(needed * row_bytes), (unsigned long long)caps->window_bytes,
            needed == filtered ? "filter" : "window");
    }
    plan->filter_rows = (uint32_t)(rows - filtered + 1);
    set_bands(plan, rows - 2ull * p->window_y);
    return GPUME_OK;
}

/* The refusal names what would do as a value of the parameter. */
static int refuse_memory(const struct gpume_plan *plan, uint64_t bytes, const struct gpume_log *log)
{
    const struct gpume_params *p = &plan->params;
    char allowed[24], needed[24];
    snprintf(allowed, sizeof(allowed), "%" PRIu64, p->memory_max);
    snprintf(needed, sizeof(needed), "%" PRIu64, bytes);
    struct gpume_message message =
        gpume_about_two(GPUME_PARAM(memory_max), allowed, GPUME_PARAM(memory_max), needed);
    message.rest = " or use smaller pictures";
    return gpume_log_refuse(log, GPUME_INVALID, message,
        "is too little for %ux%u pixels, window %ux%u and reference distance %u; give", p->width,
        p->height, p->window_x, p->window_y, plan->distances[plan->distance_count - 1]);
}

int gpume_plan_check_memory(
    const struct gpume_plan *plan, uint64_t bytes, bool has_boxes, const struct gpume_log *log)
{
    bytes += plan->run_bytes;
    if (plan->params.memory_max == 0 || bytes <= plan->params.memory_max) {
        return GPUME_OK;
    }
    return has_boxes ? GPUME_AGAIN : refuse_memory(plan, bytes, log);
}

int gpume_plan_make(const struct gpume_params *params, const struct gpume_caps *caps,
    const struct gpume_log *log, struct gpume_plan *out)
{
    struct gpume_plan plan = {.params = *params};
    int status;
    gpume_options_complete(&plan.params);
    GPUME_TRY(check_frames(params, log));
    GPUME_TRY(gpume_options_check(&plan.params, log));
    if (params->prefilter) {
        GPUME_TRY(gpume_prefilter_make(params->prefilter, params->bits, log, &plan.prefilter));
    }
    plan.has_surface[GPUME_SURFACE_SOURCE] = true;
    plan.has_surface[GPUME_SURFACE_FILTERED] = params->prefilter != NULL;
    plan.searched = params->prefilter ? GPUME_SURFACE_FILTERED : GPUME_SURFACE_SOURCE;
    plan.measured = GPUME_SURFACE_SOURCE;
    GPUME_TRY(plan_blocks(&plan, log));
    plan_search(&plan, caps);
    plan_layout(&plan, caps);
    plan_counts(&plan, caps);
    GPUME_TRY(plan_bands(&plan, caps, log));
    *out = plan;
fail:
    return status;
}
