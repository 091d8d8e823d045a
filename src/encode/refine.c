/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/refine.h"

#include "encode/costs.h"
#include "encode/satd.h"

#include <stdbool.h>

#define SIDE GPUME_HALF_BLOCK
#define ROWS (SIDE + 2) /* of samples that neighbouring candidates of one block need */
#define LIMIT (4 * (int32_t)GPUME_HALF_WINDOW)

/* A candidate as a number: the better one is smaller. Cost, then (0,0), then dy, then dx. */
static uint64_t rank_of(uint32_t satd, int32_t dx, int32_t dy)
{
    const uint64_t moves = (dx | dy) != 0;
    return (uint64_t)satd << 33 | moves << 32 | (uint64_t)(uint32_t)(dy + LIMIT) << 16 |
           (uint32_t)(dx + LIMIT);
}

static int32_t dx_of(uint64_t rank)
{
    return (int32_t)(rank & 0xffff) - LIMIT;
}

static int32_t dy_of(uint64_t rank)
{
    return (int32_t)(rank >> 16 & 0xffff) - LIMIT;
}

static uint64_t better(uint64_t best, const struct gpume_rows *target,
    const struct gpume_rows *match, int32_t dx, int32_t dy)
{
    if (dx < -LIMIT || dx > LIMIT || dy < -LIMIT || dy > LIMIT) {
        return best;
    }
    const uint64_t rank = rank_of(gpume_satd(target, match), dx, dy);
    return rank < best ? rank : best;
}

/* Rows of samples at one place in x, from one row above the block. */
struct column {
    gpume_eight row[ROWS];
};

/* Twice what lies at a whole pixel. */
static inline void load_doubled(struct column *column, const uint8_t *at, ptrdiff_t stride)
{
    for (uint32_t y = 0; y < ROWS; y++, at += stride) {
        column->row[y] = gpume_load_eight(at) * 2;
    }
}

/* Twice what lies between a pixel and the next. */
static inline void load_between(struct column *column, const uint8_t *at, ptrdiff_t stride)
{
    for (uint32_t y = 0; y < ROWS; y++, at += stride) {
        column->row[y] = gpume_load_eight(at) + gpume_load_eight(at + 1);
    }
}

/* Between which rows of a column a candidate's first row lies. */
static const struct {
    uint32_t upper, lower;
    int32_t dy;
} half_rows[] = {{1, 1, 0}, {0, 1, -2}, {1, 2, 2}};

/* The candidates of a column half a pixel above, level with and below the best whole pixel. */
static inline uint64_t best_of_half_column(uint64_t best, const struct gpume_rows *target,
    const struct column *column, int32_t dx, int32_t dy, bool has_centre)
{
    for (uint32_t i = has_centre ? 0 : 1; i < 3; i++) {
        const uint32_t upper = half_rows[i].upper, lower = half_rows[i].lower;
        struct gpume_rows match;
        for (uint32_t y = 0; y < SIDE; y++) {
            match.row[y] = (column->row[y + upper] + column->row[y + lower] + 2) >> 2;
        }
        best = better(best, target, &match, dx, dy + half_rows[i].dy);
    }
    return best;
}

/* The best of a whole-pixel vector and its eight neighbours half a pixel away. `at`: its match. */
static uint64_t best_half(
    uint64_t best, const struct gpume_rows *target, const uint8_t *at, ptrdiff_t stride)
{
    const int32_t dx = dx_of(best), dy = dy_of(best);
    struct column column;
    load_between(&column, at - stride - 1, stride);
    best = best_of_half_column(best, target, &column, dx - 2, dy, true);
    load_doubled(&column, at - stride, stride);
    best = best_of_half_column(best, target, &column, dx, dy, false);
    load_between(&column, at - stride, stride);
    return best_of_half_column(best, target, &column, dx + 2, dy, true);
}

/* Four times what lies at a place in quarters of a pixel. */
static inline void load_quarters(
    struct column *column, const uint8_t *at, ptrdiff_t stride, int32_t quarters)
{
    const gpume_eight fraction = gpume_all_eight(quarters & 3);
    at += quarters >> 2;
    for (uint32_t y = 0; y < ROWS; y++, at += stride) {
        const gpume_eight a = gpume_load_eight(at), b = gpume_load_eight(at + 1);
        column->row[y] = a * 4 + (b - a) * fraction;
    }
}

/* The block that begins `quarters` below the column's first row: 0 to 7. */
static inline void match_at(const struct column *column, int32_t quarters, struct gpume_rows *match)
{
    const gpume_eight fraction = gpume_all_eight(quarters & 3);
    const gpume_eight *row = column->row + (quarters >> 2);
    for (uint32_t y = 0; y < SIDE; y++) {
        match->row[y] = (row[y] * 4 + (row[y + 1] - row[y]) * fraction + 8) >> 4;
    }
}

/* The best of a vector and its eight neighbours a quarter of a pixel away. `origin`: where the
 * vector (0,0) points to. */
static uint64_t best_quarter(
    uint64_t best, const struct gpume_rows *target, const uint8_t *origin, ptrdiff_t stride)
{
    const int32_t dx = dx_of(best), dy = dy_of(best);
    const int32_t top = (dy - 1) >> 2; /* the highest row that any of them needs */
    for (int32_t x = dx - 1; x <= dx + 1; x++) {
        struct column column;
        load_quarters(&column, origin + top * stride, stride, x);
        for (int32_t y = dy - 1; y <= dy + 1; y++) {
            if (x != dx || y != dy) {
                struct gpume_rows match;
                match_at(&column, y - 4 * top, &match);
                best = better(best, target, &match, x, y);
            }
        }
    }
    return best;
}

void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, struct gpume_vector *vectors, uint16_t *costs)
{
    const ptrdiff_t stride = reference->stride;
    for (uint32_t i = 0; i < target->width / SIDE; i++) {
        const ptrdiff_t place = (ptrdiff_t)(block_y * SIDE) * stride + i * SIDE;
        const struct gpume_rows block = gpume_load_rows(target->samples + place, stride);
        const uint8_t *origin = reference->samples + place;
        const int32_t dx = vectors[i].dx, dy = vectors[i].dy;
        const struct gpume_rows match = gpume_load_rows(origin + dy * stride + dx, stride);
        uint64_t best = rank_of(gpume_satd(&block, &match), 4 * dx, 4 * dy);
        if (best > rank_of(0, 0, 0)) {
            best = best_half(best, &block, origin + dy * stride + dx, stride);
            best = best_quarter(best, &block, origin, stride);
        }
        vectors[i] = (struct gpume_vector){(int16_t)dx_of(best), (int16_t)dy_of(best)};
        costs[i] = gpume_match_cost((uint32_t)(best >> 33), vectors[i]);
    }
}
