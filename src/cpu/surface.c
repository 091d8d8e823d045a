/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume_surface. The block is taken as a picture whose padding holds what lies around it, so that
 * the general search's kernels find every match where they look for it. Any thread.
 */
#include "base/base.h"
#include "base/params.h"
#include "cpu/general/general.h"
#include "model/plan.h"

#include <stdlib.h>

/* Samples beyond the window, for the taps of fractions, which reach 4 samples. */
#define TAPS 8u

struct surface_patch {
    struct gpume_plan plan; /* the members that describe padded planes */
    void *target, *reference;
};

/* Fills plane 0. (left, top): the place of its first sample in the picture, outside of which the
 * nearest sample is repeated. */
static void fill_plane(const struct gpume_plan *plan, void *to, const struct gpume_plane *from,
    int64_t left, int64_t top)
{
    for (uint32_t y = 0; y < plan->padded_rows; y++) {
        const char *row = gpume_plane_row(from, gpume_nearest(top + y, from->height));
        for (uint32_t x = 0; x < plan->padded_stride; x++) {
            const size_t at = (size_t)y * plan->padded_stride + x;
            const size_t source = (size_t)gpume_nearest(left + x, from->width);
            if (plan->sample_bytes == 2) {
                ((uint16_t *)to)[at] = ((const uint16_t *)(const void *)row)[source];
            } else {
                ((uint8_t *)to)[at] = ((const uint8_t *)row)[source];
            }
        }
    }
}

static int make_patch(struct surface_patch *patch, const struct gpume_params *params,
    const struct gpume_plane *target, const struct gpume_plane *reference, uint32_t x, uint32_t y)
{
    struct gpume_plan *plan = &patch->plan;
    plan->params = *params;
    plan->sample_bytes = params->bits > 8 ? 2 : 1;
    plan->units = params->subpel;
    plan->planes = plan->units * plan->units;
    plan->pad_x = params->window_x + TAPS;
    plan->pad_y = params->window_y + TAPS;
    plan->padded_stride = params->width + 2 * plan->pad_x;
    plan->padded_rows = params->height + 2 * plan->pad_y;
    plan->padded_bytes = (uint64_t)plan->padded_stride * plan->padded_rows * plan->sample_bytes;
    patch->target = malloc(plan->padded_bytes);
    patch->reference = malloc(plan->padded_bytes * plan->planes);
    if (!patch->target || !patch->reference) {
        return GPUME_NOMEM;
    }
    const int64_t left = (int64_t)x - plan->pad_x, top = (int64_t)y - plan->pad_y;
    fill_plane(plan, patch->target, target, left, top);
    fill_plane(plan, patch->reference, reference, left, top);
    for (uint32_t row = 0; plan->planes > 1 && row < plan->padded_rows;
         row += GPUME_FRACTION_ROWS) {
        gpume_kernels_plain.fraction_rows(plan, patch->reference, row);
    }
    return GPUME_OK;
}

/* Whether the displacement along an axis is a candidate. It counts in units; before, after: pixels
 * of the picture on either side of the block. */
static bool is_inside_axis(
    const struct gpume_params *params, int32_t at, uint32_t before, uint32_t after)
{
    const int64_t units = params->subpel;
    return params->edge != GPUME_EDGE_INSIDE ||
           (at >= -(int64_t)before * units && at <= after * units);
}

static int check_arguments(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference, uint32_t x, uint32_t y, const struct gpume_log *log)
{
    const bool alike = target->width == params->width && reference->width == params->width &&
                       target->height == params->height && reference->height == params->height &&
                       target->bits == params->bits && reference->bits == params->bits;
    if (!target->data || !reference->data || !alike) {
        return gpume_log_fail(
            log, GPUME_INVALID, "gpume_surface: the planes must be those of a field with params");
    }
    if (x >= params->width || y >= params->height) {
        return gpume_log_fail(log, GPUME_INVALID, "gpume_surface: there is no such block");
    }
    return params->prefilter
               ? gpume_log_fail(log, GPUME_UNSUPPORTED,
                     "gpume_surface: costs after a prefilter cannot be computed for one block")
               : GPUME_OK;
}

/* params: those of the patch, whose width and height are those of the block's visible part. */
static void measure_block(const struct surface_patch *patch, const struct gpume_block_size *shape,
    uint32_t x, uint32_t y, const struct gpume_plane *picture, uint32_t *costs)
{
    const struct gpume_params *params = &patch->plan.params;
    const struct gpume_shape layer = {
        .block_w = shape->width, .block_h = shape->height, .blocks_x = 1, .blocks_y = 1};
    const struct gpume_matcher matcher = gpume_matcher_make(
        &patch->plan, &gpume_kernels_plain, &layer, 0, patch->target, patch->reference);
    const int32_t window_x = (int32_t)(params->window_x * params->subpel);
    const int32_t window_y = (int32_t)(params->window_y * params->subpel);
    const uint32_t right = picture->width - x - params->width;
    const uint32_t below = picture->height - y - params->height;
    for (int32_t dy = -window_y; dy <= window_y; dy++) {
        for (int32_t dx = -window_x; dx <= window_x; dx++) {
            *costs++ = is_inside_axis(params, dx, x, right) && is_inside_axis(params, dy, y, below)
                           ? gpume_matcher_distortion(&matcher, gpume_cost_metric(params),
                                 gpume_matcher_match(&matcher, dx, dy), UINT32_MAX)
                           : GPUME_NONE;
        }
    }
}

int gpume_surface(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference, const struct gpume_block_size *shape, uint32_t x,
    uint32_t y, uint32_t *costs)
{
    struct surface_patch patch = {0};
    struct gpume_params whole;
    int status;
    if (!params || !target || !reference || !shape || !costs) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    GPUME_TRY(gpume_sized_read(&whole, sizeof(whole), params, "gpume_params", &log));
    whole.shapes[0] = *shape; /* as if the run had no other one */
    whole.shape_count = 1;
    whole.partition = false;
    gpume_options_complete(&whole);
    GPUME_TRY(gpume_options_check(&whole, &log));
    GPUME_TRY(check_arguments(&whole, target, reference, x, y, &log));
    whole.width = gpume_min_u32(shape->width, whole.width - x);
    whole.height = gpume_min_u32(shape->height, whole.height - y);
    status = make_patch(&patch, &whole, target, reference, x, y);
    GPUME_TRY(status == GPUME_NOMEM ? gpume_log_nomem(&log, "gpume_surface") : status);
    measure_block(&patch, shape, x, y, target, costs);
fail:
    free(patch.target);
    free(patch.reference);
    return status;
}
