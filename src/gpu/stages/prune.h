/* SPDX-License-Identifier: BSD-2-Clause */
/* What the stages of successive elimination share: block sums and the forms of pruning. */
#ifndef GPUME_GPU_STAGES_PRUNE_H
#define GPUME_GPU_STAGES_PRUNE_H

#include "gpu/stages/stage.h"
#include "gpu/tune/prune_shape.h"

static inline const struct gpume_pruning_layout *gpume_prune_layout(
    const struct gpume_stage_setup *setup)
{
    return &setup->layout->pruning[setup->layer];
}

/* Bytes of the largest part of a layer's block sums. */
VkDeviceSize gpume_prune_part_most(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Places the block sums of the layers that are pruned. */
void gpume_prune_place(const struct gpume_plan *plan, const bool pruned[GPUME_LAYERS_MAX],
    struct gpume_layout *layout);

/* Rows of a frame of sums, whole tiles, and sums in each of them. */
uint32_t gpume_prune_sum_rows(const struct gpume_plan *plan);
uint32_t gpume_prune_sum_stride(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Patches in a row of them, and in a frame. Kernels that take eight samples at a time read those
 * right of the last that has samples, and ignore them. */
uint32_t gpume_prune_patch_stride(const struct gpume_plan *plan);
uint32_t gpume_prune_patches(const struct gpume_plan *plan);

/* Where gpume_prune_in_rows, every part is that of quarters. */
struct gpume_view gpume_prune_part(const struct gpume_work *work,
    const struct gpume_stage_setup *setup, enum gpume_prune_part part);

bool gpume_prune_wanted(const struct gpume_stage_setup *setup);
bool gpume_prune_used(const struct gpume_gpu_stage *stage, const struct gpume_work *work);

/* The specialisation constants of all these kernels. */
void gpume_prune_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT]);

/* Blocks that one dispatch may take. */
uint32_t gpume_prune_blocks(const struct gpume_stage_setup *setup);

#define GPUME_PRUNE_RESULTS 4u

/* What pruning writes, as kernels bind it: vectors, costs, fallback, counts. */
void gpume_prune_results(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    struct gpume_view views[GPUME_PRUNE_RESULTS]);

#endif
