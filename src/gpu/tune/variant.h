/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the match stage: one table, chosen from by what a device can do. Each
 * gives the same vectors and costs, bit for bit, and differs in speed alone.
 */
#ifndef GPUME_GPU_TUNE_VARIANT_H
#define GPUME_GPU_TUNE_VARIANT_H

#include "gpu/tune/tile.h"
#include "gpu/vk/device.h"

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

/* Variants from the plainest to the fastest; NULL past the last one. The first suits every plan. */
const struct gpume_match_variant *gpume_match_variant_at(uint32_t index);

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

/* Does the wanted shape suit the variant? If so, *tile is completed. */
bool gpume_match_variant_takes(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, const struct gpume_shape *layer,
    struct gpume_tile *tile);

/* engine_ops.list_searches */
int gpume_match_variant_list(
    const char *device, struct gpume_search_info *searches, uint32_t *count);

#endif
