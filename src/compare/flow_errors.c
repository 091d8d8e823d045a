/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/status.h"
#include "compare/flow.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define OUTLIER_PIXELS 3
#define OUTLIER_SHARE 20 /* 1/20 of the true length: 5 % */

#define DEGREES (180 / 3.14159265358979323846)

const uint32_t gpume_flow_limits[GPUME_FLOW_LIMITS] = {1, 3, 5};

/* Components are at most 2^16 pixels = 2^31 units apart (a vector's is at most 2^15 pixels, a true
 * one's 2^14), so that squared lengths fit. */
static uint64_t squared(int64_t x, int64_t y)
{
    return (uint64_t)(x * x) + (uint64_t)(y * y);
}

static bool is_above(uint64_t distance, uint32_t pixels)
{
    const uint64_t limit = (uint64_t)pixels * GPUME_FLOW_ONE;
    return distance > limit * limit;
}

/* Between (u,v,1) and its truth in space. By atan2, because acos loses half of the digits of small
 * angles. */
static double angle(double u, double v, double true_u, double true_v)
{
    const double x = v - true_v, y = true_u - u, z = u * true_v - v * true_u;
    return atan2(sqrt(x * x + y * y + z * z), u * true_u + v * true_v + 1) * DEGREES;
}

static void measure_pixel(struct gpume_flow_errors *errors, struct gpume_flow_vector found,
    struct gpume_flow_vector truth)
{
    const double one = GPUME_FLOW_ONE;
    const uint64_t distance = squared((int64_t)found.u - truth.u, (int64_t)found.v - truth.v);
    const uint64_t opposite = squared((int64_t)found.u + truth.u, (int64_t)found.v + truth.v);
    const uint64_t length = squared(truth.u, truth.v);
    const double pixels = sqrt((double)distance) / one;
    errors->pixels++;
    for (uint32_t i = 0; i < GPUME_FLOW_LIMITS; i++) {
        errors->above[i] += is_above(distance, gpume_flow_limits[i]);
    }
    errors->outliers +=
        is_above(distance, OUTLIER_PIXELS) && distance > length / (OUTLIER_SHARE * OUTLIER_SHARE);
    errors->distance_sum += pixels;
    errors->distance_max = fmax(errors->distance_max, pixels);
    errors->opposite_sum += sqrt((double)opposite) / one;
    if (distance > 0) {
        errors->angle_sum += angle(found.u / one, found.v / one, truth.u / one, truth.v / one);
    }
}

/* taken: which pixels have a vector. False: one of this block's has another already. */
static bool measure_block(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_block *block, bool *taken)
{
    const int32_t scale = GPUME_FLOW_ONE / GPUME_VECTORS_UNITS;
    const struct gpume_flow_vector found = {block->dx * scale, block->dy * scale};
    for (uint32_t y = block->y; y < block->y + block->h; y++) {
        const struct gpume_flow_vector *line = flow->vectors + (size_t)y * flow->width;
        bool *taken_line = taken + (size_t)y * flow->width;
        for (uint32_t x = block->x; x < block->x + block->w; x++) {
            if (taken_line[x]) {
                return false;
            }
            taken_line[x] = true;
            if (line[x].u != GPUME_FLOW_UNKNOWN) {
                measure_pixel(errors, found, line[x]);
            }
        }
    }
    return true;
}

int gpume_flow_measure(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_field *field, const char *run, const struct gpume_log *log)
{
    const size_t pixels = (size_t)flow->width * flow->height;
    bool *taken = calloc(pixels, sizeof(*taken)), apart = true;
    *errors = (struct gpume_flow_errors){0};
    if (!taken) {
        return gpume_log_nomem(log, run);
    }
    for (size_t i = 0; i < pixels; i++) {
        errors->known += flow->vectors[i].u != GPUME_FLOW_UNKNOWN;
    }
    for (size_t i = 0; i < field->count && apart; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        apart = block->candidate > 0 || measure_block(errors, flow, block, taken);
    }
    free(taken);
    return apart ? GPUME_OK
                 : gpume_log_fail(log, GPUME_INVALID,
                       "%s: frame %" PRIu64 " has several vectors per pixel; run it with one "
                       "shape of blocks, or with --partition",
                       run, field->frame);
}

void gpume_flow_add(struct gpume_flow_errors *total, const struct gpume_flow_errors *errors)
{
    total->known += errors->known;
    total->pixels += errors->pixels;
    for (uint32_t i = 0; i < GPUME_FLOW_LIMITS; i++) {
        total->above[i] += errors->above[i];
    }
    total->outliers += errors->outliers;
    total->distance_sum += errors->distance_sum;
    total->distance_max = fmax(total->distance_max, errors->distance_max);
    total->opposite_sum += errors->opposite_sum;
    total->angle_sum += errors->angle_sum;
}
