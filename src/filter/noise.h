/* SPDX-License-Identifier: BSD-2-Clause */
/* The noise of a plane, from values of its blocks. */
#ifndef GPUME_FILTER_NOISE_H
#define GPUME_FILTER_NOISE_H

#include "base/base.h"

#include <stdint.h>

/* A rectangle of 16-bit samples within a plane. */
struct gpume_patch {
    const uint16_t *plane;
    uint32_t plane_w, plane_h;
    uint32_t x, y, w, h;
    uint32_t shift; /* to work samples */
};

/* A rectangle of a plane: columns `left` to `right` - 1 of rows `top` to `bottom` - 1. */
struct gpume_noise_area {
    uint32_t left, top, right, bottom;
};

/* The values t, q and v of blocks; t is 0 for a flat one. */
struct gpume_noise_values {
    uint64_t *textures, *cells, *residuals; /* of the blocks that are not flat; put in order */
    uint32_t count, flat;
};

/* What is measured of a picture, by its luma, which is all of the patch: black bars are not. */
struct gpume_noise_area gpume_noise_find_area(const struct gpume_patch *luma, uint32_t bits);

/* n Q - S^2 of gpume-filter(1), of the work samples themselves: below 2^36. */
uint64_t gpume_noise_texture(const struct gpume_patch *patch);

/* q: sides are multiples of 8. */
uint64_t gpume_noise_cell(const struct gpume_patch *patch);

/* v: of the differences from another plane of the same size. */
uint64_t gpume_noise_residual(const struct gpume_patch *patch, const uint16_t *prediction);

/* V. */
uint64_t gpume_noise_variance(struct gpume_noise_values *values, uint32_t bits);

/* V of a picture whose noise is `found`, and counts as at least `least`: but not as more than four
 * times as much. */
static inline uint64_t gpume_noise_raise(uint64_t found, uint64_t least)
{
    return gpume_max_u64(found, gpume_min_u64(least, 4 * found));
}

/* V of a picture whose noise is measured, and then `given` if that is above 0: but not as more than
 * 64 times as much. */
uint64_t gpume_noise_or_given(uint64_t measured, uint64_t given);

/* V of a sigma in 1/100 of a step of 8 bits. */
uint64_t gpume_noise_of_sigma(uint32_t sigma, uint32_t bits);

#endif
