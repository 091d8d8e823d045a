/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/slot.h"

#include "base/grid.h"
#include "base/status.h"
#include "gpu/vk/device.h"

#include <assert.h>

#define QUERIES (GPUME_ROW_COUNT + 1u)
#define GRID_WIDTH 32768u /* every driver allows 65,535 groups per dimension */

int gpume_timeline_create(struct gpume_gpu *gpu, struct gpume_timeline *timeline)
{
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    timeline->value = 0;
    return gpume_vk_check(gpu->log,
        vkCreateSemaphore(gpu->device, &info, NULL, &timeline->semaphore), "vkCreateSemaphore");
}

void gpume_timeline_destroy(struct gpume_gpu *gpu, struct gpume_timeline *timeline)
{
    vkDestroySemaphore(gpu->device, timeline->semaphore, NULL);
    *timeline = (struct gpume_timeline){0};
}

static int create_commands(struct gpume_slot *slot)
{
    struct gpume_gpu *gpu = slot->gpu;
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = gpu->queue_family,
    };
    int status;
    GPUME_VK_TRY(gpu->log, vkCreateCommandPool(gpu->device, &pool, NULL, &slot->pool));
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = slot->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    GPUME_VK_TRY(gpu->log, vkAllocateCommandBuffers(gpu->device, &commands, &slot->commands));
fail:
    return status;
}

static int create_sets(struct gpume_slot *slot, uint32_t binds_max)
{
    if (binds_max == 0) {
        return GPUME_OK;
    }
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, binds_max * GPUME_KERNEL_BUFFERS_MAX},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, binds_max},
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = binds_max,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    return gpume_vk_check(slot->gpu->log,
        vkCreateDescriptorPool(slot->gpu->device, &pool, NULL, &slot->sets),
        "vkCreateDescriptorPool");
}

static int create_queries(struct gpume_slot *slot)
{
    if (slot->gpu->timestamp_bits == 0) {
        return GPUME_OK;
    }
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = QUERIES,
    };
    return gpume_vk_check(slot->gpu->log,
        vkCreateQueryPool(slot->gpu->device, &info, NULL, &slot->queries), "vkCreateQueryPool");
}

int gpume_slot_create(
    struct gpume_gpu *gpu, uint32_t binds_max, VkDeviceSize uniform_bytes, struct gpume_slot *slot)
{
    *slot = (struct gpume_slot){.gpu = gpu};
    int status;
    GPUME_TRY(create_commands(slot));
    GPUME_TRY(create_sets(slot, binds_max));
    GPUME_TRY(create_queries(slot));
    if (uniform_bytes > 0) {
        GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_UNIFORM, uniform_bytes, &slot->uniforms));
    }
    return GPUME_OK;
fail:
    gpume_slot_destroy(slot);
    return status;
}

void gpume_slot_destroy(struct gpume_slot *slot)
{
    if (slot->gpu) {
        VkDevice device = slot->gpu->device;
        gpume_buffer_destroy(slot->gpu, &slot->uniforms);
        vkDestroyQueryPool(device, slot->queries, NULL);
        vkDestroyDescriptorPool(device, slot->sets, NULL);
        vkDestroyCommandPool(device, slot->pool, NULL);
    }
    *slot = (struct gpume_slot){0};
}

static void note(struct gpume_slot *slot, VkResult result, const char *what)
{
    if (slot->status == GPUME_OK) {
        slot->status = gpume_vk_check(slot->gpu->log, result, what);
    }
}

static void stamp(struct gpume_slot *slot, uint32_t query)
{
    if (slot->queries && slot->status == GPUME_OK) {
        slot->stamps = query + 1;
        vkCmdWriteTimestamp(
            slot->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, slot->queries, query);
    }
}

void gpume_slot_begin(struct gpume_slot *slot)
{
    VkDevice device = slot->gpu->device;
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    slot->status = GPUME_OK;
    note(slot, vkResetCommandPool(device, slot->pool, 0), "vkResetCommandPool");
    if (slot->sets) {
        note(slot, vkResetDescriptorPool(device, slot->sets, 0), "vkResetDescriptorPool");
    }
    note(slot, vkBeginCommandBuffer(slot->commands, &begin), "vkBeginCommandBuffer");
    if (slot->queries && slot->status == GPUME_OK) {
        vkCmdResetQueryPool(slot->commands, slot->queries, 0, QUERIES);
    }
    stamp(slot, 0);
}

static void bind_set(
    struct gpume_slot *slot, const struct gpume_kernel *kernel, const struct gpume_view *views)
{
    VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = slot->sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &kernel->set_layout,
    };
    VkDescriptorSet set = VK_NULL_HANDLE;
    note(slot, vkAllocateDescriptorSets(slot->gpu->device, &allocate, &set),
        "vkAllocateDescriptorSets");
    if (slot->status != GPUME_OK) {
        return;
    }
    VkDescriptorBufferInfo buffers[GPUME_KERNEL_BINDINGS_MAX];
    VkWriteDescriptorSet writes[GPUME_KERNEL_BINDINGS_MAX];
    uint32_t count = kernel->buffer_count + kernel->uniform;
    for (uint32_t i = 0; i < count; i++) {
        bool uniform = i == kernel->buffer_count;
        struct gpume_view view = uniform ? gpume_buffer_view(&slot->uniforms) : views[i];
        assert(view.offset % 256 == 0); /* no device asks for more */
        buffers[i] = (VkDescriptorBufferInfo){view.buffer, view.offset, view.bytes};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = uniform ? GPUME_KERNEL_UNIFORM_BINDING : i,
            .descriptorCount = 1,
            .descriptorType =
                uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i]};
    }
    vkUpdateDescriptorSets(slot->gpu->device, count, writes, 0, NULL);
    vkCmdBindDescriptorSets(
        slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, 0, NULL);
}

void gpume_slot_bind(
    struct gpume_slot *slot, const struct gpume_kernel *kernel, const struct gpume_view *views)
{
    assert(kernel->pipeline && !kernel->build); /* it was waited for */
    if (kernel->buffer_count > 0 || kernel->uniform) {
        bind_set(slot, kernel, views);
    }
    if (slot->status == GPUME_OK) {
        vkCmdBindPipeline(slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    }
}

void gpume_slot_dispatch(struct gpume_slot *slot, const struct gpume_kernel *kernel,
    const void *push, uint32_t groups_x, uint32_t groups_y, uint32_t groups_z)
{
    if (slot->status != GPUME_OK) {
        return;
    }
    if (kernel->push_bytes > 0) {
        vkCmdPushConstants(slot->commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
            kernel->push_bytes, push);
    }
    vkCmdDispatch(slot->commands, groups_x, groups_y, groups_z);
}

void gpume_slot_dispatch_many(struct gpume_slot *slot, const struct gpume_kernel *kernel,
    const void *push, uint64_t groups, uint32_t groups_z)
{
    uint64_t width = gpume_min_u64(groups, GRID_WIDTH);
    gpume_slot_dispatch(
        slot, kernel, push, (uint32_t)width, (uint32_t)gpume_div_up(groups, width), groups_z);
}

void gpume_slot_copy(struct gpume_slot *slot, const struct gpume_buffer *from,
    const struct gpume_buffer *to, VkDeviceSize offset, VkDeviceSize bytes)
{
    struct gpume_view source = {from->buffer, offset, bytes}, sink = {to->buffer, offset, bytes};
    gpume_slot_copy_view(slot, &source, &sink);
}

void gpume_slot_copy_view(
    struct gpume_slot *slot, const struct gpume_view *from, const struct gpume_view *to)
{
    if (slot->status == GPUME_OK) {
        VkBufferCopy region = {
            .srcOffset = from->offset, .dstOffset = to->offset, .size = from->bytes};
        vkCmdCopyBuffer(slot->commands, from->buffer, to->buffer, 1, &region);
    }
}

void gpume_slot_clear(struct gpume_slot *slot, const struct gpume_view *view)
{
    if (slot->status == GPUME_OK) {
        vkCmdFillBuffer(slot->commands, view->buffer, view->offset, view->bytes, 0);
    }
}

static void barrier(struct gpume_slot *slot, VkPipelineStageFlags from_stage,
    VkAccessFlags from_access, VkPipelineStageFlags to_stage, VkAccessFlags to_access)
{
    if (slot->status != GPUME_OK) {
        return;
    }
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = from_access,
        .dstAccessMask = to_access,
    };
    vkCmdPipelineBarrier(slot->commands, from_stage, to_stage, 0, 1, &memory, 0, NULL, 0, NULL);
}

void gpume_barrier_clear_to_kernel(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void gpume_barrier_kernel_to_kernel(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void gpume_barrier_kernel_to_copy(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
        VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
}

void gpume_barrier_copy_to_host(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
        VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void gpume_barrier_all(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

void gpume_barrier_all_to_host(struct gpume_slot *slot)
{
    barrier(slot, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
        VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void gpume_slot_row_done(struct gpume_slot *slot, enum gpume_gpu_row row)
{
    stamp(slot, (uint32_t)row + 1);
}

int gpume_slot_submit(struct gpume_slot *slot, struct gpume_timeline *timeline)
{
    if (slot->status == GPUME_OK) {
        note(slot, vkEndCommandBuffer(slot->commands), "vkEndCommandBuffer");
    }
    if (slot->status != GPUME_OK) {
        return slot->status;
    }
    uint64_t value = timeline->value + 1;
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &slot->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline->semaphore,
    };
    note(slot, gpume_logical_submit(slot->gpu, &info), "vkQueueSubmit");
    if (slot->status == GPUME_OK) {
        slot->value = timeline->value = value;
    }
    return slot->status;
}

/* Timestamps wrap at timestamp_bits; differences modulo that are right for up to hours. */
static void add_times(struct gpume_slot *slot, uint64_t row_ns[GPUME_ROW_COUNT])
{
    uint64_t ticks[QUERIES];
    if (!slot->queries ||
        vkGetQueryPoolResults(slot->gpu->device, slot->queries, 0, slot->stamps, sizeof(ticks),
            ticks, sizeof(*ticks), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return;
    }
    uint32_t bits = slot->gpu->timestamp_bits;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
    double period = (double)slot->gpu->properties.limits.timestampPeriod;
    for (uint32_t i = 0; i + 1 < slot->stamps; i++) {
        row_ns[i] += (uint64_t)((double)((ticks[i + 1] - ticks[i]) & mask) * period);
    }
}

/* Returns when the timeline has reached the value, or never will: the device is idle then. */
static VkResult await(
    const struct gpume_gpu *gpu, const struct gpume_timeline *timeline, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline->semaphore,
        .pValues = &value,
    };
    const VkResult result = vkWaitSemaphores(gpu->device, &info, UINT64_MAX);
    if (result != VK_SUCCESS) {
        gpume_logical_fail(gpu, result);
    }
    return result;
}

int gpume_slot_wait(struct gpume_slot *slot, const struct gpume_timeline *timeline,
    uint64_t row_ns[GPUME_ROW_COUNT])
{
    const VkResult result = await(slot->gpu, timeline, slot->value);
    if (result == VK_SUCCESS) {
        add_times(slot, row_ns);
    }
    return gpume_vk_check(slot->gpu->log, result, "vkWaitSemaphores");
}

void gpume_timeline_wait(const struct gpume_gpu *gpu, const struct gpume_timeline *timeline)
{
    if (timeline->semaphore) {
        (void)await(gpu, timeline, timeline->value);
    }
}
