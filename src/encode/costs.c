/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/costs.h"

#include "encode/kernels/kernels.h"

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
