/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Luma at half resolution. The picture is first extended to whole squares of 16x16 pixels by its
 * edge samples, as encoders do, and rounded to 8 bits; each sample of the half plane is then the
 * rounded mean of 2x2. Frames come in bands of 16 rows, which fit the processor's cache while
 * several things are computed of them.
 */
#ifndef GPUME_ENCODE_HALF_H
#define GPUME_ENCODE_HALF_H

#include <gpume/gpume.h>

#include <stddef.h>
#include <stdint.h>

#define GPUME_SQUARE 16u /* pixels across a square, and rows of a band */
#define GPUME_BAND_BYTES ((size_t)GPUME_SQUARE * GPUME_SQUARE) /* of a square in a band */
#define GPUME_HALF_BLOCK (GPUME_SQUARE / 2)
/* Samples around a half plane that repeat its edge: more than a vector and the neighbouring sample
 * that interpolation needs can reach. */
#define GPUME_HALF_MARGIN 32u
#define GPUME_HALF_WINDOW 16u /* largest displacement */

struct gpume_half {
    uint8_t *samples; /* the upper left one, inside the margin */
    ptrdiff_t stride;
    uint32_t width, height; /* multiples of GPUME_HALF_BLOCK */
};

/* The bytes of a plane of so many blocks, with its margin. */
size_t gpume_half_bytes(uint32_t blocks_x, uint32_t blocks_y);

/* A plane in memory of that size. */
struct gpume_half gpume_half_at(uint8_t *memory, uint32_t blocks_x, uint32_t blocks_y);

/* Reads 16 rows of luma from row 16 * index into `band`: 16 * blocks_x samples in each row, with no
 * gaps. */
void gpume_band_read(
    uint8_t *band, const struct gpume_plane *luma, uint32_t blocks_x, uint32_t index);

/* Writes the rows of the half plane that the band with this index gives. */
void gpume_half_write(struct gpume_half *half, const uint8_t *band, uint32_t index);

/* Fills the margin, when all bands are written. */
void gpume_half_extend(struct gpume_half *half);

#endif
