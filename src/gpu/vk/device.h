/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instance, physical device, logical device and its one compute queue. Features are asked once,
 * here. Baseline: Vulkan 1.2 with timeline semaphores and buffer addresses; 16-bit floats and
 * subgroups of a known size are used where they are.
 */
#ifndef GPUME_GPU_VK_DEVICE_H
#define GPUME_GPU_VK_DEVICE_H

#include "base/cache.h"
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

/* --- the logical device and its one compute queue, which contexts on the same physical device
 * share, unless they validate: to open one takes NVIDIA's driver 0.1 s of processor time. Each
 * context has its own buffers, kernels and command buffers. Any thread. */

VkResult gpume_logical_submit(const struct gpume_gpu *gpu, const VkSubmitInfo *info);

/* After a wait that failed: returns when the device does nothing any more, for any context. If it
 * is lost, contexts that are opened from now on do not share it. */
void gpume_logical_fail(const struct gpume_gpu *gpu, VkResult result);

/* --- what is kept of a device and its driver in the cache's folder: compiled pipelines, by the
 * engine's thread before and after the kernels are made, and short answers */

#define GPUME_CACHE_NAME_BYTES 96u

/* The name of an entry that is good for this device with this driver alone. kind: a short word. */
void gpume_device_cache_name(
    const struct gpume_gpu *gpu, const char *kind, char name[GPUME_CACHE_NAME_BYTES]);

/* Fills in gpu->pipelines, with what is stored if it is this device's; without a folder there is
 * none, which is fine for all who use it. gpume_gpu_close destroys it. */
void gpume_device_cache_open(struct gpume_gpu *gpu, const struct gpume_cache *cache);

/* Stores it if pipelines have come in since it was opened. Says how that was: "cached" if all of
 * them were there. */
const char *gpume_device_cache_save(const struct gpume_gpu *gpu, const struct gpume_cache *cache);

/* --- answers: what was found out about a device with its driver, by a name that
 * gpume_device_cache_name makes. Kept for the life of the process too. Any thread. */

#define GPUME_KNOWN_BYTES 64u /* of an answer */

/* False: nothing is known by that name. */
bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES]);

void gpume_known_keep(const struct gpume_cache *cache, const char *name, const char *answer);

#endif
