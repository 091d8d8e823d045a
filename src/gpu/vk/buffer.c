/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/buffer.h"

#include "base/grid.h"
#include "base/status.h"

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
