/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pruning in small windows, an invocation for each block, by sums of quarters alone: reads the
 * searched surface and block sums, writes vectors, costs, counts and fallback; once per layer, in
 * parts that keep a dispatch short.
 */
#include "base/grid.h"
#include "gpu/stages/prune.h"

_Static_assert(
    sizeof(struct gpume_prune_small_push) == 14 * 4, "words without gaps, as GLSL lays them");

#include "prune_small16.inc"
#include "prune_small8.inc"
#include "prune_small_half16.inc"
#include "prune_small_half8.inc"

static bool wanted(const struct gpume_stage_setup *setup)
{
    return gpume_prune_wanted(setup) && gpume_prune_is_small(setup->plan, gpume_stage_layer(setup));
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    (void)setup;
    needs->binds++;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_TASK_CODE(prune_small, 6, struct gpume_prune_small_push),
        GPUME_TASK_CODE(prune_small_half, 6, struct gpume_prune_small_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_prune_constants(&stage->setup, constants);
    constants[GPUME_SPEC_KEY_BITS] = gpume_bit_width(stage->setup.plan->candidates);
    return gpume_stage_kernel(
        &stage->setup, &codes[gpume_prune_half(stage->setup.gpu)], constants, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t local = gpume_prune_shape_make(plan, layer).local;
    uint32_t sum_stride = gpume_prune_sum_stride(plan, layer);
    struct gpume_prune_small_push push = {
        .layer = gpume_work_layer(plan, layer),
        .fallback_list = gpume_stage_fallback_list(setup),
        .sum_stride = sum_stride / 8,
        .sum_eights = gpume_prune_sum_rows(plan) * (sum_stride / 8),
    };
    struct gpume_view views[2 + GPUME_PRUNE_RESULTS], reference;
    /* Target and reference are both the whole ring. */
    gpume_work_frames(work, plan->searched, layer, 0, &views[0], &reference, &push.frames);
    views[1] = gpume_prune_part(work, setup, GPUME_PRUNE_QUARTERS);
    gpume_prune_results(work, setup, &views[2]);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    uint32_t step =
        (uint32_t)gpume_min_u64(gpume_prune_blocks(setup), GPUME_PRUNE_BLOCKS_MAX * local);
    step = step > local ? step / local * local : local;
    for (; push.block_first < layer->blocks; push.block_first += step) {
        uint64_t blocks = gpume_min_u64(step, layer->blocks - push.block_first);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push,
            (uint32_t)gpume_div_up(blocks, local), 1, work->task_count);
    }
}

const struct gpume_stage_ops gpume_stage_prune_small = {
    .name = "prune, an invocation for each block",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .used = gpume_prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
