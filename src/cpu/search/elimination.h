/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search by successive elimination (model/cost.h) with AVX2, for the files compiled for it.
 *
 * Candidates are pruned in groups of sixteen neighbouring dx, first by the sums of the largest
 * boxes, then by those of smaller ones. The survivors are compared sample by sample. Groups run in
 * the order of the tie rule, and a candidate survives only if its bound is below `limit`: the best
 * cost so far, or one more than the cost of a hint that a later candidate is known to have. So the
 * first of several equal candidates wins, as it does without elimination, and no hint changes a
 * result.
 */
#ifndef GPUME_CPU_SEARCH_ELIMINATION_H
#define GPUME_CPU_SEARCH_ELIMINATION_H

#include "cpu/search/lanes_avx2.h"

#if defined(__AVX2__)

#define CELLS 32      /* cells of 4x4 samples in a row of the largest block */
#define GROUPS 384    /* pruned together, 4.5 KiB; a row of candidates has at most 65 */
#define GROUP_COSTS 3 /* from this many survivors on, comparing all sixteen at once is faster */

/* A block, its sums, and the best so far. */
struct elimination {
    const struct gpume_block *block;
    const struct gpume_layer_boxes *boxes;
    size_t place;                                   /* of the block in the padded frame */
    uint16_t sums[GPUME_BOX_LEVELS][CELLS * CELLS]; /* of the target's boxes, row by row */
    struct gpume_candidate best;
    uint32_t limit;
};

/* Sixteen candidates from dx on; mask: the survivors, at even bits. */
struct group {
    int32_t shift; /* dy * stride + dx: less than 512 * 2^21 in magnitude */
    int16_t dx, dy;
    uint32_t mask;
};

/* Sums of 4x4 samples. A pair in a row is at most 510, in four rows 2040, two pairs 4080. */
static inline void sum_cells(
    const struct gpume_block *block, uint16_t *sums, struct gpume_tiles tiles)
{
    const __m128i ones8 = _mm_set1_epi8(1), ones16 = _mm_set1_epi16(1);
    ptrdiff_t stride = block->stride;
    for (uint32_t ty = 0; ty < tiles.down; ty++) {
        const uint8_t *c = (const uint8_t *)block->target + 4 * (ptrdiff_t)ty * stride;
        for (uint32_t tx = 0; tx < tiles.across; tx += 4) {
            __m128i sum = _mm_setzero_si128();
            for (int32_t y = 0; y < 4; y++) {
                __m128i row = _mm_loadu_si128((const __m128i *)(const void *)(c + y * stride));
                sum = _mm_add_epi16(sum, _mm_maddubs_epi16(row, ones8));
            }
            sum = _mm_madd_epi16(sum, ones16);
            uint16_t four[8];
            _mm_storeu_si128((__m128i *)(void *)four, _mm_packus_epi32(sum, sum));
            /* those past the row's end are overwritten by the next row */
            memcpy(sums + (size_t)ty * tiles.across + tx, four, 4 * sizeof(*four));
            c += 16;
        }
    }
}

/* Sums of larger boxes, each of `parts` by `parts` boxes of the level below. */
static inline void sum_boxes(const uint16_t *below, struct gpume_tiles below_tiles, uint32_t parts,
    uint16_t *sums, struct gpume_tiles tiles)
{
    for (uint32_t ty = 0; ty < tiles.down; ty++) {
        for (uint32_t tx = 0; tx < tiles.across; tx++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < parts * parts; i++) {
                uint32_t y = ty * parts + i / parts, x = tx * parts + i % parts;
                sum += below[y * below_tiles.across + x];
            }
            sums[ty * tiles.across + tx] = (uint16_t)sum;
        }
    }
}

static inline void sum_target(struct elimination *e)
{
    const struct gpume_layer_boxes *boxes = e->boxes;
    for (uint32_t level = 0; level < boxes->levels; level++) {
        if (level == 0) {
            sum_cells(e->block, e->sums[0], boxes->tiles[0]);
        } else {
            sum_boxes(e->sums[level - 1], boxes->tiles[level - 1],
                boxes->sizes[level] / boxes->sizes[level - 1], e->sums[level], boxes->tiles[level]);
        }
    }
}

static inline __m256i load_boxes(const uint16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* The lanes with value <= last, unsigned: one bit each, at even bits. */
static inline uint32_t lanes_up_to(__m256i value, __m256i last)
{
    __m256i is = _mm256_cmpeq_epi16(_mm256_max_epu16(value, last), last);
    return (uint32_t)_mm256_movemask_epi8(is) & EVERY_LANE;
}

/* The boxes of one level, and the bounds with which a candidate survives. */
struct bounds {
    const uint16_t *boxes; /* at the block's place */
    const uint16_t *own;   /* sums of the target's boxes */
    size_t stride, size;
    struct gpume_tiles tiles;
    uint32_t side;   /* of a square of tiles; 0: not a square */
    __m256i last;    /* the largest of those bounds: one below the limit */
    uint32_t exempt; /* lanes that survive with any bound: all if 16 bits cannot hold the limit */
};

static inline struct bounds bounds_at(const struct elimination *e, uint32_t level)
{
    bool held = e->limit <= UINT16_MAX;
    struct gpume_tiles tiles = e->boxes->tiles[level];
    return (struct bounds){.boxes = e->boxes->sums[level] + e->place,
        .own = e->sums[level],
        .stride = e->boxes->stride,
        .size = e->boxes->sizes[level],
        .tiles = tiles,
        .side = tiles.across == tiles.down ? tiles.across : 0,
        .last = _mm256_set1_epi16((int16_t)(uint16_t)(e->limit - 1)),
        .exempt = held ? 0 : EVERY_LANE};
}

/* The survivors of a group: gpume_cost_bound summed over the block's boxes. The boxes need not
 * cover the block, and sums saturate at 65535: they remain lower bounds. */
static inline uint32_t survivors(
    const struct bounds *bounds, ptrdiff_t shift, struct gpume_tiles tiles)
{
    const uint16_t *line = bounds->boxes + shift, *own = bounds->own;
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t ty = 0; ty < tiles.down; ty++, line += bounds->size * bounds->stride) {
        for (uint32_t tx = 0; tx < tiles.across; tx++) {
            __m256i box = load_boxes(line + tx * bounds->size);
            __m256i target = _mm256_set1_epi16((int16_t)*own++);
            __m256i difference =
                _mm256_or_si256(_mm256_subs_epu16(box, target), _mm256_subs_epu16(target, box));
            sum = _mm256_adds_epu16(sum, difference);
        }
    }
    return lanes_up_to(sum, bounds->last) | bounds->exempt;
}

/* With a single box the survivors are those in a range about the target's sum: low .. low + span,
 * without wrapping. */
static inline uint32_t survivors_in_range(
    const struct bounds *bounds, ptrdiff_t shift, __m256i low, __m256i span)
{
    return lanes_up_to(_mm256_sub_epi16(load_boxes(bounds->boxes + shift), low), span);
}

/* Keeps a group with survivors. No branch depends on the mask, which cannot be predicted. */
static inline uint32_t append(struct group *groups, uint32_t count, struct group group)
{
    groups[count] = group;
    return count + (group.mask != 0);
}

/* Appends the groups of a row of candidates that survive the largest boxes. */
static inline uint32_t prune_row(const struct elimination *e, const struct bounds *bounds,
    int32_t dy, struct gpume_tiles tiles, struct group *groups, uint32_t count)
{
    const struct gpume_block *block = e->block;
    __m256i own = _mm256_set1_epi16((int16_t)bounds->own[0]);
    __m256i low = _mm256_subs_epu16(own, bounds->last);
    __m256i span = _mm256_sub_epi16(_mm256_adds_epu16(own, bounds->last), low);
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct group group = {
            .shift = (int32_t)(dy * block->stride + dx), .dx = (int16_t)dx, .dy = (int16_t)dy};
        int32_t left = block->dx_high - dx + 1;
        uint32_t valid = left < LANES ? (1u << 2 * left) - 1 : UINT32_MAX;
        group.mask =
            valid & (tiles.across * tiles.down == 1
                            ? survivors_in_range(bounds, group.shift, low, span) | bounds->exempt
                            : survivors(bounds, group.shift, tiles));
        count = append(groups, count, group);
    }
    return count;
}

static inline uint32_t prune_rows(
    const struct elimination *e, int32_t dy, int32_t dy_end, struct group *groups)
{
    struct bounds bounds = bounds_at(e, e->boxes->levels - 1);
    uint32_t count = 0;
    for (; dy < dy_end; dy++) {
        switch (bounds.side) { /* constants, so that the loops are unrolled */
        case 1:
            count = prune_row(e, &bounds, dy, (struct gpume_tiles){1, 1}, groups, count);
            break;
        case 2:
            count = prune_row(e, &bounds, dy, (struct gpume_tiles){2, 2}, groups, count);
            break;
        default:
            count = prune_row(e, &bounds, dy, bounds.tiles, groups, count);
            break;
        }
    }
    return count;
}

static inline uint32_t prune_again(
    const struct elimination *e, uint32_t level, struct group *groups, uint32_t count)
{
    struct bounds bounds = bounds_at(e, level);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct group group = groups[i];
        switch (bounds.side) {
        case 2:
            group.mask &= survivors(&bounds, group.shift, (struct gpume_tiles){2, 2});
            break;
        case 4:
            group.mask &= survivors(&bounds, group.shift, (struct gpume_tiles){4, 4});
            break;
        default:
            group.mask &= survivors(&bounds, group.shift, bounds.tiles);
            break;
        }
        kept = append(groups, kept, group);
    }
    return kept;
}

static inline void offer(struct elimination *e, uint32_t cost, int32_t dx, int32_t dy)
{
    if (cost < e->limit) {
        e->best = (struct gpume_candidate){cost, dx, dy};
        e->limit = cost;
    }
}

/* Compares the survivors of a group sample by sample. */
static inline void compare_group(struct elimination *e, const struct group *group)
{
    const struct gpume_block *block = e->block;
    uint32_t mask = group->mask;
    if (__builtin_popcount(mask) < GROUP_COSTS) {
        for (; mask; mask &= mask - 1) {
            int32_t dx = group->dx + __builtin_ctz(mask) / 2;
            offer(e, cost_of(block, dx, group->dy), dx, group->dy);
        }
        return;
    }
    __m256i costs[2];
    group_costs(block, (const uint8_t *)block->reference + group->shift, costs);
    uint32_t less = below(costs, e->limit, LANES);
    if (!less) {
        return;
    }
    uint32_t cost[LANES];
    _mm256_storeu_si256((__m256i *)(void *)cost, costs[0]);
    _mm256_storeu_si256((__m256i *)(void *)(cost + 8), costs[1]);
    for (; less; less &= less - 1) {
        int32_t lane = __builtin_ctz(less);
        if (mask >> 2 * lane & 1) { /* lanes beyond the window may be cheaper */
            offer(e, cost[lane], group->dx + lane, group->dy);
        }
    }
}

/* Survivors of all groups. */
static inline uint64_t count_survivors(const struct group *groups, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (uint32_t)__builtin_popcount(groups[i].mask);
    }
    return sum;
}

/* Searches the candidates dy .. dy_end - 1. */
static inline void search_rows(
    struct elimination *e, int32_t dy, int32_t dy_end, struct gpume_search_counts *counts)
{
    struct group groups[GROUPS];
    uint32_t count = prune_rows(e, dy, dy_end, groups);
    counts->past_blocks += count_survivors(groups, count);
    for (uint32_t level = e->boxes->levels - 1; level-- > 0 && count;) {
        count = prune_again(e, level, groups, count);
    }
    counts->past_parts += count_survivors(groups, count);
    for (uint32_t i = 0; i < count; i++) {
        compare_group(e, &groups[i]);
    }
}

/* A hint's cost bounds the best cost from above. NULL: none. */
static inline void take_hint(struct elimination *e, const struct gpume_vector *vector)
{
    const struct gpume_block *block = e->block;
    const struct gpume_vector hint = vector ? *vector : (struct gpume_vector){0};
    if (hint.dx < block->dx_low || hint.dx > block->dx_high || hint.dy < block->dy_low ||
        hint.dy > block->dy_high || (hint.dx == 0 && hint.dy == 0)) {
        return;
    }
    uint32_t cost = cost_of(block, hint.dx, hint.dy);
    e->limit = cost < e->limit ? cost + 1 : e->limit;
}

/* Before any candidate but (0,0). left: the vector of the block on the left; last: the vector of
 * this block in an earlier field. Each may be NULL. */
static inline void start_elimination(struct elimination *e, const struct gpume_search_field *field,
    const struct gpume_block *block, const struct gpume_vector *left,
    const struct gpume_vector *last)
{
    e->block = block;
    e->boxes = field->boxes;
    e->place = (size_t)((const uint8_t *)block->reference - (const uint8_t *)field->reference);
    e->best = (struct gpume_candidate){.cost = cost_of(block, 0, 0)};
    e->limit = e->best.cost;
    take_hint(e, last);
    take_hint(e, left);
    sum_target(e);
}

static inline void search_any(struct elimination *e, struct gpume_search_counts *counts)
{
    const struct gpume_block *block = e->block;
    int32_t across = (block->dx_high - block->dx_low) / LANES + 1, rows = GROUPS / across;
    for (int32_t dy = block->dy_low; dy <= block->dy_high && e->limit > 0; dy += rows) {
        int32_t rest = block->dy_high - dy + 1;
        search_rows(e, dy, dy + (rest < rows ? rest : rows), counts);
    }
}

#endif
#endif
