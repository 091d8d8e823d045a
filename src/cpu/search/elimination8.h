/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search by successive elimination for blocks of 8x8, whose candidates are bounded by the sums
 * of four boxes of 4x4. All bounds are computed first. The candidate with the least bound is mostly
 * the best or nearly as good, so its cost is another hint (elimination.h): it is within a few
 * percent of the best cost, and few other candidates survive. A row is compared if at least one of
 * its candidates survives.
 *
 * A bound is at most 4 * 16 * 255 = 16320, as a cost is, so 16 bits hold both.
 */
#ifndef GPUME_CPU_SEARCH_ELIMINATION8_H
#define GPUME_CPU_SEARCH_ELIMINATION8_H

#include "cpu/search/elimination.h"
#include "cpu/search/wide.h"

#if defined(__AVX2__)

#define BOUNDS_MAX 160 /* vectors of bounds made together, 10 KiB with AVX-512 */
#define BOX 4          /* samples per side */

/* The candidates of some dy, in whole vectors of each row. */
struct bounds8 {
    int32_t dy, rows;
    int32_t across;          /* vectors in a row */
    wide bounds[BOUNDS_MAX]; /* row by row */
};

static inline wide difference(wide boxes, wide own)
{
    return WIDE(abs_epi16)(WIDE(sub_epi16)(boxes, own));
}

static inline wide load_wide(const uint16_t *p)
{
    return WIDE_SI(loadu)((const wide *)(const void *)p);
}

static inline wide all_lanes(uint32_t value)
{
    return WIDE(set1_epi16)((int16_t)(uint16_t)value);
}

/* The lanes from dx on that are beyond the window. */
static inline wide lanes_beyond(const struct gpume_block *block, int32_t dx)
{
    uint16_t lanes[WIDE_LANES];
    for (int32_t i = 0; i < WIDE_LANES; i++) {
        lanes[i] = dx + i > block->dx_high ? UINT16_MAX : 0;
    }
    return load_wide(lanes);
}

static inline const uint16_t *boxes_at(const struct elimination *e, int32_t dx, int32_t dy)
{
    return e->boxes->sums[0] + e->place + dy * (ptrdiff_t)e->boxes->stride + dx;
}

/* Makes the bounds of one vector of each row. Returns the least one and its place. */
static inline struct gpume_candidate bound_rows(
    const struct elimination *e, struct bounds8 *b, int32_t index)
{
    const ptrdiff_t stride = (ptrdiff_t)e->boxes->stride;
    const int32_t dx = e->block->dx_low + index * WIDE_LANES;
    const uint16_t *upper = boxes_at(e, dx, b->dy), *own = e->sums[0];
    const wide beyond = lanes_beyond(e->block, dx);
    const wide own0 = all_lanes(own[0]), own1 = all_lanes(own[1]), own2 = all_lanes(own[2]),
               own3 = all_lanes(own[3]);
    wide least = all_lanes(UINT16_MAX), when = WIDE_SI(setzero)();
    for (int32_t row = 0; row < b->rows; row++, upper += stride) {
        const uint16_t *lower = upper + BOX * stride;
        const wide above = WIDE(add_epi16)(
            difference(load_wide(upper), own0), difference(load_wide(upper + BOX), own1));
        const wide below = WIDE(add_epi16)(
            difference(load_wide(lower), own2), difference(load_wide(lower + BOX), own3));
        const wide bound = WIDE_SI(or)(WIDE(add_epi16)(above, below), beyond);
        b->bounds[row * b->across + index] = bound;
        wide_keep_least(bound, WIDE(set1_epi16)((int16_t)row), &least, &when);
    }
    const uint32_t bound = wide_least(least);
    const int32_t lane = __builtin_ctz(wide_up_to(least, all_lanes(bound)));
    int16_t rows[WIDE_LANES];
    WIDE_SI(storeu)((wide *)(void *)rows, when);
    return (struct gpume_candidate){bound, dx + lane, b->dy + rows[lane]};
}

/* Takes the best of the lanes of `less`, which cost less than the limit. */
static inline void offer_lanes(
    struct elimination *e, wide costs, uint32_t less, int32_t dx, int32_t dy)
{
    uint16_t cost[WIDE_LANES];
    WIDE_SI(storeu)((wide *)(void *)cost, costs);
    for (; less; less &= less - 1) {
        const int32_t lane = __builtin_ctz(less);
        offer(e, cost[lane], dx + lane, dy);
    }
}

/* Lists the vectors that have survivors, in the order of the tie rule. No branch depends on a mask,
 * which cannot be predicted. */
static inline uint32_t list_survivors(
    const struct elimination *e, const struct bounds8 *b, uint16_t *list)
{
    const wide last = all_lanes(e->limit - 1);
    uint32_t count = 0;
    for (int32_t i = 0; i < b->rows * b->across; i++) {
        list[count] = (uint16_t)i;
        count += wide_up_to(b->bounds[i], last) != 0;
    }
    return count;
}

static inline uint64_t compare_survivors(struct elimination *e, const struct bounds8 *b)
{
    const struct gpume_block *block = e->block;
    uint16_t list[BOUNDS_MAX];
    const uint32_t count = list_survivors(e, b, list);
    uint64_t survivors = 0;
    for (uint32_t i = 0; i < count && e->limit > 0; i++) {
        const int32_t dx = block->dx_low + list[i] % b->across * WIDE_LANES;
        const int32_t dy = b->dy + list[i] / b->across;
        const uint8_t *r = (const uint8_t *)block->reference + dy * block->stride + dx;
        const wide last = all_lanes(e->limit - 1);
        const wide costs = wide_costs8(block->target, r, block->stride);
        const uint32_t mask = wide_up_to(b->bounds[list[i]], last);
        const uint32_t less = mask & wide_up_to(costs, last);
        survivors += (uint32_t)__builtin_popcount(mask);
        if (less) {
            offer_lanes(e, costs, less, dx, dy);
        }
    }
    return survivors;
}

/* The last candidates of each row, where they do not fill a vector. They are compared out of
 * order, so the tie rule decides. As many rows at once as a vector has eighths. */
static inline uint64_t compare_column(struct elimination *e, const struct bounds8 *b)
{
    const int32_t at_once = WIDE_LANES / 8, dx = e->block->dx_high;
    const size_t stride = e->boxes->stride;
    const uint16_t *own = e->sums[0];
    const wide upper = WIDE(unpacklo_epi64)(all_lanes(own[0]), all_lanes(own[1]));
    const wide lower = WIDE(unpacklo_epi64)(all_lanes(own[2]), all_lanes(own[3]));
    uint64_t survivors = 0;
    for (int32_t row = 0; row < b->rows; row += at_once) {
        const uint16_t *line = boxes_at(e, dx, b->dy + row);
        const wide pairs = WIDE(add_epi16)(difference(wide_rows(line, stride), upper),
            difference(wide_rows(line + BOX * stride, stride), lower));
        const wide bounds = WIDE(add_epi16)(pairs, WIDE(unpackhi_epi64)(pairs, pairs));
        uint32_t mask = wide_up_to(bounds, all_lanes(e->limit)) & 0x01010101u;
        for (; mask; mask &= mask - 1) {
            const int32_t dy = b->dy + row + __builtin_ctz(mask) / 8;
            if (dy < b->dy + b->rows) {
                const struct gpume_candidate candidate = {cost_of(e->block, dx, dy), dx, dy};
                e->best = gpume_candidate_wins(candidate, e->best) ? candidate : e->best;
                e->limit = e->best.cost < e->limit ? e->best.cost : e->limit;
                survivors++;
            }
        }
    }
    return survivors;
}

static inline bool is_8x8(const struct gpume_block *block)
{
    return block->width == 8 && block->height == 8 &&
           block->dx_high - block->dx_low <= BOUNDS_MAX / 20 * WIDE_LANES;
}

static inline void search_8x8(struct elimination *e, struct gpume_search_counts *counts)
{
    const struct gpume_block *block = e->block;
    const int32_t width = block->dx_high - block->dx_low + 1;
    const bool column = width > WIDE_LANES && width % WIDE_LANES == 1;
    struct bounds8 b; /* not cleared */
    b.across = (width - column + WIDE_LANES - 1) / WIDE_LANES;
    for (b.dy = block->dy_low; b.dy <= block->dy_high && e->limit > 0; b.dy += b.rows) {
        struct gpume_candidate nearest = {.cost = UINT32_MAX};
        const int32_t most = BOUNDS_MAX / b.across, left = block->dy_high - b.dy + 1;
        b.rows = left < most ? left : most;
        for (int32_t i = 0; i < b.across; i++) {
            const struct gpume_candidate found = bound_rows(e, &b, i);
            nearest = found.cost < nearest.cost ? found : nearest;
        }
        take_hint(e, &(struct gpume_vector){(int16_t)nearest.dx, (int16_t)nearest.dy});
        uint64_t survivors = compare_survivors(e, &b);
        survivors += column ? compare_column(e, &b) : 0;
        counts->past_blocks += survivors;
        counts->past_parts += survivors;
    }
}

/* The best candidate; left and last as above. */
static inline struct gpume_candidate eliminate(const struct gpume_search_field *field,
    const struct gpume_block *block, const struct gpume_vector *left,
    const struct gpume_vector *last, struct gpume_search_counts *counts)
{
    struct elimination e; /* not cleared: only the sums in use are written */
    start_elimination(&e, field, block, left, last);
    if (is_8x8(block)) {
        search_8x8(&e, counts);
    } else {
        search_any(&e, counts);
    }
    counts->candidates += (uint64_t)(block->dx_high - block->dx_low + 1) *
                          (uint64_t)(block->dy_high - block->dy_low + 1);
    return e.best;
}

#endif
#endif
