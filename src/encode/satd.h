/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SATD of blocks of 8x8 samples as gpume.h defines it: the sum of absolute coefficients of the
 * Hadamard transform of the differences, rounded by (s + 2) >> 2.
 *
 * Largest numbers: a coefficient of differences up to 255 is at most 64 * 255. By Cauchy, Schwarz
 * and Parseval the sum of n absolute coefficients is at most sqrt(n * sum c^2) = sqrt(n * 64 * sum
 * d^2) <= sqrt(n) * 64 * 255: 46160 for 8 of them, which 16 bits without sign hold, and 130560 for
 * all. So a SATD is at most 32640.
 */
#ifndef GPUME_ENCODE_SATD_H
#define GPUME_ENCODE_SATD_H

#include "encode/lanes.h"

#include <stddef.h>

/* A block: rows from above. */
struct gpume_rows {
    gpume_eight row[8];
};

static inline struct gpume_rows gpume_load_rows(const uint8_t *at, ptrdiff_t stride)
{
    struct gpume_rows rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_load_eight(at + y * stride);
    }
    return rows;
}

/* The steps of a Hadamard transform of each column that are below `end`. */
static inline void gpume_transform_steps(struct gpume_rows *rows, uint32_t end)
{
    for (uint32_t step = 1; step < end; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                const gpume_eight a = rows->row[i], b = rows->row[i + step];
                rows->row[i] = a + b;
                rows->row[i + step] = a - b;
            }
        }
    }
}

static inline void gpume_transform_columns(struct gpume_rows *rows)
{
    gpume_transform_steps(rows, 8);
}

/* One step of the transform of a vector: lanes i and i ^ 1, 2 or 4 become their sum and their
 * difference. `partners`: lane i ^ step of v. `signs`: 0, or -1 for the upper lane of a pair. */
#define GPUME_TRANSFORM_STEP(v, partners, signs) ((partners) + (((v) ^ (signs)) - (signs)))

/* The Hadamard transform of the lanes of a vector. */
static inline gpume_eight gpume_transform_lanes(gpume_eight v)
{
    v = GPUME_TRANSFORM_STEP(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6),
        ((gpume_eight){0, -1, 0, -1, 0, -1, 0, -1}));
    v = GPUME_TRANSFORM_STEP(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5),
        ((gpume_eight){0, 0, -1, -1, 0, 0, -1, -1}));
    return GPUME_TRANSFORM_STEP(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3),
        ((gpume_eight){0, 0, 0, 0, -1, -1, -1, -1}));
}

#define GPUME_INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define GPUME_INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

/* One of three equal steps of a transposition: a perfect shuffle of all 64 numbers. */
static inline struct gpume_rows gpume_interleave(const struct gpume_rows *from)
{
    struct gpume_rows to;
    for (uint32_t i = 0; i < 4; i++) {
        to.row[2 * i] = GPUME_INTERLEAVE_LOW(from->row[i], from->row[i + 4]);
        to.row[2 * i + 1] = GPUME_INTERLEAVE_HIGH(from->row[i], from->row[i + 4]);
    }
    return to;
}

static inline void gpume_transpose(struct gpume_rows *rows)
{
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
}

/* The sum of absolute coefficients of a transformed block. */
static inline uint32_t gpume_sum_coefficients(const struct gpume_rows *rows)
{
    gpume_eight_unsigned sums = {0};
    for (uint32_t i = 0; i < 8; i++) {
        sums += (gpume_eight_unsigned)gpume_absolute(rows->row[i]);
    }
    return gpume_sum_eight(sums);
}

static inline uint32_t gpume_satd_of_sum(uint32_t sum)
{
    return (sum + 2) >> 2;
}

static inline uint32_t gpume_satd(const struct gpume_rows *a, const struct gpume_rows *b)
{
    struct gpume_rows rows;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = a->row[y] - b->row[y];
    }
    gpume_transform_columns(&rows);
    gpume_transpose(&rows);
    gpume_transform_steps(&rows, 4);
    gpume_eight_unsigned sums = {0};
    for (uint32_t i = 0; i < 4; i++) { /* |a + b| + |a - b| = 2 max(|a|, |b|) */
        sums += (gpume_eight_unsigned)gpume_larger(
            gpume_absolute(rows.row[i]), gpume_absolute(rows.row[i + 4]));
    }
    return gpume_satd_of_sum(2 * gpume_sum_eight(sums));
}

#endif
