/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/gpu.h"

#include "base/base.h"
#include "base/params.h"
#include "common/shared.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- buffers */

/* Of buffers that share an allocation, at most: memory may be left in small pieces only. */
#define SHARED_BYTES (32ull << 20)

#define STORAGE VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
#define COPIED_FROM VK_BUFFER_USAGE_TRANSFER_SRC_BIT
#define COPIED_TO VK_BUFFER_USAGE_TRANSFER_DST_BIT
#define OF_HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define OF_DEVICE VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT

static const struct {
    VkBufferUsageFlags usage;
    VkMemoryPropertyFlags needed, wished;
} kinds[] = {
    [GPUME_BUFFER_DEVICE] = {STORAGE | COPIED_FROM | COPIED_TO, 0, OF_DEVICE},
    /* Cached, because --check and the pictures read the frames as well. */
    [GPUME_BUFFER_UPLOAD] = {STORAGE | COPIED_FROM, OF_HOST, CACHED},
    [GPUME_BUFFER_READBACK] = {COPIED_TO, OF_HOST, CACHED},
    [GPUME_BUFFER_STAGING] = {COPIED_FROM | COPIED_TO, OF_HOST, CACHED},
    [GPUME_BUFFER_SHARED] = {STORAGE | COPIED_FROM | COPIED_TO, OF_HOST, CACHED},
    [GPUME_BUFFER_UNIFORM] = {VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, OF_HOST, OF_DEVICE},
};

/* The type with all that is needed and most of what is wished; UINT32_MAX if there is none. */
static uint32_t memory_type(const struct gpume_gpu *gpu, uint32_t allowed,
    VkMemoryPropertyFlags needed, VkMemoryPropertyFlags wished)
{
    const VkMemoryPropertyFlags attempts[] = {needed | wished, needed};
    for (uint32_t attempt = 0; attempt < 2; attempt++) {
        for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++) {
            VkMemoryPropertyFlags has = gpu->memory.memoryTypes[i].propertyFlags;
            if ((allowed >> i & 1) && (has & attempts[attempt]) == attempts[attempt]) {
                return i;
            }
        }
    }
    return UINT32_MAX;
}

static int too_large(const struct gpume_gpu *gpu, VkDeviceSize bytes)
{
    struct gpume_message advice = gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "cpu");
    advice.rest = ", larger blocks, or smaller pictures or arrays";
    return gpume_log_refuse(gpu->log, GPUME_DEVICE, advice,
        "%s cannot allocate %llu MiB in one piece (at most %llu MiB per piece, %llu MiB in all); "
        "use",
        gpu->properties.deviceName, (unsigned long long)(bytes >> 20) + 1,
        (unsigned long long)(gpu->allocation_max >> 20),
        (unsigned long long)(gpu->heap_bytes >> 20));
}

static bool has_address(const struct gpume_gpu *gpu, enum gpume_buffer_kind kind)
{
    return gpu->addresses && (kind == GPUME_BUFFER_DEVICE || kind == GPUME_BUFFER_SHARED);
}

static int create_buffer(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, VkDeviceSize bytes,
    struct gpume_buffer *buffer)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = kinds[kind].usage |
                 (has_address(gpu, kind) ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0u),
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    *buffer = (struct gpume_buffer){.bytes = bytes};
    if (bytes > gpu->allocation_max) {
        return too_large(gpu, bytes);
    }
    return gpume_vk_check(
        gpu->log, vkCreateBuffer(gpu->device, &info, NULL, &buffer->buffer), "vkCreateBuffer");
}

/* Places a buffer behind others that end there. */
static VkDeviceSize place_buffer(
    struct gpume_gpu *gpu, const struct gpume_buffer *buffer, VkDeviceSize *end, uint32_t *types)
{
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, buffer->buffer, &needs);
    const VkDeviceSize begin = gpume_round_up(*end, needs.alignment);
    *end = begin + needs.size;
    *types &= needs.memoryTypeBits;
    return begin;
}

/* The memory of them all, which the first one owns. */
static int allocate_group(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, uint32_t count,
    struct gpume_buffer *buffers)
{
    VkDeviceSize bytes = 0;
    uint32_t types = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        (void)place_buffer(gpu, &buffers[i], &bytes, &types);
    }
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = has_address(gpu, kind) ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = bytes,
        .memoryTypeIndex = memory_type(gpu, types, kinds[kind].needed, kinds[kind].wished),
    };
    if (info.memoryTypeIndex == UINT32_MAX || bytes > gpu->allocation_max) {
        return too_large(gpu, bytes);
    }
    VkResult result = vkAllocateMemory(gpu->device, &info, NULL, &buffers[0].memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        return too_large(gpu, bytes);
    }
    return gpume_vk_check(gpu->log, result, "vkAllocateMemory");
}

static int bind_group(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, uint32_t count,
    struct gpume_buffer *buffers)
{
    const VkDeviceMemory memory = buffers[0].memory;
    void *mapped = NULL;
    VkDeviceSize end = 0;
    uint32_t types = UINT32_MAX;
    int status = GPUME_OK;
    if (kind != GPUME_BUFFER_DEVICE) {
        GPUME_VK_TRY(gpu->log, vkMapMemory(gpu->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    }
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_buffer *buffer = &buffers[i];
        const VkDeviceSize begin = place_buffer(gpu, buffer, &end, &types);
        GPUME_VK_TRY(gpu->log, vkBindBufferMemory(gpu->device, buffer->buffer, memory, begin));
        buffer->mapped = mapped ? (char *)mapped + begin : NULL;
        if (has_address(gpu, kind)) {
            const VkBufferDeviceAddressInfo where = {
                .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer->buffer};
            buffer->address = vkGetBufferDeviceAddress(gpu->device, &where);
        }
    }
fail:
    return status;
}

/* Buffers that share an allocation. */
static int create_group(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, VkDeviceSize bytes,
    uint32_t count, struct gpume_buffer *buffers)
{
    for (uint32_t i = 0; i < count; i++) {
        GPUME_CHECK(create_buffer(gpu, kind, bytes, &buffers[i]));
    }
    GPUME_CHECK(allocate_group(gpu, kind, count, buffers));
    return bind_group(gpu, kind, count, buffers);
}

int gpume_buffers_create(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, VkDeviceSize bytes,
    uint32_t count, struct gpume_buffer *buffers)
{
    const VkDeviceSize most = gpume_min_u64(SHARED_BYTES, gpu->allocation_max / 2);
    const uint64_t together = gpume_max_u64(1, most / gpume_max_u64(1, bytes));
    int status = GPUME_OK;
    for (uint32_t i = 0, group; i < count; i += group) {
        group = (uint32_t)gpume_min_u64(together, count - i);
        GPUME_TRY(create_group(gpu, kind, bytes, group, buffers + i));
    }
    return GPUME_OK;
fail:
    gpume_buffers_destroy(gpu, count, buffers);
    return status;
}

struct gpume_view gpume_buffer_view(const struct gpume_buffer *buffer)
{
    return (struct gpume_view){.buffer = buffer->buffer, .bytes = buffer->bytes};
}

/* From the last one on, since the first of a group owns its memory. */
void gpume_buffers_destroy(struct gpume_gpu *gpu, uint32_t count, struct gpume_buffer *buffers)
{
    for (uint32_t i = count; i-- > 0;) {
        struct gpume_buffer *buffer = &buffers[i];
        if (buffer->buffer) {
            vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
        }
        if (buffer->memory) {
            vkFreeMemory(gpu->device, buffer->memory, NULL);
        }
        *buffer = (struct gpume_buffer){0};
    }
}

/* --- kernels */

static int create_layouts(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    VkDescriptorSetLayoutBinding bindings[GPUME_KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    bindings[kernel->buffer_count] =
        (VkDescriptorSetLayoutBinding){.binding = GPUME_KERNEL_UNIFORM_BINDING,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = kernel->buffer_count + kernel->uniform,
        .pBindings = bindings,
    };
    int status;
    GPUME_VK_TRY(
        gpu->log, vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &kernel->set_layout));
    VkPushConstantRange push = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = kernel->push_bytes};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &kernel->set_layout,
        .pushConstantRangeCount = kernel->push_bytes > 0,
        .pPushConstantRanges = &push,
    };
    GPUME_VK_TRY(gpu->log, vkCreatePipelineLayout(gpu->device, &layout, NULL, &kernel->layout));
fail:
    return status;
}

/* What compiling needs, on its own, as the caller goes on. */
struct gpume_kernel_build {
    struct gpume_gpu *gpu;
    VkShaderModule module;
    VkPipelineLayout layout;
    const char *entry;
    uint32_t constants[GPUME_KERNEL_CONSTANTS_MAX];
    uint32_t constant_count, subgroup;
    bool threaded;
    pthread_t thread;
    VkPipeline pipeline;
    VkResult result;
};

static void *compile(void *opaque)
{
    struct gpume_kernel_build *build = opaque;
    VkSpecializationMapEntry entries[GPUME_KERNEL_CONSTANTS_MAX];
    for (uint32_t i = 0; i < build->constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4, .size = 4};
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = build->constant_count,
        .pMapEntries = entries,
        .dataSize = build->constant_count * sizeof(*build->constants),
        .pData = build->constants,
    };
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = build->subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .pNext = build->subgroup ? &subgroup : NULL,
            .flags =
                build->subgroup ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0u,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = build->module,
            .pName = build->entry,
            .pSpecializationInfo = &constants},
        .layout = build->layout,
    };
    build->result = vkCreateComputePipelines(
        build->gpu->device, build->gpu->pipelines, 1, &info, NULL, &build->pipeline);
    return NULL;
}

/* Without a thread to be had it is done at once. */
static int start_build(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *kernel)
{
    struct gpume_kernel_build *build = calloc(1, sizeof(*build));
    if (!build) {
        return gpume_log_nomem(gpu->log, "a kernel");
    }
    kernel->build = build;
    build->gpu = gpu;
    build->layout = kernel->layout;
    build->subgroup = info->subgroup;
    build->entry = info->entry ? info->entry : "main";
    build->constant_count = info->constant_count;
    if (info->constant_count > 0) {
        memcpy(build->constants, info->constants, info->constant_count * sizeof(*info->constants));
    }
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = info->bytes,
        .pCode = info->words,
    };
    int status;
    GPUME_VK_TRY(gpu->log, vkCreateShaderModule(gpu->device, &module, NULL, &build->module));
    build->threaded = pthread_create(&build->thread, NULL, compile, build) == 0;
    if (!build->threaded) {
        compile(build);
    }
fail:
    return status;
}

int gpume_kernel_create(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *out)
{
    struct gpume_kernel kernel = {
        .buffer_count = info->buffer_count,
        .push_bytes = info->push_bytes,
        .uniform = info->uniform,
    };
    int status;
    GPUME_TRY(create_layouts(gpu, &kernel));
    GPUME_TRY(start_build(gpu, info, &kernel));
    *out = kernel;
fail:
    if (status != GPUME_OK) {
        gpume_kernel_destroy(gpu, &kernel);
    }
    return status;
}

int gpume_kernel_wait(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    struct gpume_kernel_build *build = kernel->build;
    if (!build) {
        return GPUME_OK;
    }
    kernel->build = NULL;
    if (build->threaded) {
        pthread_join(build->thread, NULL);
    }
    kernel->pipeline = build->pipeline;
    int status = gpume_vk_check(gpu->log, build->result, "vkCreateComputePipelines");
    vkDestroyShaderModule(gpu->device, build->module, NULL);
    free(build);
    return status;
}

void gpume_kernel_destroy(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    (void)gpume_kernel_wait(gpu, kernel);
    vkDestroyPipeline(gpu->device, kernel->pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, kernel->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, kernel->set_layout, NULL);
    *kernel = (struct gpume_kernel){0};
}

/* --- slots */

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
        GPUME_TRY(
            gpume_buffers_create(gpu, GPUME_BUFFER_UNIFORM, uniform_bytes, 1, &slot->uniforms));
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
        gpume_buffers_destroy(slot->gpu, 1, &slot->uniforms);
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
