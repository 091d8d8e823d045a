/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/arrays/segment_sort.h"
#include "base/grid.h"
#include "base/status.h"
#include "gpu/arrays/sort_check.h"

#include <stdlib.h>
#include <string.h>

static uint32_t class_of(const struct gpume_segment *segment)
{
    return gpume_bit_width(segment->count);
}

/* At least `bytes`, the content undefined. */
static int grow(struct gpume_gpu *gpu, VkDeviceSize bytes, struct gpume_buffer *buffer)
{
    if (buffer->bytes >= bytes) {
        return GPUME_OK;
    }
    gpume_buffer_destroy(gpu, buffer);
    return gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, bytes, buffer);
}

/* Segments of two keys or more, by class, and where in the table each class lies. Returns their
 * number. */
static uint32_t classify(const struct gpume_sort_params *params, struct gpume_segment *table,
    struct gpume_segment_sort *sort)
{
    uint32_t at[GPUME_SORT_CLASSES], end = 0;
    for (uint32_t i = 0; i < params->segment_count; i++) {
        const struct gpume_segment *segment = &params->segments[i];
        uint32_t class = class_of(segment);
        sort->classes[class].count++;
        if (segment->count > sort->classes[class].longest) {
            sort->classes[class].longest = segment->count;
        }
    }
    sort->classes[0].count = sort->classes[1].count = 0;
    for (uint32_t class = 0; class < GPUME_SORT_CLASSES; class ++) {
        sort->classes[class].first = at[class] = end;
        end += sort->classes[class].count;
    }
    for (uint32_t i = 0; i < params->segment_count; i++) {
        if (params->segments[i].count > 1) {
            table[at[class_of(&params->segments[i])]++] = params->segments[i];
        }
    }
    return end;
}

static int fill_table(struct gpume_gpu *gpu, struct gpume_transfer *transfer,
    const struct gpume_sort_params *params, struct gpume_segment_sort *sort)
{
    int status = GPUME_OK;
    size_t bytes = (size_t)params->segment_count * sizeof(*params->segments);
    struct gpume_segment *table = malloc(bytes > 0 ? bytes : 1);
    if (!table) {
        return gpume_log_nomem(gpu->log, "the table of segments");
    }
    bytes = classify(params, table, sort) * sizeof(*table);
    if (bytes > 0) {
        GPUME_TRY(grow(gpu, bytes, &sort->table));
        GPUME_TRY(gpume_transfer_write(transfer, &sort->table, 0, table, bytes));
    }
fail:
    free(table);
    return status;
}

static int prepare_kernels(
    struct gpume_gpu *gpu, const struct gpume_cache *cache, struct gpume_k_sort *sort)
{
    int status = GPUME_OK;
    if (!sort->gpu) {
        GPUME_TRY(gpume_k_sort_create(gpu, NULL, NULL, sort));
        GPUME_TRY(gpume_k_sort_wait(sort));
        GPUME_TRY(gpume_sort_check(sort, NULL, cache));
    }
    return GPUME_OK;
fail:
    gpume_k_sort_destroy(sort);
    return status;
}

int gpume_segment_sort_prepare(struct gpume_gpu *gpu, struct gpume_transfer *transfer,
    const struct gpume_cache *cache, const struct gpume_sort_params *params,
    const struct gpume_buffer *keys, const struct gpume_buffer *payload, uint64_t count,
    struct gpume_segment_sort *sort)
{
    VkDeviceSize scratch = 0;
    sort->task = (struct gpume_sort_task){
        .keys = keys->address,
        .payload = payload ? payload->address : 0,
        .count = (uint32_t)count,
        .key_bits = params->key_bits,
        .flip = (params->type == GPUME_KEY_I32 ? 0x80000000u : 0) ^
                (params->descending ? ~UINT32_C(0) : 0),
        .method = params->method,
    };
    memset(sort->classes, 0, sizeof(sort->classes));
    GPUME_CHECK(prepare_kernels(gpu, cache, &sort->sort));
    if (params->segments) {
        GPUME_CHECK(fill_table(gpu, transfer, params, sort));
    } else {
        sort->classes[0].count = 1;
        sort->classes[0].longest = (uint32_t)count;
    }
    for (uint32_t class = 0; class < GPUME_SORT_CLASSES; class ++) {
        sort->task.longest = sort->classes[class].longest;
        scratch = gpume_max_u64(scratch, gpume_k_sort_scratch(&sort->sort, &sort->task));
    }
    GPUME_CHECK(grow(gpu, scratch, &sort->scratch));
    sort->task.scratch = sort->scratch.address;
    sort->task.table = params->segments ? sort->table.address : 0;
    return GPUME_OK;
}

/* No barrier between classes: segments do not overlap, nor does what they take of scratch memory.
 */
void gpume_segment_sort_record(const struct gpume_segment_sort *sort, const struct gpume_slot *slot)
{
    for (uint32_t class = 0; class < GPUME_SORT_CLASSES && slot->status == GPUME_OK; class ++) {
        struct gpume_sort_task task = sort->task;
        task.segments = sort->classes[class].count;
        task.longest = sort->classes[class].longest;
        task.table += task.table ? sort->classes[class].first * sizeof(struct gpume_segment) : 0;
        gpume_k_sort_record(&sort->sort, slot->commands, &task);
    }
}

void gpume_segment_sort_destroy(struct gpume_gpu *gpu, struct gpume_segment_sort *sort)
{
    gpume_k_sort_destroy(&sort->sort);
    gpume_buffer_destroy(gpu, &sort->scratch);
    gpume_buffer_destroy(gpu, &sort->table);
}
