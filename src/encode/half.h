/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Luma at half resolution. The picture is first extended to whole squares of 16x16 pixels by its
 * edge samples, as encoders do, and rounded to 8 bits; each sample of the half plane is then the
 * rounded mean of 2x2. Three more planes begin one pixel further to the right, below, or both: what
 * lies half a sample away is known exactly, where interpolation would blur it. Frames come in bands
 * of 16 rows, which fit the processor's cache while several things are computed of them.
 */
#ifndef GPUME_ENCODE_HALF_H
#define GPUME_ENCODE_HALF_H

#include <gpume/gpume.h>

#include <stddef.h>
#include <stdint.h>

#define GPUME_SQUARE 16u /* pixels across a square, and rows of a band */
/* Bytes of a square in a band, with the first row of the next band. */
#define GPUME_BAND_BYTES ((size_t)GPUME_SQUARE * (GPUME_SQUARE + 1))
#define GPUME_HALF_BLOCK (GPUME_SQUARE / 2)
/* Samples around a half plane that repeat its edge: more than a vector and the neighbouring sample
 * that interpolation needs can reach, and than kernels write beyond a row. What they read for
 * blocks beyond its end, which there are not, may lie in the row below. */
#define GPUME_HALF_MARGIN 24u
#define GPUME_HALF_WINDOW 16u /* largest displacement, a multiple of 2 */
#define GPUME_HALF_PLANES 4u

struct gpume_half {
    uint8_t *samples; /* the upper left one of the first plane, inside the margin */
    ptrdiff_t stride;
    ptrdiff_t plane; /* from a plane to the next; plane 2y + x is y pixels below, x to the right */
    uint32_t width, height; /* multiples of GPUME_HALF_BLOCK */
};

/* Blocks of 8x8 of a quarter plane, each of which covers 2x2 blocks of the half plane. */
static inline uint32_t gpume_coarse_count(uint32_t blocks_x, uint32_t blocks_y)
{
    return (blocks_x + 1) / 2 * ((blocks_y + 1) / 2);
}

/* The bytes of the planes of this many blocks, with their margins. */
size_t gpume_half_bytes(uint32_t blocks_x, uint32_t blocks_y);

/* Planes in memory of gpume_half_bytes. */
struct gpume_half gpume_half_at(uint8_t *memory, uint32_t blocks_x, uint32_t blocks_y);

/* 17 rows of 8-bit samples, as wide as all squares of a row. */
struct gpume_band {
    const uint8_t *samples;
    ptrdiff_t stride;
};

/* The rows of luma from row 16 * index on: where they lie, or, where they must be extended or
 * rounded, in `memory`, GPUME_BAND_BYTES for each square. */
struct gpume_band gpume_band_read(
    uint8_t *memory, const struct gpume_plane *luma, uint32_t blocks_x, uint32_t index);

/* Writes the rows of all planes that the band with this index gives, and the margins beside them,
 * above the first one and below the last one. */
void gpume_half_write(struct gpume_half *half, const struct gpume_band *band, uint32_t index);

/* The quarter plane: the rounded mean of 2x2 samples of the half plane, without margins. `plane`
 * has half its width and height. */
void gpume_half_quarter(const struct gpume_half *half, const struct gpume_plane *plane);

/* Fills the margins of planes that were written otherwise: beside a row of blocks, above the first
 * one and below the last one; or all. */
void gpume_half_extend_row(struct gpume_half *half, uint32_t block_y);
void gpume_half_extend(struct gpume_half *half);

#endif
