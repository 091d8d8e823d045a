/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/work.h"

#include "base/grid.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>

/* --- memory */

static int create_buffers(
    struct gpume_gpu *gpu, const struct gpume_memory_need *need, struct gpume_buffer **buffers)
{
    if (need->count == 0) {
        return GPUME_OK;
    }
    *buffers = calloc(need->count, sizeof(**buffers));
    return *buffers ? gpume_buffers_create(gpu, need->kind, need->bytes, need->count, *buffers)
                    : gpume_log_nomem(gpu->log, "the engine's buffers");
}

int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < GPUME_MEMORY_PARTS; i++) {
        status = create_buffers(gpu, &needs->parts[i], &memory->parts[i]);
    }
    return status;
}

void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    for (uint32_t i = 0; i < GPUME_MEMORY_PARTS; i++) {
        if (memory->parts[i]) {
            gpume_buffers_destroy(gpu, needs->parts[i].count, memory->parts[i]);
        }
        free(memory->parts[i]);
        memory->parts[i] = NULL;
    }
}

/* --- a submission */

_Static_assert(GPUME_TASKS_MAX == GPUME_BATCH_MAX, "a row for every pair that the fast search has");

void gpume_work_write_tasks(const struct gpume_work *work)
{
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    uint32_t pairs =
        gpume_plan_searches_fast(work->plan) ? gpume_work_pairs(work->plan, work->task_count) : 0;
    for (uint32_t i = 0; i < pairs; i++) {
        const struct gpume_task *task = &work->tasks[i / work->plan->references];
        uint64_t reference = gpume_work_reference(task, i % work->plan->references);
        table->rows[i] = (struct gpume_task_row){
            .target = gpume_work_place(work->plan, task->target),
            .reference = gpume_work_place(work->plan, reference),
        };
    }
}

enum gpume_work_array gpume_work_found(const struct gpume_plan *plan, enum gpume_work_array array)
{
    return plan->references == 1          ? array
           : array == GPUME_ARRAY_VECTORS ? GPUME_ARRAY_PAIR_VECTORS
                                          : GPUME_ARRAY_PAIR_COSTS;
}

struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes)
{
    return (struct gpume_view){.buffer = buffer->buffer, .offset = offset, .bytes = bytes};
}

const struct gpume_buffer *gpume_work_buffer(
    const struct gpume_work *work, enum gpume_work_array array)
{
    bool result = array < GPUME_ARRAY_RESULTS;
    return &work->memory
                ->parts[result ? GPUME_MEMORY_RESULTS : GPUME_MEMORY_SCRATCH][work->slot_index];
}

struct gpume_view gpume_work_array(
    const struct gpume_work *work, enum gpume_work_array array, uint32_t layer)
{
    const struct gpume_array_places *places = &work->layout->arrays;
    VkDeviceSize bytes = places->bytes[array][layer];
    return gpume_view_part(gpume_work_buffer(work, array), places->offsets[array][layer],
        array < GPUME_ARRAY_RESULTS ? bytes / work->plan->batch * work->task_count : bytes);
}

static const struct gpume_buffer *ring_of(const struct gpume_work *work, enum gpume_surface surface)
{
    return work->memory->parts[GPUME_MEMORY_SURFACES + surface];
}

VkDeviceAddress gpume_work_frame_address(
    const struct gpume_work *work, enum gpume_surface surface, uint64_t sequence)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_buffer *ring = ring_of(work, surface);
    uint32_t place = gpume_work_place(plan, sequence);
    return plan->one_window ? ring[0].address + place * plan->padded_bytes : ring[place].address;
}

struct gpume_view gpume_work_rows(const struct gpume_work *work, enum gpume_surface surface,
    uint64_t sequence, uint64_t row, uint64_t row_end, uint32_t *base)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_buffer *ring = ring_of(work, surface);
    uint64_t row_bytes = (uint64_t)plan->padded_stride * plan->sample_bytes;
    uint64_t start = row * row_bytes / GPUME_PART_ALIGN * GPUME_PART_ALIGN;
    uint64_t end = gpume_min_u64(row_end, plan->padded_rows) * row_bytes;
    uint64_t place = gpume_work_place(plan, sequence);
    *base = 0u - (uint32_t)(start / gpume_quad_bytes(plan));
    if (plan->one_window) {
        return gpume_view_part(&ring[0], place * plan->padded_bytes + start, end - start);
    }
    return gpume_view_part(&ring[place], start, end - start);
}

void gpume_work_frames(const struct gpume_work *work, enum gpume_surface surface,
    const struct gpume_shape *layer, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push)
{
    const struct gpume_plan *plan = work->plan;
    *push = (struct gpume_frames_push){.stride = plan->padded_stride / 4};
    if (plan->one_window) {
        *target = *reference =
            gpume_view_part(&ring_of(work, surface)[0], 0, gpume_work_plane_bytes(plan));
        push->frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan));
        return;
    }
    assert(work->task_count == 1);
    const struct gpume_task *task = &work->tasks[0];
    uint64_t rows = (uint64_t)layer->band_rows * layer->block_h, row = band * rows;
    uint64_t row_end = row + rows + 2ull * plan->pad_y;
    *target = gpume_work_rows(work, surface, task->target, row, row_end, &push->target_base);
    *reference =
        gpume_work_rows(work, surface, task->reference, row, row_end, &push->reference_base);
}

struct gpume_layer_push gpume_work_layer(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return (struct gpume_layer_push){
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = layer->blocks_x,
        .blocks = layer->blocks,
        .first = layer->first,
        .field_blocks = plan->blocks,
    };
}
