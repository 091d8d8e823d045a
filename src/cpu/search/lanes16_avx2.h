/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search of 16-bit samples with AVX2: every lane is a candidate, and one sample of the target
 * is compared with sixteen of the reference at a time. Differences are added in 16 bits as long as
 * the largest sample of the span allows, then in 32.
 */
#ifndef GPUME_CPU_SEARCH_LANES16_AVX2_H
#define GPUME_CPU_SEARCH_LANES16_AVX2_H

#include "cpu/search/lanes_avx2.h"

#if defined(__AVX2__)

#define DYS 5 /* neighbouring dy compared in one loop; divides 15, the usual number of dy */

/* The bits that are set in any sample of a rectangle. */
static inline uint16_t any_bits(const uint16_t *samples, size_t stride, size_t width, size_t height)
{
    uint16_t any = 0;
    for (size_t y = 0; y < height; y++, samples += stride) {
        for (size_t x = 0; x < width; x++) {
            any |= samples[x];
        }
    }
    return any;
}

/* A bound, 2^n - 1 and at least 1, of all samples that the blocks of a span are compared with. */
static inline uint32_t largest_sample(
    const struct gpume_search_field *field, const struct gpume_span *span)
{
    const struct gpume_plan *plan = field->plan;
    const struct gpume_params *p = &plan->params;
    size_t stride = plan->padded_stride;
    size_t block_w = field->layer->block_w, block_h = field->layer->block_h;
    size_t x = span->first * block_w, width = (span->end - span->first) * block_w;
    size_t y = span->row * block_h;
    size_t height = (size_t)gpume_min_u64(block_h, p->height - y);
    const uint16_t *target = (const uint16_t *)field->target + (y + plan->pad_y) * stride + x;
    const uint16_t *reference = (const uint16_t *)field->reference + y * stride + x;
    /* The reference is read from pad_x samples left of the span to window_x right of it. */
    size_t around = width + plan->pad_x + p->window_x;
    uint32_t any = any_bits(target + plan->pad_x, stride, width, height);
    any |= any_bits(reference, stride, around, height + 2 * (size_t)p->window_y);
    return (1u << gpume_bit_width(any | 1)) - 1;
}

/* Adds |c - r| in each lane. small: samples are below 2^15, so that 16 signed bits hold their
 * differences. */
static inline __m256i add_samples(__m256i sum, uint16_t c, const uint16_t *r, bool small)
{
    __m256i target = _mm256_set1_epi16((int16_t)c);
    __m256i places = _mm256_loadu_si256((const __m256i *)(const void *)r);
    if (small) {
        return _mm256_add_epi16(sum, _mm256_abs_epi16(_mm256_sub_epi16(places, target)));
    }
    return _mm256_add_epi16(
        sum, _mm256_sub_epi16(_mm256_max_epu16(places, target), _mm256_min_epu16(places, target)));
}

/* Costs at sixteen dx, of up to DYS neighbouring dy, in 32 bits. */
struct costs16 {
    __m256i low[DYS], high[DYS];
};

static inline void flush(struct costs16 *costs, int32_t dys, const __m256i sums[DYS])
{
    for (int32_t i = 0; i < dys; i++) {
        __m256i low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(sums[i]));
        __m256i high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(sums[i], 1));
        costs->low[i] = _mm256_add_epi32(costs->low[i], low);
        costs->high[i] = _mm256_add_epi32(costs->high[i], high);
    }
}

/* Adds samples of one row at 1 or DYS neighbouring dy, which share the load of the target. The sums
 * are named variables, so that they stay in registers. */
static inline void add_run(__m256i sums[DYS], const uint16_t *c, const uint16_t *r,
    ptrdiff_t stride, int32_t count, int32_t dys, bool small)
{
    __m256i first = sums[0];
    if (dys == 1) {
        for (int32_t x = 0; x < count; x++) {
            first = add_samples(first, c[x], r + x, small);
        }
        sums[0] = first;
        return;
    }
    __m256i second = sums[1], third = sums[2], fourth = sums[3], fifth = sums[4];
    for (int32_t x = 0; x < count; x++) {
        first = add_samples(first, c[x], r + x, small);
        second = add_samples(second, c[x], r + stride + x, small);
        third = add_samples(third, c[x], r + 2 * stride + x, small);
        fourth = add_samples(fourth, c[x], r + 3 * stride + x, small);
        fifth = add_samples(fifth, c[x], r + 4 * stride + x, small);
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
    sums[4] = fifth;
}

static inline void clear(__m256i sums[DYS], int32_t dys)
{
    for (int32_t i = 0; i < dys; i++) {
        sums[i] = _mm256_setzero_si256();
    }
}

/* run: differences, at least 1, that add up to less than 2^16. Adds whole rows in 16 bits if a run
 * is as long as one. */
static inline struct costs16 costs16(const struct gpume_block *block, const uint16_t *r,
    int32_t width, int32_t run, int32_t dys, bool small)
{
    const uint16_t *c = block->target;
    ptrdiff_t stride = block->stride;
    int32_t rows = run / width;
    struct costs16 costs;
    __m256i sums[DYS];
    clear(costs.low, dys);
    clear(costs.high, dys);
    for (int32_t y = 0; y < block->height && rows > 0;) {
        int32_t end = y + rows < block->height ? y + rows : block->height;
        clear(sums, dys);
        for (; y < end; y++, c += stride, r += stride) {
            add_run(sums, c, r, stride, width, dys, small);
        }
        flush(&costs, dys, sums);
    }
    for (int32_t y = 0; y < block->height && rows == 0; y++, c += stride, r += stride) {
        for (int32_t x = 0; x < width; x += run) {
            int32_t left = width - x;
            clear(sums, dys);
            add_run(sums, c + x, r + x, stride, left < run ? left : run, dys, small);
            flush(&costs, dys, sums);
        }
    }
    return costs;
}

/* The smallest cost so far at each dx and the first dy that has it. */
struct least16 {
    __m256i cost[2], dy[2];
};

static inline void keep_least(struct least16 *least, int32_t half, __m256i cost, int32_t dy)
{
    __m256i less = _mm256_min_epu32(cost, least->cost[half]);
    __m256i kept = _mm256_cmpeq_epi32(less, least->cost[half]);
    least->dy[half] = _mm256_blendv_epi8(_mm256_set1_epi32(dy), least->dy[half], kept);
    least->cost[half] = less;
}

static inline struct gpume_candidate best_lane16(
    struct gpume_candidate best, const struct least16 *least, int32_t dx, int32_t dx_high)
{
    uint32_t cost[LANES];
    int32_t dy[LANES];
    for (size_t half = 0; half < 2; half++) {
        _mm256_storeu_si256((__m256i *)(void *)(cost + 8 * half), least->cost[half]);
        _mm256_storeu_si256((__m256i *)(void *)(dy + 8 * half), least->dy[half]);
    }
    for (int32_t i = 0; i < LANES && dx + i <= dx_high; i++) {
        struct gpume_candidate candidate = {cost[i], dx + i, dy[i]};
        best = gpume_candidate_wins(candidate, best) ? candidate : best;
    }
    return best;
}

static inline struct gpume_candidate match16_sized(
    const struct gpume_block *block, int32_t width, int32_t run, bool small)
{
    const uint16_t *r = block->reference;
    struct costs16 costs = costs16(block, r, width, run, 1, small);
    struct gpume_candidate best = {
        .cost = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(costs.low[0]))};
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct least16 least;
        least.cost[0] = least.cost[1] = _mm256_set1_epi32(-1);
        least.dy[0] = least.dy[1] = _mm256_setzero_si256();
        for (int32_t dy = block->dy_low; dy <= block->dy_high;) {
            int32_t dys = block->dy_high - dy + 1 < DYS ? 1 : DYS;
            const uint16_t *first = r + dy * block->stride + dx;
            costs = dys == 1 ? costs16(block, first, width, run, 1, small)
                             : costs16(block, first, width, run, DYS, small);
            for (int32_t i = 0; i < dys; i++, dy++) {
                keep_least(&least, 0, costs.low[i], dy);
                keep_least(&least, 1, costs.high[i], dy);
            }
        }
        best = best_lane16(best, &least, dx, block->dx_high);
    }
    return best;
}

/*
 * The usual search of 16-bit samples with AVX2, by |c - r| = 2 max(c - r, 0) - c + r. Summed over
 * samples, the first term, the excess, takes two instructions per sample for sixteen candidates.
 * The other two are sums of the block and of its place in the reference, which are made once.
 *
 * Arithmetic is modulo 2^16, which is exact as long as the true sums stay below 2^16. For samples
 * of up to 13 bits the differences of at least eight do. Larger samples take the search above.
 */

/* Fully unrolled, the loop does all its loads first and runs out of registers: a third slower. */
#if defined(__clang__)
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif

#define RUN_MIN 8             /* differences whose sum must stay below 2^16 */
#define PART 16               /* samples per side of a part of a block; at least RUN_MIN */
#define CHUNK16 (4 * DYS)     /* neighbouring dy searched together */
#define SEEN (CHUNK16 + PART) /* rows of the reference that they read, and one */

/* What a chunk of neighbouring dy reads of the reference at sixteen dx. 20 KiB: it stays in the
 * cache. */
struct chunk16 {
    __m256i places[SEEN * PART]; /* sixteen samples, from every sample of every row on */
    __m256i sums[SEEN];          /* over the part's width; entry y: of rows 0 .. y - 1 */
};

/* A part of a block, compared at sixteen dx and `count` dy. */
struct part16 {
    const uint16_t *target, *reference; /* at the first dx and dy */
    ptrdiff_t stride;
    int32_t width, height, count;
    int32_t rows;           /* rows whose differences add up to less than 2^16 */
    uint16_t own[PART + 1]; /* sums of the target; entry y: of rows 0 .. y - 1 */
};

static inline void sum_own(struct part16 *part, int32_t width)
{
    const uint16_t *c = part->target;
    uint32_t sum = part->own[0] = 0;
    for (int32_t y = 0; y < part->height; y++, c += part->stride) {
        for (int32_t x = 0; x < width; x++) {
            sum += c[x];
        }
        part->own[y + 1] = (uint16_t)sum;
    }
}

static inline void fill_chunk16(struct chunk16 *chunk, const struct part16 *part, int32_t width)
{
    const uint16_t *r = part->reference;
    __m256i *places = chunk->places, sum = chunk->sums[0] = _mm256_setzero_si256();
    for (int32_t y = 0; y < part->count + part->height - 1; y++, r += part->stride) {
        for (int32_t x = 0; x < width; x++) {
            *places = _mm256_loadu_si256((const __m256i *)(const void *)(r + x));
            sum = _mm256_add_epi16(sum, *places++);
        }
        chunk->sums[y + 1] = sum;
    }
}

static inline __m256i add_excess(__m256i sum, __m256i target, __m256i places)
{
    return _mm256_add_epi16(sum, _mm256_subs_epu16(target, places));
}

/* Adds one row at 1 or DYS neighbouring dy, which share the load of the target. The sums are named
 * variables, so that they stay in registers. */
static inline void add_row16(
    __m256i sums[DYS], const uint16_t *c, const __m256i *places, int32_t width, int32_t dys)
{
    __m256i first = sums[0], second = sums[1], third = sums[2], fourth = sums[3], fifth = sums[4];
    ROLLED for (int32_t x = 0; x < width; x++, places++)
    {
        __m256i target = _mm256_set1_epi16((int16_t)c[x]);
        first = add_excess(first, target, places[0]);
        if (dys > 1) {
            second = add_excess(second, target, places[width]);
            third = add_excess(third, target, places[2 * width]);
            fourth = add_excess(fourth, target, places[3 * width]);
            fifth = add_excess(fifth, target, places[4 * width]);
        }
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
    sums[4] = fifth;
}

/* Costs of rows y .. end - 1 at `dys` dy, from number dy of the chunk on. */
static inline void costs_of_rows(__m256i sums[DYS], const struct part16 *part,
    const struct chunk16 *chunk, int32_t dy, int32_t y, int32_t end, int32_t width, int32_t dys)
{
    __m256i own = _mm256_set1_epi16((int16_t)(part->own[end] - part->own[y]));
    const __m256i *above = chunk->sums + dy + y, *below = chunk->sums + dy + end;
    clear(sums, DYS);
    for (; y < end; y++) {
        const __m256i *places = chunk->places + (dy + y) * width;
        add_row16(sums, part->target + y * part->stride, places, width, dys);
    }
    for (int32_t k = 0; k < dys; k++) {
        __m256i both = _mm256_sub_epi16(_mm256_sub_epi16(below[k], above[k]), own);
        sums[k] = _mm256_add_epi16(_mm256_add_epi16(sums[k], sums[k]), both);
    }
}

/* Adds the costs of a part to those of the other parts, in 32 bits. */
static inline void add_part(struct costs16 costs[CHUNK16 / DYS], const struct part16 *part,
    const struct chunk16 *chunk, int32_t width)
{
    for (int32_t dy = 0; dy < part->count; dy += DYS) { /* costs beyond count are not used */
        for (int32_t y = 0; y < part->height; y += part->rows) {
            int32_t end = y + part->rows < part->height ? y + part->rows : part->height;
            __m256i sums[DYS];
            costs_of_rows(sums, part, chunk, dy, y, end, width, DYS);
            flush(&costs[dy / DYS], DYS, sums);
        }
    }
}

static inline uint32_t cost_of16(const struct gpume_block *block)
{
    const uint16_t *c = block->target, *r = block->reference;
    uint32_t sum = 0; /* below 2^30: gpume_cost_max */
    for (int32_t y = 0; y < block->height; y++, c += block->stride, r += block->stride) {
        for (int32_t x = 0; x < block->width; x++) {
            sum += (uint32_t)(c[x] > r[x] ? c[x] - r[x] : r[x] - c[x]);
        }
    }
    return sum;
}

static inline int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The costs of a chunk, part by part. run: differences that add up to less than 2^16. */
static inline void costs_of_chunk(struct costs16 costs[CHUNK16 / DYS],
    const struct gpume_block *block, int32_t dx, int32_t dy, int32_t count, int32_t run)
{
    struct chunk16 chunk;
    struct part16 part = {.stride = block->stride, .count = count};
    int32_t widest = smaller(PART, run);
    for (int32_t y = 0; y < block->height; y += PART) {
        for (int32_t x = 0; x < block->width; x += widest) {
            ptrdiff_t place = y * block->stride + x;
            part.target = (const uint16_t *)block->target + place;
            part.reference = (const uint16_t *)block->reference + place + dy * block->stride + dx;
            part.height = smaller(PART, block->height - y);
            part.width = smaller(widest, block->width - x);
            part.rows = run / part.width;
            sum_own(&part, part.width);
            fill_chunk16(&chunk, &part, part.width);
            if (part.width == PART) {
                add_part(costs, &part, &chunk, PART);
            } else {
                add_part(costs, &part, &chunk, part.width);
            }
        }
    }
}

static inline struct gpume_candidate match16_parts(const struct gpume_block *block, int32_t run)
{
    struct gpume_candidate best = {.cost = cost_of16(block)};
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct least16 least;
        least.cost[0] = least.cost[1] = _mm256_set1_epi32(-1);
        least.dy[0] = least.dy[1] = _mm256_setzero_si256();
        for (int32_t dy = block->dy_low; dy <= block->dy_high; dy += CHUNK16) {
            int32_t count = smaller(CHUNK16, block->dy_high - dy + 1);
            struct costs16 costs[CHUNK16 / DYS];
            for (int32_t i = 0; i < CHUNK16 / DYS; i++) {
                clear(costs[i].low, DYS);
                clear(costs[i].high, DYS);
            }
            costs_of_chunk(costs, block, dx, dy, count, run);
            for (int32_t i = 0; i < count; i++) {
                keep_least(&least, 0, costs[i / DYS].low[i % DYS], dy + i);
                keep_least(&least, 1, costs[i / DYS].high[i % DYS], dy + i);
            }
        }
        best = best_lane16(best, &least, dx, block->dx_high);
    }
    return best;
}

/* Do 16 bits hold the costs of the block, and is it a single part? largest: see largest_sample. */
static inline bool is_narrow16(const struct gpume_block *block, uint32_t largest)
{
    uint64_t size = (uint64_t)block->width * (uint64_t)block->height;
    return block->width <= PART && block->height <= PART && size * largest < UINT16_MAX;
}

/* Any other block. */
static inline struct gpume_candidate match16_common(
    const struct gpume_block *block, uint32_t largest)
{
    int32_t run = (int32_t)(UINT16_MAX / largest);
    return run < RUN_MIN ? match16_sized(block, block->width, run, largest <= INT16_MAX)
                         : match16_parts(block, run);
}

#endif
#endif
