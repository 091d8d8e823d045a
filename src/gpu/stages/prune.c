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

static VkDeviceSize part_bytes(
    const struct gpume_plan *plan, const struct gpume_shape *layer, enum gpume_prune_part part)
{
    VkDeviceSize frame = part == GPUME_PRUNE_PATCHES
                             ? (VkDeviceSize)gpume_prune_patches(plan) * GPUME_PATCH_WORDS * 4
                             : (VkDeviceSize)gpume_prune_sum_rows(plan) *
                                   gpume_prune_sum_stride(plan, layer) * 2; /* 16 bits each */
    VkDeviceSize bytes = gpume_round_up(plan->ring * frame, GPUME_PART_ALIGN);
    return part == GPUME_PRUNE_GROUPS ? bytes / 8 : bytes; /* 32 bits for every tile of 16 sums */
}

VkDeviceSize gpume_prune_part_most(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    VkDeviceSize sums = part_bytes(plan, layer, GPUME_PRUNE_QUARTERS);
    return gpume_prune_in_rows(plan, layer)
               ? sums
               : gpume_max_u64(sums, part_bytes(plan, layer, GPUME_PRUNE_PATCHES));
}

static void place(const struct gpume_plan *plan, uint32_t layer, enum gpume_prune_part part,
    struct gpume_layout *layout)
{
    struct gpume_pruning_layout *pruning = &layout->pruning[layer];
    pruning->makes[part] = true;
    pruning->offset[part] = layout->pruning_bytes;
    pruning->bytes[part] = part_bytes(plan, &plan->layers[layer], part);
    layout->pruning_bytes =
        gpume_round_up(layout->pruning_bytes + pruning->bytes[part], GPUME_PART_ALIGN);
}

/* The layer reads a part that another one makes. */
static void share(struct gpume_pruning_layout *pruning, enum gpume_prune_part part,
    const struct gpume_pruning_layout *maker, enum gpume_prune_part made)
{
    pruning->offset[part] = maker->offset[made];
    pruning->bytes[part] = maker->bytes[made];
}

static bool is_wide(
    const struct gpume_plan *plan, uint32_t layer, const struct gpume_layout *layout)
{
    return gpume_pruning_used(&layout->pruning[layer]) &&
           !gpume_prune_in_rows(plan, &plan->layers[layer]);
}

/* Quarters of blocks with half its sides are of as many samples as its sixteenths, cut alike. */
static void place_sixteenths(
    const struct gpume_plan *plan, uint32_t layer, struct gpume_layout *layout)
{
    const struct gpume_shape *whole = &plan->layers[layer];
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *half = &plan->layers[i];
        if (2 * half->block_w == whole->block_w && 2 * half->block_h == whole->block_h &&
            is_wide(plan, i, layout)) {
            share(&layout->pruning[layer], GPUME_PRUNE_SIXTEENTHS, &layout->pruning[i],
                GPUME_PRUNE_QUARTERS);
            return;
        }
    }
    place(plan, layer, GPUME_PRUNE_SIXTEENTHS, layout);
}

static void place_more(const struct gpume_plan *plan, struct gpume_layout *layout)
{
    const struct gpume_pruning_layout *patched = NULL;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        if (!is_wide(plan, i, layout)) {
            continue;
        }
        place(plan, i, GPUME_PRUNE_GROUPS, layout);
        place_sixteenths(plan, i, layout);
        if (patched) {
            share(&layout->pruning[i], GPUME_PRUNE_PATCHES, patched, GPUME_PRUNE_PATCHES);
        } else {
            place(plan, i, GPUME_PRUNE_PATCHES, layout);
            patched = &layout->pruning[i];
        }
    }
}

void gpume_prune_place(
    const struct gpume_plan *plan, const bool pruned[GPUME_LAYERS_MAX], struct gpume_layout *layout)
{
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        if (pruned[i]) {
            place(plan, i, GPUME_PRUNE_QUARTERS, layout);
        }
    }
    place_more(plan, layout);
}

struct gpume_view gpume_prune_part(const struct gpume_work *work,
    const struct gpume_stage_setup *setup, enum gpume_prune_part part)
{
    const struct gpume_pruning_layout *layout = gpume_prune_layout(setup);
    if (layout->bytes[part] == 0) {
        part = GPUME_PRUNE_QUARTERS;
    }
    return gpume_view_part(
        work->memory->parts[GPUME_MEMORY_BLOCK_SUMS], layout->offset[part], layout->bytes[part]);
}

bool gpume_prune_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_pruning_used(gpume_prune_layout(setup));
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
    constants[GPUME_SPEC_SIXTEENTHS] = gpume_prune_layout(setup)->makes[GPUME_PRUNE_SIXTEENTHS];
}

/* Looking at a candidate twice costs about as much as 64 pixel differences. */
uint32_t gpume_prune_blocks(const struct gpume_stage_setup *setup)
{
    return gpume_stage_blocks_per_dispatch(
        setup, setup->plan->candidates * 64 * setup->plan->references);
}

void gpume_prune_results(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    struct gpume_view views[GPUME_PRUNE_RESULTS])
{
    views[0] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_VECTORS), 0);
    views[1] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_COSTS), 0);
    views[2] = gpume_work_array(work, GPUME_ARRAY_FALLBACK, setup->layer);
    views[3] = gpume_work_array(work, GPUME_ARRAY_COUNTS, 0);
}
