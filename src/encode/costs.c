/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/costs.h"

#include "encode/angular.h"
#include "encode/match.h"

#define SIDE GPUME_HALF_BLOCK

static const uint8_t *block_at(const struct gpume_half *half, uint32_t block_x, uint32_t block_y)
{
    return half->samples + (ptrdiff_t)(block_y * SIDE) * half->stride + block_x * SIDE;
}

/* --- within a frame */

/* The samples around a block. */
struct border {
    gpume_eight above, left;
    int32_t above_right, below_left;
};

static struct border load_border(const uint8_t *block, ptrdiff_t stride)
{
    const uint8_t *left = block - 1;
    return (struct border){
        .above = gpume_load_eight(block - stride),
        .left = {left[0], left[stride], left[2 * stride], left[3 * stride], left[4 * stride],
            left[5 * stride], left[6 * stride], left[7 * stride]},
        .above_right = block[(ptrdiff_t)SIDE - stride],
        .below_left = left[(ptrdiff_t)SIDE * stride],
    };
}

static void predict_planar(const struct border *border, struct gpume_rows *out)
{
    const gpume_eight from_left = {7, 6, 5, 4, 3, 2, 1, 0}, to_right = {1, 2, 3, 4, 5, 6, 7, 8};
    const gpume_eight step = gpume_all_eight(border->below_left) - border->above;
    /* 7 * above + below_left + (x + 1) * above_right + 8, for the first row */
    gpume_eight rest = border->above * 8 + step + to_right * gpume_all_eight(border->above_right) +
                       gpume_all_eight(SIDE);
    for (uint32_t y = 0; y < SIDE; y++) {
        out->row[y] = (from_left * gpume_all_eight(border->left[y]) + rest) >> 4;
        rest += step;
    }
}

/* What the sum of absolute coefficients becomes when these eight are lowered by `by`. */
static uint32_t replace(uint32_t sum, gpume_eight coefficients, gpume_eight by)
{
    return sum - gpume_sum_eight((gpume_eight_unsigned)gpume_absolute(coefficients)) +
           gpume_sum_eight((gpume_eight_unsigned)gpume_absolute(coefficients - by));
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The least sum for predictions that are the same in all rows, in all columns, or in both. The
 * transform is linear, and that of such a prediction is 0 but for the coefficients of frequency 0
 * in y, in x, or both; so the block is transformed only once. */
static uint32_t sum_of_flat(const struct gpume_rows *block, const struct border *border)
{
    struct gpume_rows rows = *block;
    gpume_transform_columns(&rows);
    const gpume_eight of_columns = gpume_transform_lanes(rows.row[0]);
    gpume_transpose(&rows);
    gpume_transform_columns(&rows);
    const gpume_eight of_rows = rows.row[0];
    const uint32_t sum = gpume_sum_coefficients(&rows);
    const gpume_eight above = gpume_transform_lanes(border->above);
    const gpume_eight left = gpume_transform_lanes(border->left);
    const int32_t mean = (above[0] + left[0] + (int32_t)SIDE) / (2 * (int32_t)SIDE);
    const gpume_eight mean_only = {(int16_t)(64 * mean)};
    return smaller(
        replace(sum, of_rows, mean_only), smaller(replace(sum, of_columns, above * (int16_t)SIDE),
                                              replace(sum, of_rows, left * (int16_t)SIDE)));
}

void gpume_intra_costs(const struct gpume_half *half, uint32_t block_y, uint16_t *costs)
{
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        const uint8_t *at = block_at(half, i, block_y);
        const struct gpume_rows block = gpume_load_rows(at, half->stride);
        const struct border border = load_border(at, half->stride);
        struct gpume_rows planar;
        predict_planar(&border, &planar);
        const uint32_t satd = smaller(
            smaller(gpume_satd(&block, &planar), gpume_angular_satd(&block, at, half->stride)),
            gpume_satd_of_sum(sum_of_flat(&block, &border)));
        costs[i] = (uint16_t)(satd + GPUME_PENALTY_ANY + GPUME_PENALTY_INTRA);
    }
}

/* --- from others */

static struct gpume_vector vector_of(const struct gpume_matches *matches, uint32_t i)
{
    return matches->vectors ? matches->vectors[i] : (struct gpume_vector){0, 0};
}

/* The match of block i of a row. */
static struct gpume_rows match_of(const struct gpume_matches *matches, uint32_t i, uint32_t block_y)
{
    return gpume_match_rows(matches->reference, i, block_y, vector_of(matches, i));
}

void gpume_match_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *matches, uint16_t *costs)
{
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        const struct gpume_rows block = gpume_load_rows(block_at(half, i, block_y), half->stride);
        const struct gpume_rows match = match_of(matches, i, block_y);
        costs[i] = gpume_match_cost(gpume_satd(&block, &match), vector_of(matches, i));
    }
}

void gpume_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint16_t *costs)
{
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        const struct gpume_rows block = gpume_load_rows(block_at(half, i, block_y), half->stride);
        const struct gpume_rows a = match_of(past, i, block_y);
        const struct gpume_rows b = match_of(future, i, block_y);
        struct gpume_rows mean;
        for (uint32_t y = 0; y < SIDE; y++) {
            mean.row[y] = (a.row[y] + b.row[y] + 1) >> 1;
        }
        const struct gpume_vector v = vector_of(past, i), w = vector_of(future, i);
        const bool moves = (v.dx | v.dy | w.dx | w.dy) != 0;
        costs[i] = (uint16_t)(gpume_satd(&block, &mean) + GPUME_PENALTY_ANY +
                              (moves ? GPUME_PENALTY_BOTH : 0));
    }
}
