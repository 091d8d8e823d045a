/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors of a row of blocks from coarse ones (costs.h): whole pixels by SAD, then
 * halves and quarters by SATD. Candidates are compared with their block side by side.
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

static inline int32_t dx_of(uint64_t rank)
{
    return (int32_t)(rank & 0xffff) - LIMIT;
}

static inline int32_t dy_of(uint64_t rank)
{
    return (int32_t)(rank >> 16 & 0xffff) - LIMIT;
}

static inline struct gpume_vector vector_of(uint64_t rank)
{
    return (struct gpume_vector){(int16_t)dx_of(rank), (int16_t)dy_of(rank)};
}

/* A vector and its neighbours: three by three places from the upper left one on. */
#define PLACES 9u

static inline int32_t across(uint32_t place)
{
    return (int32_t)(place % 3) - 1;
}

static inline int32_t down(uint32_t place)
{
    return (int32_t)(place / 3) - 1;
}

/* The low bits of a candidate, which decide between equal differences: (0,0) comes first, then the
 * places in their order. The highest bit makes one outside the window worse than any inside, as
 * differences are at most 32640 and take the bits from 5 to 19. */
#define FIRST(place) (place)
#define LATER(place) (16u | (place))
#define OUTSIDE (1u << 31)

/* Candidates around a vector, in the order in which they are compared. */
struct candidates {
    int32_t step; /* quarters of a pixel */
    uint32_t count;
    uint32_t places[12];
    uint32_t usual[12]; /* their low bits, where none is (0,0) or outside the window */
    uint32_t still[12]; /* around (0,0) */
};

/* The low bits of all candidates. */
static inline const uint32_t *orders_of(
    const struct candidates *candidates, struct gpume_vector vector, uint32_t other[12])
{
    const int32_t x = vector.dx < 0 ? -vector.dx : vector.dx;
    const int32_t y = vector.dy < 0 ? -vector.dy : vector.dy;
    const int32_t larger = x > y ? x : y, step = candidates->step;
    if (larger == 0 || (larger > step && larger + step <= LIMIT)) {
        return larger == 0 ? candidates->still : candidates->usual;
    }
    for (uint32_t i = 0; i < candidates->count; i++) {
        const uint32_t place = candidates->places[i];
        const int32_t dx = vector.dx + across(place) * step, dy = vector.dy + down(place) * step;
        const bool inside = dx >= -LIMIT && dx <= LIMIT && dy >= -LIMIT && dy <= LIMIT;
        other[i] = !inside ? OUTSIDE : (dx | dy) == 0 ? FIRST(place) : LATER(place);
    }
    return other;
}

/* The better one of `best` and the least of the places around a vector. */
static inline uint64_t better_of(
    uint64_t best, uint32_t least, struct gpume_vector vector, int32_t step)
{
    const uint32_t place = least & 15;
    const uint64_t rank =
        rank_of(least >> 5, vector.dx + across(place) * step, vector.dy + down(place) * step);
    return rank < best ? rank : best;
}

/* --- whole pixels */

#define STARTS 5u /* vectors that a block begins with */

/* A vector and its neighbours, by rows, each with one more that fills it up. */
static const struct candidates around_pixel = {.step = 4,
    .count = 12,
    .places = {0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8},
    .usual = {LATER(0), LATER(1), LATER(2), LATER(2), LATER(3), LATER(4), LATER(5), LATER(5),
        LATER(6), LATER(7), LATER(8), LATER(8)},
    .still = {LATER(0), LATER(1), LATER(2), LATER(2), LATER(3), FIRST(4), LATER(5), LATER(5),
        LATER(6), LATER(7), LATER(8), LATER(8)}};

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
    const struct own_samples *own, const uint8_t *place, ptrdiff_t stride, const uint32_t *orders)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t x = 0; x < 3; x++) {
        const struct gpume_places places = gpume_same_place(place + x - stride - 1);
        gpume_samples rows[10];
        for (ptrdiff_t y = 0; y < 10; y++) {
            rows[y] = gpume_load_samples(&places, y * stride);
        }
        for (uint32_t i = 0; i < 3; i++) {
            gpume_lanes_unsigned sums = {0}; /* at most 8 * 255 */
            for (uint32_t y = 0; y < 8; y++) {
                sums += (gpume_lanes_unsigned)gpume_absolute(
                    gpume_widen(own->row[y]) - gpume_widen(rows[i + y]));
            }
            const uint32_t offer = gpume_sum_lanes(sums)[0] << 5 | orders[4 * i + x];
            least = offer < least ? offer : least;
        }
    }
    return least;
}

#else

static inline struct own_samples load_own(const uint8_t *at, ptrdiff_t stride)
{
    struct own_samples own;
    for (ptrdiff_t y = 0; y < 8; y++) {
        own.row[y] = _mm256_set1_epi64x((long long)gpume_load_half(at + y * stride));
    }
    return own;
}

static inline __m256i load_sixteen(const uint8_t *at)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at));
}

static inline uint32_t least_word(__m256i words)
{
    __m128i least =
        _mm_min_epu32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(least);
}

/* The least SAD of a block and the blocks at a place and around it: three by three, and one of each
 * row twice. */
static inline uint32_t least_sad(
    const struct own_samples *own, const uint8_t *place, ptrdiff_t stride, const uint32_t *orders)
{
    const __m256i shifts = _mm256_setr_epi64x(
        0x0706050403020100, 0x0807060504030201, 0x0908070605040302, 0x0908070605040302);
    __m256i sums[3] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (ptrdiff_t y = 0; y < 10; y++) {
        const __m256i row = _mm256_shuffle_epi8(load_sixteen(place + (y - 1) * stride - 1), shifts);
        for (ptrdiff_t i = 0; i < 3; i++) {
            if (y >= i && y - i < 8) {
                sums[i] = _mm256_add_epi64(sums[i], _mm256_sad_epu8(own->row[y - i], row));
            }
        }
    }
    __m256i least = _mm256_set1_epi64x(UINT32_MAX);
    for (uint32_t i = 0; i < 3; i++) {
        const __m128i four =
            _mm_loadu_si128((const __m128i *)(const void *)(orders + (size_t)4 * i));
        const __m256i offers =
            _mm256_or_si256(_mm256_slli_epi64(sums[i], 5), _mm256_cvtepu32_epi64(four));
        least = _mm256_min_epu32(least, offers);
    }
    /* the upper halves are zeros */
    return least_word(_mm256_or_si256(least, _mm256_slli_epi64(least, 32)));
}

#endif

/* Along one axis, the coarse block that is second nearest to a block; at the picture's edge, where
 * there is none, the one that the block lies in. */
static inline uint32_t next_coarse(uint32_t block, uint32_t blocks)
{
    const uint32_t own = block / 2, last = (blocks - 1) / 2;
    return block % 2 == 0 ? own - (own > 0) : own + (own < last);
}

/* (0,0) and the vectors of the four coarse blocks nearest to a block, in quarter pixels. A pixel
 * of the quarter plane is two of the half plane, or eight quarters. */
static inline void find_starts(const struct gpume_half *half, uint32_t block_x, uint32_t block_y,
    const struct gpume_vector *coarse, struct gpume_vector starts[STARTS])
{
    const uint32_t blocks_x = half->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = half->height / GPUME_HALF_BLOCK;
    const uint32_t columns[2] = {block_x / 2, next_coarse(block_x, blocks_x)};
    const uint32_t rows[2] = {block_y / 2, next_coarse(block_y, blocks_y)};
    starts[0] = (struct gpume_vector){0, 0};
    for (uint32_t i = 0; i < 4; i++) {
        const struct gpume_vector v = coarse[rows[i / 2] * ((blocks_x + 1) / 2) + columns[i % 2]];
        starts[1 + i] = (struct gpume_vector){(int16_t)(8 * v.dx), (int16_t)(8 * v.dy)};
    }
}

/* Leaves out those that are the same as one before them. Returns how many are left. Without
 * branches, as nobody can predict which these are. */
static inline uint32_t leave_out_repeated(struct gpume_vector starts[STARTS])
{
    uint32_t count = 1;
    for (uint32_t i = 1; i < STARTS; i++) {
        const struct gpume_vector v = starts[i];
        uint32_t known = 0;
        for (uint32_t k = 0; k < i; k++) { /* those behind `count` have come before, too */
            known |= (uint32_t)(starts[k].dx == v.dx) & (uint32_t)(starts[k].dy == v.dy);
        }
        starts[count] = v;
        count += 1 - known;
    }
    return count;
}

/* The best vector of the block at a place in the target, beginning with these ones. Nothing is
 * better than an equal block at the same place. */
static inline uint64_t best_whole(const uint8_t *target, const uint8_t *reference, ptrdiff_t stride,
    struct gpume_vector starts[STARTS])
{
    const struct own_samples own = load_own(target, stride);
    const uint32_t count = leave_out_repeated(starts);
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < count && best > rank_of(0, 0, 0); i++) {
        const struct gpume_vector v = starts[i];
        const uint8_t *place = reference + v.dy / 4 * stride + v.dx / 4;
        uint32_t other[12];
        const uint32_t *orders = orders_of(&around_pixel, v, other);
        best = better_of(best, least_sad(&own, place, stride, orders), v, 4);
    }
    return best;
}

/* Of a row of blocks, in quarter pixels. */
static inline void find_whole(const struct gpume_half *half, const struct gpume_half *reference,
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors)
{
    for (uint32_t i = 0; i < half->width / GPUME_HALF_BLOCK; i++) {
        struct gpume_vector starts[STARTS];
        find_starts(half, i, block_y, coarse, starts);
        vectors[i] = vector_of(best_whole(gpume_block_place(half, i, block_y),
            gpume_block_place(reference, i, block_y), half->stride, starts));
    }
}

/* --- halves and quarters of a pixel */

/* A block, and its place in the reference. */
struct target {
#if GPUME_BLOCKS == 1
    struct gpume_begun rows;
#else
    __m256i rows[8]; /* twice, as SATD begins */
#endif
    const struct gpume_half *reference;
    const uint8_t *place;
};

static const struct candidates half_around = {.step = 2,
    .count = 8,
    .places = {0, 6, 3, 1, 2, 8, 5, 7},
    .usual = {LATER(0), LATER(6), LATER(3), LATER(1), LATER(2), LATER(8), LATER(5), LATER(7)},
    .still = {LATER(0), LATER(6), LATER(3), LATER(1), LATER(2), LATER(8), LATER(5), LATER(7)}};
static const struct candidates quarter_around = {.step = 1,
    .count = 4,
    .places = {3, 1, 5, 7},
    .usual = {LATER(3), LATER(1), LATER(5), LATER(7)},
    .still = {LATER(3), LATER(1), LATER(5), LATER(7)}};

/* Where a vector on half samples leads to, which is given in half samples. */
static inline const uint8_t *half_place(const struct target *target, int32_t x, int32_t y)
{
    return target->place + gpume_half_row(target->reference, y) +
           gpume_half_column(target->reference, x);
}

#if GPUME_BLOCKS == 1

static inline struct target target_of(const struct gpume_half *half,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y)
{
    const struct gpume_places places = gpume_same_place(gpume_block_place(half, block_x, block_y));
    return (struct target){gpume_load_begun(&places, half->stride), reference,
        gpume_block_place(reference, block_x, block_y)};
}

static inline uint32_t lesser_satd(
    uint32_t least, const struct target *target, const struct gpume_begun *match, uint32_t order)
{
    const uint32_t offer = gpume_satd_of(&target->rows, match)[0] << 5 | order;
    return offer < least ? offer : least;
}

/* The least SATD around a vector of whole pixels, half a pixel away. */
static inline uint32_t least_of_halves(
    const struct target *target, struct gpume_vector vector, const uint32_t *orders)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < half_around.count; i++) {
        const uint32_t place = half_around.places[i];
        const struct gpume_places at = gpume_same_place(
            half_place(target, vector.dx / 2 + across(place), vector.dy / 2 + down(place)));
        const struct gpume_begun match = gpume_load_begun(&at, target->reference->stride);
        least = lesser_satd(least, target, &match, orders[i]);
    }
    return least;
}

/* The least SATD around a vector on half samples, a quarter of a pixel away, where matches are
 * means of the samples on both sides. */
static inline uint32_t least_of_quarters(
    const struct target *target, struct gpume_vector vector, const uint32_t *orders)
{
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < quarter_around.count; i++) {
        const uint32_t place = quarter_around.places[i];
        const struct gpume_near near = {gpume_same_place(half_place(target, x, y)),
            gpume_same_place(half_place(target, x + across(place), y + down(place))),
            target->reference->stride};
        const struct gpume_begun match = gpume_match_begun(&near);
        least = lesser_satd(least, target, &match, orders[i]);
    }
    return least;
}

#else

/* The first step of SATD, of eight samples twice. */
static inline __m256i begin_pair(__m256i samples)
{
    const __m256i signs = _mm256_setr_epi32(0x01010101, 0x01010101, -0x00fe00ff, -0x00fe00ff,
        0x01010101, 0x01010101, -0x00fe00ff, -0x00fe00ff);
    return _mm256_maddubs_epi16(samples, signs);
}

static inline struct target target_of(const struct gpume_half *half,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y)
{
    const uint8_t *at = gpume_block_place(half, block_x, block_y);
    struct target target = {
        .reference = reference, .place = gpume_block_place(reference, block_x, block_y)};
    for (ptrdiff_t y = 0; y < 8; y++) {
        target.rows[y] =
            begin_pair(_mm256_set1_epi64x((long long)gpume_load_half(at + y * half->stride)));
    }
    return target;
}

/* The larger absolute value of each pair of neighbours in two rows. */
static inline __m256i larger_of_pairs(__m256i a, __m256i b)
{
    const __m256i even = _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
    const __m256i odd = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
    return _mm256_max_epi16(_mm256_abs_epi16(even), _mm256_abs_epi16(odd));
}

/* The SATDs of a block and two matches: four sums each. */
static inline __m256i satd_pair(const __m256i own[8], const __m256i match[8])
{
    __m256i rows[8];
    for (uint32_t y = 0; y < 8; y++) {
        rows[y] = _mm256_sub_epi16(own[y], match[y]);
    }
    for (uint32_t step = 1; step <= 2; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                const __m256i a = rows[i], b = rows[i + step];
                rows[i] = _mm256_add_epi16(a, b);
                rows[i + step] = _mm256_sub_epi16(a, b);
            }
        }
    }
    __m256i sums = larger_of_pairs(rows[0], rows[1]);
    for (uint32_t i = 2; i < 8; i += 2) {
        sums = _mm256_add_epi16(sums, larger_of_pairs(rows[i], rows[i + 1]));
    }
    return _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
}

/* Eight samples from a place on, twice, and the eight samples one further. */
static inline __m256i load_neighbours(const uint8_t *at)
{
    return _mm256_shuffle_epi8(
        load_sixteen(at), _mm256_setr_epi64x(0x0706050403020100, 0x0706050403020100,
                              0x0807060504030201, 0x0807060504030201));
}

static inline __m256i load_four_times(const uint8_t *at)
{
    return _mm256_set1_epi64x((long long)gpume_load_half(at));
}

/* Rows of a block and of the one below it by a row, from nine rows. */
static inline void load_below(__m256i rows[8], const uint8_t *at, ptrdiff_t stride)
{
    __m256i upper = load_four_times(at);
    for (ptrdiff_t y = 0; y < 8; y++) {
        const __m256i lower = load_four_times(at + (y + 1) * stride);
        rows[y] = _mm256_blend_epi32(upper, lower, 0xf0);
        upper = lower;
    }
}

/* The least SATD around a vector of whole pixels, half a pixel away. */
static inline uint32_t least_of_halves(
    const struct target *target, struct gpume_vector vector, const uint32_t *orders)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const uint8_t *corner = half_place(target, x - 1, y - 1);
    const uint8_t *left = half_place(target, x - 1, y);
    __m256i corners[9], rows[8];
    for (ptrdiff_t i = 0; i < 9; i++) {
        corners[i] = begin_pair(load_neighbours(corner + i * stride));
    }
    const __m256i upper = satd_pair(target->rows, corners);
    const __m256i lower = satd_pair(target->rows, corners + 1);
    for (ptrdiff_t i = 0; i < 8; i++) {
        rows[i] = begin_pair(load_neighbours(left + i * stride));
    }
    const __m256i beside = satd_pair(target->rows, rows);
    load_below(rows, half_place(target, x, y - 1), stride);
    for (uint32_t i = 0; i < 8; i++) {
        rows[i] = begin_pair(rows[i]);
    }
    const __m256i above = satd_pair(target->rows, rows);
    const __m256i satds =
        _mm256_hadd_epi32(_mm256_hadd_epi32(upper, lower), _mm256_hadd_epi32(beside, above));
    const __m256i order = _mm256_loadu_si256((const __m256i *)(const void *)orders);
    return least_word(_mm256_or_si256(_mm256_slli_epi32(satds, 5), order));
}

/* The least SATD around a vector on half samples, a quarter of a pixel away, where matches are
 * means of the samples on both sides. */
static inline uint32_t least_of_quarters(
    const struct target *target, struct gpume_vector vector, const uint32_t *orders)
{
    const ptrdiff_t stride = target->reference->stride;
    const int32_t x = vector.dx / 2, y = vector.dy / 2;
    const uint8_t *centre = half_place(target, x, y);
    const uint8_t *left = half_place(target, x - 1, y);
    __m256i beside[8], above[8];
    load_below(above, half_place(target, x, y - 1), stride);
    for (ptrdiff_t i = 0; i < 8; i++) {
        const __m256i own = load_four_times(centre + i * stride);
        beside[i] = begin_pair(_mm256_avg_epu8(own, load_neighbours(left + i * stride)));
        above[i] = begin_pair(_mm256_avg_epu8(own, above[i]));
    }
    const __m256i sums =
        _mm256_hadd_epi32(satd_pair(target->rows, beside), satd_pair(target->rows, above));
    const __m256i satds = _mm256_hadd_epi32(sums, sums); /* beside, above, and both again */
    const __m256i order = _mm256_permute4x64_epi64(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)orders)), 0x50);
    return least_word(_mm256_or_si256(_mm256_slli_epi32(satds, 5), order));
}

#endif

/* The best of a vector and its eight neighbours half a pixel away, and of that and its four
 * neighbours beside, above and below a quarter away. */
static inline uint64_t best_fraction(const struct target *target, uint64_t best)
{
    uint32_t other[12];
    struct gpume_vector v = vector_of(best);
    best = better_of(best, least_of_halves(target, v, orders_of(&half_around, v, other)), v, 2);
    v = vector_of(best);
    return better_of(
        best, least_of_quarters(target, v, orders_of(&quarter_around, v, other)), v, 1);
}

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
    find_whole(half, reference, block_y, coarse, vectors);
    match_satds(half, block_y, &(struct gpume_matches){reference, vectors}, satds);
    for (uint32_t i = 0; i < half->width / GPUME_HALF_BLOCK; i++) {
        uint64_t best = rank_of(satds[i], vectors[i].dx, vectors[i].dy);
        if (best > rank_of(0, 0, 0)) {
            const struct target target = target_of(half, reference, i, block_y);
            prefetch_below(&target, i, vectors[i]);
            best = best_fraction(&target, best);
        }
        vectors[i] = vector_of(best);
        satds[i] = (uint16_t)(best >> 33);
    }
}

#endif
