/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of one shape, in a grid from (0,0) that covers every pixel of a picture. A block that the
 * right or bottom edge cuts counts its visible pixels only. Pure arithmetic.
 */
#ifndef GPUME_MODEL_SHAPE_H
#define GPUME_MODEL_SHAPE_H

#include <stdint.h>

struct gpume_shape {
    uint32_t block_w, block_h;      /* pixels */
    uint32_t blocks_x, blocks_y;    /* across and down */
    uint32_t blocks;                /* blocks_x * blocks_y */
    uint32_t first;                 /* index of its first block in a field's arrays */
    uint32_t cost_bits;             /* the largest cost of the search fits */
    uint32_t index_bits;            /* the largest block index within the shape fits */
    uint64_t candidates;            /* of all blocks, those that the edge mode allows; below 2^49 */
    uint32_t band_rows, band_count; /* block rows that are searched with one pair of windows */
};

#endif
