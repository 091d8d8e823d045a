/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SATD of blocks of 8x8 samples as encoders compute it: half the sum of absolute coefficients of
 * the Hadamard transforms of the differences in each quarter of 4x4 samples. The library's metric
 * transforms all 8x8 at once; by such costs too many frames became B frames.
 *
 * Largest numbers: a coefficient of differences up to 255 is at most 16 * 255. By Cauchy, Schwarz
 * and Parseval the sum of the 16 absolute coefficients of a quarter is at most sqrt(16 * sum c^2) =
 * sqrt(16 * 16 * sum d^2) <= 64 * 255. So a SATD is at most 2 * 64 * 255 = 32640.
 */
#ifndef GPUME_ENCODE_KERNELS_SATD_H
#define GPUME_ENCODE_KERNELS_SATD_H

#include "encode/kernels/rows.h"

/* The first steps of the Hadamard transforms of columns of four: those of 1 up to `last` rows. */
static inline void gpume_transform(struct gpume_rows *rows, uint32_t last)
{
    for (uint32_t step = 1; step <= last; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                const gpume_lanes a = rows->row[i], b = rows->row[i + step];
                rows->row[i] = a + b;
                rows->row[i + step] = a - b;
            }
        }
    }
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

/* The SATD of each block, in all four words of its place. */
static inline gpume_words gpume_satd(const struct gpume_rows *a, const struct gpume_rows *b)
{
    struct gpume_rows rows;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = a->row[y] - b->row[y];
    }
    gpume_transform(&rows, 2);
    gpume_transpose(&rows);
    gpume_transform(&rows, 1);
    gpume_lanes_unsigned sums = {0};
    for (uint32_t i = 0; i < 8; i++) { /* (|a + b| + |a - b|) / 2 = max(|a|, |b|) */
        if ((i & 2) == 0) {
            sums += (gpume_lanes_unsigned)gpume_larger(
                gpume_absolute(rows.row[i]), gpume_absolute(rows.row[i + 2]));
        }
    }
    return gpume_sum_lanes(sums);
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
