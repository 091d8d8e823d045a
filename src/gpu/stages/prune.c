/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/stages/prune.h"

#include "base/grid.h"

uint32_t gpume_prune_sum_rows(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_round_up(plan->padded_rows, 4);
}

/* Kernels that read rows take eights of sums: those of the window, and the one behind them. */
uint32_t gpume_prune_sum_stride(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    if (!gpume_prune_in_rows(plan, layer)) {
        return plan->padded_stride;
    }
    uint64_t window = gpume_round_up(plan->pad_x + plan->params.window_x + 1, 8);
    return (uint32_t)gpume_round_up((layer->blocks_x - 1) * layer->block_w + window + 8, 8);
}

uint32_t gpume_prune_patch_stride(const struct gpume_plan *plan)
{
    uint64_t before = gpume_round_up(plan->pad_x, GPUME_PATCH_COLUMNS) - plan->pad_x;
    return (uint32_t)gpume_div_up(before + plan->padded_stride + 8, GPUME_PATCH_COLUMNS);
}

uint32_t gpume_prune_patches(const struct gpume_plan *plan)
{
    uint64_t rows = GPUME_PATCH_WORDS * 4 / GPUME_PATCH_COLUMNS / plan->sample_bytes;
    uint64_t before = gpume_round_up(plan->pad_y, rows) - plan->pad_y;
    return (uint32_t)gpume_div_up(before + plan->padded_rows, rows) *
           gpume_prune_patch_stride(plan);
}

struct gpume_pruning_layout gpume_prune_layout_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer, bool patched)
{
    VkDeviceSize ring = plan->ring;
    VkDeviceSize sums = ring * gpume_prune_sum_rows(plan) * gpume_prune_sum_stride(plan, layer);
    VkDeviceSize patches = ring * gpume_prune_patches(plan) * GPUME_PATCH_WORDS * 4;
    bool in_rows = gpume_prune_in_rows(plan, layer);
    struct gpume_pruning_layout layout = {
        .sum_bytes = gpume_round_up(sums * 2, GPUME_PART_ALIGN), /* 16 bits each */
        .patch_bytes = in_rows || !patched ? 0 : gpume_round_up(patches, GPUME_PART_ALIGN),
    };
    VkDeviceSize groups = layout.sum_bytes / 8; /* 32 bits for every tile */
    layout.bytes = in_rows ? layout.sum_bytes : 2 * layout.sum_bytes + layout.patch_bytes + groups;
    return layout;
}

/* Of the layer whose patches all of them read. */
static const struct gpume_pruning_layout *patched_layout(
    const struct gpume_stage_setup *setup, const struct gpume_pruning_layout *own)
{
    for (uint32_t i = 0; i < setup->plan->layer_count; i++) {
        if (setup->layout->pruning[i].patch_bytes > 0) {
            return &setup->layout->pruning[i];
        }
    }
    return own;
}

struct gpume_view gpume_prune_part(const struct gpume_work *work,
    const struct gpume_stage_setup *setup, enum gpume_prune_part part)
{
    const struct gpume_pruning_layout *layout = gpume_prune_layout(setup);
    if (gpume_prune_in_rows(setup->plan, gpume_stage_layer(setup))) {
        part = GPUME_PRUNE_QUARTERS;
    }
    if (part == GPUME_PRUNE_PATCHES) {
        layout = patched_layout(setup, layout);
    }
    VkDeviceSize patches = 2 * layout->sum_bytes, groups = patches + layout->patch_bytes;
    const VkDeviceSize offsets[GPUME_PRUNE_PARTS + 1] = {
        0, layout->sum_bytes, patches, groups, layout->bytes};
    return gpume_view_part(work->memory->parts[GPUME_MEMORY_BLOCK_SUMS],
        layout->offset + offsets[part], offsets[part + 1] - offsets[part]);
}

bool gpume_prune_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_prune_layout(setup)->bytes > 0;
}

bool gpume_prune_used(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    (void)stage;
    return work->pruned;
}

void gpume_prune_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT])
{
    struct gpume_prune_shape shape = gpume_prune_shape_make(setup->plan, gpume_stage_layer(setup));
    gpume_stage_constants(setup, constants);
    constants[GPUME_SPEC_LOCAL] = shape.local;
    constants[GPUME_SPEC_QUARTER_SHIFT] = shape.quarter_shift;
    constants[GPUME_SPEC_SIXTEENTH_SHIFT] = shape.sixteenth_shift;
    constants[GPUME_SPEC_PART] = shape.part;
    constants[GPUME_SPEC_LIST] = shape.list;
    constants[GPUME_SPEC_GIVE_UP] = shape.give_up;
    constants[GPUME_SPEC_TEAM] = shape.team;
    constants[GPUME_SPEC_SEEDS] = shape.seeds;
    constants[GPUME_SPEC_ROWS] = shape.kind != GPUME_PRUNE_WIDE;
}

/* Processors that take the part of a GPU are slow at half floats. */
bool gpume_prune_half(const struct gpume_gpu *gpu)
{
    return gpu->half && gpu->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* Looking at a candidate twice costs about as much as 64 pixel differences. */
uint32_t gpume_prune_blocks(const struct gpume_stage_setup *setup)
{
    return gpume_stage_blocks_per_dispatch(setup, setup->plan->candidates * 64);
}

void gpume_prune_results(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    struct gpume_view views[GPUME_PRUNE_RESULTS])
{
    views[0] = gpume_work_array(work, GPUME_ARRAY_VECTORS, 0);
    views[1] = gpume_work_array(work, GPUME_ARRAY_COSTS, 0);
    views[2] = gpume_work_array(work, GPUME_ARRAY_FALLBACK, setup->layer);
    views[3] = gpume_work_array(work, GPUME_ARRAY_COUNTS, 0);
}
