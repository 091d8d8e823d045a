/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search by successive elimination (boxes.h) with AVX2, for the files compiled for it.
 *
 * A group of sixteen candidates passes the sums of the largest boxes, then those of smaller ones;
 * what is left is compared sample by sample. Groups run in the order of the tie rule, and a
 * candidate lives only while its bound is below `limit`: the best cost so far, or one more than the
 * cost of a hint, which a candidate still to come will reach. So the order of arrival decides ties
 * as it does without elimination, and no hint changes a result.
 */
#ifndef GPUME_MOTION_ELIMINATION_H
#define GPUME_MOTION_ELIMINATION_H

#include "motion/lanes_avx2.h"

#define CELLS 32      /* cells of 4x4 samples in a row of the largest block */
#define GROUP_COSTS 3 /* from so many candidates alive, comparing all sixteen at once is faster */

/* A block, its sums, and the best so far. */
struct elimination {
    const struct gpume_block *block;
    const struct gpume_boxes *boxes;
    size_t place;                                   /* of the block in the padded frame */
    uint32_t tiles[GPUME_BOX_LEVELS];               /* boxes in a row of the block */
    uint16_t sums[GPUME_BOX_LEVELS][CELLS * CELLS]; /* of the target's boxes */
    struct gpume_candidate best;
    uint32_t limit;
    uint64_t past_blocks, past_parts;
};

/* Sums of 4x4 samples: pairs of a row, at most 510, in four rows 2040, two pairs 4080. */
static inline void sum_cells(const struct gpume_block *block, uint16_t *sums, uint32_t tiles)
{
    const __m128i ones8 = _mm_set1_epi8(1), ones16 = _mm_set1_epi16(1);
    ptrdiff_t stride = block->stride;
    for (uint32_t ty = 0; ty < tiles; ty++) {
        const uint8_t *c = (const uint8_t *)block->target + 4 * (ptrdiff_t)ty * stride;
        for (uint32_t tx = 0; tx < tiles; tx += 4) {
            __m128i sum = _mm_setzero_si128();
            for (int32_t y = 0; y < 4; y++) {
                __m128i row = _mm_loadu_si128((const __m128i *)(const void *)(c + y * stride));
                sum = _mm_add_epi16(sum, _mm_maddubs_epi16(row, ones8));
            }
            sum = _mm_madd_epi16(sum, ones16);
            uint16_t four[8];
            _mm_storeu_si128((__m128i *)(void *)four, _mm_packus_epi32(sum, sum));
            uint32_t count = tiles - tx < 4 ? tiles - tx : 4;
            memcpy(sums + (size_t)ty * tiles + tx, four, count * sizeof(*four));
            c += 16;
        }
    }
}

/* Sums of larger boxes out of those of the level below: `parts` by `parts` of them each. */
static inline void sum_boxes(
    const uint16_t *below, uint32_t below_tiles, uint32_t parts, uint16_t *sums, uint32_t tiles)
{
    for (uint32_t ty = 0; ty < tiles; ty++) {
        for (uint32_t tx = 0; tx < tiles; tx++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < parts * parts; i++) {
                uint32_t y = ty * parts + i / parts, x = tx * parts + i % parts;
                sum += below[y * below_tiles + x];
            }
            sums[ty * tiles + tx] = (uint16_t)sum;
        }
    }
}

static inline void sum_target(struct elimination *e)
{
    const struct gpume_boxes *boxes = e->boxes;
    uint32_t block = (uint32_t)e->block->width;
    for (uint32_t level = 0; level < boxes->levels; level++) {
        e->tiles[level] = block / boxes->sizes[level];
        if (level == 0) {
            sum_cells(e->block, e->sums[0], e->tiles[0]);
        } else {
            sum_boxes(e->sums[level - 1], e->tiles[level - 1],
                boxes->sizes[level] / boxes->sizes[level - 1], e->sums[level], e->tiles[level]);
        }
    }
}

static inline __m256i absolute_difference(__m256i a, __m256i b)
{
    return _mm256_or_si256(_mm256_subs_epu16(a, b), _mm256_subs_epu16(b, a));
}

/* Lower bounds of a group's costs from the boxes of one level; boxes need not cover the block. Sums
 * stop at 65535 and remain lower bounds. */
static inline __m256i bounds(const struct elimination *e, uint32_t level, size_t place)
{
    size_t stride = e->boxes->stride;
    uint32_t tiles = e->tiles[level], size = e->boxes->sizes[level];
    const uint16_t *line = e->boxes->sums[level] + place, *target = e->sums[level];
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t ty = 0; ty < tiles; ty++, line += size * stride) {
        for (uint32_t tx = 0; tx < tiles; tx++) {
            __m256i box = _mm256_loadu_si256((const __m256i *)(const void *)(line + tx * size));
            __m256i own = _mm256_set1_epi16((int16_t)*target++);
            sum = _mm256_adds_epu16(sum, absolute_difference(box, own));
        }
    }
    return sum;
}

/* The lanes whose bound is below the limit, one bit each. A limit beyond 16 bits lets all live. */
static inline uint32_t alive(__m256i bound, uint32_t limit)
{
    if (limit > UINT16_MAX) {
        return 0xffff;
    }
    __m256i room = _mm256_subs_epu16(_mm256_set1_epi16((int16_t)(uint16_t)limit), bound);
    __m256i dead = _mm256_cmpeq_epi16(room, _mm256_setzero_si256());
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(dead), _mm256_extracti128_si256(dead, 1));
    return ~(uint32_t)_mm_movemask_epi8(bytes) & 0xffff;
}

static inline void offer(struct elimination *e, uint32_t cost, int32_t dx, int32_t dy)
{
    if (cost < e->limit) {
        e->best = (struct gpume_candidate){cost, dx, dy};
        e->limit = cost;
    }
}

/* Candidates of a group that are still alive. */
static inline void compare_group(struct elimination *e, uint32_t mask, int32_t dx, int32_t dy)
{
    const struct gpume_block *block = e->block;
    if (__builtin_popcount(mask) < GROUP_COSTS) {
        for (; mask; mask &= mask - 1) {
            int32_t lane = __builtin_ctz(mask);
            offer(e, cost_of(block, dx + lane, dy), dx + lane, dy);
        }
        return;
    }
    __m256i costs[2];
    group_costs(block, (const uint8_t *)block->reference + dy * block->stride + dx, costs);
    uint32_t cost[LANES];
    _mm256_storeu_si256((__m256i *)(void *)cost, costs[0]);
    _mm256_storeu_si256((__m256i *)(void *)(cost + 8), costs[1]);
    for (mask &= below(costs, e->limit, LANES); mask; mask &= mask - 1) {
        int32_t lane = __builtin_ctz(mask);
        offer(e, cost[lane], dx + lane, dy);
    }
}

static inline void search_groups(struct elimination *e, int32_t dy)
{
    const struct gpume_block *block = e->block;
    uint32_t top = e->boxes->levels - 1;
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        size_t place = (size_t)((ptrdiff_t)e->place + dy * block->stride + dx);
        uint32_t mask = alive(bounds(e, top, place), e->limit);
        int32_t count = block->dx_high - dx + 1;
        mask &= count < LANES ? (1u << count) - 1 : 0xffff;
        if (!mask) {
            continue;
        }
        e->past_blocks += (uint32_t)__builtin_popcount(mask);
        if (top > 0) {
            mask &= alive(bounds(e, top - 1, place), e->limit);
        }
        if (mask) {
            e->past_parts += (uint32_t)__builtin_popcount(mask);
            compare_group(e, mask, dx, dy);
        }
    }
}

/* A hint's cost bounds the best cost from above. */
static inline void take_hint(struct elimination *e, struct gpume_vector hint)
{
    const struct gpume_block *block = e->block;
    if (hint.dx < block->dx_low || hint.dx > block->dx_high || hint.dy < block->dy_low ||
        hint.dy > block->dy_high || (hint.dx == 0 && hint.dy == 0)) {
        return;
    }
    uint32_t cost = cost_of(block, hint.dx, hint.dy);
    e->limit = cost < e->limit ? cost + 1 : e->limit;
}

static inline struct gpume_candidate eliminate(const struct gpume_search_field *field,
    const struct gpume_block *block, uint32_t column, uint32_t row,
    const struct gpume_vector *vectors, struct gpume_search_counts *counts)
{
    struct elimination e; /* not cleared: only the sums in use are written */
    e.block = block;
    e.boxes = field->boxes;
    e.place = (size_t)((const uint8_t *)block->reference - (const uint8_t *)field->reference);
    e.past_blocks = e.past_parts = 0;
    e.best = (struct gpume_candidate){.cost = cost_of(block, 0, 0)};
    e.limit = e.best.cost;
    if (field->hints) {
        take_hint(&e, field->hints[(size_t)row * field->plan->blocks_x + column]);
    }
    if (column > 0) {
        take_hint(&e, vectors[column - 1]);
    }
    sum_target(&e);
    for (int32_t dy = block->dy_low; dy <= block->dy_high && e.limit > 0; dy++) {
        search_groups(&e, dy);
    }
    counts->candidates += (uint64_t)(block->dx_high - block->dx_low + 1) *
                          (uint64_t)(block->dy_high - block->dy_low + 1);
    counts->past_blocks += e.past_blocks;
    counts->past_parts += e.past_parts;
    return e.best;
}

#endif
