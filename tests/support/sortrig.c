/* SPDX-License-Identifier: BSD-2-Clause */
#include "sortrig.h"

#include "base/base.h"
#include "gpu/vk/gpu.h"
#include "gpume/vulkan.h"

#include <stdio.h>
#include <string.h>

#define GUARD_BYTES (SORTRIG_GUARD * 4u)
#define TABLE_BYTES (1u << 20)

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "%s\n", line);
    }
}

int sortrig_open(struct sortrig *rig, uint32_t capacity, bool validate, bool small)
{
    *rig = (struct sortrig){.log = {.fn = on_log}, .capacity = capacity};
    struct gpume_gpu *gpu = &rig->gpu;
    VkDeviceSize bytes = (VkDeviceSize)capacity * 4 + 2 * GUARD_BYTES;
    int status;
    GPUME_TRY(gpume_gpu_open(gpu, &rig->log, NULL, true, validate));
    if (small) {
        gpu->properties.limits.maxComputeSharedMemorySize = SORTRIG_SHARED_MIN;
    }
    GPUME_TRY(gpume_k_sort_create(gpu, NULL, NULL, &rig->sort));
    GPUME_TRY(gpume_k_sort_wait(&rig->sort));
    GPUME_TRY(gpume_timeline_create(gpu, &rig->timeline));
    GPUME_TRY(gpume_slot_create(gpu, 1, 0, &rig->slot));
    struct gpume_buffer *same[] = {
        &rig->keys, &rig->payload, &rig->keys_before, &rig->payload_before};
    for (int i = 0; i < 4; i++) {
        GPUME_TRY(gpume_buffers_create(gpu, GPUME_BUFFER_DEVICE, bytes, 1, same[i]));
    }
    GPUME_TRY(gpume_buffers_create(gpu, GPUME_BUFFER_DEVICE, TABLE_BYTES, 1, &rig->table));
    /* The network needs 12 bytes per key; the radix sort needs 8, and counts for each tile. */
    GPUME_TRY(
        gpume_buffers_create(gpu, GPUME_BUFFER_DEVICE, 4 * bytes + (1u << 20), 1, &rig->scratch));
    GPUME_TRY(
        gpume_buffers_create(gpu, GPUME_BUFFER_STAGING, 2 * bytes + TABLE_BYTES, 1, &rig->staging));
fail:
    return status;
}

unsigned sortrig_close(struct sortrig *rig)
{
    struct gpume_buffer *all[] = {&rig->keys, &rig->payload, &rig->keys_before,
        &rig->payload_before, &rig->table, &rig->scratch, &rig->staging};
    for (size_t i = 0; rig->gpu.device && i < sizeof(all) / sizeof(*all); i++) {
        gpume_buffers_destroy(&rig->gpu, 1, all[i]);
    }
    if (rig->gpu.device) {
        gpume_slot_destroy(&rig->slot);
        gpume_timeline_destroy(&rig->gpu, &rig->timeline);
        gpume_k_sort_destroy(&rig->sort);
    }
    gpume_gpu_close(&rig->gpu);
    return atomic_load(&rig->gpu.validation_errors);
}

static void copy(struct sortrig *rig, const struct gpume_buffer *from, VkDeviceSize from_at,
    const struct gpume_buffer *to, VkDeviceSize to_at, VkDeviceSize bytes)
{
    VkBufferCopy region = {.srcOffset = from_at, .dstOffset = to_at, .size = bytes};
    vkCmdCopyBuffer(rig->slot.commands, from->buffer, to->buffer, 1, &region);
}

static void barrier(struct sortrig *rig)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    vkCmdPipelineBarrier(rig->slot.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, NULL, 0,
        NULL);
}

static int finish(struct sortrig *rig, uint64_t row_ns[GPUME_ROW_COUNT])
{
    int status;
    barrier(rig);
    GPUME_TRY(gpume_slot_submit(&rig->slot, &rig->timeline));
    GPUME_TRY(gpume_slot_wait(&rig->slot, &rig->timeline, row_ns));
fail:
    return status;
}

/* `count` words between guards, at `at` bytes of the staging memory. */
static void stage(struct sortrig *rig, VkDeviceSize at, const uint32_t *words, uint32_t count)
{
    uint8_t *to = (uint8_t *)rig->staging.mapped + at;
    memset(to, 0xcd, GUARD_BYTES);
    if (count > 0) {
        memcpy(to + GUARD_BYTES, words, (size_t)count * 4);
    }
    memset(to + GUARD_BYTES + (size_t)count * 4, 0xcd, GUARD_BYTES);
}

int sortrig_load(struct sortrig *rig, const uint32_t *keys, const uint32_t *payload, uint32_t count,
    const uint32_t *segments, uint32_t segment_count)
{
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    VkDeviceSize bytes = (VkDeviceSize)count * 4 + 2 * GUARD_BYTES, table = segment_count * 8ull;
    if (count > rig->capacity || table > TABLE_BYTES) {
        return GPUME_NOMEM;
    }
    gpume_slot_begin(&rig->slot);
    stage(rig, 0, keys, count);
    copy(rig, &rig->staging, 0, &rig->keys_before, 0, bytes);
    if (payload) {
        stage(rig, bytes, payload, count);
        copy(rig, &rig->staging, bytes, &rig->payload_before, 0, bytes);
    }
    if (segments && table > 0) {
        memcpy((uint8_t *)rig->staging.mapped + 2 * bytes, segments, table);
        copy(rig, &rig->staging, 2 * bytes, &rig->table, 0, table);
    }
    return finish(rig, row_ns);
}

int sortrig_run(struct sortrig *rig, struct gpume_sort_task *task, bool poison, uint64_t *run_ns)
{
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    VkDeviceSize bytes = (VkDeviceSize)task->count * 4 + 2 * GUARD_BYTES;
    task->keys = rig->keys.address + GUARD_BYTES;
    task->payload = task->payload ? rig->payload.address + GUARD_BYTES : 0;
    task->ranks = task->ranks ? rig->payload.address + GUARD_BYTES : 0;
    task->table = task->table ? rig->table.address : 0;
    task->scratch = rig->scratch.address;
    VkDeviceSize scratch = gpume_k_sort_scratch(&rig->sort, task);
    if (scratch + GUARD_BYTES > rig->scratch.bytes) {
        return GPUME_NOMEM;
    }
    gpume_slot_begin(&rig->slot);
    copy(rig, &rig->keys_before, 0, &rig->keys, 0, bytes);
    if (task->payload || task->ranks) {
        copy(rig, &rig->payload_before, 0, &rig->payload, 0, bytes);
    }
    if (poison) {
        vkCmdFillBuffer(
            rig->slot.commands, rig->scratch.buffer, 0, scratch + GUARD_BYTES, SORTRIG_POISON);
    }
    barrier(rig);
    gpume_slot_row_done(&rig->slot, GPUME_ROW_UPLOAD);
    if (rig->sorter) {
        rig->sorter_task->keys = task->keys;
        rig->sorter_task->payload = task->payload;
        rig->sorter_task->scratch = task->scratch;
        if (gpume_sorter_record(rig->sorter, rig->slot.commands, rig->sorter_task) != GPUME_OK) {
            return GPUME_INVALID;
        }
    } else {
        gpume_k_sort_record(&rig->sort, rig->slot.commands, task);
    }
    gpume_slot_row_done(&rig->slot, GPUME_ROW_MATCH);
    int status = finish(rig, row_ns);
    if (run_ns) {
        *run_ns = row_ns[GPUME_ROW_MATCH];
    }
    return status;
}

bool sortrig_read(struct sortrig *rig, const struct gpume_sort_task *task, uint32_t *keys,
    uint32_t *payload, uint32_t count)
{
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    VkDeviceSize bytes = (VkDeviceSize)count * 4 + 2 * GUARD_BYTES;
    VkDeviceSize scratch = gpume_k_sort_scratch(&rig->sort, task);
    gpume_slot_begin(&rig->slot);
    copy(rig, &rig->keys, 0, &rig->staging, 0, bytes);
    copy(rig, &rig->payload, 0, &rig->staging, bytes, bytes);
    copy(rig, &rig->scratch, scratch, &rig->staging, 2 * bytes, GUARD_BYTES);
    if (finish(rig, row_ns) != GPUME_OK) {
        return false;
    }
    const uint8_t *mapped = rig->staging.mapped;
    memcpy(keys, mapped, bytes);
    if (payload) {
        memcpy(payload, mapped + bytes, bytes);
    }
    const uint8_t *guard = mapped + 2 * bytes;
    for (uint32_t i = 0; i < GUARD_BYTES; i++) {
        if (guard[i] != 0xcd) {
            return false;
        }
    }
    return true;
}
