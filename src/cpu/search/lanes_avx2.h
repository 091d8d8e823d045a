/* SPDX-License-Identifier: BSD-2-Clause */
/* Costs of blocks with AVX2, for the files compiled for it: of 8-bit samples, then of 16-bit ones.
 */
#ifndef GPUME_CPU_SEARCH_LANES_AVX2_H
#define GPUME_CPU_SEARCH_LANES_AVX2_H

#include "cpu/search/search.h"

/*
 * --- Costs of blocks of 8-bit samples with AVX2, for the files compiled for it. Sixteen
 * neighbouring dx at one dy are a group: vmpsadbw gives the differences of four samples at eight
 * neighbouring places in each half of a register.
 */

#if defined(__AVX2__)
#include <immintrin.h>
#include <string.h>

#define LANES 16
#define EVERY_LANE 0x55555555u /* of a byte mask, one bit per 16-bit lane */
#define NARROW_MAX 16 /* pixels per side: 16 * 16 * 255 < 2^16 - 1, so 16 bits hold a cost */

/* Samples that the low half compares at p .. p + 7, the high half at p + 8 .. p + 15. */
static inline __m256i load_places(const uint8_t *p)
{
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(low), _mm_loadu_si128((const __m128i *)(const void *)(p + 8)), 1);
}

/* Adds the differences of `width` samples, 4 to 16, of a row: at most 4 * 1020 per lane. */
static inline __m256i add_row(__m256i sum, const uint8_t *c, const uint8_t *r, int32_t width)
{
    __m256i target, places = load_places(r);
    if (width > 8) {
        target = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)c));
    } else {
        int64_t samples;
        memcpy(&samples, c, sizeof(samples));
        target = _mm256_set1_epi64x(samples);
    }
    sum = _mm256_add_epi16(sum, _mm256_mpsadbw_epu8(places, target, 0x00));
    if (width > 4) {
        sum = _mm256_add_epi16(sum, _mm256_mpsadbw_epu8(places, target, 0x2d));
    }
    if (width > 8) {
        places = load_places(r + 8);
        sum = _mm256_add_epi16(sum, _mm256_mpsadbw_epu8(places, target, 0x12));
    }
    if (width > 12) {
        sum = _mm256_add_epi16(sum, _mm256_mpsadbw_epu8(places, target, 0x3f));
    }
    return sum;
}

/* Costs of a group of candidates of a narrow block. */
static inline __m256i narrow_costs(
    const uint8_t *c, const uint8_t *r, ptrdiff_t stride, int32_t width, int32_t height)
{
    __m256i sum = _mm256_setzero_si256();
    for (int32_t y = 0; y < height; y++) {
        sum = add_row(sum, c + y * stride, r + y * stride, width);
    }
    return sum;
}

/* The first `count` of 32 bytes. */
static inline __m256i tail_mask(int32_t count)
{
    const __m256i places = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((int8_t)count), places);
}

static inline __m256i load32(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline uint32_t sum_of_quads(__m256i sum)
{
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi64(pair, _mm_unpackhi_epi64(pair, pair)));
}

/* Eight samples of each of two rows. */
static inline __m128i load_8x2(const uint8_t *p, ptrdiff_t stride)
{
    __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm_castps_si128(
        _mm_loadh_pi(_mm_castsi128_ps(first), (const __m64 *)(const void *)(p + stride)));
}

static inline __m256i load_16x2(const uint8_t *p, ptrdiff_t stride)
{
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first),
        _mm_loadu_si128((const __m128i *)(const void *)(p + stride)), 1);
}

/* The cost of one candidate of a block of any size. Sums of 64 bits cannot overflow. */
static uint32_t cost_any(
    const uint8_t *c, const uint8_t *r, ptrdiff_t stride, int32_t width, int32_t height)
{
    __m256i sum = _mm256_setzero_si256(), mask = tail_mask(width % 32);
    int32_t body = width / 32 * 32;
    for (int32_t y = 0; y < height; y++, c += stride, r += stride) {
        for (int32_t x = 0; x < body; x += 32) {
            sum = _mm256_add_epi64(sum, _mm256_sad_epu8(load32(c + x), load32(r + x)));
        }
        if (width != body) {
            sum = _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_and_si256(load32(c + body), mask),
                                            _mm256_and_si256(load32(r + body), mask)));
        }
    }
    return sum_of_quads(sum);
}

static inline uint32_t cost_of(const struct gpume_block *block, int32_t dx, int32_t dy)
{
    const uint8_t *c = block->target;
    ptrdiff_t stride = block->stride;
    const uint8_t *r = (const uint8_t *)block->reference + dy * stride + dx;
    if (block->width == 8 && block->height == 8) {
        __m128i sum = _mm_setzero_si128();
        for (int32_t y = 0; y < 8; y += 2) {
            sum = _mm_add_epi64(sum,
                _mm_sad_epu8(load_8x2(c + y * stride, stride), load_8x2(r + y * stride, stride)));
        }
        return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum)));
    }
    if (block->width == 16 && block->height == 16) {
        __m256i sum = _mm256_setzero_si256();
        for (int32_t y = 0; y < 16; y += 2) {
            sum = _mm256_add_epi64(sum, _mm256_sad_epu8(load_16x2(c + y * stride, stride),
                                            load_16x2(r + y * stride, stride)));
        }
        return sum_of_quads(sum);
    }
    return cost_any(c, r, stride, block->width, block->height);
}

/* Costs of a group for a block whose width is a multiple of 4, in 32 bits. Every 4 samples of a row
 * add at most 1020 to a lane: 64 such additions stay below 2^16. */
static inline void wide_costs(const struct gpume_block *block, const uint8_t *r, __m256i costs[2])
{
    const uint8_t *c = block->target;
    int32_t rows = 64 / (block->width / 4);
    costs[0] = costs[1] = _mm256_setzero_si256();
    for (int32_t y = 0; y < block->height;) {
        int32_t end = y + rows < block->height ? y + rows : block->height;
        __m256i sum = _mm256_setzero_si256();
        for (; y < end; y++, c += block->stride, r += block->stride) {
            int32_t x = 0;
            for (; x + 16 <= block->width; x += 16) {
                sum = add_row(sum, c + x, r + x, 16);
            }
            for (; x + 4 <= block->width; x += 4) {
                sum = add_row(sum, c + x, r + x, 4);
            }
        }
        __m256i low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(sum));
        __m256i high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(sum, 1));
        costs[0] = _mm256_add_epi32(costs[0], low);
        costs[1] = _mm256_add_epi32(costs[1], high);
    }
}

/* The best by the tie rule of `best` and the best of each lane. Lane i is dx + i; lanes above
 * dx_high are ignored. Usually one lane has the smallest cost, so that the end of the loop is
 * predicted. */
static inline struct gpume_candidate best_lane(
    struct gpume_candidate best, __m256i costs, __m256i dys, int32_t dx, int32_t dx_high)
{
    const __m256i index = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i beyond = _mm256_cmpgt_epi16(index, _mm256_set1_epi16((int16_t)(dx_high - dx)));
    costs = _mm256_or_si256(costs, beyond); /* no narrow block costs 65535 */
    __m128i halves =
        _mm_min_epu16(_mm256_castsi256_si128(costs), _mm256_extracti128_si256(costs, 1));
    uint32_t least = (uint32_t)_mm_extract_epi16(_mm_minpos_epu16(halves), 0);
    if (least > best.cost) {
        return best;
    }
    int16_t dy[LANES];
    _mm256_storeu_si256((__m256i *)(void *)dy, dys);
    __m256i is_least = _mm256_cmpeq_epi16(costs, _mm256_set1_epi16((int16_t)(uint16_t)least));
    uint32_t mask = (uint32_t)_mm256_movemask_epi8(is_least) & EVERY_LANE;
    for (; mask; mask &= mask - 1) {
        int32_t lane = __builtin_ctz(mask) / 2;
        struct gpume_candidate candidate = {least, dx + lane, dy[lane]};
        if (gpume_candidate_wins(candidate, best)) {
            best = candidate;
        }
    }
    return best;
}

/* Costs of a group in 32 bits for a block whose width is a multiple of 4. */
static inline void group_costs(const struct gpume_block *block, const uint8_t *r, __m256i costs[2])
{
    const uint8_t *c = block->target;
    __m256i sum;
    if (block->width == 8 && block->height == 8) {
        sum = narrow_costs(c, r, block->stride, 8, 8);
    } else if (block->width == 16 && block->height == 16) {
        sum = narrow_costs(c, r, block->stride, 16, 16);
    } else {
        wide_costs(block, r, costs);
        return;
    }
    costs[0] = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(sum));
    costs[1] = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(sum, 1));
}

/* Which of the first `count` costs are below a limit: one bit each. Costs are below 2^31, so signed
 * comparison is right. */
static inline uint32_t below(const __m256i costs[2], uint32_t limit, int32_t count)
{
    __m256i limits = _mm256_set1_epi32((int32_t)limit);
    __m256i low = _mm256_cmpgt_epi32(limits, costs[0]);
    __m256i high = _mm256_cmpgt_epi32(limits, costs[1]);
    uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
                    (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8;
    return count < LANES ? mask & ((1u << count) - 1) : mask;
}

/* Updates the best with the lanes in mask. */
static void take(
    struct gpume_candidate *best, const __m256i costs[2], uint32_t mask, int32_t dx, int32_t dy)
{
    uint32_t cost[LANES];
    _mm256_storeu_si256((__m256i *)(void *)cost, costs[0]);
    _mm256_storeu_si256((__m256i *)(void *)(cost + 8), costs[1]);
    for (; mask; mask &= mask - 1) {
        int32_t lane = __builtin_ctz(mask);
        if (cost[lane] < best->cost) {
            *best = (struct gpume_candidate){cost[lane], dx + lane, dy};
        }
    }
}

/*
 * As many 16-bit lanes as a register holds, with AVX2 or AVX-512 (BW). A
 * lane is one of neighbouring dx.
 */
#if defined(__AVX512BW__)

#define WIDE_LANES 32
#define WIDE(name) _mm512_##name
#define WIDE_SI(name) _mm512_##name##_si512
typedef __m512i wide;

/* The lanes with value <= last, unsigned: one bit each. */
static inline uint32_t wide_up_to(wide value, wide last)
{
    return _mm512_cmple_epu16_mask(value, last);
}

/* Where value < *least, takes it and `now`. */
static inline void wide_keep_least(wide value, wide now, wide *least, wide *when)
{
    __mmask32 less = _mm512_cmplt_epu16_mask(value, *least);
    *least = _mm512_min_epu16(value, *least);
    *when = _mm512_mask_mov_epi16(*when, less, now);
}

/* The smallest lane. */
static inline uint32_t wide_least(wide value)
{
    __m256i half =
        _mm256_min_epu16(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));
    __m128i part = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (uint32_t)_mm_extract_epi16(_mm_minpos_epu16(part), 0);
}

/* Eight numbers of 16 bits in each of four rows. */
static inline wide wide_rows(const uint16_t *p, size_t stride)
{
    const __m128i *at[4];
    for (size_t i = 0; i < 4; i++) {
        at[i] = (const __m128i *)(const void *)(p + i * stride);
    }
    __m256i low = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(at[0])), _mm_loadu_si128(at[1]), 1);
    __m256i high = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(at[2])), _mm_loadu_si128(at[3]), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Shuffles of the places' dwords within each lane: 0 1 1 2 or 1 2 2 3 hold the samples that the
 * target's first or second four are compared with at eight neighbouring places. */
#define NEAR 0x94
#define FAR 0xe9

/* Loaded one by one, as a broadcast from memory does not occupy the shuffle port. */
typedef int32_t quad __attribute__((may_alias, aligned(1)));

/* Costs of 32 candidates of a block of 8x8. Its samples are loaded each time, as few vectors of
 * candidates survive. */
static inline wide wide_costs8(const uint8_t *c, const uint8_t *r, ptrdiff_t stride)
{
    const __m512i quarters = _mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4);
    wide sum = _mm512_setzero_si512();
    for (int32_t y = 0; y < 8; y++, c += stride, r += stride) {
        const quad *quads = (const quad *)(const void *)c;
        wide places = _mm512_permutexvar_epi64(quarters, _mm512_loadu_si512(r));
        sum = _mm512_add_epi16(sum, _mm512_dbsad_epu8(_mm512_set1_epi32(quads[0]), places, NEAR));
        sum = _mm512_add_epi16(sum, _mm512_dbsad_epu8(_mm512_set1_epi32(quads[1]), places, FAR));
    }
    return sum;
}

#else

#define WIDE_LANES 16
#define WIDE(name) _mm256_##name
#define WIDE_SI(name) _mm256_##name##_si256
typedef __m256i wide;

static inline uint32_t wide_up_to(wide value, wide last)
{
    __m256i is = _mm256_cmpeq_epi16(_mm256_max_epu16(value, last), last);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm256_castsi256_si128(is), _mm256_extracti128_si256(is, 1)));
}

static inline void wide_keep_least(wide value, wide now, wide *least, wide *when)
{
    __m256i less = _mm256_min_epu16(value, *least);
    __m256i kept = _mm256_cmpeq_epi16(less, *least);
    *when = _mm256_blendv_epi8(now, *when, kept);
    *least = less;
}

static inline uint32_t wide_least(wide value)
{
    __m128i half = _mm_min_epu16(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    return (uint32_t)_mm_extract_epi16(_mm_minpos_epu16(half), 0);
}

/* Eight numbers of 16 bits in each of two rows. */
static inline wide wide_rows(const uint16_t *p, size_t stride)
{
    __m128i upper = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i lower = _mm_loadu_si128((const __m128i *)(const void *)(p + stride));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1);
}

/* Costs of 16 candidates of a block of 8x8. */
static inline wide wide_costs8(const uint8_t *c, const uint8_t *r, ptrdiff_t stride)
{
    return narrow_costs(c, r, stride, 8, 8);
}

#endif

#endif

/*
 * --- The search of 16-bit samples with AVX2: every lane is a candidate, and one sample of the
 * target is compared with sixteen of the reference at a time. Differences are added in 16 bits as
 * long as the largest sample of the span allows, then in 32.
 */

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
