/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logical device and its one compute queue. Contexts on the same physical device share them,
 * unless they validate: to open one takes NVIDIA's driver 0.1 s of processor time. Each context has
 * its own buffers, kernels and command buffers. Any thread.
 */
#ifndef GPUME_GPU_VK_LOGICAL_H
#define GPUME_GPU_VK_LOGICAL_H

#include "gpu/vk/gpu.h"

/* Fills in gpu->logical, gpu->device, gpu->queue_family and gpu->timestamp_bits. */
int gpume_logical_open(struct gpume_gpu *gpu);

/* After all that the context made on the device has been destroyed. Zeroed is fine. */
void gpume_logical_close(struct gpume_gpu *gpu);

VkResult gpume_logical_submit(const struct gpume_gpu *gpu, const VkSubmitInfo *info);

/* After a wait that failed: returns when the device does nothing any more, for any context. If it
 * is lost, contexts that are opened from now on do not share it. */
void gpume_logical_fail(const struct gpume_gpu *gpu, VkResult result);

#endif
