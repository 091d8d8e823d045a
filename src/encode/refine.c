/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/refine.h"

#include "encode/costs.h"
#include "encode/match.h"

#define SIDE GPUME_HALF_BLOCK
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
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y,
    struct gpume_vector vector)
{
    if (vector.dx < -LIMIT || vector.dx > LIMIT || vector.dy < -LIMIT || vector.dy > LIMIT) {
        return best;
    }
    const struct gpume_rows match = gpume_match_rows(reference, block_x, block_y, vector);
    const uint64_t rank = rank_of(gpume_satd(target, &match), vector.dx, vector.dy);
    return rank < best ? rank : best;
}

/* The best of a vector and its eight neighbours, `step` quarters of a pixel away. */
static uint64_t best_around(uint64_t best, const struct gpume_rows *target,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y, int32_t step)
{
    const int32_t dx = dx_of(best), dy = dy_of(best);
    for (int32_t i = 0; i < 9; i++) {
        const struct gpume_vector vector = {
            (int16_t)(dx + (i % 3 - 1) * step), (int16_t)(dy + (i / 3 - 1) * step)};
        if (i != 4) {
            best = better(best, target, reference, block_x, block_y, vector);
        }
    }
    return best;
}

void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, struct gpume_vector *vectors, uint16_t *costs)
{
    const struct gpume_vector zero = {0, 0};
    for (uint32_t i = 0; i < target->width / SIDE; i++) {
        const struct gpume_rows block = gpume_match_rows(target, i, block_y, zero);
        const struct gpume_vector whole = {
            (int16_t)(4 * vectors[i].dx), (int16_t)(4 * vectors[i].dy)};
        uint64_t best = better(UINT64_MAX, &block, reference, i, block_y, whole);
        if (best > rank_of(0, 0, 0)) {
            best = best_around(best, &block, reference, i, block_y, 2);
            best = best_around(best, &block, reference, i, block_y, 1);
        }
        vectors[i] = (struct gpume_vector){(int16_t)dx_of(best), (int16_t)dy_of(best)};
        costs[i] = gpume_match_cost((uint32_t)(best >> 33), vectors[i]);
    }
}
