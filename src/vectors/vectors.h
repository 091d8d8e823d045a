/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of vectors apart from any format: what readers give and writers take. A field's blocks
 * come either one by one, each with its place, or as the library's arrays on the grid of the
 * picture.
 */
#ifndef GPUME_VECTORS_VECTORS_H
#define GPUME_VECTORS_VECTORS_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_READ_SIDE_MAX GPUME_SIDE_MAX      /* pixels, of a picture */
#define GPUME_READ_BLOCK_MAX 1024               /* pixels, of a block: more than any codec has */
#define GPUME_READ_BLOCKS_MAX ((size_t)1 << 28) /* of a field: 2^32 pixels in blocks of 4x4 */
#define GPUME_READ_NUMBER_MAX INT64_C(99999999999999999) /* of a frame */

/* What is known of every block of a file, or asked for. Place and vector always are. */
enum gpume_vectors_column {
    GPUME_VECTORS_REF = 1u << 0,
    GPUME_VECTORS_COST = 1u << 1,
    GPUME_VECTORS_RANK = 1u << 2,
    GPUME_VECTORS_TIME = 1u << 3, /* of a frame; 0 where it is not known */
};

/* What is not known is 0. */
struct gpume_vectors_block {
    uint32_t x, y;  /* upper left corner, pixels */
    uint16_t w, h;  /* pixels, 1 or more */
    int16_t dx, dy; /* pixels, as in gpume.h */
    uint32_t cost, rank;
};

/* Read-only, until the next call of who gave it. */
struct gpume_vectors_field {
    uint64_t frame, ref;
    int64_t time_us;
    unsigned columns;                         /* known: enum gpume_vectors_column */
    size_t count;                             /* of blocks, 1 or more */
    uint32_t width, height;                   /* of the picture, as far as blocks cover it */
    const struct gpume_vectors_block *blocks; /* in raster order; NULL: on the grid, as below */
    const struct gpume_vector *vectors;
    const uint32_t *costs, *ranks;
};

/* What is the same for all fields of a file. */
struct gpume_vectors_info {
    unsigned columns;       /* known: enum gpume_vectors_column */
    uint32_t width, height; /* of the picture, pixels */
    uint32_t block;         /* side of the grid's blocks, pixels; 0: on no such grid */
    bool has_search;        /* are the rest known? */
    uint32_t bits, window_x, window_y;
    enum gpume_edge edge;
    enum gpume_metric metric;
    const char *prefilter; /* NULL: none */
};

/* Blocks in a row, and in a column, of the grid. */
static inline uint32_t gpume_vectors_along(uint32_t size, uint32_t block)
{
    return (size - 1) / block + 1;
}

/* Blocks first to first + count - 1 of the field: its own, or as many put into `room`. info has a
 * grid where the field has arrays. */
const struct gpume_vectors_block *gpume_vectors_take(const struct gpume_vectors_info *info,
    const struct gpume_vectors_field *field, size_t first, size_t count,
    struct gpume_vectors_block *room);

/* The grid that the blocks of a field lie on: width, height and block of *info; block 0 if it is
 * none. Blocks are those of the field itself. */
void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info);

/* Do the field's blocks lie on the grid of info, all of them? Arrays do. */
bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field);

#endif
