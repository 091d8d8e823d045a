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

/* rows: memory for the costs of two rows. */
static void choose_row(
    const struct gpume_choice *c, uint32_t count, uint32_t block_y, uint16_t *rows)
{
    const size_t first = (size_t)block_y * count;
    uint16_t *costs = c->costs + first;
    uint8_t *kinds = c->kinds + first;
    memset(costs, 0xff, count * sizeof(*costs));
    if (c->past.match) {
        keep_cheaper(count, costs, kinds, c->past.match->costs + first, GPUME_FROM_PAST);
    }
    if (c->future.match) {
        keep_cheaper(count, costs, kinds, c->future.match->costs + first, GPUME_FROM_FUTURE);
    } else {
        keep_cheaper(count, costs, kinds, c->intra_costs + first, GPUME_FROM_SELF);
    }
    if (c->mean) {
        keep_cheaper(count, costs, kinds, c->mean->both + first, GPUME_FROM_BOTH);
        keep_cheaper(count, costs, kinds, c->mean->still + first, GPUME_FROM_STILL);
    } else if (c->past.match && c->future.match) {
        const struct gpume_matches past = {c->past.half, c->past.match->vectors + first};
        const struct gpume_matches future = {c->future.half, c->future.match->vectors + first};
        uint16_t *both = rows, *still = rows + count;
        gpume_both_mean_costs(c->target, block_y, &past, &future, c->past_share, both, still);
        keep_cheaper(count, costs, kinds, both, GPUME_FROM_BOTH);
        keep_cheaper(count, costs, kinds, still, GPUME_FROM_STILL);
    }
}

static void choose_part(void *opaque, uint32_t part)
{
    const struct gpume_choice *c = opaque;
    const uint32_t count = c->target->width / GPUME_HALF_BLOCK;
    const uint32_t end = gpume_split_row(c->split, part + 1);
    for (uint32_t y = gpume_split_row(c->split, part); y < end; y++) {
        choose_row(c, count, y, c->scratch + (size_t)2 * part * count);
    }
}

struct gpume_frame_cost gpume_choose(struct gpume_choice *choice)
{
    const struct gpume_match *past = choice->past.match, *future = choice->future.match;
    const uint32_t blocks_x = choice->target->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = choice->split->rows;
    struct gpume_frame_cost total = {.costs = choice->costs,
        .kinds = choice->kinds,
        .past = past ? past->vectors : NULL,
        .future = future ? future->vectors : NULL};
    if (past && future && !choice->mean) {
        gpume_split_run(choice->split, choose_part, choice);
    } else { /* little to do */
        for (uint32_t part = 0; part < choice->split->parts; part++) {
            choose_part(choice, part);
        }
    }
    for (uint32_t y = 0; y < blocks_y; y++) {
        const uint16_t *costs = choice->costs + (size_t)y * blocks_x;
        const uint8_t *kinds = choice->kinds + (size_t)y * blocks_x;
        uint32_t sum = 0;
        for (uint32_t x = 0; x < blocks_x; x++) {
            sum += costs[x];
            total.intra_blocks += kinds[x] == GPUME_FROM_SELF;
        }
        total.cost += sum;
        if (blocks_x <= 2 || blocks_y <= 2) {
            total.inner_cost += sum;
        } else if (y > 0 && y < blocks_y - 1) {
            total.inner_cost += sum - costs[0] - costs[blocks_x - 1];
        }
    }
    return total;
}
