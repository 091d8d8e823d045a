/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pruning in wide windows, a workgroup for each block: reads patches and block sums, writes
 * vectors, costs, counts and fallback; once per layer, in parts that keep a dispatch short.
 */
#include "base/grid.h"
#include "gpu/stages/prune.h"

_Static_assert(
    sizeof(struct gpume_prune_wide_push) == 15 * 4, "words without gaps, as GLSL lays them");

#include "prune_wide16.inc"
#include "prune_wide8.inc"
#include "prune_wide_half16.inc"
#include "prune_wide_half8.inc"

static bool wanted(const struct gpume_stage_setup *setup)
{
    return gpume_prune_wanted(setup) && !gpume_prune_in_rows(setup->plan, gpume_stage_layer(setup));
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    (void)setup;
    needs->binds++;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_TASK_CODE(prune_wide, 8, struct gpume_prune_wide_push),
        GPUME_TASK_CODE(prune_wide_half, 8, struct gpume_prune_wide_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_prune_constants(&stage->setup, constants);
    return gpume_stage_kernel(
        &stage->setup, &codes[gpume_stage_half(stage->setup.gpu)], constants, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    struct gpume_prune_wide_push push = {
        .frames.stride = plan->padded_stride / 4,
        .layer = gpume_work_layer(plan, layer),
        .fallback_list = gpume_stage_fallback_list(setup),
        .sum_quads = gpume_prune_sum_rows(plan) * (gpume_prune_sum_stride(plan, layer) / 4),
        .patch_stride = gpume_prune_patch_stride(plan),
        .patches = gpume_prune_patches(plan),
    };
    struct gpume_view views[4 + GPUME_PRUNE_RESULTS] = {
        gpume_prune_part(work, setup, GPUME_PRUNE_PATCHES),
        gpume_prune_part(work, setup, GPUME_PRUNE_QUARTERS),
        gpume_prune_part(work, setup, GPUME_PRUNE_SIXTEENTHS),
        gpume_prune_part(work, setup, GPUME_PRUNE_GROUPS),
    };
    gpume_prune_results(work, setup, &views[4]);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    /* blocks_y is at most GPUME_PRUNE_BLOCKS_MAX */
    uint32_t step = (uint32_t)gpume_max_u64(gpume_prune_blocks(setup) / layer->blocks_x, 1);
    for (; push.row_first < layer->blocks_y; push.row_first += step) {
        uint64_t rows = gpume_min_u64(step, layer->blocks_y - push.row_first);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, layer->blocks_x, (uint32_t)rows,
            gpume_work_pairs(plan, work->task_count));
    }
}

const struct gpume_stage_ops gpume_stage_prune_wide = {
    .name = "prune, a workgroup for each block",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .used = gpume_prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
