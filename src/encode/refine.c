/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/refine.h"

#include "encode/costs.h"
#include "encode/satd.h"

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

/* Rows from one above a place, at one fraction of a pixel in x, times 4. */
struct column {
    gpume_eight row[ROWS];
};

static inline void load_column(
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

/* The best of a candidate and its eight neighbours `step` quarters away. */
static inline uint64_t best_around(uint64_t best, const struct gpume_rows *target,
    const uint8_t *origin, ptrdiff_t stride, int32_t step)
{
    const int32_t dx = dx_of(best), dy = dy_of(best);
    const int32_t top = (dy - step) >> 2; /* the highest row that any of them needs */
    const uint8_t *at = origin + top * stride;
    for (int32_t x = dx - step; x <= dx + step; x += step) {
        struct column column;
        load_column(&column, at, stride, x);
        for (int32_t y = dy - step; y <= dy + step; y += step) {
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
            best = best_around(best, &block, origin, stride, 2);
            best = best_around(best, &block, origin, stride, 1);
        }
        vectors[i] = (struct gpume_vector){(int16_t)dx_of(best), (int16_t)dy_of(best)};
        costs[i] = gpume_match_cost((uint32_t)(best >> 33), vectors[i]);
    }
}
