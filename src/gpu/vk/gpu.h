/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one include of Vulkan, and how its results become status codes. Only src/gpu includes this,
 * and each of its contexts has one device.
 */
#ifndef GPUME_GPU_VK_GPU_H
#define GPUME_GPU_VK_GPU_H

#include "base/log.h"

#include <stdatomic.h>
#include <vulkan/vulkan.h>

/* GPUME_OK, or the matching status with one logged line: what was tried and Vulkan's name for the
 * trouble. */
int gpume_vk_check(const struct gpume_log *log, VkResult result, const char *what);

/* Needs `int status` and a label `fail`. */
#define GPUME_VK_TRY(log, call)                                                                    \
    do {                                                                                           \
        status = gpume_vk_check((log), (call), #call);                                             \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

/* A device as everything in this room knows it: instance, physical and logical device, and what the
 * device can do. device.c fills it in. */
struct gpume_gpu {
    const struct gpume_log *log;
    VkInstance instance;
    bool instance_shared;               /* with other contexts: not ours to destroy */
    VkDebugUtilsMessengerEXT messenger; /* with validation */
    atomic_uint validation_errors;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize allocation_max; /* bytes in one allocation */
    uint64_t heap_bytes;         /* of the largest device-local heap */
    bool half;                   /* 16-bit float arithmetic */
    bool addresses;              /* kernels may reach buffers by address, of whatever size */
    uint32_t subgroup;           /* size that kernels may ask for, every subgroup full; 0: none */
    uint32_t subgroups_max;      /* in a workgroup, of that size */
    bool sorts_wrongly;          /* see gpume_sort_check */
    char driver[256];
    struct gpume_logical *logical; /* shared by contexts, see device.h */
    VkDevice device;               /* the logical one */
    uint32_t queue_family;
    uint32_t timestamp_bits;   /* 0: the queue has no timestamps */
    uint64_t instance_ns;      /* that opening the instance took */
    VkPipelineCache pipelines; /* those of earlier runs included; may be null */
    size_t pipelines_bytes;    /* as they were read */
};

#endif
