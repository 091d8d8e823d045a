/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops over the samples of a row, compiled for each instruction set. Loops are written so that
 * compilers vectorize them; the bounds of all values are in gpume-filter(1). */
#ifndef GPUME_FILTER_LOOPS_H
#define GPUME_FILTER_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#define GPUME_LOOPS_REACH 2   /* of the 5x5 samples around one */
#define GPUME_LOOPS_OWN 4096u /* the weight of the sample itself */
#define GPUME_LOOPS_SIDE 8u   /* of a window, "Within a picture" */
#define GPUME_LOOPS_SPAN 64u  /* windows that are taken at once, at most */

/* How a weight follows from D. */
struct gpume_loops_curve {
    int32_t lo, hi;
    int32_t scale; /* 2^24 / (hi - lo) */
};

struct gpume_loops {
    bool (*available)(void);
    /* columns += squared differences of the rows that come, less those of the rows that go;
     * shift: to work samples. */
    void (*slide)(int32_t *columns, const uint16_t *picture_in, const uint16_t *prediction_in,
        const uint16_t *picture_out, const uint16_t *prediction_out, uint32_t count,
        uint32_t shift);
    /* Adds the weights of a row, and the prediction by them. columns: from -REACH to count + REACH.
     * gains: S, or 0 for samples of blocks that are not used. */
    void (*weigh)(const int32_t *columns, const uint16_t *prediction, const uint16_t *gains,
        uint32_t count, const struct gpume_loops_curve *curve, uint32_t *sums, uint32_t *weights);
    /* The means. */
    void (*divide)(const uint32_t *sums, const uint32_t *weights, uint16_t *means, uint32_t count);
    /* A of columns of the rows of a window, by k. */
    void (*analyse_columns)(const int16_t *const rows[GPUME_LOOPS_SIDE], uint32_t count,
        int32_t *const columns[GPUME_LOOPS_SIDE]);
    /* C of one k, with N, where it exceeds a limit, 0 elsewhere; by l, in rows of SPAN. Window i
     * has the columns from evens[i] and odds[i] on. first: the limits of l = 0. Adds to `kept` how
     * many are. */
    void (*analyse_windows)(const int32_t *evens, const int32_t *odds, const int32_t *first,
        const int32_t *limits, uint32_t count, int32_t *coefficients, int32_t *kept);
    /* Adds O B of one k to the columns of these windows. */
    void (*make_windows)(const int32_t *coefficients, const int32_t *weights, uint32_t count,
        int32_t *evens, int32_t *odds);
    /* Adds F of columns to the rows of a window. */
    void (*make_columns)(const int32_t *const columns[GPUME_LOOPS_SIDE], uint32_t count,
        int32_t *const rows[GPUME_LOOPS_SIDE]);
};

/* The best of this processor. */
const struct gpume_loops *gpume_loops(void);

/* By index from 0 on, from the plainest; NULL: there are no more. */
const struct gpume_loops *gpume_loops_at(uint32_t index);

extern const struct gpume_loops gpume_loops_avx2;

#endif
