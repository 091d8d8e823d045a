/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/costs.h"

#include "encode/kernels/kernels.h"

#include <stddef.h>
#include <stdlib.h>

static uint32_t blocks_of(const struct gpume_half *half)
{
    return half->width / GPUME_HALF_BLOCK;
}

void gpume_intra_costs(const struct gpume_half *half, uint32_t block_y, uint16_t *costs)
{
    gpume_encode_kernels()->intra(half, block_y, costs);
    for (uint32_t i = 0; i < blocks_of(half); i++) {
        costs[i] = gpume_intra_cost(costs[i]);
    }
}

static int32_t median(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

struct gpume_vector gpume_expected_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y)
{
    const struct gpume_vector *here = vectors + (size_t)y * blocks_x + x;
    const struct gpume_vector zero = {0, 0};
    const struct gpume_vector left = x > 0 ? here[-1] : zero;
    struct gpume_vector above = left, corner = left;
    if (y > 0) {
        above = here[-(ptrdiff_t)blocks_x];
        corner = x + 1 < blocks_x ? here[1 - (ptrdiff_t)blocks_x]
                 : x > 0          ? here[-1 - (ptrdiff_t)blocks_x]
                                  : zero;
    }
    return (struct gpume_vector){(int16_t)median(left.dx, above.dx, corner.dx),
        (int16_t)median(left.dy, above.dy, corner.dy)};
}

uint32_t gpume_bits_of_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y)
{
    const struct gpume_vector *here = vectors + (size_t)y * blocks_x + x;
    const struct gpume_vector expected = gpume_expected_vector(vectors, blocks_x, x, y);
    const uint32_t dx = (uint32_t)abs(here->dx - expected.dx);
    const uint32_t dy = (uint32_t)abs(here->dy - expected.dy);
    return gpume_rough_log2(1 + 2 * dx) + gpume_rough_log2(1 + 2 * dy);
}

static struct gpume_vector vector_of(const struct gpume_matches *matches, uint32_t i)
{
    return matches->vectors ? matches->vectors[i] : (struct gpume_vector){0, 0};
}

static void add_match_penalties(
    uint32_t count, const struct gpume_matches *matches, uint16_t *costs)
{
    for (uint32_t i = 0; i < count; i++) {
        costs[i] = gpume_match_cost(costs[i], vector_of(matches, i));
    }
}

void gpume_match_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *matches, uint16_t *costs)
{
    gpume_encode_kernels()->match(half, block_y, matches, costs);
    add_match_penalties(blocks_of(half), matches, costs);
}

void gpume_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint32_t past_share,
    uint16_t *costs)
{
    gpume_encode_kernels()->mean(half, block_y, past, future, past_share, costs);
    for (uint32_t i = 0; i < blocks_of(half); i++) {
        const struct gpume_vector v = vector_of(past, i), w = vector_of(future, i);
        costs[i] = gpume_mean_cost(costs[i], (v.dx | v.dy | w.dx | w.dy) != 0);
    }
}

void gpume_both_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint32_t past_share,
    uint16_t *both, uint16_t *still)
{
    const struct gpume_matches still_past = {past->reference, NULL};
    const struct gpume_matches still_future = {future->reference, NULL};
    gpume_mean_costs(half, block_y, past, future, past_share, both);
    gpume_mean_costs(half, block_y, &still_past, &still_future, past_share, still);
}

void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors,
    uint16_t *costs)
{
    gpume_encode_kernels()->refine(target, reference, block_y, coarse, vectors, costs);
    add_match_penalties(blocks_of(target), &(struct gpume_matches){reference, vectors}, costs);
}
