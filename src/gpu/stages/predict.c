/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Predict: reads the measured surface and the layer's vectors, writes partial sums and, of the
 * first layer, the predicted frames; a pass over the pixels, once per layer.
 */
#include "gpu/stages/predict.h"

#include "base/grid.h"

_Static_assert(
    sizeof(struct gpume_predict_push) == 16 * 4, "words without gaps, as GLSL lays them");

#include "predict16.inc"
#include "predict8.inc"

uint32_t gpume_predict_groups(const struct gpume_plan *plan, uint64_t rows)
{
    uint64_t quads = gpume_min_u64(rows, plan->params.height) * gpume_div_up(plan->params.width, 4);
    return (uint32_t)gpume_min_u64(gpume_div_up(quads, GPUME_REDUCE_LOCAL), GPUME_REDUCE_GROUPS);
}

static uint32_t band_groups(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_predict_groups(plan, (uint64_t)layer->band_rows * layer->block_h);
}

uint32_t gpume_predict_partials(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return layer->band_count * band_groups(plan, layer);
}

static bool predicts(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.want_predicted && setup->layer == 0;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    needs->arrays[GPUME_ARRAY_PARTIALS][setup->layer] =
        (VkDeviceSize)plan->batch * gpume_predict_partials(plan, layer) * GPUME_SUM_WORDS * 4;
    /* The kernel binds it even if there is nothing to store. */
    needs->arrays[GPUME_ARRAY_PREDICTED][0] =
        plan->batch * (plan->params.want_predicted ? plan->plane_bytes : 4);
    needs->binds += layer->band_count;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(predict, 5, struct gpume_predict_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_PREDICTED] = predicts(&stage->setup);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

/* Where the band's rows of predicted frames go. */
static struct gpume_view predicted_view(const struct gpume_gpu_stage *stage,
    const struct gpume_work *work, uint32_t row_first, uint32_t row_end)
{
    const struct gpume_plan *plan = stage->setup.plan;
    struct gpume_view view = gpume_work_array(work, GPUME_ARRAY_PREDICTED, 0);
    if (predicts(&stage->setup) && gpume_stage_layer(&stage->setup)->band_count > 1) {
        view.offset += (VkDeviceSize)row_first * plan->plane_stride;
        view.bytes = (VkDeviceSize)(row_end - row_first) * plan->plane_stride;
    }
    return view;
}

static void record_band(
    const struct gpume_gpu_stage *stage, const struct gpume_work *work, uint32_t band)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    uint32_t rows = layer->band_rows * layer->block_h, groups = band_groups(plan, layer);
    struct gpume_predict_push push = {
        .layer = gpume_work_layer(plan, layer),
        .row_first = band * rows,
        .row_end = (uint32_t)gpume_min_u64((uint64_t)(band + 1) * rows, plan->params.height),
        .predicted_stride = plan->plane_stride / gpume_quad_bytes(plan),
        .predicted_quads = (uint32_t)(plan->plane_bytes / gpume_quad_bytes(plan)),
        .partial_first = band * groups,
        .partials = gpume_predict_partials(plan, layer),
    };
    struct gpume_view views[5];
    gpume_work_frames(work, plan->measured, layer, band, &views[0], &views[1], &push.frames);
    views[2] = gpume_work_array(work, GPUME_ARRAY_VECTORS, 0);
    views[3] = gpume_work_array(work, GPUME_ARRAY_PARTIALS, stage->setup.layer);
    views[4] = predicted_view(stage, work, push.row_first, push.row_end);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, groups, 1, work->task_count);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    for (uint32_t band = 0; band < gpume_stage_layer(&stage->setup)->band_count; band++) {
        record_band(stage, work, band);
    }
}

const struct gpume_stage_ops gpume_stage_predict = {
    .name = "predict",
    .row = GPUME_ROW_REDUCE,
    .of_layers = true,
    .wanted = gpume_stage_wanted_plain,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
