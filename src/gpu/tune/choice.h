/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the match stage: one table, chosen from by what a device can do. Each
 * gives the same vectors and costs, bit for bit, and differs in speed alone.
 */
#ifndef GPUME_GPU_TUNE_CHOICE_H
#define GPUME_GPU_TUNE_CHOICE_H

#include "gpu/tune/tile.h"
#include "gpu/vk/device.h"
#include "gpu/vk/device_cache.h"

struct gpume_match_variant {
    const char *name, *summary;                     /* for gpume_list_searches */
    bool (*available)(const struct gpume_gpu *gpu); /* the logical device is not needed */
    bool tiled;                  /* match_tiles.comp; else match_quads.comp alone */
    enum gpume_tile_words words; /* tiled */
};

/* How a layer is searched in full. */
struct gpume_match_choice {
    const struct gpume_match_variant *variant;
    struct gpume_tile tile;          /* its shape; all zero: it has none */
    struct gpume_tile fallback_tile; /* for the few blocks, far between, that pruning leaves */
};

/* The available variant of that name, or for NULL the fastest available one; NULL if there is none.
 */
const struct gpume_match_variant *gpume_match_variant_select(
    const struct gpume_gpu *gpu, const char *name);

#define GPUME_VARIANT_TILES_MAX 9u

/* Shapes that are worth a trial, of at most `blocks` blocks, the most promising first; a zeroed one
 * where the variant needs none. Returns their number; 0: the variant does not suit the layer on
 * this device. */
uint32_t gpume_match_variant_tiles(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, const struct gpume_shape *layer,
    uint32_t blocks, struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX]);

/* engine_ops.list_searches */
int gpume_match_variant_list(
    const char *device, struct gpume_search_info *searches, uint32_t *count);

/* --- the choice: the variant that is asked for, else the fastest of those that suit the layer.
 * Where there are several, each is timed once for a device, its driver and the kind of search; the
 * answer is kept for the life of the process, and in the cache's folder. */

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
