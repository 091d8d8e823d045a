/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with AVX-512 (BW). Narrow blocks without elimination have kernels of their own: a
 * register holds sixteen neighbouring dx at two neighbouring dy, and vdbpsadbw gives the
 * differences of four samples at all 32 places. Everything else is as with AVX2.
 */
#include "cpu/search/x86.h"

#define CHUNK 32                        /* neighbouring dy searched together; even */
#define CHUNK_ROWS (CHUNK + NARROW_MAX) /* rows of the reference that they read */

/* Rows of the reference, arranged for comparing: samples 0 .. 15 and 8 .. 23 of row y in two
 * 128-bit lanes, and those of row y + 1 in the other two. */
struct chunk {
    __m512i pairs[CHUNK_ROWS];
};

static inline void fill_chunk(struct chunk *chunk, const uint8_t *r, ptrdiff_t stride, int32_t rows)
{
    __m256i row = load_places(r);
    for (int32_t y = 0; y + 1 < rows; y++) {
        r += stride;
        __m256i next = load_places(r);
        chunk->pairs[y] = _mm512_inserti64x4(_mm512_castsi256_si512(row), next, 1);
        row = next;
    }
    /* With an odd number of dy the second half of the last pair is computed and discarded. */
    chunk->pairs[rows - 1] = _mm512_inserti64x4(_mm512_castsi256_si512(row), row, 1);
}

static inline __m512i add_quads(__m512i sum, const uint8_t *c, __m512i places, int32_t width)
{
    const quad *quads = (const quad *)(const void *)c;
    sum = _mm512_add_epi16(sum, _mm512_dbsad_epu8(_mm512_set1_epi32(quads[0]), places, NEAR));
    if (width > 4) {
        sum = _mm512_add_epi16(sum, _mm512_dbsad_epu8(_mm512_set1_epi32(quads[1]), places, FAR));
    }
    return sum;
}

/* Costs at dy and dy + 1 in sums[0] and, if pairs is 2, at dy + 2 and dy + 3 in sums[1], so that
 * the target is loaded once for both. first: number of dy in the chunks. */
static inline void pair_costs(const struct gpume_block *block, const struct chunk *const chunks[2],
    int32_t first, int32_t pairs, int32_t width, int32_t height, __m512i sums[2])
{
    const uint8_t *c = block->target;
    sums[0] = sums[1] = _mm512_setzero_si512();
    for (int32_t y = 0; y < height; y++, c += block->stride) {
        for (int32_t i = 0; i < pairs; i++) {
            __m512i places = chunks[0]->pairs[first + y + 2 * i];
            sums[i] = add_quads(sums[i], c, places, width < 8 ? width : 8);
            if (width > 8) {
                places = chunks[1]->pairs[first + y + 2 * i];
                sums[i] = add_quads(sums[i], c + 8, places, width - 8);
            }
        }
    }
}

/* The smallest cost so far in each lane and the first dy that has it. The upper half of a register
 * is dy + 1. */
struct least {
    __m512i cost, dy;
};

static inline void update(struct least *least, __m512i sum, int32_t dy, int32_t dy_end)
{
    const __m512i second = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(1), 1);
    __mmask32 valid = dy + 1 < dy_end ? UINT32_MAX : UINT16_MAX;
    __mmask32 less = _mm512_mask_cmplt_epu16_mask(valid, sum, least->cost);
    __m512i here = _mm512_add_epi16(_mm512_set1_epi16((int16_t)dy), second);
    least->cost = _mm512_mask_mov_epi16(least->cost, less, sum);
    least->dy = _mm512_mask_mov_epi16(least->dy, less, here);
}

static inline void search_chunk(const struct gpume_block *block, int32_t dx, int32_t dy,
    int32_t count, int32_t width, int32_t height, struct least *least)
{
    struct chunk left, right;
    const struct chunk *const chunks[2] = {&left, &right};
    const uint8_t *r = (const uint8_t *)block->reference + dy * block->stride + dx;
    int32_t rows = count + height - 1;
    fill_chunk(&left, r, block->stride, rows);
    if (width > 8) {
        fill_chunk(&right, r + 8, block->stride, rows);
    }
    int32_t i = 0;
    __m512i sums[2];
    for (; i + 2 < count; i += 4) {
        pair_costs(block, chunks, i, 2, width, height, sums);
        update(least, sums[0], dy + i, dy + count);
        update(least, sums[1], dy + i + 2, dy + count);
    }
    if (i < count) {
        pair_costs(block, chunks, i, 1, width, height, sums);
        update(least, sums[0], dy + i, dy + count);
    }
}

/* Every dx has two lanes. Keeps the cheaper one, or that with the smaller dy. */
static inline struct gpume_candidate best_of_pairs(
    struct gpume_candidate best, const struct least *least, int32_t dx, int32_t dx_high)
{
    __m256i cost = _mm512_castsi512_si256(least->cost), dy = _mm512_castsi512_si256(least->dy);
    __m256i other_cost = _mm512_extracti64x4_epi64(least->cost, 1);
    __m256i other_dy = _mm512_extracti64x4_epi64(least->dy, 1);
    __mmask16 same = _mm256_cmpeq_epu16_mask(other_cost, cost);
    __mmask16 other = _mm256_cmplt_epu16_mask(other_cost, cost) |
                      _mm256_mask_cmplt_epi16_mask(same, other_dy, dy);
    cost = _mm256_mask_mov_epi16(cost, other, other_cost);
    dy = _mm256_mask_mov_epi16(dy, other, other_dy);
    return best_lane(best, cost, dy, dx, dx_high);
}

static inline struct gpume_candidate match_narrow(
    const struct gpume_block *block, int32_t width, int32_t height)
{
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct least least = {_mm512_set1_epi16(-1), _mm512_setzero_si512()};
        for (int32_t dy = block->dy_low; dy <= block->dy_high; dy += CHUNK) {
            int32_t left = block->dy_high - dy + 1;
            search_chunk(block, dx, dy, left < CHUNK ? left : CHUNK, width, height, &least);
        }
        best = best_of_pairs(best, &least, dx, block->dx_high);
    }
    return best;
}

#define CHUNK_PAIRS 8 /* pairs of neighbouring dy searched together, of 16-bit samples */
#define ROWS16 (2 * CHUNK_PAIRS + PART)
#define PAIRS 4 /* of these, compared in one loop */

/* As struct chunk16, for two dy at once: the upper half of a register is one row further down. */
struct chunk16_pairs {
    __m512i places[ROWS16 * PART]; /* 32 KiB */
    __m512i sums[ROWS16];
};

static inline void fill_pairs16(
    struct chunk16_pairs *chunk, const uint16_t *r, ptrdiff_t stride, int32_t width, int32_t rows)
{
    __m512i *places = chunk->places, sum = chunk->sums[0] = _mm512_setzero_si512();
    for (int32_t y = 0; y < rows; y++, r += stride) {
        const uint16_t *next = y + 1 < rows ? r + stride : r; /* as in fill_chunk */
        for (int32_t x = 0; x < width; x++) {
            __m256i upper = _mm256_loadu_si256((const __m256i *)(const void *)(r + x));
            __m256i lower = _mm256_loadu_si256((const __m256i *)(const void *)(next + x));
            *places = _mm512_inserti64x4(_mm512_castsi256_si512(upper), lower, 1);
            sum = _mm512_add_epi16(sum, *places++);
        }
        chunk->sums[y + 1] = sum;
    }
}

/* Costs of 1 or PAIRS pairs of dy from row `first` of the chunk on, by the formula in
 * lanes_avx2.h. */
static inline void costs_of_pairs16(__m512i sums[PAIRS], const struct part16 *part,
    const struct chunk16_pairs *chunk, int32_t first, int32_t width, int32_t pairs)
{
    const uint16_t *c = part->target;
    __m512i own = _mm512_set1_epi16((int16_t)part->own[part->height]);
    const __m512i *above = chunk->sums + first, *below = above + part->height;
    const __m512i *places = chunk->places + first * width;
    for (int32_t k = 0; k < pairs; k++) {
        sums[k] = _mm512_setzero_si512();
    }
    for (int32_t y = 0; y < part->height; y++, c += part->stride) {
        ROLLED for (int32_t x = 0; x < width; x++, places++)
        {
            __m512i target = _mm512_set1_epi16((int16_t)c[x]);
            for (int32_t k = 0; k < pairs; k++) {
                __m512i excess = _mm512_subs_epu16(target, places[2 * k * width]);
                sums[k] = _mm512_add_epi16(sums[k], excess);
            }
        }
    }
    for (int32_t k = 0; k < pairs; k++) {
        __m512i both = _mm512_sub_epi16(_mm512_sub_epi16(below[2 * k], above[2 * k]), own);
        sums[k] = _mm512_add_epi16(_mm512_add_epi16(sums[k], sums[k]), both);
    }
}

static inline void search_pairs16(const struct part16 *part, const struct chunk16_pairs *chunk,
    int32_t dy, int32_t width, struct least *least)
{
    __m512i sums[PAIRS];
    int32_t i = 0;
    for (; i + 2 * PAIRS <= part->count + 1; i += 2 * PAIRS) {
        costs_of_pairs16(sums, part, chunk, i, width, PAIRS);
        for (int32_t k = 0; k < PAIRS; k++) {
            update(least, sums[k], dy + i + 2 * k, dy + part->count);
        }
    }
    for (; i < part->count; i += 2) {
        costs_of_pairs16(sums, part, chunk, i, width, 1);
        update(least, sums[0], dy + i, dy + part->count);
    }
}

static inline struct gpume_candidate match16_narrow(const struct gpume_block *block, int32_t width)
{
    struct chunk16_pairs chunk;
    struct part16 part = {
        .target = block->target, .stride = block->stride, .height = block->height};
    struct gpume_candidate best = {.cost = cost_of16(block)};
    sum_own(&part, width);
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        struct least least = {_mm512_set1_epi16(-1), _mm512_setzero_si512()};
        for (int32_t dy = block->dy_low; dy <= block->dy_high; dy += 2 * CHUNK_PAIRS) {
            const uint16_t *r = (const uint16_t *)block->reference + dy * block->stride + dx;
            part.count = smaller(2 * CHUNK_PAIRS, block->dy_high - dy + 1);
            fill_pairs16(&chunk, r, block->stride, width, part.count + part.height - 1);
            search_pairs16(&part, &chunk, dy, width, &least);
        }
        best = best_of_pairs(best, &least, dx, block->dx_high);
    }
    return best;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct gpume_search gpume_search_avx512 = {.name = "avx512",
    .summary = "x86-64 with AVX-512 (F, BW, VL); 16-bit samples as avx2",
    .available = has_avx512,
    .span = search_span,
    .box_row = gpume_box_row_any,
    .differences8 = gpume_differences8,
    .differences16 = gpume_differences16,
    .general = &gpume_kernels_avx512};
