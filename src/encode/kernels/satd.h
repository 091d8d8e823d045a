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
#ifndef GPUME_ENCODE_KERNELS_SATD_H
#define GPUME_ENCODE_KERNELS_SATD_H

#include "encode/kernels/rows.h"

/* The steps of a Hadamard transform of each column that are below `end`. */
static inline void gpume_transform_steps(struct gpume_rows *rows, uint32_t end)
{
    for (uint32_t step = 1; step < end; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                const gpume_lanes a = rows->row[i], b = rows->row[i + step];
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

#define GPUME_LOW(i, n, k)                                                                         \
    (i), (n) + (i), (i) + 1, (n) + (i) + 1, (i) + 2, (n) + (i) + 2, (i) + 3, (n) + (i) + 3
#define GPUME_HIGH(i, n, k) GPUME_LOW((i) + 4, n, k)

/* One of three equal steps of a transposition: a perfect shuffle of all 64 numbers of a block. */
static inline struct gpume_rows gpume_interleave(const struct gpume_rows *from)
{
    struct gpume_rows to;
    for (uint32_t i = 0; i < 4; i++) {
        to.row[2 * i] = GPUME_SHUFFLE(from->row[i], from->row[i + 4], GPUME_LOW, 0);
        to.row[2 * i + 1] = GPUME_SHUFFLE(from->row[i], from->row[i + 4], GPUME_HIGH, 0);
    }
    return to;
}

static inline void gpume_transpose(struct gpume_rows *rows)
{
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
}

/* The sums of absolute coefficients of transformed blocks. */
static inline gpume_words gpume_sum_coefficients(const struct gpume_rows *rows)
{
    gpume_lanes_unsigned sums = {0};
    for (uint32_t i = 0; i < 8; i++) {
        sums += (gpume_lanes_unsigned)gpume_absolute(rows->row[i]);
    }
    return gpume_sum_lanes(sums);
}

/* From that sum. */
static inline gpume_words gpume_satd_of_sum(gpume_words sum)
{
    return (sum + 2) >> 2;
}

/* The SATD of each block, in all four words of its place. */
static inline gpume_words gpume_satd(const struct gpume_rows *a, const struct gpume_rows *b)
{
    struct gpume_rows rows;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = a->row[y] - b->row[y];
    }
    gpume_transform_columns(&rows);
    gpume_transpose(&rows);
    gpume_transform_steps(&rows, 4);
    gpume_lanes_unsigned sums = {0};
    for (uint32_t i = 0; i < 4; i++) { /* |a + b| + |a - b| = 2 max(|a|, |b|) */
        sums += (gpume_lanes_unsigned)gpume_larger(
            gpume_absolute(rows.row[i]), gpume_absolute(rows.row[i + 4]));
    }
    return gpume_satd_of_sum(2 * gpume_sum_lanes(sums));
}

/* Writes a number for each of the first `count` blocks. */
static inline void gpume_store_words(gpume_words words, uint32_t count, uint16_t *to)
{
    uint32_t all[4 * GPUME_BLOCKS];
    memcpy(all, &words, sizeof(all));
    for (uint32_t i = 0; i < GPUME_BLOCKS && i < count; i++) {
        to[i] = (uint16_t)all[4 * i];
    }
}

#endif
