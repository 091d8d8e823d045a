/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled pipelines, kept in the cache's folder for the next run on the same device and driver.
 * The engine's thread, before and after the kernels are made.
 */
#ifndef GPUME_GPU_VK_PIPELINE_CACHE_H
#define GPUME_GPU_VK_PIPELINE_CACHE_H

#include "base/cache.h"
#include "gpu/vk/device.h"

#define GPUME_CACHE_NAME_BYTES 96u

/* The name of an entry that is good for this device with this driver alone. kind: a short word. */
void gpume_pipeline_cache_name(
    const struct gpume_gpu *gpu, const char *kind, char name[GPUME_CACHE_NAME_BYTES]);

/* Fills in gpu->pipelines, with what is stored if it is this device's; without a folder there is
 * none, which is fine for all who use it. gpume_gpu_close destroys it. */
void gpume_pipeline_cache_open(struct gpume_gpu *gpu, const struct gpume_cache *cache);

/* Stores it if pipelines have come in since it was opened. Says how that was: "cached" if all of
 * them were there. */
const char *gpume_pipeline_cache_save(const struct gpume_gpu *gpu, const struct gpume_cache *cache);

#endif
