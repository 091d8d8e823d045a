/* SPDX-License-Identifier: BSD-2-Clause */
/* From sums over blocks to the parameters of film grain. */
#ifndef GPUME_GRAIN_MODEL_H
#define GPUME_GRAIN_MODEL_H

#include "grain/grain.h"

#define GPUME_GRAIN_SIDE 32u /* of a block of luma, as AV1 lays out its grain */
#define GPUME_GRAIN_UNITS 16 /* of a step of a sample */
#define GPUME_GRAIN_BINS 32u /* of intensity: 8 steps of 8 bits each */
#define GPUME_GRAIN_REACH 6  /* distance of two samples that one sample depends on */
#define GPUME_GRAIN_LAGS 46u /* (0 to 6, 0), (-6 to 6, 1), ... (-6 to 6, 3) */
#define GPUME_GRAIN_CROSS                                                                          \
    25u /* the samples that one depends on, in order, and the sample itself                        \
         */
#define GPUME_GRAIN_BITS_MAX 12 /* deeper samples are shifted down */

/* Products of grain, in GPUME_GRAIN_UNITS of the samples' steps, summed over blocks. */
struct gpume_grain_bin {
    double blocks;
    double light; /* means of blocks, in steps of 8 bits */
    double lags[GPUME_GRAIN_PLANES][GPUME_GRAIN_LAGS];
    double cross[2][GPUME_GRAIN_CROSS]; /* of the sum of luma at a sample of chroma, and chroma */
    double sum;                         /* of the square of that sum */
};

struct gpume_grain_sums {
    struct gpume_grain_bin bins[GPUME_GRAIN_BINS];
    /* Of blocks that show nothing but grain: what clean pictures lack, and what they kept. */
    struct gpume_grain_bin lost, kept;
};

/* The position of a sample that the sample at (0, 0) depends on, in the order of the coefficients;
 * GPUME_GRAIN_COEFFICIENTS: its own. */
void gpume_grain_position(uint32_t index, int32_t *x, int32_t *y);

/* Adds the sums of another. */
void gpume_grain_sums_add(struct gpume_grain_sums *sums, const struct gpume_grain_sums *more);

/* Whether the grain of both is much the same, as far as both know it. */
bool gpume_grain_is_alike(const struct gpume_grain_params *params, const struct gpume_grain_sums *a,
    const struct gpume_grain_sums *b);

/* start_us is left alone. */
void gpume_grain_solve(const struct gpume_grain_params *params, const struct gpume_grain_sums *sums,
    struct gpume_grain_segment *segment);

#endif
