/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which variant of the match stage a layer gets: the one that is asked for, else the fastest of
 * those that suit it. Where there are several, each is timed once for a device, its driver and the
 * kind of search; the answer is kept for the life of the process, and in the cache's folder.
 */
#ifndef GPUME_GPU_TUNE_CHOICE_H
#define GPUME_GPU_TUNE_CHOICE_H

#include "gpu/tune/variant.h"
#include "gpu/vk/device_cache.h"

/* tile: the shape to take, usually of the fastest variant; chunk 0: the best shape and variant.
 * GPUME_UNSUPPORTED, logged: the variant that plan->params.search names does not suit the layer. A
 * trial that fails is logged too. */
int gpume_choice_make(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache, const struct gpume_tile *tile,
    struct gpume_match_choice *choice);

/* The name of the cache's entry, which holds a label. */
void gpume_choice_name(const struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, char name[GPUME_CACHE_NAME_BYTES]);

#define GPUME_CHOICE_LABEL_BYTES GPUME_KNOWN_BYTES

/* A variant and its shape as one short text, for the log and the cache. */
void gpume_choice_label(const struct gpume_match_variant *variant, const struct gpume_tile *tile,
    char label[GPUME_CHOICE_LABEL_BYTES]);

#endif
