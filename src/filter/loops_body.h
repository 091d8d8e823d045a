/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of struct gpume_loops; each file that includes this has its own instruction set. */
#ifndef GPUME_FILTER_LOOPS_BODY_H
#define GPUME_FILTER_LOOPS_BODY_H

#include "filter/loops.h"

#include <string.h>

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

static inline uint32_t fewer(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The rows of H, in pairs of samples or coefficients. */
static inline void transform_eight(const int32_t x[GPUME_LOOPS_SIDE], int32_t out[GPUME_LOOPS_SIDE])
{
    const int32_t s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
    const int32_t d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
    out[0] = 8 * (s0 + s3 + (s1 + s2));
    out[4] = 8 * (s0 + s3 - (s1 + s2));
    out[2] = 10 * (s0 - s3) + 4 * (s1 - s2);
    out[6] = 4 * (s0 - s3) - 10 * (s1 - s2);
    out[1] = 10 * d0 + 9 * d1 + 6 * d2 + 2 * d3;
    out[3] = 9 * d0 - 2 * d1 - 10 * d2 - 6 * d3;
    out[5] = 6 * d0 - 10 * d1 + 2 * d2 + 9 * d3;
    out[7] = 2 * d0 - 6 * d1 + 9 * d2 - 10 * d3;
}

static inline void turn_back(const int32_t c[GPUME_LOOPS_SIDE], int32_t out[GPUME_LOOPS_SIDE])
{
    const int32_t p = 8 * (c[0] + c[4]), q = 8 * (c[0] - c[4]);
    const int32_t r = 10 * c[2] + 4 * c[6], s = 4 * c[2] - 10 * c[6];
    const int32_t d0 = 10 * c[1] + 9 * c[3] + 6 * c[5] + 2 * c[7];
    const int32_t d1 = 9 * c[1] - 2 * c[3] - 10 * c[5] - 6 * c[7];
    const int32_t d2 = 6 * c[1] - 10 * c[3] + 2 * c[5] + 9 * c[7];
    const int32_t d3 = 2 * c[1] - 6 * c[3] + 9 * c[5] - 10 * c[7];
    out[0] = p + r + d0;
    out[7] = p + r - d0;
    out[1] = q + s + d1;
    out[6] = q + s - d1;
    out[2] = q - s + d2;
    out[5] = q - s - d2;
    out[3] = p - r + d3;
    out[4] = p - r - d3;
}

/* N */
static inline int32_t levelled(uint32_t k, int32_t value)
{
    return k % 4 == 0 ? value : value + ((k % 2 == 0 ? 53 : 81) * value >> 9);
}

static void analyse_columns(const int16_t *const rows[GPUME_LOOPS_SIDE], uint32_t count,
    int32_t *const columns[GPUME_LOOPS_SIDE])
{
    const int16_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4],
                  *f = rows[5], *g = rows[6], *h = rows[7];
    for (uint32_t first = 0; first < count; first += GPUME_LOOPS_SPAN) {
        int32_t made[GPUME_LOOPS_SIDE][GPUME_LOOPS_SPAN]; /* no pointer overlaps it */
        const uint32_t some = fewer(count - first, GPUME_LOOPS_SPAN);
        for (size_t i = 0; i < some; i++) {
            const size_t x = first + i;
            const int32_t in[] = {a[x], b[x], c[x], d[x], e[x], f[x], g[x], h[x]};
            int32_t out[GPUME_LOOPS_SIDE];
            transform_eight(in, out);
            made[0][i] = (out[0] + 8) >> 4;
            made[1][i] = (out[1] + 8) >> 4;
            made[2][i] = (out[2] + 8) >> 4;
            made[3][i] = (out[3] + 8) >> 4;
            made[4][i] = (out[4] + 8) >> 4;
            made[5][i] = (out[5] + 8) >> 4;
            made[6][i] = (out[6] + 8) >> 4;
            made[7][i] = (out[7] + 8) >> 4;
        }
        for (uint32_t k = 0; k < GPUME_LOOPS_SIDE; k++) {
            memcpy(columns[k] + first, made[k], some * sizeof(int32_t));
        }
    }
}

/* All bits set, if a coefficient is kept. */
static inline int32_t all_if_kept(int32_t coefficient, int32_t limit)
{
    const int32_t size = coefficient < 0 ? -coefficient : coefficient;
    return -(int32_t)(size > limit);
}

static void analyse_windows(const int32_t *restrict evens, const int32_t *restrict odds,
    const int32_t *restrict first, const int32_t *restrict limits, uint32_t count,
    int32_t *restrict coefficients, int32_t *restrict kept)
{
    int32_t *restrict row = coefficients;
    const size_t span = GPUME_LOOPS_SPAN;
    for (size_t i = 0; i < count; i++) {
        const int32_t in[] = {evens[i], odds[i], evens[i + 1], odds[i + 1], evens[i + 2],
            odds[i + 2], evens[i + 3], odds[i + 3]};
        int32_t c[GPUME_LOOPS_SIDE], masks[GPUME_LOOPS_SIDE];
        transform_eight(in, c);
        masks[0] = all_if_kept(c[0], first[i]);
        masks[1] = all_if_kept(c[1], limits[i]);
        masks[2] = all_if_kept(c[2], limits[i]);
        masks[3] = all_if_kept(c[3], limits[i]);
        masks[4] = all_if_kept(c[4], limits[i]);
        masks[5] = all_if_kept(c[5], limits[i]);
        masks[6] = all_if_kept(c[6], limits[i]);
        masks[7] = all_if_kept(c[7], limits[i]);
        row[i] = c[0] & masks[0];
        row[span + i] = levelled(1, c[1]) & masks[1];
        row[2 * span + i] = levelled(2, c[2]) & masks[2];
        row[3 * span + i] = levelled(3, c[3]) & masks[3];
        row[4 * span + i] = c[4] & masks[4];
        row[5 * span + i] = levelled(5, c[5]) & masks[5];
        row[6 * span + i] = levelled(6, c[6]) & masks[6];
        row[7 * span + i] = levelled(7, c[7]) & masks[7];
        kept[i] -=
            masks[0] + masks[1] + masks[2] + masks[3] + masks[4] + masks[5] + masks[6] + masks[7];
    }
}

static void make_windows(const int32_t *restrict coefficients, const int32_t *restrict weights,
    uint32_t count, int32_t *restrict evens, int32_t *restrict odds)
{
    int32_t given[GPUME_LOOPS_SIDE][GPUME_LOOPS_SPAN];
    for (uint32_t i = 0; i < count; i++) {
        int32_t in[GPUME_LOOPS_SIDE], out[GPUME_LOOPS_SIDE];
        for (uint32_t l = 0; l < GPUME_LOOPS_SIDE; l++) {
            in[l] = coefficients[l * GPUME_LOOPS_SPAN + i];
        }
        turn_back(in, out);
        for (uint32_t j = 0; j < GPUME_LOOPS_SIDE; j++) {
            given[j][i] = weights[i] * ((out[j] + 32) >> 6);
        }
    }
    for (uint32_t j = 0; j < GPUME_LOOPS_SIDE; j += 2) {
        for (uint32_t i = 0; i < count; i++) {
            evens[i + j / 2] += given[j][i];
        }
        for (uint32_t i = 0; i < count; i++) {
            odds[i + j / 2] += given[j + 1][i];
        }
    }
}

static void make_columns(const int32_t *const columns[GPUME_LOOPS_SIDE], uint32_t count,
    int32_t *const rows[GPUME_LOOPS_SIDE])
{
    const int32_t *a = columns[0], *b = columns[1], *c = columns[2], *d = columns[3],
                  *e = columns[4], *f = columns[5], *g = columns[6], *h = columns[7];
    for (uint32_t first = 0; first < count; first += GPUME_LOOPS_SPAN) {
        int32_t made[GPUME_LOOPS_SIDE][GPUME_LOOPS_SPAN]; /* no pointer overlaps it */
        const uint32_t some = fewer(count - first, GPUME_LOOPS_SPAN);
        for (size_t i = 0; i < some; i++) {
            const size_t x = first + i;
            const int32_t in[] = {levelled(0, (a[x] + 64) >> 7), levelled(1, (b[x] + 64) >> 7),
                levelled(2, (c[x] + 64) >> 7), levelled(3, (d[x] + 64) >> 7),
                levelled(4, (e[x] + 64) >> 7), levelled(5, (f[x] + 64) >> 7),
                levelled(6, (g[x] + 64) >> 7), levelled(7, (h[x] + 64) >> 7)};
            int32_t out[GPUME_LOOPS_SIDE];
            turn_back(in, out);
            made[0][i] = (out[0] + 1) >> 1;
            made[1][i] = (out[1] + 1) >> 1;
            made[2][i] = (out[2] + 1) >> 1;
            made[3][i] = (out[3] + 1) >> 1;
            made[4][i] = (out[4] + 1) >> 1;
            made[5][i] = (out[5] + 1) >> 1;
            made[6][i] = (out[6] + 1) >> 1;
            made[7][i] = (out[7] + 1) >> 1;
        }
        for (uint32_t k = 0; k < GPUME_LOOPS_SIDE; k++) {
            int32_t *restrict row = rows[k] + first;
            for (uint32_t i = 0; i < some; i++) {
                row[i] += made[k][i];
            }
        }
    }
}

#define GPUME_LOOPS(has)                                                                           \
    {                                                                                              \
        .available = has, .slide = slide, .weigh = weigh, .divide = divide,                        \
        .analyse_columns = analyse_columns, .analyse_windows = analyse_windows,                    \
        .make_windows = make_windows, .make_columns = make_columns                                 \
    }

#endif
