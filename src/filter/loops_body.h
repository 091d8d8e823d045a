/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of struct gpume_loops; each file that includes this has its own instruction set. */
#ifndef GPUME_FILTER_LOOPS_BODY_H
#define GPUME_FILTER_LOOPS_BODY_H

#include "filter/loops.h"

static inline int32_t square_of(uint16_t a, uint16_t b, uint32_t shift)
{
    const int32_t e = (int32_t)(a >> shift) - (int32_t)(b >> shift);
    return e * e;
}

static void slide(int32_t *restrict columns, const uint16_t *restrict picture_in,
    const uint16_t *restrict prediction_in, const uint16_t *restrict picture_out,
    const uint16_t *restrict prediction_out, uint32_t count, uint32_t shift)
{
    for (uint32_t x = 0; x < count; x++) {
        columns[x] += square_of(picture_in[x], prediction_in[x], shift) -
                      square_of(picture_out[x], prediction_out[x], shift);
    }
}

static void weigh(const int32_t *restrict columns, const uint16_t *restrict prediction,
    const uint16_t *restrict gains, uint32_t count, const struct gpume_loops_curve *curve,
    uint32_t *restrict sums, uint32_t *restrict weights)
{
    const int32_t lo = curve->lo, hi = curve->hi, scale = curve->scale;
    for (uint32_t x = 0; x < count; x++) {
        const int32_t around =
            columns[x] + columns[x + 1] + columns[x + 2] + columns[x + 3] + columns[x + 4];
        const int32_t most = around < hi ? around : hi;
        const int32_t least = most > lo ? most : lo; /* so that the product stays below 2^24 */
        const int32_t between = ((hi - least) * scale) >> 16;
        const int32_t f = around <= lo ? 256 : between;
        const uint32_t w = (uint32_t)((f * f) >> 10) * gains[x];
        sums[x] += w * prediction[x];
        weights[x] += w;
    }
}

static void divide(const uint32_t *restrict sums, const uint32_t *restrict weights,
    uint16_t *restrict means, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++) {
        means[x] = (uint16_t)((sums[x] + weights[x] / 2) / weights[x]);
    }
}

#define GPUME_LOOPS(has)                                                                           \
    {                                                                                              \
        .available = has, .slide = slide, .weigh = weigh, .divide = divide                         \
    }

#endif
