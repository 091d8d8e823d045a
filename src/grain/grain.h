/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Film grain of a video, as the parameters from which AV1 decoders make it anew (gpume-grain(1)):
 * pictures and the same without their grain in, segments of time with one set of parameters each
 * out. What is measured is in grain.c, the model that follows from it in model.c. One thread
 * calls; the rows of a picture are shared by several. The results are the same, bit for bit, for
 * every number of threads.
 */
#ifndef GPUME_GRAIN_GRAIN_H
#define GPUME_GRAIN_GRAIN_H

#include "gpume/gpume.h"

#include <stddef.h>

#define GPUME_GRAIN_PLANES 3u
#define GPUME_GRAIN_LUMA_POINTS 14u
#define GPUME_GRAIN_CHROMA_POINTS 10u
#define GPUME_GRAIN_LAG 3
#define GPUME_GRAIN_COEFFICIENTS 24u /* of luma; chroma has one more */

/* The parameters of AV1's film grain synthesis, 5.9.30 and 6.8.20 of its specification. */
struct gpume_grain_table {
    uint32_t points[GPUME_GRAIN_PLANES]; /* 0: the plane has no grain */
    uint8_t at[GPUME_GRAIN_PLANES][GPUME_GRAIN_LUMA_POINTS];
    uint8_t scaling[GPUME_GRAIN_PLANES][GPUME_GRAIN_LUMA_POINTS];
    uint32_t scaling_shift;
    int8_t coefficients[GPUME_GRAIN_PLANES][GPUME_GRAIN_COEFFICIENTS + 1];
    uint32_t ar_coeff_shift, grain_scale_shift;
};

struct gpume_grain_segment {
    int64_t start_us; /* it ends where the next one starts */
    struct gpume_grain_table table;
    uint64_t blocks;  /* that it follows from */
    double deviation; /* of luma's grain, root of the mean square, in steps of 8 bits */
};

struct gpume_grain_params {
    uint32_t width, height, bits; /* of luma; all planes have its depth */
    bool chroma;                  /* two more planes, smaller by these powers of two: 0 or 1 */
    uint32_t shift_x, shift_y;
    bool keeps;       /* clean pictures keep a part of the grain, which counts, too */
    bool single;      /* one segment, however much the grain changes */
    uint32_t threads; /* 0: one per processor */
};

struct gpume_grain;

/* GPUME_NOMEM; GPUME_AGAIN: no more threads can be started. */
int gpume_grain_open(struct gpume_grain **grain, const struct gpume_grain_params *params);

/* The next picture, and the same without grain. GPUME_NOMEM. */
int gpume_grain_add(struct gpume_grain *grain, const struct gpume_plane *picture,
    const struct gpume_plane *clean, int64_t time_us);

/* How strong the grain of a picture seems to be without a clean one, for a filter: in 1/100 of a
 * step of 8 bits. */
uint32_t gpume_grain_guess(struct gpume_grain *grain, const struct gpume_plane *picture);

/* No more pictures. *segments is valid until it is closed. GPUME_NOMEM. */
int gpume_grain_finish(
    struct gpume_grain *grain, const struct gpume_grain_segment **segments, size_t *count);

/* NULL is fine. Sets *grain to NULL. */
void gpume_grain_close(struct gpume_grain **grain);

#define GPUME_GRAIN_TEXT_BYTES 2048u
#define GPUME_GRAIN_END INT64_MAX /* of the last segment */

/* The rows of a segment in a table `filmgrn1`, whose first line is GPUME_GRAIN_HEAD. Times are in
 * units of 100 ns; an end of GPUME_GRAIN_END: none. */
#define GPUME_GRAIN_HEAD "filmgrn1\n"
void gpume_grain_text(const struct gpume_grain_table *table, int64_t start, int64_t end,
    uint32_t seed, char text[GPUME_GRAIN_TEXT_BYTES]);

/* --- From sums over blocks to the parameters of film grain. */

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
