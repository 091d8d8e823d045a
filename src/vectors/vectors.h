/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/vectors reads and writes files of motion vectors, one field at a time.
 *
 * This header defines fields independently of file formats: what readers return and writers accept.
 * A field is either a list of blocks, each with its position and size, or the arrays of a layer,
 * whose blocks form a grid.
 */
#ifndef GPUME_VECTORS_VECTORS_H
#define GPUME_VECTORS_VECTORS_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_READ_SIDE_MAX GPUME_SIDE_MAX      /* pixels, of a picture */
#define GPUME_READ_BLOCK_MAX 1024               /* pixels, of a block: more than in any codec */
#define GPUME_READ_BLOCKS_MAX ((size_t)1 << 28) /* of a field: 2^32 pixels in blocks of 4x4 */
#define GPUME_READ_NUMBER_MAX INT64_C(99999999999999999) /* of a frame */

/* What is known about every block, besides position, size and vector. */
enum gpume_vectors_column {
    GPUME_VECTORS_REF = 1u << 0,
    GPUME_VECTORS_COST = 1u << 1,
    GPUME_VECTORS_RANK = 1u << 2,
    GPUME_VECTORS_TIME = 1u << 3, /* of the frame; 0: unknown */
};

/* Unknown members are 0. */
struct gpume_vectors_block {
    uint32_t x, y;  /* upper left corner, pixels */
    uint16_t w, h;  /* pixels, 1 or more */
    int16_t dx, dy; /* pixels, as in gpume.h */
    uint32_t cost, rank;
};

/* Read-only, valid until the next call of its owner. */
struct gpume_vectors_field {
    uint64_t frame, ref;
    int64_t time_us;
    unsigned columns;                         /* known: enum gpume_vectors_column */
    size_t count;                             /* of blocks, 1 or more */
    uint32_t width, height;                   /* of the picture, as far as blocks cover it */
    const struct gpume_vectors_block *blocks; /* in raster order; NULL: arrays on a grid, below */
    const struct gpume_vector *vectors;
    const uint32_t *costs, *ranks;
};

/* What all fields of a file share. */
struct gpume_vectors_info {
    unsigned columns;       /* known: enum gpume_vectors_column */
    uint32_t width, height; /* of the picture, pixels */
    /* Size of the blocks, which form a grid from (0,0) that covers the picture; 0, 0: no grid. */
    uint32_t block_w, block_h;
    bool has_search; /* are the members below known? */
    uint32_t bits, window_x, window_y;
    enum gpume_edge edge;
    enum gpume_metric metric;
    const char *prefilter; /* NULL: none */
};

/* Blocks of the grid, across and down. */
static inline uint32_t gpume_vectors_blocks_x(const struct gpume_vectors_info *info)
{
    return (info->width - 1) / info->block_w + 1;
}

static inline uint32_t gpume_vectors_blocks_y(const struct gpume_vectors_info *info)
{
    return (info->height - 1) / info->block_h + 1;
}

/* Blocks first to first + count - 1 of the field: from its list, or made from its arrays in
 * `buffer`. A field of arrays needs info to have a grid. */
const struct gpume_vectors_block *gpume_vectors_take(const struct gpume_vectors_info *info,
    const struct gpume_vectors_field *field, size_t first, size_t count,
    struct gpume_vectors_block *buffer);

/* Sets width, height and block size of *info to the grid that the field's list of blocks forms; the
 * block size is 0, 0 if they form none. */
void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info);

/* Are the field's blocks exactly those of the grid in info? Arrays always are. */
bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field);

#endif
