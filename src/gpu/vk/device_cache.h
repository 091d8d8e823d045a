/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept of a device and its driver in the cache's folder: compiled pipelines, by the
 * engine's thread before and after the kernels are made, and short answers.
 */
#ifndef GPUME_GPU_VK_DEVICE_CACHE_H
#define GPUME_GPU_VK_DEVICE_CACHE_H

#include "base/cache.h"
#include "gpu/vk/gpu.h"

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
