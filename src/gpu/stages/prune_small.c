/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pruning in small windows and of small blocks, several blocks in a workgroup, by sums of quarters
 * alone: reads the searched surface and block sums, writes vectors, costs, counts and fallback;
 * once per layer, in parts that keep a dispatch short.
 */
#include "base/grid.h"
#include "gpu/stages/prune.h"

_Static_assert(
    sizeof(struct gpume_prune_small_push) == 14 * 4, "words without gaps, as GLSL lays them");

#include "prune_small16.inc"
#include "prune_small8.inc"
#include "prune_small_half16.inc"
#include "prune_small_half8.inc"
#include "prune_strips16.inc"
#include "prune_strips8.inc"
#include "prune_strips_half16.inc"
#include "prune_strips_half8.inc"

static bool wanted(const struct gpume_stage_setup *setup)
{
    return gpume_prune_wanted(setup) && gpume_prune_in_rows(setup->plan, gpume_stage_layer(setup));
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    (void)setup;
    needs->binds++;
}

static bool takes_strips(const struct gpume_stage_setup *setup)
{
    return gpume_prune_kind_of(setup->plan, gpume_stage_layer(setup)) == GPUME_PRUNE_STRIPS;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[2][2] = {
        {GPUME_TASK_CODE(prune_small, 6, struct gpume_prune_small_push),
            GPUME_TASK_CODE(prune_small_half, 6, struct gpume_prune_small_push)},
        {GPUME_TASK_CODE(prune_strips, 6, struct gpume_prune_small_push),
            GPUME_TASK_CODE(prune_strips_half, 6, struct gpume_prune_small_push)},
    };
    bool strips = takes_strips(&stage->setup), half = gpume_stage_half(stage->setup.gpu);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_prune_constants(&stage->setup, constants);
    constants[GPUME_SPEC_KEY_BITS] = gpume_bit_width(stage->setup.plan->candidates);
    return gpume_stage_kernel(&stage->setup, &codes[strips][half], constants, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    struct gpume_prune_shape shape = gpume_prune_shape_make(plan, layer);
    uint32_t group = shape.local / shape.team; /* blocks of a workgroup */
    uint32_t sum_stride = gpume_prune_sum_stride(plan, layer) / (takes_strips(setup) ? 4 : 8);
    struct gpume_prune_small_push push = {
        .layer = gpume_work_layer(plan, layer),
        .fallback_list = gpume_stage_fallback_list(setup),
        .sum_stride = sum_stride,
        .sum_places = gpume_prune_sum_rows(plan) * sum_stride,
    };
    struct gpume_view views[2 + GPUME_PRUNE_RESULTS], reference;
    /* Target and reference are both the whole ring. */
    gpume_work_frames(work, plan->searched, layer, 0, &views[0], &reference, &push.frames);
    views[1] = gpume_prune_part(work, setup, GPUME_PRUNE_QUARTERS);
    gpume_prune_results(work, setup, &views[2]);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    uint32_t step =
        (uint32_t)gpume_min_u64(gpume_prune_blocks(setup), GPUME_PRUNE_BLOCKS_MAX * group);
    step = step > group ? step / group * group : group;
    for (; push.block_first < layer->blocks; push.block_first += step) {
        uint64_t blocks = gpume_min_u64(step, layer->blocks - push.block_first);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push,
            (uint32_t)gpume_div_up(blocks, group), 1, gpume_work_pairs(plan, work->task_count));
    }
}

const struct gpume_stage_ops gpume_stage_prune_small = {
    .name = "prune, several blocks in a workgroup",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .used = gpume_prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
