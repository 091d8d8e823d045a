/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choose: reads PAIR_* and PREDICTORS; writes results, those of the best reference, and the state
 * from which means start.
 */
#include "gpu/general/general.h"

#include "base/grid.h"

#include "choose.inc"
#define choose8 choose /* the depth of samples does not matter */
#define choose16 choose

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_params *p = &plan->params;
    VkDeviceSize words = (VkDeviceSize)plan->batch * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_VECTORS][0] = words * plan->kept;
    needs->arrays[GPUME_ARRAY_COSTS][0] = words * plan->kept;
    needs->arrays[GPUME_ARRAY_BITS][0] = p->rate ? words * plan->kept : 0;
    needs->arrays[GPUME_ARRAY_REFS][0] = p->best_reference ? words : 0;
    needs->arrays[GPUME_ARRAY_REFS2][0] = p->bidirectional ? words : 0;
    needs->arrays[GPUME_ARRAY_VECTORS2][0] = p->bidirectional ? words : 0;
    needs->arrays[GPUME_ARRAY_TIES][0] = p->confidence ? words : 0;
}

static bool wanted(const struct gpume_stage_setup *setup)
{
    return gpume_general_chooses(setup->plan);
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code = {
        GPUME_KERNEL_CODE(choose, 0, struct gpume_general_push)};
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    struct gpume_general_push push = gpume_general_push_make(work, &work->plan->layers[0]);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[0], &push,
        gpume_div_up(work->plan->blocks, GPUME_GENERAL_LOCAL), work->task_count);
    gpume_barrier_kernel_to_kernel(work->slot);
}

const struct gpume_stage_ops gpume_stage_choose = {
    .name = "choose",
    .row = GPUME_ROW_MATCH,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
