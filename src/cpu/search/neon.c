/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with NEON, which every 64-bit Arm has: each sample of the target is compared with the
 * reference at sixteen neighbouring dx. 8-bit samples, without elimination; others take the plain
 * search.
 */
#include "cpu/search/block.h"

#include <arm_neon.h>

#define LANES 16
#define HELD 257 /* differences whose sum fits in 16 bits: 257 * 255 = 65535 */

struct costs {
    uint32x4_t quarters[4];
};

static inline void flush(struct costs *costs, uint16x8_t low, uint16x8_t high)
{
    costs->quarters[0] = vaddw_u16(costs->quarters[0], vget_low_u16(low));
    costs->quarters[1] = vaddw_u16(costs->quarters[1], vget_high_u16(low));
    costs->quarters[2] = vaddw_u16(costs->quarters[2], vget_low_u16(high));
    costs->quarters[3] = vaddw_u16(costs->quarters[3], vget_high_u16(high));
}

/* Inlined, so that the compiler can unroll loops of a constant width. */
static inline struct costs group_costs(
    const struct gpume_block *block, const uint8_t *r, int32_t width)
{
    const uint8_t *c = block->target;
    int32_t rows = HELD / width; /* 2 or more, as a block has at most 128 columns */
    struct costs costs = {{vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0)}};
    for (int32_t y = 0; y < block->height;) {
        int32_t end = y + rows < block->height ? y + rows : block->height;
        uint16x8_t low = vdupq_n_u16(0), high = vdupq_n_u16(0);
        for (; y < end; y++, c += block->stride, r += block->stride) {
            for (int32_t x = 0; x < width; x++) {
                uint8x16_t target = vdupq_n_u8(c[x]), places = vld1q_u8(r + x);
                low = vabal_u8(low, vget_low_u8(places), vget_low_u8(target));
                high = vabal_high_u8(high, places, target);
            }
        }
        flush(&costs, low, high);
    }
    return costs;
}

static struct costs costs_at(const struct gpume_block *block, int32_t dx, int32_t dy)
{
    const uint8_t *r = (const uint8_t *)block->reference + dy * block->stride + dx;
    switch (block->width) {
    case 8:
        return group_costs(block, r, 8);
    case 16:
        return group_costs(block, r, 16);
    default:
        return group_costs(block, r, block->width);
    }
}

static inline uint32_t least(const struct costs *costs)
{
    uint32x4_t low = vminq_u32(costs->quarters[0], costs->quarters[1]);
    uint32x4_t high = vminq_u32(costs->quarters[2], costs->quarters[3]);
    return vminvq_u32(vminq_u32(low, high));
}

/* Updates the best with the first `count` lanes. */
static void take(
    struct gpume_candidate *best, const struct costs *costs, int32_t dx, int32_t dy, int32_t count)
{
    uint32_t cost[LANES];
    for (size_t i = 0; i < 4; i++) {
        vst1q_u32(cost + 4 * i, costs->quarters[i]);
    }
    for (int32_t i = 0; i < count && i < LANES; i++) {
        if (cost[i] < best->cost) {
            *best = (struct gpume_candidate){cost[i], dx + i, dy};
        }
    }
}

/* Candidates run in the order of the tie rule and begin with (0,0); only a smaller cost replaces
 * the best. */
static struct gpume_candidate match(const struct gpume_block *block)
{
    struct costs costs = costs_at(block, 0, 0);
    struct gpume_candidate best = {.cost = vgetq_lane_u32(costs.quarters[0], 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
            costs = costs_at(block, dx, dy);
            if (least(&costs) < best.cost) {
                take(&best, &costs, dx, dy, block->dx_high - dx + 1);
            }
        }
    }
    return best;
}

static void search_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    if (field->plan->sample_bytes == 2) {
        gpume_search_plain.span(field, span, vectors, costs, counts);
        return;
    }
    size_t first = (size_t)span->row * field->layer->blocks_x;
    for (uint32_t column = span->first; column < span->end; column++) {
        if (gpume_search_cancelled(field)) {
            return;
        }
        struct gpume_block block = gpume_block_at(field, column, span->row);
        struct gpume_candidate best = match(&block);
        vectors[first + column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[first + column] = best.cost;
    }
}

static bool has_neon(void)
{
    return true; /* NEON is part of the architecture */
}

const struct gpume_search gpume_search_neon = {.name = "neon",
    .summary = "64-bit Arm with NEON",
    .available = has_neon,
    .span = search_span,
    .differences8 = gpume_differences8,
    .differences16 = gpume_differences16,
    .general = &gpume_kernels_neon};
