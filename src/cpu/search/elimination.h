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
#ifndef GPUME_CPU_SEARCH_ELIMINATION_H
#define GPUME_CPU_SEARCH_ELIMINATION_H

#include "cpu/search/lanes_avx2.h"

#if defined(__AVX2__)

#define CELLS 32      /* cells of 4x4 samples in a row of the largest block */
#define GROUPS 384    /* sieved together, 4.5 KiB; a row of candidates has at most 65 */
#define GROUP_COSTS 3 /* from so many candidates alive, comparing all sixteen at once is faster */

/* Boxes of one size that lie within a block. */
struct tiles {
    uint32_t x, y; /* across and down */
};

/* A block, its sums, and the best so far. */
struct elimination {
    const struct gpume_block *block;
    const struct gpume_boxes *boxes;
    size_t place; /* of the block in the padded frame */
    struct tiles tiles[GPUME_BOX_LEVELS];
    uint16_t sums[GPUME_BOX_LEVELS][CELLS * CELLS]; /* of the target's boxes, row by row */
    struct gpume_candidate best;
    uint32_t limit;
};

/* Sixteen candidates from dx on, those alive by mask. */
struct group {
    int32_t shift; /* dy * stride + dx: below 512 * 2^21 in size */
    int16_t dx, dy;
    uint32_t mask;
};

/* Sums of 4x4 samples: pairs of a row, at most 510, in four rows 2040, two pairs 4080. */
static inline void sum_cells(const struct gpume_block *block, uint16_t *sums, struct tiles tiles)
{
    const __m128i ones8 = _mm_set1_epi8(1), ones16 = _mm_set1_epi16(1);
    ptrdiff_t stride = block->stride;
    for (uint32_t ty = 0; ty < tiles.y; ty++) {
        const uint8_t *c = (const uint8_t *)block->target + 4 * (ptrdiff_t)ty * stride;
        for (uint32_t tx = 0; tx < tiles.x; tx += 4) {
            __m128i sum = _mm_setzero_si128();
            for (int32_t y = 0; y < 4; y++) {
                __m128i row = _mm_loadu_si128((const __m128i *)(const void *)(c + y * stride));
                sum = _mm_add_epi16(sum, _mm_maddubs_epi16(row, ones8));
            }
            sum = _mm_madd_epi16(sum, ones16);
            uint16_t four[8];
            _mm_storeu_si128((__m128i *)(void *)four, _mm_packus_epi32(sum, sum));
            uint32_t count = tiles.x - tx < 4 ? tiles.x - tx : 4;
            memcpy(sums + (size_t)ty * tiles.x + tx, four, count * sizeof(*four));
            c += 16;
        }
    }
}

/* Sums of larger boxes out of those of the level below: `parts` by `parts` of them each. */
static inline void sum_boxes(const uint16_t *below, struct tiles below_tiles, uint32_t parts,
    uint16_t *sums, struct tiles tiles)
{
    for (uint32_t ty = 0; ty < tiles.y; ty++) {
        for (uint32_t tx = 0; tx < tiles.x; tx++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < parts * parts; i++) {
                uint32_t y = ty * parts + i / parts, x = tx * parts + i % parts;
                sum += below[y * below_tiles.x + x];
            }
            sums[ty * tiles.x + tx] = (uint16_t)sum;
        }
    }
}

static inline void sum_target(struct elimination *e)
{
    const struct gpume_boxes *boxes = e->boxes;
    uint32_t width = (uint32_t)e->block->width, height = (uint32_t)e->block->height;
    for (uint32_t level = 0; level < boxes->levels; level++) {
        e->tiles[level] = (struct tiles){width / boxes->sizes[level], height / boxes->sizes[level]};
        if (level == 0) {
            sum_cells(e->block, e->sums[0], e->tiles[0]);
        } else {
            sum_boxes(e->sums[level - 1], e->tiles[level - 1],
                boxes->sizes[level] / boxes->sizes[level - 1], e->sums[level], e->tiles[level]);
        }
    }
}

static inline __m256i load_boxes(const uint16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* The lanes with value <= last, unsigned, one bit each at even places. */
static inline uint32_t lanes_up_to(__m256i value, __m256i last)
{
    __m256i is = _mm256_cmpeq_epi16(_mm256_max_epu16(value, last), last);
    return (uint32_t)_mm256_movemask_epi8(is) & EVERY_LANE;
}

/* Boxes of one level, and which bounds let a candidate live. */
struct sieve {
    const uint16_t *boxes; /* at the block's place */
    const uint16_t *own;   /* sums of the target's boxes */
    size_t stride, size;
    struct tiles tiles;
    uint32_t side; /* tiles a side of a square; 0: it is none */
    __m256i last;  /* the largest bound below the limit */
    uint32_t
        exempt; /* lanes that live whatever their bound: all if 16 bits cannot hold the limit */
};

static inline struct sieve sieve_at(const struct elimination *e, uint32_t level)
{
    bool held = e->limit <= UINT16_MAX;
    return (struct sieve){.boxes = e->boxes->sums[level] + e->place,
        .own = e->sums[level],
        .stride = e->boxes->stride,
        .size = e->boxes->sizes[level],
        .tiles = e->tiles[level],
        .side = e->tiles[level].x == e->tiles[level].y ? e->tiles[level].x : 0,
        .last = _mm256_set1_epi16((int16_t)(uint16_t)(e->limit - 1)),
        .exempt = held ? 0 : EVERY_LANE};
}

/* The lanes of a group that live: |box - own| summed over the block's boxes. Boxes need not cover
 * the block, and sums stop at 65535: both remain lower bounds. */
static inline uint32_t alive(const struct sieve *sieve, ptrdiff_t shift, struct tiles tiles)
{
    const uint16_t *line = sieve->boxes + shift, *own = sieve->own;
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t ty = 0; ty < tiles.y; ty++, line += sieve->size * sieve->stride) {
        for (uint32_t tx = 0; tx < tiles.x; tx++) {
            __m256i box = load_boxes(line + tx * sieve->size);
            __m256i target = _mm256_set1_epi16((int16_t)*own++);
            __m256i difference =
                _mm256_or_si256(_mm256_subs_epu16(box, target), _mm256_subs_epu16(target, box));
            sum = _mm256_adds_epu16(sum, difference);
        }
    }
    return lanes_up_to(sum, sieve->last) | sieve->exempt;
}

/* One box: it lives in a range about the target's sum, low .. low + span without wrapping. */
static inline uint32_t alive_in_range(
    const struct sieve *sieve, ptrdiff_t shift, __m256i low, __m256i span)
{
    return lanes_up_to(_mm256_sub_epi16(load_boxes(sieve->boxes + shift), low), span);
}

/* Keeps what is alive. No branch depends on a mask: these cannot be foretold. */
static inline uint32_t append(struct group *groups, uint32_t count, struct group group)
{
    groups[count] = group;
    return count + (group.mask != 0);
}

/* All groups of a row of candidates that pass the largest boxes. */
static inline uint32_t first_sieve(const struct elimination *e, const struct sieve *sieve,
    int32_t dy, struct tiles tiles, struct group *groups, uint32_t count)
{
    const struct gpume_block *block = e->block;
    __m256i own = _mm256_set1_epi16((int16_t)sieve->own[0]);
    __m256i low = _mm256_subs_epu16(own, sieve->last);
    __m256i span = _mm256_sub_epi16(_mm256_adds_epu16(own, sieve->last), low);
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct group group = {
            .shift = (int32_t)(dy * block->stride + dx), .dx = (int16_t)dx, .dy = (int16_t)dy};
        int32_t left = block->dx_high - dx + 1;
        uint32_t valid = left < LANES ? (1u << 2 * left) - 1 : UINT32_MAX;
        group.mask = valid & (tiles.x * tiles.y == 1
                                     ? alive_in_range(sieve, group.shift, low, span) | sieve->exempt
                                     : alive(sieve, group.shift, tiles));
        count = append(groups, count, group);
    }
    return count;
}

static inline uint32_t sieve_rows(
    const struct elimination *e, int32_t dy, int32_t dy_end, struct group *groups)
{
    struct sieve sieve = sieve_at(e, e->boxes->levels - 1);
    uint32_t count = 0;
    for (; dy < dy_end; dy++) {
        switch (sieve.side) { /* constants, so that the loops unroll */
        case 1:
            count = first_sieve(e, &sieve, dy, (struct tiles){1, 1}, groups, count);
            break;
        case 2:
            count = first_sieve(e, &sieve, dy, (struct tiles){2, 2}, groups, count);
            break;
        default:
            count = first_sieve(e, &sieve, dy, sieve.tiles, groups, count);
            break;
        }
    }
    return count;
}

static inline uint32_t sieve_again(
    const struct elimination *e, uint32_t level, struct group *groups, uint32_t count)
{
    struct sieve sieve = sieve_at(e, level);
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct group group = groups[i];
        switch (sieve.side) {
        case 2:
            group.mask &= alive(&sieve, group.shift, (struct tiles){2, 2});
            break;
        case 4:
            group.mask &= alive(&sieve, group.shift, (struct tiles){4, 4});
            break;
        default:
            group.mask &= alive(&sieve, group.shift, sieve.tiles);
            break;
        }
        left = append(groups, left, group);
    }
    return left;
}

static inline void offer(struct elimination *e, uint32_t cost, int32_t dx, int32_t dy)
{
    if (cost < e->limit) {
        e->best = (struct gpume_candidate){cost, dx, dy};
        e->limit = cost;
    }
}

/* Candidates of a group that are still alive, sample by sample. */
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
        if (mask >> 2 * lane & 1) { /* lanes beyond the window may well be cheaper */
            offer(e, cost[lane], group->dx + lane, group->dy);
        }
    }
}

static inline uint64_t count_alive(const struct group *groups, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (uint32_t)__builtin_popcount(groups[i].mask);
    }
    return sum;
}

/* The candidates dy .. dy_end - 1. */
static inline void search_rows(
    struct elimination *e, int32_t dy, int32_t dy_end, struct gpume_search_counts *counts)
{
    struct group groups[GROUPS];
    uint32_t count = sieve_rows(e, dy, dy_end, groups);
    counts->past_blocks += count_alive(groups, count);
    for (uint32_t level = e->boxes->levels - 1; level-- > 0 && count;) {
        count = sieve_again(e, level, groups, count);
    }
    counts->past_parts += count_alive(groups, count);
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

/* left: the vector of the block on the left; last: that of this block in an earlier field. Or NULL.
 */
static inline struct gpume_candidate eliminate(const struct gpume_search_field *field,
    const struct gpume_block *block, const struct gpume_vector *left,
    const struct gpume_vector *last, struct gpume_search_counts *counts)
{
    struct elimination e; /* not cleared: only the sums in use are written */
    e.block = block;
    e.boxes = field->boxes;
    e.place = (size_t)((const uint8_t *)block->reference - (const uint8_t *)field->reference);
    e.best = (struct gpume_candidate){.cost = cost_of(block, 0, 0)};
    e.limit = e.best.cost;
    take_hint(&e, last);
    take_hint(&e, left);
    sum_target(&e);
    int32_t across = (block->dx_high - block->dx_low) / LANES + 1, rows = GROUPS / across;
    for (int32_t dy = block->dy_low; dy <= block->dy_high && e.limit > 0; dy += rows) {
        int32_t rest = block->dy_high - dy + 1;
        search_rows(&e, dy, dy + (rest < rows ? rest : rows), counts);
    }
    counts->candidates += (uint64_t)(block->dx_high - block->dx_low + 1) *
                          (uint64_t)(block->dy_high - block->dy_low + 1);
    return e.best;
}

#endif
#endif
