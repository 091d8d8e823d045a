/* SPDX-License-Identifier: BSD-2-Clause */
/* The Vulkan instance, with or without the validation layer, and what is known of its devices. */
#ifndef GPUME_GPU_VK_INSTANCE_H
#define GPUME_GPU_VK_INSTANCE_H

#include "gpu/vk/gpu.h"

#define GPUME_PHYSICAL_MAX 64u /* devices looked at */

/* Fills in gpu->instance (and messenger). quiet: a machine without Vulkan is not logged as an
 * error. */
int gpume_instance_open(struct gpume_gpu *gpu, bool validate, bool quiet);

void gpume_instance_close(struct gpume_gpu *gpu);

/* Up to GPUME_PHYSICAL_MAX devices in the loader's order, and what is known of them. */
int gpume_instance_devices(const struct gpume_gpu *gpu, VkPhysicalDevice *physical,
    struct gpume_device *devices, uint32_t *count);

/* The device to take: the one wanted (an index or a part of a name), or the best usable one,
 * software drivers only if welcome; -1: none. */
int gpume_instance_choose(
    const struct gpume_device *devices, uint32_t count, const char *wanted, bool software);

/* The family of a queue that computes, UINT32_MAX if there is none. */
uint32_t gpume_instance_compute_family(VkPhysicalDevice physical, uint32_t *timestamp_bits);

#endif
