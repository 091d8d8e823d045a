/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape of match_tiles.comp's work for a layer and a device: pure arithmetic. What fits is a
 * matter of limits; what is best is an estimate, which only speed depends on.
 */
#ifndef GPUME_GPU_TUNE_TILE_H
#define GPUME_GPU_TUNE_TILE_H

#include "model/plan.h"

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

#endif
