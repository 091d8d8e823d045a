/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the match stage: one table, chosen from by what a device can do. Each
 * gives the same vectors and costs, bit for bit, and differs in speed alone.
 */
#ifndef GPUME_GPU_VARIANT_H
#define GPUME_GPU_VARIANT_H

#include "gpu/device.h"
#include "gpu/tile.h"

struct gpume_match_variant {
    const char *name, *summary;                     /* as gpume_list_searches tells them */
    bool (*available)(const struct gpume_gpu *gpu); /* the logical device is not needed */
    bool tiled;                                     /* tile.comp; else match.comp alone */
    enum gpume_tile_words words;                    /* tiled */
};

/* Variants from the plainest to the fastest; NULL past the last one. The first suits every plan. */
const struct gpume_match_variant *gpume_match_variant_at(uint32_t index);

/* The one of that name, or the fastest that is available for NULL; NULL if the name is of none that
 * is available. */
const struct gpume_match_variant *gpume_match_variant_select(
    const struct gpume_gpu *gpu, const char *name);

/* Does it suit the plan on this device? Then *tile is its shape, of at most `blocks`;
 * all zero: it needs none. A shape that is there already (chunk > 0) is kept if it suits. */
bool gpume_match_variant_suits(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, uint32_t blocks,
    struct gpume_tile *tile);

/* engine_ops.list_searches */
int gpume_match_variant_list(
    const char *device, struct gpume_search_info *searches, uint32_t *count);

#endif
