/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How well given vectors predict a block: the same samples between pixels as params.interpolation
 * defines, computed for single blocks. Pure functions.
 */
#ifndef GPUME_CLI_CODED_MATCH_H
#define GPUME_CLI_CODED_MATCH_H

#include "gpume/gpume.h"

#define GPUME_MATCH_SIDE 16u /* pixels, of the largest block */

/* A block, of at most GPUME_MATCH_SIDE pixels per side, inside its picture. */
struct gpume_match_block {
    uint32_t x, y, w, h;
};

/* Samples in raster order, w in a row. */
struct gpume_match_samples {
    int32_t values[GPUME_MATCH_SIDE * GPUME_MATCH_SIDE];
};

struct gpume_match_sums {
    uint64_t sad, sse;
};

/* The samples that the vector, in quarter pixels, points to. Not for
 * GPUME_INTERPOLATION_HEVC. */
void gpume_match_predict(const struct gpume_plane *reference, const struct gpume_match_block *block,
    int32_t dx, int32_t dy, enum gpume_interpolation interpolation,
    struct gpume_match_samples *samples);

/* Replaces a by the mean of both, (a + b + 1) >> 1. */
void gpume_match_mean(const struct gpume_match_block *block, struct gpume_match_samples *a,
    const struct gpume_match_samples *b);

/* The block's own samples. */
void gpume_match_take(const struct gpume_plane *plane, const struct gpume_match_block *block,
    struct gpume_match_samples *samples);

/* How a differs from b; c: from the mean of b and c; or NULL. A sum that reaches the limit may be
 * less than the whole. */
uint64_t gpume_match_sad(const struct gpume_match_block *block, const struct gpume_match_samples *a,
    const struct gpume_match_samples *b, const struct gpume_match_samples *c, uint64_t limit);

struct gpume_match_sums gpume_match_measure(const struct gpume_match_block *block,
    const struct gpume_match_samples *a, const struct gpume_match_samples *b);

#endif
