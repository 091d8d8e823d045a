/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual search of 16-bit samples with AVX2, by |c - r| = 2 max(c - r, 0) - c + r. Summed over
 * samples, the first term, the excess, takes two instructions per sample for sixteen candidates.
 * The other two are sums of the block and of its place in the reference, which are made once.
 *
 * Arithmetic is modulo 2^16, which is exact as long as the true sums stay below 2^16. For samples
 * of up to 13 bits the differences of at least eight do. Larger samples take lanes16_avx2.h.
 */
#ifndef GPUME_CPU_SEARCH_EXCESS16_AVX2_H
#define GPUME_CPU_SEARCH_EXCESS16_AVX2_H

#include "cpu/search/lanes16_avx2.h"

#if defined(__AVX2__)

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
