/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors of a row of blocks from coarse ones (costs.h): whole pixels by SAD, then
 * halves and quarters by SATD. Candidates are compared with their block side by side. Each step is
 * done for the whole row, so that processors work on several blocks at a time: within a block, all
 * that follows waits for the vector that was best.
 */
#ifndef GPUME_ENCODE_KERNELS_REFINE_H
#define GPUME_ENCODE_KERNELS_REFINE_H

#include "encode/kernels/match.h"

#if GPUME_BLOCKS > 1
#include <immintrin.h>
#endif

/* --- candidates for a block's match, and which is best */

#define LIMIT (4 * (int32_t)GPUME_HALF_WINDOW)

/* A candidate as a number: the better one is smaller. SAD or SATD, then (0,0), then dy, then dx,
 * which are in quarter pixels. */
static inline uint64_t rank_of(uint32_t difference, int32_t dx, int32_t dy)
{
    const uint64_t moves = (dx | dy) != 0;
    return (uint64_t)difference << 33 | moves << 32 | (uint64_t)(uint32_t)(dy + LIMIT) << 16 |
           (uint32_t)(dx + LIMIT);
}

static inline struct gpume_vector vector_of(uint64_t rank)
{
    return (struct gpume_vector){(int16_t)((int32_t)(rank & 0xffff) - LIMIT),
        (int16_t)((int32_t)(rank >> 16 & 0xffff) - LIMIT)};
}

/* Candidates around a vector have three by three places, from the upper left one on: 4 is its own.
 * They are compared as numbers of 16 bits, of which the first least one is best. Where it is found,
 * its index is in the upper half of a word. */
static inline int32_t across(uint32_t place)
{
    return (int32_t)(place % 3) - 1;
}

static inline int32_t down(uint32_t place)
{
    return (int32_t)(place / 3) - 1;
}

/* A candidate beyond the window gets this mark, so that its number is larger than all others. It is
 * beside a vector at the window's edge: all steps divide the window. */
#define OUTSIDE 0xffffu
#define IS_OUTSIDE(edge, place)                                                                    \
    (((edge) % 3 != 1 && (edge) % 3 == (place) % 3) ||                                             \
        ((edge) / 3 != 1 && (edge) / 3 == (place) / 3))
#define MARK(edge, place) (IS_OUTSIDE(edge, place) ? OUTSIDE : 0)

/* The place beside which the window ends; 4: all places are in it. */
static inline uint32_t edge_of(struct gpume_vector v)
{
    return 4u + (v.dx == LIMIT) - (v.dx == -LIMIT) + 3u * (v.dy == LIMIT) - 3u * (v.dy == -LIMIT);
}

#if GPUME_BLOCKS == 1

static inline uint32_t least_number(const uint16_t *numbers, uint32_t count)
{
    uint32_t index = 0;
    for (uint32_t i = 1; i < count; i++) {
        index = numbers[i] < numbers[index] ? i : index;
    }
    return numbers[index] | index << 16;
}

#else

static inline uint32_t least_number(__m128i numbers)
{
    return (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(numbers));
}

static inline __m128i load_sixteen(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

#endif

/* --- whole pixels */

#define COLUMNS 4u

/* SADs of up to 64 * 255 leave two bits below them, for the row from 1 to 3, so that the upper one
 * of equal candidates in a column is best; 0 is (0,0), which is better than all equal ones. Numbers
 * are in four columns, of which the second and the last one are the same. */
#define ROW_MARKS(edge, row, own)                                                                  \
    (1 + (row)) | MARK(edge, 3 * (row)), (1 + (row)) | MARK(edge, 3 * (row) + 2),                  \
        (own) | MARK(edge, 3 * (row) + 1), (1 + (row)) | MARK(edge, 3 * (row) + 2)
#define PIXEL_MARKS(edge, own)                                                                     \
    {                                                                                              \
        ROW_MARKS(edge, 0, 1), ROW_MARKS(edge, 1, own), ROW_MARKS(edge, 2, 3)                      \
    }
static const uint64_t pixel_marks[][3 * COLUMNS] = {PIXEL_MARKS(0, 2), PIXEL_MARKS(1, 2),
    PIXEL_MARKS(2, 2), PIXEL_MARKS(3, 2), PIXEL_MARKS(4, 2), PIXEL_MARKS(5, 2), PIXEL_MARKS(6, 2),
    PIXEL_MARKS(7, 2), PIXEL_MARKS(8, 2), PIXEL_MARKS(4, 0)}; /* by edge; around (0,0) */

static inline const uint64_t *pixel_marks_of(struct gpume_vector v)
{
    return pixel_marks[(v.dx | v.dy) == 0 ? 9 : edge_of(v)];
}

/* The better one of `best` and the least one around a vector. */
static inline uint64_t better_pixel(uint64_t best, uint32_t least, struct gpume_vector v)
{
    const uint32_t mark = least & 3, index = least >> 16;
    const int32_t column = index > 2 ? 2 : (int32_t)index, moves = -(int32_t)(mark > 0);
    const uint64_t rank = rank_of((least & 0xffff) >> 2, (v.dx + 4 * (column - 1)) & moves,
        (v.dy + 4 * ((int32_t)mark - 2)) & moves);
    return rank < best ? rank : best;
}

/* A row of eight samples, as it is compared by SAD. */
#if GPUME_BLOCKS == 1
typedef gpume_samples own_row;
#else
typedef __m256i own_row; /* four times */
#endif

struct own_samples {
    own_row row[8];
};

#if GPUME_BLOCKS == 1

static inline struct own_samples load_own(const uint8_t *at, ptrdiff_t stride)
{
    const struct gpume_places places = gpume_same_place(at);
    struct own_samples own;
    for (ptrdiff_t y = 0; y < 8; y++) {
        own.row[y] = gpume_load_samples(&places, y * stride);
    }
    return own;
}

/* The least SAD of a block and the blocks at a place and around it. */
static inline uint32_t least_sad(
    const struct own_samples *own, const uint8_t *place, ptrdiff_t stride, const uint64_t *marks)
{
    static const uint8_t column_of[COLUMNS] = {0, 2, 1, 2};
    uint16_t least[3] = {OUTSIDE, OUTSIDE, OUTSIDE}; /* of columns */
    for (uint32_t i = 0; i < 3 * COLUMNS; i++) {
        const uint32_t column = column_of[i % COLUMNS];
        const struct gpume_places places =
            gpume_same_place(place + ((ptrdiff_t)(i / COLUMNS) - 1) * stride + column - 1);
        gpume_lanes_unsigned sums = {0};
        for (ptrdiff_t y = 0; y < 8; y++) {
            sums += (gpume_lanes_unsigned)gpume_absolute(
                gpume_widen(own->row[y]) - gpume_load_lanes(&places, y * stride));
        }
        const uint16_t number = (uint16_t)(gpume_sum_lanes(sums)[0] << 2 | marks[i]);
        least[column] = number < least[column] ? number : least[column];
    }
    return least_number(least, 3);
}

#else

static inline struct own_samples load_own(const uint8_t *at, ptrdiff_t stride)
{
    struct own_samples own;
    for (ptrdiff_t y = 0; y < 8; y++) {
        own.row[y] = _mm256_broadcastq_epi64(
            _mm_loadl_epi64((const __m128i *)(const void *)(at + y * stride)));
    }
    return own;
}

/* The least SAD of a block and the blocks at a place and around it. */
static inline uint32_t least_sad(
    const struct own_samples *own, const uint8_t *place, ptrdiff_t stride, const uint64_t *marks)
{
    const __m256i shifts = _mm256_setr_epi64x(
        0x0706050403020100, 0x0908070605040302, 0x0807060504030201, 0x0908070605040302);
    __m256i sums[3] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (ptrdiff_t y = 0; y < 10; y++) {
        const __m256i row = _mm256_shuffle_epi8(
            _mm256_broadcastsi128_si256(load_sixteen(place + (y - 1) * stride - 1)), shifts);
        for (ptrdiff_t i = 0; i < 3; i++) {
            if (y >= i && y - i < 8) {
                sums[i] = _mm256_add_epi64(sums[i], _mm256_sad_epu8(own->row[y - i], row));
            }
        }
    }
    __m256i least = _mm256_set1_epi64x(-1);
    for (uint32_t i = 0; i < 3; i++) {
        const __m256i mark =
            _mm256_loadu_si256((const __m256i *)(const void *)(marks + (size_t)COLUMNS * i));
        least = _mm256_min_epu16(least, _mm256_or_si256(_mm256_slli_epi64(sums[i], 2), mark));
    }
    /* Numbers have zeros beside them. */
    least = _mm256_or_si256(least, _mm256_set1_epi64x(-1 - (int)OUTSIDE));
    const __m128i odd = _mm_slli_epi64(_mm256_extracti128_si256(least, 1), 16);
    return least_number(_mm_blend_epi16(_mm256_castsi256_si128(least), odd, 0x22));
}

#endif

/* Along one axis, the coarse block that is second nearest to a block; at the picture's edge, where
 * there is none, the one that the block lies in. */
static inline uint32_t next_coarse(uint32_t block, uint32_t blocks)
{
    const uint32_t own = block / 2, last = (blocks - 1) / 2;
    return block % 2 == 0 ? own - (own > 0) : own + (own < last);
}

/* The best vector of the block at a place in the target among (0,0) and the vectors of the four
 * coarse blocks nearest to it, with their neighbours. A pixel of the quarter plane is two of the
 * half plane, or eight quarters. Nothing is better than an equal block at the same place. */
static inline uint64_t best_whole(const uint8_t *target, const uint8_t *reference, ptrdiff_t stride,
    const struct gpume_vector *const coarse[4])
{
    const struct own_samples own = load_own(target, stride);
    struct gpume_vector v = {0, 0};
    uint64_t best =
        better_pixel(UINT64_MAX, least_sad(&own, reference, stride, pixel_marks_of(v)), v);
    uint32_t known[5] = {0}; /* vectors that were tried */
    for (uint32_t i = 0; i < 4 && best > rank_of(0, 0, 0); i++) {
        uint32_t number;
        memcpy(&number, coarse[i], sizeof(number));
        bool is_new = true;
        for (uint32_t k = 0; k <= i; k++) {
            is_new = is_new && number != known[k];
        }
        known[i + 1] = number;
        if (is_new) {
            v = (struct gpume_vector){(int16_t)(8 * coarse[i]->dx), (int16_t)(8 * coarse[i]->dy)};
            const uint8_t *place = reference + 2 * coarse[i]->dy * stride + 2 * coarse[i]->dx;
            best = better_pixel(best, least_sad(&own, place, stride, pixel_marks_of(v)), v);
        }
    }
    return best;
}

/* Of a row of blocks, in quarter pixels. */
static inline void find_whole(const struct gpume_half *half, const struct gpume_half *reference,
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors)
{
    const uint32_t blocks_x = half->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = half->height / GPUME_HALF_BLOCK;
    const uint32_t coarse_x = (blocks_x + 1) / 2;
    const struct gpume_vector *own = coarse + (size_t)(block_y / 2) * coarse_x;
    const struct gpume_vector *next = coarse + (size_t)next_coarse(block_y, blocks_y) * coarse_x;
    for (uint32_t i = 0; i < blocks_x; i++) {
        const uint32_t beside = next_coarse(i, blocks_x);
        const struct gpume_vector *const starts[4] = {
            own + i / 2, own + beside, next + i / 2, next + beside};
        vectors[i] = vector_of(best_whole(gpume_block_place(half, i, block_y),
            gpume_block_place(reference, i, block_y), half->stride, starts));
    }
}

/* --- halves and quarters of a pixel */

/* A block, and its place in the reference. */
struct target {
    struct gpume_begun rows; /* the same in all places */
    const struct gpume_half *reference;
    const uint8_t *place;
};

static inline struct target target_of(const struct gpume_half *half,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y)
{
    const struct gpume_places places = gpume_same_place(gpume_block_place(half, block_x, block_y));
    return (struct target){gpume_load_begun(&places, half->stride), reference,
        gpume_block_place(reference, block_x, block_y)};
}

/* Where a vector on half samples leads to, which is given in half samples. */
static inline const uint8_t *half_place(const struct target *target, int32_t x, int32_t y)
{
    return target->place + gpume_half_row(target->reference, y) +
           gpume_half_column(target->reference, x);
}

/* Numbers of candidates are SATDs, in the order of their places; around halves every other one is
 * none. None is (0,0). */
#define AROUND 8u
#define HALF_MARKS(edge)                                                                           \
    {                                                                                              \
        MARK(edge, 0), MARK(edge, 1), MARK(edge, 2), MARK(edge, 3), MARK(edge, 5), MARK(edge, 6),  \
            MARK(edge, 7), MARK(edge, 8)                                                           \
    }
#define QUARTER_MARKS(edge)                                                                        \
    {                                                                                              \
        MARK(edge, 1), OUTSIDE, MARK(edge, 3), OUTSIDE, MARK(edge, 5), OUTSIDE, MARK(edge, 7),     \
            OUTSIDE                                                                                \
    }
static const uint8_t half_places[AROUND] = {0, 1, 2, 3, 5, 6, 7, 8};
static const uint8_t quarter_places[AROUND] = {1, 4, 3, 4, 5, 4, 7, 4};
static const uint16_t half_marks[][AROUND] = {HALF_MARKS(0), HALF_MARKS(1), HALF_MARKS(2),
    HALF_MARKS(3), HALF_MARKS(4), HALF_MARKS(5), HALF_MARKS(6), HALF_MARKS(7), HALF_MARKS(8)};
static const uint16_t quarter_marks[][AROUND] = {QUARTER_MARKS(0), QUARTER_MARKS(1),
    QUARTER_MARKS(2), QUARTER_MARKS(3), QUARTER_MARKS(4), QUARTER_MARKS(5), QUARTER_MARKS(6),
    QUARTER_MARKS(7), QUARTER_MARKS(8)};

/* Of the least one around a vector. */
static inline uint64_t fraction_rank(
    uint32_t least, struct gpume_vector v, const uint8_t places[AROUND], int32_t step)
{
    const uint32_t place = places[least >> 16];
    return rank_of(least & 0xffff, v.dx + across(place) * step, v.dy + down(place) * step);
}

#if GPUME_BLOCKS == 1

/* The least SATD around a vector of whole pixels, half a pixel away. */
static inline uint32_t least_of_halves(const struct target *target, struct gpume_vector vector)
{
    const uint16_t *marks = half_marks[edge_of(vector)];
    uint16_t numbers[AROUND];
    for (uint32_t i = 0; i < AROUND; i++) {
        const uint32_t place = half_places[i];
        const struct gpume_places at = gpume_same_place(
            half_place(target, vector.dx / 2 + across(place), vector.dy / 2 + down(place)));
        const struct gpume_begun match = gpume_load_begun(&at, target->reference->stride);
        numbers[i] = (uint16_t)(gpume_satd_of(&target->rows, &match)[0] | marks[i]);
    }
    return least_number(numbers, AROUND);
}

/* The least SATD around a vector on half samples, a quarter of a pixel away, where matches are
 * means of the samples on both sides. */
static inline uint32_t least_of_quarters(const struct target *target, struct gpume_vector vector)
{
    const uint16_t *marks = quarter_marks[edge_of(vector)];
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    uint16_t numbers[AROUND];
    for (uint32_t i = 0; i < AROUND; i++) {
        const uint32_t place = quarter_places[i];
        const struct gpume_near near = {gpume_same_place(half_place(target, x, y)),
            gpume_same_place(half_place(target, x + across(place), y + down(place))),
            target->reference->stride};
        const struct gpume_begun match = gpume_match_begun(&near);
        numbers[i] = (uint16_t)(gpume_satd_of(&target->rows, &match)[0] | marks[i]);
    }
    return least_number(numbers, AROUND);
}

#else

static inline uint32_t least_satd(__m128i satds, const uint16_t marks[AROUND])
{
    return least_number(_mm_or_si128(satds, _mm_loadu_si128((const __m128i *)(const void *)marks)));
}

#endif
#if GPUME_BLOCKS == 4

/* Eight samples from each of two places in a column, twice: upper, upper and one further, lower,
 * lower and one further. */
static inline gpume_samples load_corners(const uint8_t *upper, ptrdiff_t stride)
{
    const __m512i shifts = _mm512_set4_epi64(
        0x0807060504030201, 0x0807060504030201, 0x0706050403020100, 0x0706050403020100);
    const __m512i both = _mm512_mask_broadcast_i32x4(
        _mm512_broadcast_i32x4(load_sixteen(upper)), 0xff00, load_sixteen(upper + stride));
    return (gpume_samples)_mm512_shuffle_epi8(both, shifts);
}

/* Eight samples, twice, from each place of a cross: above, left, one further than that, and below
 * the first one. */
static inline gpume_samples load_cross(const uint8_t *above, const uint8_t *left, ptrdiff_t stride)
{
    const __m512i shifts = _mm512_setr_epi64(0x0706050403020100, 0x0706050403020100,
        0x0706050403020100, 0x0706050403020100, 0x0807060504030201, 0x0807060504030201,
        0x0706050403020100, 0x0706050403020100);
    __m512i all = _mm512_broadcast_i32x4(load_sixteen(left));
    all = _mm512_mask_set1_epi64(all, 0x03, (long long)gpume_load_half(above));
    all = _mm512_mask_set1_epi64(all, 0xc0, (long long)gpume_load_half(above + stride));
    return (gpume_samples)_mm512_shuffle_epi8(all, shifts);
}

/* Adds up pairs of the sums in each quarter, whose numbers differ by 4 and then by 2. */
static inline __m512i add_pairs(__m512i sums)
{
    sums = _mm512_add_epi16(sums, _mm512_shuffle_epi32(sums, _MM_PERM_BADC));
    return _mm512_add_epi16(sums, _mm512_shuffle_epi32(sums, _MM_PERM_CDAB));
}

/* The first two words of each quarter. */
static inline __m128i first_words(__m512i sums)
{
    const __m512i quarters = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12));
    return _mm512_castsi512_si128(_mm512_permutexvar_epi32(quarters, sums));
}

/* The least SATD around a vector of whole pixels, half a pixel away. */
static inline uint32_t least_of_halves(const struct target *target, struct gpume_vector vector)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const uint8_t *corner = half_place(target, x - 1, y - 1);
    const uint8_t *left = half_place(target, x - 1, y), *above = half_place(target, x, y - 1);
    struct gpume_begun corners, cross;
    for (ptrdiff_t i = 0; i < 8; i++) {
        corners.row[i] = gpume_begin(load_corners(corner + i * stride, stride));
        cross.row[i] = gpume_begin(load_cross(above + i * stride, left + i * stride, stride));
    }
    const __m512i a = (__m512i)gpume_satd_parts(&target->rows, &corners);
    const __m512i b = (__m512i)gpume_satd_parts(&target->rows, &cross);
    const __m512i both = _mm512_add_epi16(_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b));
    /* places 0, 1, 2, 3, 6, 5, 8, 7 */
    const __m128i satds = _mm_shufflehi_epi16(first_words(add_pairs(both)), 0xb1);
    return least_satd(satds, half_marks[edge_of(vector)]);
}

/* The least SATD around a vector on half samples, a quarter of a pixel away, where matches are
 * means of the samples on both sides. */
static inline uint32_t least_of_quarters(const struct target *target, struct gpume_vector vector)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const struct gpume_places own = gpume_same_place(half_place(target, x, y));
    const uint8_t *left = half_place(target, x - 1, y), *above = half_place(target, x, y - 1);
    struct gpume_begun cross;
    for (ptrdiff_t i = 0; i < 8; i++) {
        const gpume_samples other = load_cross(above + i * stride, left + i * stride, stride);
        cross.row[i] = gpume_begin(gpume_mean(gpume_load_twice(&own, i * stride), other));
    }
    const __m512i sums = add_pairs((__m512i)gpume_satd_parts(&target->rows, &cross));
    return least_satd(first_words(_mm512_add_epi16(sums, _mm512_srli_epi32(sums, 16))),
        quarter_marks[edge_of(vector)]);
}

#elif GPUME_BLOCKS == 2

/* Eight samples from a place on, twice, and the eight samples one further. */
static inline gpume_samples load_neighbours(const uint8_t *at)
{
    const __m256i shifts = _mm256_setr_epi64x(
        0x0706050403020100, 0x0706050403020100, 0x0807060504030201, 0x0807060504030201);
    return (gpume_samples)_mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(load_sixteen(at)), shifts);
}

/* Rows of a block and of the one below it by a row, from nine rows. */
static inline void load_below(gpume_samples rows[8], const uint8_t *at, ptrdiff_t stride)
{
    const struct gpume_places places = gpume_same_place(at);
    gpume_samples upper = gpume_load_twice(&places, 0);
    for (ptrdiff_t y = 0; y < 8; y++) {
        const gpume_samples lower = gpume_load_twice(&places, (y + 1) * stride);
        rows[y] = (gpume_samples)_mm256_blend_epi32((__m256i)upper, (__m256i)lower, 0xf0);
        upper = lower;
    }
}

/* The sums of pairs of parts, whose numbers differ by 4, of two vectors in turns. */
static inline __m256i add_in_turns(gpume_lanes_unsigned a, gpume_lanes_unsigned b)
{
    return _mm256_add_epi16(_mm256_unpacklo_epi16((__m256i)a, (__m256i)b),
        _mm256_unpackhi_epi16((__m256i)a, (__m256i)b));
}

/* The least SATD around a vector of whole pixels, half a pixel away. */
static inline uint32_t least_of_halves(const struct target *target, struct gpume_vector vector)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const uint8_t *corner = half_place(target, x - 1, y - 1);
    const uint8_t *left = half_place(target, x - 1, y);
    struct gpume_begun upper, lower, beside, above;
    gpume_samples pairs[8];
    load_below(pairs, half_place(target, x, y - 1), stride);
    for (ptrdiff_t i = 0; i < 8; i++) {
        upper.row[i] = gpume_begin(load_neighbours(corner + i * stride));
        lower.row[i] = gpume_begin(load_neighbours(corner + (i + 1) * stride));
        beside.row[i] = gpume_begin(load_neighbours(left + i * stride));
        above.row[i] = gpume_begin(pairs[i]);
    }
    const __m256i corners = add_in_turns(
        gpume_satd_parts(&target->rows, &upper), gpume_satd_parts(&target->rows, &lower));
    const __m256i cross = add_in_turns(
        gpume_satd_parts(&target->rows, &beside), gpume_satd_parts(&target->rows, &above));
    __m256i sums = _mm256_add_epi16(
        _mm256_unpacklo_epi32(corners, cross), _mm256_unpackhi_epi32(corners, cross));
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, 0x4e));
    /* places 0, 6, 3, 1 and 2, 8, 5, 7 */
    const __m128i satds =
        _mm_unpacklo_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    const __m128i order = _mm_setr_epi8(0, 1, 6, 7, 8, 9, 4, 5, 12, 13, 2, 3, 14, 15, 10, 11);
    return least_satd(_mm_shuffle_epi8(satds, order), half_marks[edge_of(vector)]);
}

/* The least SATD around a vector on half samples, a quarter of a pixel away, where matches are
 * means of the samples on both sides. */
static inline uint32_t least_of_quarters(const struct target *target, struct gpume_vector vector)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const struct gpume_places own = gpume_same_place(half_place(target, x, y));
    const uint8_t *left = half_place(target, x - 1, y);
    struct gpume_begun beside, above;
    gpume_samples pairs[8];
    load_below(pairs, half_place(target, x, y - 1), stride);
    for (ptrdiff_t i = 0; i < 8; i++) {
        const gpume_samples centre = gpume_load_twice(&own, i * stride);
        beside.row[i] = gpume_begin(gpume_mean(centre, load_neighbours(left + i * stride)));
        above.row[i] = gpume_begin(gpume_mean(centre, pairs[i]));
    }
    __m256i sums = add_in_turns(
        gpume_satd_parts(&target->rows, &above), gpume_satd_parts(&target->rows, &beside));
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, 0x4e));
    sums = _mm256_add_epi16(sums, _mm256_shuffle_epi32(sums, 0xb1));
    /* places 1, 3, 7, 5 */
    const __m128i satds =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    const __m128i order = _mm_setr_epi8(0, 1, 0, 1, 2, 3, 0, 1, 6, 7, 0, 1, 4, 5, 0, 1);
    return least_satd(_mm_shuffle_epi8(satds, order), quarter_marks[edge_of(vector)]);
}

#endif

/* Prefetches a line of each plane that the blocks below will read, if they move like this one:
 * neighbouring blocks fetch other rows of the same lines. Processors prefetch fewer streams by
 * themselves.
 */
static inline void prefetch_below(
    const struct target *target, uint32_t block_x, struct gpume_vector vector)
{
    const struct gpume_half *half = target->reference;
    const ptrdiff_t y = vector.dy / 4 + (ptrdiff_t)(GPUME_HALF_BLOCK + block_x % 8);
    const uint8_t *at = target->place + y * half->stride + vector.dx / 4;
    for (ptrdiff_t i = 0; i < GPUME_HALF_PLANES; i++) {
        __builtin_prefetch(at + i * half->plane);
    }
}

static void refine(const struct gpume_half *half, const struct gpume_half *reference,
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors,
    uint16_t *satds)
{
    const uint32_t count = half->width / GPUME_HALF_BLOCK;
    find_whole(half, reference, block_y, coarse, vectors);
    match_satds(half, block_y, &(struct gpume_matches){reference, vectors}, satds);
    for (int32_t step = 2; step > 0; step--) { /* quarters of a pixel */
        for (uint32_t i = 0; i < count; i++) {
            const struct gpume_vector v = vectors[i];
            const uint64_t best = rank_of(satds[i], v.dx, v.dy);
            if (best > rank_of(0, 0, 0)) {
                const struct target target = target_of(half, reference, i, block_y);
                uint64_t rank;
                if (step == 2) {
                    prefetch_below(&target, i, v);
                    rank = fraction_rank(least_of_halves(&target, v), v, half_places, 2);
                } else {
                    rank = fraction_rank(least_of_quarters(&target, v), v, quarter_places, 1);
                }
                rank = rank < best ? rank : best;
                vectors[i] = vector_of(rank);
                satds[i] = (uint16_t)(rank >> 33);
            }
        }
    }
}

#endif
