/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measure: reads the measured surface, results and CELLS; writes predicted frames, partial sums and
 * their sums. What predict and reduce do for other plans, by the first layer or the chosen blocks.
 */
#include "base/status.h"
#include "gpu/general/general.h"
#include "gpu/stages/predict.h"
#include "model/partition.h"

#include "measure16.inc"
#include "measure8.inc"

enum { MEASURE, REDUCE };

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    VkDeviceSize sums = (VkDeviceSize)plan->batch * GPUME_SUM_WORDS * 4;
    needs->arrays[GPUME_ARRAY_SUMS][0] = sums;
    needs->arrays[GPUME_ARRAY_PARTIALS][0] = sums * gpume_predict_groups(plan, plan->params.height);
    needs->arrays[GPUME_ARRAY_PREDICTED][0] =
        plan->params.want_predicted ? plan->batch * plan->plane_bytes : 0;
    needs->binds++;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_FRAME_CODE(measure, 0, struct gpume_measure_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    int status;
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_PREDICTED] = stage->setup.plan->params.want_predicted;
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[MEASURE]));
    GPUME_TRY(gpume_reduce_create(&stage->setup, &stage->kernels[REDUCE]));
fail:
    return status;
}

/* Of the squares or rectangles whose blocks predict: one for each block of this layer, or, with
 * params.partition, one for each of its smallest squares. */
static const struct gpume_shape *cells_of(const struct gpume_plan *plan)
{
    return plan->params.partition ? gpume_partition_smallest(plan) : &plan->layers[0];
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_shape *cells = cells_of(plan);
    uint32_t groups = gpume_predict_groups(plan, plan->params.height);
    const struct gpume_measure_push push = {
        .general = gpume_general_push_make(work, cells),
        .cell_w = cells->block_w,
        .cell_h = cells->block_h,
        .predicted_stride = plan->plane_stride / gpume_quad_bytes(plan),
        .predicted_quads = (uint32_t)(plan->plane_bytes / gpume_quad_bytes(plan)),
    };
    gpume_slot_bind(work->slot, &stage->kernels[MEASURE], NULL);
    gpume_slot_dispatch(work->slot, &stage->kernels[MEASURE], &push, groups, 1, work->task_count);
    gpume_barrier_kernel_to_kernel(work->slot);
    gpume_reduce_record(work, &stage->kernels[REDUCE], 0,
        &(struct gpume_reduce_push){.partials = groups, .layers = 1});
}

const struct gpume_stage_ops gpume_stage_measure = {
    .name = "measure",
    .row = GPUME_ROW_REDUCE,
    .wanted = gpume_general_wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
