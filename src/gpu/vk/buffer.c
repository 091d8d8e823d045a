/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/buffer.h"

#include "base/status.h"

static const struct {
    VkBufferUsageFlags usage;
    VkMemoryPropertyFlags needed, wished;
} kinds[] = {
    [GPUME_BUFFER_DEVICE] = {VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    /* Cached, because --check and the pictures read the frames as well. */
    [GPUME_BUFFER_UPLOAD] = {VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    [GPUME_BUFFER_READBACK] = {VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    [GPUME_BUFFER_STAGING] = {VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    [GPUME_BUFFER_SHARED] = {VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    [GPUME_BUFFER_UNIFORM] = {VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
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
    return gpume_log_fail(gpu->log, GPUME_DEVICE,
        "%s cannot allocate %llu MiB in one piece (at most %llu MiB per piece, %llu MiB in all); "
        "use "
        "params.backend = GPUME_BACKEND_CPU, larger blocks, or smaller pictures or arrays",
        gpu->properties.deviceName, (unsigned long long)(bytes >> 20) + 1,
        (unsigned long long)(gpu->allocation_max >> 20),
        (unsigned long long)(gpu->heap_bytes >> 20));
}

static bool has_address(const struct gpume_gpu *gpu, enum gpume_buffer_kind kind)
{
    return gpu->addresses && (kind == GPUME_BUFFER_DEVICE || kind == GPUME_BUFFER_SHARED);
}

static int allocate(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, struct gpume_buffer *buffer)
{
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, buffer->buffer, &needs);
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = has_address(gpu, kind) ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = needs.size,
        .memoryTypeIndex =
            memory_type(gpu, needs.memoryTypeBits, kinds[kind].needed, kinds[kind].wished),
    };
    if (info.memoryTypeIndex == UINT32_MAX || needs.size > gpu->allocation_max) {
        return too_large(gpu, needs.size);
    }
    VkResult result = vkAllocateMemory(gpu->device, &info, NULL, &buffer->memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        return too_large(gpu, needs.size);
    }
    return gpume_vk_check(gpu->log, result, "vkAllocateMemory");
}

int gpume_buffer_create(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, VkDeviceSize bytes,
    struct gpume_buffer *out)
{
    struct gpume_buffer buffer = {.bytes = bytes};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = kinds[kind].usage |
                 (has_address(gpu, kind) ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0u),
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    int status;
    if (bytes > gpu->allocation_max) {
        return too_large(gpu, bytes);
    }
    GPUME_VK_TRY(gpu->log, vkCreateBuffer(gpu->device, &info, NULL, &buffer.buffer));
    GPUME_TRY(allocate(gpu, kind, &buffer));
    GPUME_VK_TRY(gpu->log, vkBindBufferMemory(gpu->device, buffer.buffer, buffer.memory, 0));
    if (kind != GPUME_BUFFER_DEVICE) {
        GPUME_VK_TRY(
            gpu->log, vkMapMemory(gpu->device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &buffer.mapped));
    }
    if (has_address(gpu, kind)) {
        VkBufferDeviceAddressInfo where = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer.buffer};
        buffer.address = vkGetBufferDeviceAddress(gpu->device, &where);
    }
    *out = buffer;
    return GPUME_OK;
fail:
    gpume_buffer_destroy(gpu, &buffer);
    return status;
}

struct gpume_view gpume_buffer_view(const struct gpume_buffer *buffer)
{
    return (struct gpume_view){.buffer = buffer->buffer, .bytes = buffer->bytes};
}

void gpume_buffer_destroy(struct gpume_gpu *gpu, struct gpume_buffer *buffer)
{
    if (buffer->buffer) {
        vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    }
    if (buffer->memory) {
        vkFreeMemory(gpu->device, buffer->memory, NULL);
    }
    *buffer = (struct gpume_buffer){0};
}
