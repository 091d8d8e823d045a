/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples that a vector leads to. On half samples they lie in one of the planes of half.h;
 * elsewhere they are the mean (a + b + 1) >> 1 of the nearest ones to the left or above, and to the
 * right or below: with both components odd, of these two in the diagonal.
 */
#ifndef GPUME_ENCODE_MATCH_H
#define GPUME_ENCODE_MATCH_H

#include "encode/half.h"
#include "encode/satd.h"

/* Where a place in half samples, relative to `offset` in the first plane, lies. */
static inline const uint8_t *gpume_half_place(
    const struct gpume_half *half, ptrdiff_t offset, int32_t x, int32_t y)
{
    const ptrdiff_t plane = 2 * (y & 1) + (x & 1);
    return half->samples + offset + plane * half->plane + (y >> 1) * half->stride + (x >> 1);
}

/* The match of a block. vector: in quarter pixels, at most GPUME_HALF_WINDOW pixels. */
static inline struct gpume_rows gpume_match_rows(const struct gpume_half *reference,
    uint32_t block_x, uint32_t block_y, struct gpume_vector vector)
{
    const ptrdiff_t offset =
        (ptrdiff_t)(block_y * GPUME_HALF_BLOCK) * reference->stride + block_x * GPUME_HALF_BLOCK;
    const int32_t x = vector.dx >> 1, y = vector.dy >> 1;
    const int32_t right = vector.dx & 1, below = vector.dy & 1;
    struct gpume_rows rows =
        gpume_load_rows(gpume_half_place(reference, offset, x, y), reference->stride);
    if (right | below) {
        const struct gpume_rows others = gpume_load_rows(
            gpume_half_place(reference, offset, x + right, y + below), reference->stride);
        for (uint32_t i = 0; i < GPUME_HALF_BLOCK; i++) {
            rows.row[i] = (rows.row[i] + others.row[i] + 1) >> 1;
        }
    }
    return rows;
}

#endif
