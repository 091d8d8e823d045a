/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks predicted from the samples around them: by the mean of the row above and the column to the
 * left, by each of them alone, by the planar mode and along six directions (ITU-T H.265 8.4.4.2.4
 * to 8.4.4.2.6).
 *
 * Along a direction each row is taken from a line of samples, shifted by a place that grows from
 * row to row: the row above, which continues before the corner with samples of the column to the
 * left, or the other way round.
 */
#ifndef GPUME_ENCODE_KERNELS_INTRA_H
#define GPUME_ENCODE_KERNELS_INTRA_H

#include "encode/kernels/match.h"

/* Eight lanes of a pair of vectors from lane k of the first on. */
#define GPUME_LANE(i, n, k) ((k) < 8 ? (i) + (k) : (n) + (i) + (k)-8)
#define GPUME_FROM(i, n, k)                                                                        \
    GPUME_LANE(i, n, k), GPUME_LANE(i, n, (k) + 1), GPUME_LANE(i, n, (k) + 2),                     \
        GPUME_LANE(i, n, (k) + 3), GPUME_LANE(i, n, (k) + 4), GPUME_LANE(i, n, (k) + 5),           \
        GPUME_LANE(i, n, (k) + 6), GPUME_LANE(i, n, (k) + 7)
/* Lane k everywhere. */
#define GPUME_ALL(i, n, k)                                                                         \
    (i) + (k), (i) + (k), (i) + (k), (i) + (k), (i) + (k), (i) + (k), (i) + (k), (i) + (k)
/* What continues a line before its corner, the last lane: the other line backwards, at angle -32;
 * at -13 the samples that are nearest to where the direction leads. */
#define GPUME_BACKWARDS(i, n, k) (i) + 7, (i) + 6, (i) + 5, (i) + 4, (i) + 3, (i) + 2, (i) + 1, (i)
#define GPUME_PROJECTED(i, n, k) (i) + 7, (i) + 7, (i) + 7, (i) + 7, (i) + 7, (i) + 5, (i) + 2, (i)

/* Samples from the corner on: eight, and eight more. */
struct line {
    gpume_lanes near, far;
};

/* --- one line for all rows or columns */

/* The same row eight times. */
static inline struct gpume_rows repeated(gpume_lanes row)
{
    return (struct gpume_rows){{row, row, row, row, row, row, row, row}};
}

/* Row y holds the sample to the left of it everywhere. */
static inline struct gpume_rows repeated_across(gpume_lanes left)
{
    struct gpume_rows rows = repeated(left);
    gpume_transpose(&rows);
    return rows;
}

/* The least SATD for predictions that are the same in all rows, in all columns, or in both. */
static inline gpume_words flat_satd(
    const struct gpume_rows *blocks, gpume_lanes above, gpume_lanes left)
{
    const gpume_words mean = (gpume_sum_lanes((gpume_lanes_unsigned)(above + left)) + 8) >> 4;
    const struct gpume_rows rows = repeated(above), columns = repeated_across(left);
    const struct gpume_rows means = repeated((gpume_lanes)(mean | mean << 16));
    return gpume_smaller(gpume_smaller(gpume_satd(blocks, &rows), gpume_satd(blocks, &columns)),
        gpume_satd(blocks, &means));
}

/* --- planar */

/* left: from the sample beside the first row on. */
static inline gpume_words planar_satd(const struct gpume_rows *blocks, gpume_lanes above,
    gpume_lanes left, gpume_lanes above_right, gpume_lanes below_left)
{
    const gpume_lanes from_left = {GPUME_REPEAT(7, 6, 5, 4, 3, 2, 1, 0)};
    const gpume_lanes to_right = {GPUME_REPEAT(1, 2, 3, 4, 5, 6, 7, 8)};
    const gpume_lanes step = below_left - above;
    struct gpume_rows rows = repeated_across(left);
    /* 7 * above + below_left + (x + 1) * above_right + 8, for the first row */
    gpume_lanes rest = above * 8 + step + to_right * above_right + 8;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = (from_left * rows.row[y] + rest) >> 4;
        rest += step;
    }
    return gpume_satd(blocks, &rows);
}

/* --- along a direction */

/* lines: the first one and those shifted by 1 to 4 places, forwards for angle 13 and backwards for
 * -13, which are alike: row y lies 13 (y + 1) / 32 places away. */
static inline gpume_words satd_along_13(const struct gpume_rows *blocks, const gpume_lanes lines[5])
{
    struct gpume_rows match;
    for (uint32_t y = 0; y < 8; y++) {
        const uint32_t place = 13 * (y + 1);
        const gpume_lanes a = lines[place / 32], b = lines[place / 32 + 1];
        match.row[y] = (a * 32 + (b - a) * (int16_t)(place % 32) + 16) >> 5;
    }
    return gpume_satd(blocks, &match);
}

/* The smaller one for 13 and -13. */
static inline gpume_words steep_satd(
    const struct gpume_rows *blocks, const struct line *line, const struct line *other)
{
    const gpume_lanes before = GPUME_SHUFFLE(other->near, other->near, GPUME_PROJECTED, 0);
    const gpume_lanes first = GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 1);
    const gpume_lanes forwards[5] = {first, GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 2),
        GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 3),
        GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 4),
        GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 5)};
    const gpume_lanes backwards[5] = {first, GPUME_SHUFFLE(before, first, GPUME_FROM, 7),
        GPUME_SHUFFLE(before, first, GPUME_FROM, 6), GPUME_SHUFFLE(before, first, GPUME_FROM, 5),
        GPUME_SHUFFLE(before, first, GPUME_FROM, 4)};
    return gpume_smaller(satd_along_13(blocks, forwards), satd_along_13(blocks, backwards));
}

/* The smaller one for 32 and -32. last: eight samples of the line from number 9 on. */
static inline gpume_words diagonal_satd(const struct gpume_rows *blocks, const struct line *line,
    gpume_lanes last, const struct line *other)
{
    const gpume_lanes before = GPUME_SHUFFLE(other->near, other->near, GPUME_BACKWARDS, 0);
    const gpume_lanes first = GPUME_SHUFFLE(line->near, line->far, GPUME_FROM, 1);
    const struct gpume_rows forwards = {
        {GPUME_SHUFFLE(first, last, GPUME_FROM, 1), GPUME_SHUFFLE(first, last, GPUME_FROM, 2),
            GPUME_SHUFFLE(first, last, GPUME_FROM, 3), GPUME_SHUFFLE(first, last, GPUME_FROM, 4),
            GPUME_SHUFFLE(first, last, GPUME_FROM, 5), GPUME_SHUFFLE(first, last, GPUME_FROM, 6),
            GPUME_SHUFFLE(first, last, GPUME_FROM, 7), last}};
    const struct gpume_rows backwards = {{GPUME_SHUFFLE(before, first, GPUME_FROM, 7),
        GPUME_SHUFFLE(before, first, GPUME_FROM, 6), GPUME_SHUFFLE(before, first, GPUME_FROM, 5),
        GPUME_SHUFFLE(before, first, GPUME_FROM, 4), GPUME_SHUFFLE(before, first, GPUME_FROM, 3),
        GPUME_SHUFFLE(before, first, GPUME_FROM, 2), GPUME_SHUFFLE(before, first, GPUME_FROM, 1),
        before}};
    return gpume_smaller(gpume_satd(blocks, &forwards), gpume_satd(blocks, &backwards));
}

/* --- all of them */

/* The columns to the left of blocks, from the corner on. */
static inline struct line left_line(const uint8_t *corner, ptrdiff_t stride)
{
    const struct gpume_places near = gpume_side_by_side(corner);
    const struct gpume_places far = gpume_side_by_side(corner + 8 * stride);
    struct gpume_rows rows = gpume_load_rows(&near, stride);
    struct gpume_rows more = gpume_load_rows(&far, stride);
    gpume_transpose(&rows);
    gpume_transpose(&more);
    return (struct line){rows.row[0], more.row[0]};
}

static inline gpume_words intra_satd_of(const uint8_t *at, ptrdiff_t stride)
{
    const struct gpume_places places = gpume_side_by_side(at);
    struct gpume_rows blocks = gpume_load_rows(&places, stride);
    const struct line left = left_line(at - stride - 1, stride);
    const struct line above = {
        gpume_load_lanes(&places, -stride - 1), gpume_load_lanes(&places, -stride + 7)};
    const gpume_lanes beside = GPUME_SHUFFLE(left.near, left.far, GPUME_FROM, 1);
    const gpume_lanes over = GPUME_SHUFFLE(above.near, above.far, GPUME_FROM, 1);
    const gpume_lanes last = gpume_load_lanes(&places, -stride + 8);
    gpume_words least = gpume_smaller(flat_satd(&blocks, over, beside),
        planar_satd(&blocks, over, beside, GPUME_SHUFFLE(above.far, above.far, GPUME_ALL, 1),
            GPUME_SHUFFLE(left.far, left.far, GPUME_ALL, 1)));
    least = gpume_smaller(least, steep_satd(&blocks, &above, &left));
    least = gpume_smaller(least, diagonal_satd(&blocks, &above, last, &left));
    /* from horizontal: the same with rows and columns exchanged, which keeps the SATD */
    gpume_transpose(&blocks);
    return gpume_smaller(least, steep_satd(&blocks, &left, &above));
}

static void intra_satds(const struct gpume_half *half, uint32_t block_y, uint16_t *satds)
{
    const uint32_t count = half->width / GPUME_HALF_BLOCK;
    for (uint32_t i = 0; i < count; i += GPUME_BLOCKS) {
        const uint8_t *at = gpume_block_place(half, i, block_y);
        gpume_store_words(intra_satd_of(at, half->stride), count - i, satds + i);
    }
}

#endif
