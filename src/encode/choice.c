/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/choice.h"

#include "base/base.h"
#include "encode/costs.h"

#include <stdlib.h>
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

#define GROUP 64u /* blocks */

/* Adds the bits of vectors that blocks of this kind, or predicted from both, have: as by
 * gpume_bits_of_vector, for blocks in a row that have others on all sides, written so that
 * compilers take several at a time. */
static void add_vector_bits(uint32_t bits[GROUP], const struct gpume_vector *vectors,
    uint32_t blocks_x, const uint8_t *kinds, enum gpume_source_kind kind, uint32_t count)
{
    const int16_t *here = &vectors->dx, *left = here - 2;
    const int16_t *above = here - 2 * (size_t)blocks_x, *corner = above + 2;
    uint32_t parts[2 * GROUP];
    for (uint32_t i = 0; i < 2 * count; i++) {
        const int32_t low = left[i] < above[i] ? left[i] : above[i];
        const int32_t high = left[i] < above[i] ? above[i] : left[i];
        const int32_t median = corner[i] < low ? low : corner[i] > high ? high : corner[i];
        parts[i] = gpume_rough_log2(1 + 2 * (uint32_t)abs(here[i] - median));
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool has = kinds[i] == kind || kinds[i] == GPUME_FROM_BOTH;
        bits[i] += has ? parts[2 * i] + parts[2 * i + 1] : 0;
    }
}

/* What the vectors of blocks `first` to `end` - 1 of row y take, none of them at an edge. */
static uint32_t bits_of_vectors(const struct gpume_frame_cost *cost, uint32_t part,
    uint32_t blocks_x, uint32_t y, uint32_t first, uint32_t end)
{
    uint32_t sum = 0;
    for (uint32_t x = first; x < end; x += GROUP) {
        const size_t at = (size_t)y * blocks_x + x;
        const uint32_t count = gpume_min_u32(end - x, GROUP);
        uint32_t bits[GROUP] = {0}; /* each below 2^17 */
        if (cost->past) {
            add_vector_bits(
                bits, cost->past + at, blocks_x, cost->kinds + at, GPUME_FROM_PAST, count);
        }
        if (cost->future) {
            add_vector_bits(
                bits, cost->future + at, blocks_x, cost->kinds + at, GPUME_FROM_FUTURE, count);
        }
        for (uint32_t i = 0; i < count; i++) {
            sum += bits[i] * part / 64;
        }
    }
    return sum;
}

/* The same of a whole row, with its edges. */
static uint32_t bits_of_all_vectors(
    const struct gpume_frame_cost *cost, uint32_t part, uint32_t blocks_x, uint32_t y)
{
    uint32_t sum = 0;
    for (uint32_t x = 0; x < blocks_x; x++) {
        const uint8_t kind = cost->kinds[(size_t)y * blocks_x + x];
        uint32_t bits = 0;
        if (kind == GPUME_FROM_PAST || kind == GPUME_FROM_BOTH) {
            bits += gpume_bits_of_vector(cost->past, blocks_x, x, y);
        }
        if (kind == GPUME_FROM_FUTURE || kind == GPUME_FROM_BOTH) {
            bits += gpume_bits_of_vector(cost->future, blocks_x, x, y);
        }
        sum += bits * part / 64;
    }
    return sum;
}

/* What blocks `first` to `end` - 1, of one row, take without their vectors. */
static uint64_t bits_of_costs(const struct gpume_choice *c, size_t first, size_t end)
{
    uint32_t bits = 0, sum = 0; /* of at most 2^16 blocks: below 2^14 and 2^16 of each */
    for (size_t i = first; i < end; i++) {
        bits += gpume_bits_of_cost(c->costs[i]);
        sum += c->costs[i];
    }
    return bits + (c->pattern.counts_cost ? sum : 0);
}

/* Whether a B frame has next to nothing in common with its references: costs.h. */
static bool is_alone(const struct gpume_choice *c, uint32_t blocks)
{
    uint64_t inter = 0, intra = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        inter += c->costs[i];
        intra += c->intra_costs[i];
    }
    return c->future && inter > 2 * intra;
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
    }
    if (choice->pattern.has_intra_b && is_alone(choice, blocks_x * blocks_y)) {
        keep_cheaper(blocks_x * blocks_y, choice->costs, choice->kinds, choice->intra_costs,
            GPUME_FROM_SELF);
    }
    for (uint32_t y = 0; y < blocks_y; y++) {
        const uint16_t *costs = choice->costs + (size_t)y * blocks_x;
        const uint8_t *kinds = choice->kinds + (size_t)y * blocks_x;
        const bool is_small = blocks_x <= 2 || blocks_y <= 2;
        const bool is_inner = is_small || (y > 0 && y < blocks_y - 1);
        const uint32_t edge = is_small ? 0 : 1;
        for (uint32_t x = 0; x < blocks_x; x++) {
            total.cost += costs[x];
            total.intra_blocks += kinds[x] == GPUME_FROM_SELF;
        }
        if (!is_inner) {
            continue;
        }
        for (uint32_t x = edge; x + edge < blocks_x; x++) {
            total.inner_cost += costs[x];
        }
        const size_t row = (size_t)y * blocks_x;
        total.inner_bits += bits_of_costs(choice, row + edge, row + blocks_x - edge);
        if (choice->pattern.vector_part > 0) {
            const uint32_t part = choice->pattern.vector_part, end = blocks_x - edge;
            total.inner_bits += is_small ? bits_of_all_vectors(&total, part, blocks_x, y)
                                         : bits_of_vectors(&total, part, blocks_x, y, edge, end);
        }
    }
    return total;
}
