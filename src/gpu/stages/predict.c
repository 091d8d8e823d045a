/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Predicted frame and sums: a pass over the pixels that leaves partial sums, then one that adds
 * these.
 */
#include "base/grid.h"
#include "gpu/stages/stages.h"

_Static_assert(
    sizeof(struct gpume_predict_push) == 13 * 4, "words without gaps, as GLSL lays them");

static const uint32_t predict8[] =
#include "predict8.inc"
    ;
static const uint32_t predict16[] =
#include "predict16.inc"
    ;
static const uint32_t reduce[] =
#include "reduce.inc"
    ;

int gpume_k_predict_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code code =
        GPUME_K_TASK_CODE(predict, 5, struct gpume_predict_push);
    return gpume_k_create(gpu, plan, &code, NULL, kernel);
}

/* Where the band's rows of the predicted frame go; a token part where none is wanted. */
static struct gpume_view predicted_view(
    const struct gpume_work *work, uint32_t row_first, uint32_t row_end)
{
    const struct gpume_plan *plan = work->plan;
    VkDeviceSize start = work->layout->predicted;
    if (!plan->params.want_predicted) {
        return gpume_view_part(work->results, start, 256);
    }
    if (plan->band_count == 1) {
        return gpume_view_part(work->results, start, work->task_count * plan->plane_bytes);
    }
    return gpume_view_part(work->results, start + (VkDeviceSize)row_first * plan->plane_stride,
        (VkDeviceSize)(row_end - row_first) * plan->plane_stride);
}

static void record_band(
    const struct gpume_work *work, const struct gpume_kernel *kernel, uint32_t band)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_layout *layout = work->layout;
    uint32_t band_pixels = plan->band_rows * plan->params.block;
    struct gpume_predict_push push = {
        .width = plan->params.width,
        .row_first = band * band_pixels,
        .row_end = (uint32_t)gpume_min_u64((uint64_t)(band + 1) * band_pixels, plan->params.height),
        .blocks_x = plan->layers[0].blocks_x,
        .blocks = plan->blocks,
        .predicted_stride = plan->plane_stride / gpume_quad_bytes(plan),
        .predicted_quads = (uint32_t)(plan->plane_bytes / gpume_quad_bytes(plan)),
        .partial_first = band * layout->reduce_groups,
        .partials = layout->partials_count,
    };
    struct gpume_view views[5];
    gpume_work_frames(work, band, &views[0], &views[1], &push.frames);
    views[2] = gpume_view_part(
        work->results, layout->vectors, (VkDeviceSize)work->task_count * plan->blocks * 4);
    views[3] = gpume_view_part(work->scratch, layout->partials,
        (VkDeviceSize)work->task_count * layout->partials_count * GPUME_SUM_WORDS * 4);
    views[4] = predicted_view(work, push.row_first, push.row_end);
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, &push, layout->reduce_groups, 1, work->task_count);
}

void gpume_k_predict_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    for (uint32_t band = 0; band < work->plan->band_count; band++) {
        record_band(work, kernel, band);
    }
}

int gpume_k_reduce_create(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    struct gpume_kernel_info info = {
        .words = reduce,
        .bytes = sizeof(reduce),
        .buffer_count = 2,
        .push_bytes = sizeof(struct gpume_reduce_push),
    };
    return gpume_kernel_create(gpu, &info, kernel);
}

void gpume_k_reduce_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    const struct gpume_layout *layout = work->layout;
    struct gpume_reduce_push push = {.partials = layout->partials_count};
    VkDeviceSize sum_bytes = (VkDeviceSize)work->task_count * GPUME_SUM_WORDS * 4;
    struct gpume_view views[] = {
        gpume_view_part(work->scratch, layout->partials, sum_bytes * layout->partials_count),
        gpume_view_part(work->results, layout->sums, sum_bytes),
    };
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, &push, work->task_count, 1, 1);
}
