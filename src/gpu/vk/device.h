/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instance, physical device, logical device and its one compute queue. Features are asked once,
 * here. Baseline: Vulkan 1.2 with timeline semaphores and buffer addresses; 16-bit floats and
 * subgroups of a known size are used where they are.
 */
#ifndef GPUME_GPU_VK_DEVICE_H
#define GPUME_GPU_VK_DEVICE_H

#include "gpu/vk/vk.h"

#include <stdatomic.h>

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
    char driver[256];
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    uint32_t timestamp_bits;   /* 0: the queue has no timestamps */
    uint64_t instance_ns;      /* that opening the instance took */
    VkPipelineCache pipelines; /* those of earlier runs included; may be null */
    size_t pipelines_bytes;    /* as they were read */
};

/* wanted: an index of gpume_list_devices, a part of a name, or NULL for the best; software: a
 * software driver may be taken. GPUME_DEVICE, logged: nothing suits. On failure close it all the
 * same. */
int gpume_gpu_open(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate);

/* The same without a logical device: only describes the physical one. */
int gpume_gpu_find(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate);

/* Fills in the limits, features and subgroup sizes of gpu->physical. */
void gpume_gpu_describe(struct gpume_gpu *gpu);

/* Zeroed is fine. */
void gpume_gpu_close(struct gpume_gpu *gpu);

#endif
