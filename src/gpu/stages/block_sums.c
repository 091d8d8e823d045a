/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Block sums: reads the searched surface, writes the sums of quarter and sixteenth blocks at every
 * position that the layer makes, and patches; one dispatch for the frames of the submission that
 * have none yet, which the task table lists. The first layer zeroes what pruning counts, for all of
 * them.
 */
#include "base/grid.h"
#include "gpu/stages/prune.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(
    sizeof(struct gpume_block_sums_push) == 7 * 4, "words without gaps, as GLSL lays them");

#include "block_sums16.inc"
#include "block_sums8.inc"

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    gpume_need_buffers(
        needs, GPUME_MEMORY_BLOCK_SUMS, GPUME_BUFFER_DEVICE, setup->layout->pruning_bytes, 1);
    needs->binds++;
}

/* own: by place in the ring 1 + the frame whose sums are there, 0 = none. */
static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(block_sums, 5, struct gpume_block_sums_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    stage->own = calloc(stage->setup.plan->ring, sizeof(uint64_t));
    if (!stage->own) {
        return gpume_log_nomem(stage->setup.gpu->log, "block sums");
    }
    gpume_prune_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

static bool is_first_pruned(const struct gpume_stage_setup *setup)
{
    uint32_t first = 0;
    while (!gpume_pruning_used(&setup->layout->pruning[first])) {
        first++;
    }
    return setup->layer == first;
}

/* The counts of every frame pair, which are one for all layers, and every layer's number of blocks
 * that fall back. */
static void clear(const struct gpume_stage_setup *setup, const struct gpume_work *work)
{
    struct gpume_stage_setup layer = *setup;
    struct gpume_view counts = gpume_work_array(work, GPUME_ARRAY_COUNTS, 0);
    gpume_slot_clear(work->slot, &counts);
    for (layer.layer = 0; layer.layer < setup->plan->layer_count; layer.layer++) {
        if (gpume_prune_wanted(&layer)) {
            struct gpume_view fallback = gpume_work_array(work, GPUME_ARRAY_FALLBACK, layer.layer);
            fallback.offset += (VkDeviceSize)gpume_stage_fallback_list(&layer) * 4;
            fallback.bytes = 4;
            gpume_slot_clear(work->slot, &fallback);
        }
    }
    gpume_barrier_clear_to_kernel(work->slot);
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Adds the frame to the list if its sums are not there yet. */
static void list_frame(
    const struct gpume_gpu_stage *stage, uint64_t sequence, uint32_t *list, uint32_t *count)
{
    uint64_t *summed = stage->own;
    uint32_t place = gpume_work_place(stage->setup.plan, sequence);
    if (summed[place] != sequence + 1) {
        summed[place] = sequence + 1;
        list[(*count)++] = place;
    }
}

/* By rising place, so that memory is read in order. */
static uint32_t list_frames(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    uint32_t list[2 * GPUME_TASKS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->task_count; i++) {
        list_frame(stage, work->tasks[i].target, list, &count);
        for (uint32_t j = 0; j < work->plan->references; j++) {
            uint64_t reference = gpume_work_reference(&work->tasks[i], j);
            list_frame(stage, reference, list, &count);
        }
    }
    qsort(list, count, sizeof(*list), by_place);
    return count;
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    if (is_first_pruned(setup)) {
        clear(setup, work);
    }
    uint32_t list[2 * GPUME_TASKS_MAX];
    uint32_t count = list_frames(stage, work, list);
    memcpy(table->sum_frames, list, count * sizeof(*list)); /* every layer lists the same */
    if (count == 0) {
        return;
    }
    struct gpume_block_sums_push push = {
        .frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan)),
        .stride = plan->padded_stride / 4,
        .rows = plan->padded_rows,
        .sum_stride = gpume_prune_sum_stride(plan, gpume_stage_layer(setup)) / 4,
        .patch_stride = gpume_prune_patch_stride(plan),
        .patches =
            gpume_prune_layout(setup)->makes[GPUME_PRUNE_PATCHES] ? gpume_prune_patches(plan) : 0,
    };
    push.sum_quads = gpume_prune_sum_rows(plan) * push.sum_stride;
    struct gpume_view views[] = {
        gpume_view_part(&work->memory->parts[GPUME_MEMORY_SURFACES + plan->searched][0], 0,
            gpume_work_plane_bytes(plan)),
        gpume_prune_part(work, setup, GPUME_PRUNE_QUARTERS),
        gpume_prune_part(work, setup, GPUME_PRUNE_SIXTEENTHS),
        gpume_prune_part(work, setup, GPUME_PRUNE_GROUPS),
        gpume_prune_part(work, setup, GPUME_PRUNE_PATCHES),
    };
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    gpume_slot_dispatch(work->slot, &stage->kernels[0], &push,
        (uint32_t)gpume_div_up(push.sum_stride, GPUME_BLOCK_SUMS_LOCAL),
        (uint32_t)gpume_div_up(push.rows, GPUME_BLOCK_SUMS_ROWS), count);
}

const struct gpume_stage_ops gpume_stage_block_sums = {
    .name = "block sums",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = gpume_prune_wanted,
    .needs = needs,
    .create = create,
    .used = gpume_prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
