/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduce: reads partial sums, writes sums; a workgroup for each task, once per layer.
 */
#include "gpu/stages/predict.h"

_Static_assert(sizeof(struct gpume_reduce_push) == 3 * 4, "words without gaps, as GLSL lays them");

#include "reduce.inc"
#define reduce8 reduce /* the depth of samples does not matter */
#define reduce16 reduce

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    needs->arrays[GPUME_ARRAY_SUMS][0] =
        (VkDeviceSize)plan->batch * plan->layer_count * GPUME_SUM_WORDS * 4;
    needs->binds++;
}

int gpume_reduce_create(const struct gpume_stage_setup *setup, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code code =
        GPUME_FRAME_CODE(reduce, 2, struct gpume_reduce_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(setup, constants);
    return gpume_stage_kernel(setup, &code, constants, kernel);
}

void gpume_reduce_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint32_t layer, const struct gpume_reduce_push *push)
{
    struct gpume_view views[] = {
        gpume_work_array(work, GPUME_ARRAY_PARTIALS, layer),
        gpume_work_array(work, GPUME_ARRAY_SUMS, 0),
    };
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, push, work->task_count, 1, 1);
}

static int create(struct gpume_gpu_stage *stage)
{
    return gpume_reduce_create(&stage->setup, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    struct gpume_reduce_push push = {
        .partials = gpume_predict_partials(setup->plan, gpume_stage_layer(setup)),
        .layer = setup->layer,
        .layers = setup->plan->layer_count,
    };
    gpume_reduce_record(work, &stage->kernels[0], setup->layer, &push);
}

const struct gpume_stage_ops gpume_stage_reduce = {
    .name = "reduce",
    .row = GPUME_ROW_REDUCE,
    .of_layers = true,
    .wanted = gpume_stage_wanted_plain,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
