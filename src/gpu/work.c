/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/work.h"

#include "base/grid.h"
#include "gpu/tune/sieve_shape.h"

#include <assert.h>

#define WORK_DISCRETE (1ull << 38)   /* 15 milliseconds of a large GPU */
#define WORK_INTEGRATED (1ull << 36) /* a tenth of a second of a small one */
#define WORK_SOFTWARE (1ull << 32)   /* half a second of two processors */

#define PART_ALIGN 256u /* the largest that a device may ask of storage buffer offsets */

uint64_t gpume_work_most(VkPhysicalDeviceType type)
{
    return type == VK_PHYSICAL_DEVICE_TYPE_CPU            ? WORK_SOFTWARE
           : type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? WORK_DISCRETE
                                                          : WORK_INTEGRATED;
}

static VkDeviceSize place(VkDeviceSize *end, VkDeviceSize bytes)
{
    VkDeviceSize offset = *end;
    *end = gpume_round_up(offset + bytes, PART_ALIGN);
    return offset;
}

uint32_t gpume_work_patch_stride(const struct gpume_plan *plan)
{
    uint64_t before = gpume_round_up(plan->pad_x, GPUME_PATCH_COLUMNS) - plan->pad_x;
    return (uint32_t)gpume_div_up(before + plan->padded_stride + 8, GPUME_PATCH_COLUMNS);
}

uint32_t gpume_work_patches(const struct gpume_plan *plan)
{
    uint64_t rows = GPUME_PATCH_WORDS * 4 / GPUME_PATCH_COLUMNS / plan->sample_bytes;
    uint64_t before = gpume_round_up(plan->pad_y, rows) - plan->pad_y;
    return (uint32_t)gpume_div_up(before + plan->padded_rows, rows) * gpume_work_patch_stride(plan);
}

/* Where it is the invocations that search, they read eights of sums: those of the window, and the
 * one behind them. */
uint32_t gpume_work_sum_stride(const struct gpume_plan *plan)
{
    if (!gpume_sieve_sifts(plan)) {
        return plan->padded_stride;
    }
    uint64_t window = gpume_round_up(plan->pad_x + plan->params.window_x + 1, 8);
    return (plan->layers[0].blocks_x - 1) * plan->params.block + (uint32_t)window + 8;
}

/* What the sieve needs of all frames; nothing if it does not pay, or does not fit. */
static void place_boxes(
    const struct gpume_plan *plan, const struct gpume_sieve_rule *rule, struct gpume_layout *layout)
{
    VkDeviceSize ring = plan->ring;
    VkDeviceSize sums =
        ring * gpume_work_sum_rows(plan) * gpume_work_sum_stride(plan) * 2; /* 16 bits each */
    bool sifts = gpume_sieve_sifts(plan);
    VkDeviceSize patches = sifts ? 0 : ring * gpume_work_patches(plan) * GPUME_PATCH_WORDS * 4;
    bool pays = plan->candidates >= rule->candidates_min && gpume_sieve_takes(plan) &&
                !plan->params.no_elimination;
    sums = gpume_round_up(sums, PART_ALIGN);
    patches = gpume_round_up(patches, PART_ALIGN);
    if (pays && plan->one_window && gpume_max_u64(sums, patches) <= rule->bytes_max) {
        layout->box_bytes = sums;
        layout->patch_bytes = patches;
        layout->boxes_bytes = sifts ? sums : 2 * sums + patches + sums / 8; /* 32 bits a tile */
    }
}

/* As many as have a quad of samples for each invocation. */
static uint32_t reduce_groups(const struct gpume_plan *plan)
{
    uint64_t rows = (uint64_t)plan->band_rows * plan->params.block;
    uint64_t quads = gpume_min_u64(rows, plan->params.height) * gpume_div_up(plan->params.width, 4);
    return (uint32_t)gpume_min_u64(gpume_div_up(quads, GPUME_REDUCE_LOCAL), GPUME_REDUCE_GROUPS);
}

struct gpume_layout gpume_layout_make(
    const struct gpume_plan *plan, const struct gpume_sieve_rule *rule, VkDeviceSize ranking_bytes)
{
    struct gpume_layout layout = {0};
    VkDeviceSize words = (VkDeviceSize)plan->batch * plan->blocks * 4;
    layout.sums = place(&layout.results_bytes, (VkDeviceSize)plan->batch * GPUME_SUM_WORDS * 4);
    layout.counts = place(&layout.results_bytes, (VkDeviceSize)plan->batch * GPUME_COUNT_BYTES);
    layout.vectors = place(&layout.results_bytes, words);
    layout.costs = place(&layout.results_bytes, words);
    layout.ranks = place(&layout.results_bytes, words);
    layout.predicted = place(&layout.results_bytes,
        plan->params.want_predicted ? plan->batch * plan->plane_bytes : PART_ALIGN);
    layout.reduce_groups = reduce_groups(plan);
    layout.partials_count = plan->band_count * layout.reduce_groups;
    layout.partials = place(&layout.scratch_bytes,
        (VkDeviceSize)plan->batch * layout.partials_count * GPUME_SUM_WORDS * 4);
    place_boxes(plan, rule, &layout);
    layout.todo = place(&layout.scratch_bytes, 2 * words + 4);
    layout.ranking = place(&layout.scratch_bytes, ranking_bytes);
    return layout;
}

struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes)
{
    return (struct gpume_view){.buffer = buffer->buffer, .offset = offset, .bytes = bytes};
}

struct gpume_view gpume_work_todo(const struct gpume_work *work)
{
    VkDeviceSize bytes = 2 * (VkDeviceSize)gpume_work_left_list(work->plan) * 4 + 4;
    return gpume_view_part(work->scratch, work->layout->todo, bytes);
}

struct gpume_view gpume_work_frame(const struct gpume_work *work, uint64_t sequence, uint64_t row,
    uint64_t row_end, uint32_t *base)
{
    const struct gpume_plan *plan = work->plan;
    uint64_t row_bytes = (uint64_t)plan->padded_stride * plan->sample_bytes;
    uint64_t start = row * row_bytes / PART_ALIGN * PART_ALIGN;
    uint64_t end = gpume_min_u64(row_end, plan->padded_rows) * row_bytes;
    uint64_t place = gpume_work_place(plan, sequence);
    *base = 0u - (uint32_t)(start / gpume_quad_bytes(plan));
    if (plan->one_window) {
        return gpume_view_part(&work->ring[0], place * plan->padded_bytes + start, end - start);
    }
    return gpume_view_part(&work->ring[place], start, end - start);
}

_Static_assert(GPUME_TASKS_MAX == GPUME_BATCH_MAX, "a row for every task of a submission");

void gpume_work_write_tasks(const struct gpume_work *work)
{
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    for (uint32_t i = 0; i < work->task_count; i++) {
        table->rows[i] = (struct gpume_task_row){
            .target = gpume_work_place(work->plan, work->tasks[i].target),
            .reference = gpume_work_place(work->plan, work->tasks[i].reference),
        };
    }
}

void gpume_work_frames(const struct gpume_work *work, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push)
{
    const struct gpume_plan *plan = work->plan;
    *push = (struct gpume_frames_push){.stride = plan->padded_stride / 4};
    if (plan->one_window) {
        *target = *reference = gpume_buffer_view(&work->ring[0]);
        push->frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan));
        return;
    }
    assert(work->task_count == 1);
    const struct gpume_task *task = &work->tasks[0];
    uint64_t row = (uint64_t)band * plan->band_rows * plan->params.block;
    uint64_t row_end = row + (uint64_t)plan->band_rows * plan->params.block + 2ull * plan->pad_y;
    *target = gpume_work_frame(work, task->target, row, row_end, &push->target_base);
    *reference = gpume_work_frame(work, task->reference, row, row_end, &push->reference_base);
}
