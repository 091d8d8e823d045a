/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was found out about a device with its driver: short answers by name, kept for the life of
 * the process and in the cache's folder. gpume_pipeline_cache_name makes names. Any thread.
 */
#ifndef GPUME_GPU_TUNE_KNOWN_H
#define GPUME_GPU_TUNE_KNOWN_H

#include "gpu/vk/pipeline_cache.h"

#define GPUME_KNOWN_BYTES 64u /* of an answer */

/* False: nothing is known by that name. */
bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES]);

void gpume_known_keep(const struct gpume_cache *cache, const char *name, const char *answer);

#endif
