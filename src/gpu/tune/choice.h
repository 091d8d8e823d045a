/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the match stage: one table, chosen from by what a device can do. Each
 * gives the same vectors and costs, bit for bit, and differs in speed alone.
 */
#ifndef GPUME_GPU_TUNE_CHOICE_H
#define GPUME_GPU_TUNE_CHOICE_H

#include "gpu/vk/gpu.h"
#include "model/plan.h"

/* --- the shape of match_tiles.comp's work for a layer and a device: pure arithmetic. What fits is
 * a matter of limits; what is best is an estimate, which only speed depends on. */

/* How samples and sums are held: see samples.glsl. */
enum gpume_tile_words { GPUME_TILE_HALF, GPUME_TILE_FLOAT, GPUME_TILE_INT };

#define GPUME_TILE_BLOCKS_MAX 16u

struct gpume_tile_limits {
    uint32_t shared_bytes; /* of a workgroup */
    uint32_t invocations;  /* of a workgroup */
    uint32_t blocks;       /* in a tile, at most GPUME_TILE_BLOCKS_MAX */
};

struct gpume_tile {
    uint32_t chunk;          /* neighbouring dy that one invocation sums up at once */
    uint32_t tile_x, tile_y; /* blocks of a workgroup */
    uint32_t band;           /* chunks whose samples are loaded at once */
    uint32_t columns;        /* dx whose samples are loaded at once: all, or a multiple of 4 */
    uint32_t local;          /* invocations of a workgroup */

    /* These follow from the others, the plan and the layer. */
    uint32_t unit; /* samples, squared, of the target in registers */
    /* Bits of the order in one word with the cost; 0: two words, and the same number of invocations
     * for every block. */
    uint32_t key_bits;
    uint64_t shared_bytes;
    uint64_t iterations; /* at most, of all loops of an invocation */
    double score;        /* estimated issue slots per pixel difference: less is better */
};

/* Fills in what follows from a shape. false: it does not suit the layer, or exceeds a limit. */
bool gpume_tile_complete(const struct gpume_plan *plan, const struct gpume_shape *layer,
    enum gpume_tile_words words, const struct gpume_tile_limits *limits, struct gpume_tile *tile);

/* Shapes with small scores, the best first: for the best `chunks` chunks the best `each` shapes,
 * which differ in their number of blocks. Returns their number, at most chunks * each; 0: none
 * suits. */
uint32_t gpume_tile_choose(const struct gpume_plan *plan, const struct gpume_shape *layer,
    enum gpume_tile_words words, const struct gpume_tile_limits *limits, uint32_t chunks,
    uint32_t each, struct gpume_tile *tiles);

/* The side of the squares of samples that blocks are made of. */
static inline uint32_t gpume_tile_unit(const struct gpume_shape *layer)
{
    return layer->block_w % 8 == 0 && layer->block_h % 8 == 0 ? 8 : 4;
}

/* Does the picture's edge, in the last column or the last row, cut blocks to sizes that are no
 * whole units? Tiles leave these to match_quads.comp. */
static inline bool gpume_tile_leaves(uint32_t picture, uint32_t block, uint32_t unit)
{
    return picture % block % unit != 0;
}

/* --- variants */

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
