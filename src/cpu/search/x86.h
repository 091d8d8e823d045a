/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the searches for x86-64 share, compiled in each of them for its own instruction set: the
 * search of a span, which selects a kernel for each block, and the kernels for unusual blocks.
 */
#ifndef GPUME_CPU_SEARCH_X86_H
#define GPUME_CPU_SEARCH_X86_H

#include "cpu/search/lanes_avx2.h"

#if defined(__AVX2__)

/* --- elimination
 *
 * The search by successive elimination (model/cost.h).
 *
 * Candidates are pruned in groups of sixteen neighbouring dx, first by the sums of the largest
 * boxes, then by those of smaller ones. The survivors are compared sample by sample. Groups run in
 * the order of the tie rule, and a candidate survives only if its bound is below `limit`: the best
 * cost so far, or one more than the cost of a hint that a later candidate is known to have. So the
 * first of several equal candidates wins, as it does without elimination, and no hint changes a
 * result.
 */
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

/* --- elimination in blocks of 8x8
 *
 * Their candidates are bounded by the sums of four boxes of 4x4. All bounds are computed first. The
 * candidate with the least bound is mostly the best or nearly as good, so its cost is another hint:
 * it is within a few percent of the best cost, and few other candidates survive. A row is compared
 * if at least one of its candidates survives.
 *
 * A bound is at most 4 * 16 * 255 = 16320, as a cost is, so 16 bits hold both.
 */
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

/* --- box sums
 *
 * Box sums as plain loops for the compiler's vectors. A call makes one row of one level. Rows may
 * be made in any order, but a level only after the level that it is made of.
 */
/* 4x4 sums: first sums of 4 samples in a column, then of 4 neighbouring columns, in place: entry x
 * reads x .. x + 3. The last three entries keep their columns, as the frame ends there. */
static inline void gpume_box_row4(
    const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t row)
{
    size_t stride = boxes->stride;
    const uint8_t *p = padded + row * stride;
    uint16_t *sums = boxes->sums[0] + row * stride;
    for (size_t x = 0; x < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + stride] + p[x + 2 * stride] + p[x + 3 * stride]);
    }
    for (size_t x = 0; x + 3 < stride; x++) {
        sums[x] = (uint16_t)(sums[x] + sums[x + 1] + sums[x + 2] + sums[x + 3]);
    }
}

/* Each box of four boxes of the level below, which are half as wide and high. */
static inline void gpume_box_row_double(
    const struct gpume_boxes *boxes, uint32_t level, uint32_t row)
{
    size_t stride = boxes->stride, step = boxes->sizes[level - 1];
    const uint16_t *restrict p = boxes->sums[level - 1] + row * stride;
    uint16_t *restrict sums = boxes->sums[level] + row * stride;
    const uint16_t *restrict q = p + step * stride;
    for (size_t x = 0; x + step < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + step] + q[x] + q[x + step]);
    }
}

/* Each 12x12 sum of nine 4x4 sums. */
static inline void gpume_box_row12(const struct gpume_boxes *boxes, uint32_t level, uint32_t row)
{
    size_t stride = boxes->stride;
    const uint16_t *restrict p = boxes->sums[0] + row * stride;
    uint16_t *restrict sums = boxes->sums[level] + row * stride;
    const uint16_t *restrict q = p + 4 * stride, *restrict r = p + 8 * stride;
    for (size_t x = 0; x + 8 < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + 4] + p[x + 8] + q[x] + q[x + 4] + q[x + 8] + r[x] +
                             r[x + 4] + r[x + 8]);
    }
}

static inline void gpume_box_row_any(
    const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row)
{
    if (level == 0) {
        gpume_box_row4(boxes, padded, row);
    } else if (boxes->sizes[level] == 12) {
        gpume_box_row12(boxes, level, row);
    } else {
        gpume_box_row_double(boxes, level, row);
    }
}

/* --- a span */

/* The including file defines these two for its instruction set: the best candidate of a block,
 * without elimination. width and height are the block's, mostly as constants. */

/* Where is_narrow: 8-bit samples. */
static inline struct gpume_candidate match_narrow(
    const struct gpume_block *block, int32_t width, int32_t height);

/* Where is_narrow16: 16-bit samples. */
static inline struct gpume_candidate match16_narrow(const struct gpume_block *block, int32_t width);

static inline bool is_narrow(const struct gpume_block *block)
{
    return block->width % 4 == 0 && block->width <= NARROW_MAX && block->height <= NARROW_MAX;
}

static inline struct gpume_candidate match_wide(const struct gpume_block *block)
{
    const uint8_t *r = block->reference;
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
            __m256i costs[2];
            wide_costs(block, r + dy * block->stride + dx, costs);
            uint32_t mask = below(costs, best.cost, block->dx_high - dx + 1);
            if (mask) {
                take(&best, costs, mask, dx, dy);
            }
        }
    }
    return best;
}

/* A block cut to a width that is not a multiple of 4: one candidate at a time. */
static inline struct gpume_candidate match_any(const struct gpume_block *block)
{
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx++) {
            uint32_t cost = cost_of(block, dx, dy);
            if (cost < best.cost) {
                best = (struct gpume_candidate){cost, dx, dy};
            }
        }
    }
    return best;
}

/* Any block, without elimination. */
static inline struct gpume_candidate match_common(const struct gpume_block *block)
{
    return block->width % 4 ? match_any(block) : match_wide(block);
}

static struct gpume_candidate match(const struct gpume_block *block)
{
    int32_t height = block->height;
    if (!is_narrow(block)) {
        return match_common(block);
    }
    switch (block->width) { /* constants, so that the loops are unrolled */
    case 4:
        return match_narrow(block, 4, height);
    case 8:
        return height == 8 ? match_narrow(block, 8, 8) : match_narrow(block, 8, height);
    case 12:
        return match_narrow(block, 12, height);
    default:
        return height == 16 ? match_narrow(block, 16, 16) : match_narrow(block, 16, height);
    }
}

/* largest: see largest_sample. */
static struct gpume_candidate match16(const struct gpume_block *block, uint32_t largest)
{
    if (!is_narrow16(block, largest)) {
        return match16_common(block, largest);
    }
    switch (block->width) {
    case 4:
        return match16_narrow(block, 4);
    case 8:
        return match16_narrow(block, 8);
    case 16:
        return match16_narrow(block, 16);
    default:
        return match16_narrow(block, block->width);
    }
}

#define LINE 64 /* bytes of a cache line */

/* Prefetches what the next row of blocks will read and this one does not, some of it with every
 * block. The processor does not prefetch it: the searches read few bytes of many rows. */
static inline void prefetch_below(
    const struct gpume_search_field *field, const struct gpume_block *block, uint32_t column)
{
    uint32_t bytes = field->plan->sample_bytes;
    uint32_t width = field->layer->block_w * bytes, height = field->layer->block_h;
    uint32_t apart = width < LINE ? LINE / width : 1; /* blocks that share a line */
    size_t stride = (size_t)block->stride * bytes;
    size_t below = height * stride, window = field->plan->params.window_y * stride;
    for (uint32_t row = column % apart; row < height; row += apart) {
        for (uint32_t at = 0; at < width; at += LINE) { /* no effect beyond the frame */
            uintptr_t offset = below + row * stride + at;
            __builtin_prefetch((const void *)((uintptr_t)block->target + offset));
            __builtin_prefetch((const void *)((uintptr_t)block->reference + window + offset));
        }
    }
}

static void search_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    bool wide_samples = field->plan->sample_bytes == 2;
    uint32_t largest = wide_samples ? largest_sample(field, span) : 0;
    size_t first = (size_t)span->row * field->layer->blocks_x;
    for (uint32_t column = span->first; column < span->end; column++) {
        if (gpume_search_cancelled(field)) {
            return;
        }
        struct gpume_block block = gpume_block_at(field, column, span->row);
        struct gpume_candidate best;
        prefetch_below(field, &block, column);
        if (wide_samples) {
            best = match16(&block, largest);
        } else if (field->boxes && block.whole) {
            const struct gpume_vector *left =
                column > span->first ? &vectors[first + column - 1] : NULL;
            const struct gpume_vector *last = field->hints ? &field->hints[first + column] : NULL;
            best = eliminate(field, &block, left, last, counts);
        } else {
            best = match(&block);
        }
        vectors[first + column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[first + column] = best.cost;
    }
}

#endif
#endif
