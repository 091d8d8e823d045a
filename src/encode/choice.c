/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/choice.h"

#include "encode/costs.h"

#include <string.h>

static void keep_cheaper(uint32_t count, uint16_t *costs, uint8_t *kinds, const uint16_t *others,
    enum gpume_source_kind kind)
{
    for (uint32_t i = 0; i < count; i++) {
        const bool cheaper = others[i] < costs[i];
        costs[i] = cheaper ? others[i] : costs[i];
        kinds[i] = cheaper ? (uint8_t)kind : kinds[i];
    }
}

static void choose_row(const struct gpume_choice *c, uint32_t count, uint32_t block_y)
{
    const size_t first = (size_t)block_y * count;
    uint16_t *costs = c->costs + first;
    uint8_t *kinds = c->kinds + first;
    memset(costs, 0xff, count * sizeof(*costs));
    if (c->past) {
        keep_cheaper(count, costs, kinds, c->past->costs + first, GPUME_FROM_PAST);
    }
    if (c->future) {
        keep_cheaper(count, costs, kinds, c->future->costs + first, GPUME_FROM_FUTURE);
    } else {
        keep_cheaper(count, costs, kinds, c->intra_costs + first, GPUME_FROM_SELF);
    }
    if (c->mean) {
        keep_cheaper(count, costs, kinds, c->mean->both + first, GPUME_FROM_BOTH);
        keep_cheaper(count, costs, kinds, c->mean->still + first, GPUME_FROM_STILL);
    }
}

/* What coding block (x, y) takes. */
static uint32_t bits_of_block(const struct gpume_choice *choice,
    const struct gpume_frame_cost *cost, uint32_t blocks_x, uint32_t x, uint32_t y)
{
    const size_t i = (size_t)y * blocks_x + x;
    const uint8_t kind = cost->kinds[i];
    uint32_t vectors = 0; /* below 2^17 */
    if (choice->vector_part > 0 && (kind == GPUME_FROM_PAST || kind == GPUME_FROM_BOTH)) {
        vectors += gpume_bits_of_vector(cost->past, blocks_x, x, y);
    }
    if (choice->vector_part > 0 && (kind == GPUME_FROM_FUTURE || kind == GPUME_FROM_BOTH)) {
        vectors += gpume_bits_of_vector(cost->future, blocks_x, x, y);
    }
    return gpume_bits_of_cost(cost->costs[i]) + vectors * choice->vector_part / 64;
}

struct gpume_frame_cost gpume_choose(const struct gpume_choice *choice)
{
    const uint32_t blocks_x = choice->target->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = choice->target->height / GPUME_HALF_BLOCK;
    struct gpume_frame_cost total = {.costs = choice->costs,
        .kinds = choice->kinds,
        .past = choice->past ? choice->past->vectors : NULL,
        .future = choice->future ? choice->future->vectors : NULL};
    for (uint32_t y = 0; y < blocks_y; y++) {
        choose_row(choice, blocks_x, y);
        const uint16_t *costs = choice->costs + (size_t)y * blocks_x;
        const uint8_t *kinds = choice->kinds + (size_t)y * blocks_x;
        const bool is_small = blocks_x <= 2 || blocks_y <= 2;
        const bool is_inner = is_small || (y > 0 && y < blocks_y - 1);
        const uint32_t edge = is_small ? 0 : 1;
        for (uint32_t x = 0; x < blocks_x; x++) {
            total.cost += costs[x];
            total.intra_blocks += kinds[x] == GPUME_FROM_SELF;
        }
        for (uint32_t x = edge; is_inner && x + edge < blocks_x; x++) {
            total.inner_cost += costs[x];
            total.inner_bits += bits_of_block(choice, &total, blocks_x, x, y);
        }
    }
    return total;
}
