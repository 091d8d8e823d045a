/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instance, physical device, logical device and its one compute queue. Features are asked once,
 * here. Baseline: Vulkan 1.2 with timeline semaphores and buffer addresses; 16-bit floats and
 * subgroups of a known size are used where they are.
 */
#ifndef GPUME_GPU_VK_DEVICE_H
#define GPUME_GPU_VK_DEVICE_H

#include "gpu/vk/gpu.h"

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

/* GPUME_DEVICE: the validation layer has reported something, which is logged. */
int gpume_gpu_verdict(const struct gpume_gpu *gpu);

/* Zeroed is fine. */
void gpume_gpu_close(struct gpume_gpu *gpu);

#endif
