/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops over the samples of a row, compiled for each instruction set. Loops are written so that
 * compilers vectorize them; the bounds of all values are in gpume-filter(1). */
#ifndef GPUME_FILTER_LOOPS_H
#define GPUME_FILTER_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#define GPUME_LOOPS_REACH 2   /* of the 5x5 samples around one */
#define GPUME_LOOPS_OWN 4096u /* the weight of the sample itself */

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
};

/* The best of this processor. */
const struct gpume_loops *gpume_loops(void);

/* By index from 0 on, from the plainest; NULL: there are no more. */
const struct gpume_loops *gpume_loops_at(uint32_t index);

extern const struct gpume_loops gpume_loops_avx2;

#endif
