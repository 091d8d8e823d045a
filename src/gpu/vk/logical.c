/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/logical.h"

#include "gpu/vk/instance.h"

#include <pthread.h>
#include <stdlib.h>

struct gpume_logical {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    pthread_mutex_t mutex; /* for the queue, and while the device is created */
    /* Under shared_mutex: */
    uint32_t users;
    bool shared; /* with contexts that are opened from now on */
    struct gpume_logical *next;
};

static pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gpume_logical *first; /* of all that are open */

static VkResult create_device(const struct gpume_gpu *gpu, VkDevice *device)
{
    static const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = VK_TRUE,
    };
    static const char *const extensions[] = {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = gpu->subgroup ? &subgroups : NULL,
        .shaderFloat16 = gpu->half,
        .bufferDeviceAddress = gpu->addresses,
        .timelineSemaphore = VK_TRUE,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = gpu->subgroup ? 1 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    return vkCreateDevice(gpu->physical, &info, NULL, device);
}

/* Adds one to the list, without a device yet. NULL: no memory. Needs shared_mutex. */
static struct gpume_logical *add(const struct gpume_gpu *gpu)
{
    struct gpume_logical *logical = calloc(1, sizeof(*logical));
    if (logical) {
        pthread_mutex_init(&logical->mutex, NULL);
        logical->physical = gpu->physical;
        logical->shared = gpu->instance_shared;
        logical->next = first;
        first = logical;
    }
    return logical;
}

/* Creates the device unless another user has: several physical devices at once, each once. */
static VkResult create(const struct gpume_gpu *gpu, struct gpume_logical *logical)
{
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&logical->mutex);
    if (!logical->device) {
        result = create_device(gpu, &logical->device);
        if (result == VK_SUCCESS) {
            vkGetDeviceQueue(logical->device, gpu->queue_family, 0, &logical->queue);
        } else {
            logical->device = VK_NULL_HANDLE;
        }
    }
    pthread_mutex_unlock(&logical->mutex);
    return result;
}

/* Handles of physical devices differ from instance to instance, and one that validates has its own.
 * NULL: none. */
static struct gpume_logical *find(const struct gpume_gpu *gpu)
{
    struct gpume_logical *logical = gpu->instance_shared ? first : NULL;
    while (logical && !(logical->shared && logical->physical == gpu->physical)) {
        logical = logical->next;
    }
    return logical;
}

int gpume_logical_open(struct gpume_gpu *gpu)
{
    gpu->queue_family = gpume_instance_compute_family(gpu->physical, &gpu->timestamp_bits);
    pthread_mutex_lock(&shared_mutex);
    gpu->logical = find(gpu);
    gpu->logical = gpu->logical ? gpu->logical : add(gpu);
    if (gpu->logical) {
        gpu->logical->users++;
    }
    pthread_mutex_unlock(&shared_mutex);
    const VkResult result = gpu->logical ? create(gpu, gpu->logical) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        gpu->device = gpu->logical->device;
    } else {
        gpume_logical_close(gpu);
    }
    return gpume_vk_check(gpu->log, result, "vkCreateDevice");
}

static void unlink_logical(const struct gpume_logical *logical)
{
    struct gpume_logical **link = &first;
    while (*link != logical) {
        link = &(*link)->next;
    }
    *link = logical->next;
}

void gpume_logical_close(struct gpume_gpu *gpu)
{
    struct gpume_logical *logical = gpu->logical;
    if (!logical) {
        return;
    }
    gpu->logical = NULL;
    gpu->device = VK_NULL_HANDLE;
    pthread_mutex_lock(&shared_mutex);
    const bool last = --logical->users == 0;
    if (last) {
        unlink_logical(logical);
    }
    pthread_mutex_unlock(&shared_mutex);
    if (last) { /* takes long, and other devices need not wait for it */
        if (logical->device) {
            vkDestroyDevice(logical->device, NULL);
        }
        pthread_mutex_destroy(&logical->mutex);
        free(logical);
    }
}

static void note(const struct gpume_gpu *gpu, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        pthread_mutex_lock(&shared_mutex);
        gpu->logical->shared = false;
        pthread_mutex_unlock(&shared_mutex);
    }
}

VkResult gpume_logical_submit(const struct gpume_gpu *gpu, const VkSubmitInfo *info)
{
    pthread_mutex_lock(&gpu->logical->mutex);
    const VkResult result = vkQueueSubmit(gpu->logical->queue, 1, info, VK_NULL_HANDLE);
    pthread_mutex_unlock(&gpu->logical->mutex);
    note(gpu, result);
    return result;
}

void gpume_logical_fail(const struct gpume_gpu *gpu, VkResult result)
{
    note(gpu, result);
    pthread_mutex_lock(&gpu->logical->mutex);
    const VkResult waited = vkDeviceWaitIdle(gpu->device);
    pthread_mutex_unlock(&gpu->logical->mutex);
    note(gpu, waited);
}
