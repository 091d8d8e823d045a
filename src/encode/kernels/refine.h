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

/* Of all places, `step` quarters of a pixel away. */
static inline const uint32_t *orders_of(
    struct gpume_vector vector, int32_t step, uint32_t other[PLACES])
{
    static const uint32_t far[PLACES] = {
        LATER(0), LATER(1), LATER(2), LATER(3), LATER(4), LATER(5), LATER(6), LATER(7), LATER(8)};
    static const uint32_t still[PLACES] = {
        LATER(0), LATER(1), LATER(2), LATER(3), FIRST(4), LATER(5), LATER(6), LATER(7), LATER(8)};
    const int32_t x = vector.dx < 0 ? -vector.dx : vector.dx;
    const int32_t y = vector.dy < 0 ? -vector.dy : vector.dy;
    const int32_t larger = x > y ? x : y;
    if (larger > step && larger + step <= LIMIT) {
        return far;
    }
    if (larger == 0) {
        return still;
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        const int32_t dx = vector.dx + across(i) * step, dy = vector.dy + down(i) * step;
        const bool inside = dx >= -LIMIT && dx <= LIMIT && dy >= -LIMIT && dy <= LIMIT;
        other[i] = !inside ? OUTSIDE : (dx | dy) == 0 ? FIRST(i) : LATER(i);
    }
    return other;
}

/* The least of `least` and some candidates: a difference and a place for each block side by side.
 */
static inline uint32_t least_of(
    uint32_t least, gpume_words differences, const uint32_t *orders, const uint32_t *places)
{
    uint32_t all[4 * GPUME_BLOCKS];
    memcpy(all, &differences, sizeof(all));
    for (uint32_t i = 0; i < GPUME_BLOCKS; i++) {
        const uint32_t offer = all[4 * i] << 5 | orders[places[i]];
        least = offer < least ? offer : least;
    }
    return least;
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

/* The places of each row of three; the last one again where four are compared at once. */
static const uint32_t row_places[3][4] = {{0, 1, 2, 2}, {3, 4, 5, 5}, {6, 7, 8, 8}};

/* Eight samples beginning at each place of a row of three, the first of which is `at`, but only
 * from place number `first` on. */
static inline gpume_samples load_places(const uint8_t *at, uint32_t first)
{
#if GPUME_BLOCKS == 4 /* all of them by one load */
    const __m512i from = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)at));
    const __m512i bytes =
        _mm512_set_epi64(-1, 0x0908070605040302, -1, 0x0908070605040302, /* -1: zeros */
            -1, 0x0807060504030201, -1, 0x0706050403020100);
    (void)first;
    return (gpume_samples)_mm512_shuffle_epi8(from, bytes);
#else
    struct gpume_places places;
    for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
        places.at[b] = at + row_places[0][first + b];
    }
    return gpume_load_samples(&places, 0);
#endif
}

/* Sums of absolute differences of each block's samples, row by row. */
#if GPUME_BLOCKS > 1
typedef gpume_halves sad_sums;
#else
typedef gpume_lanes_unsigned sad_sums; /* at most 8 * 255 after 8 rows */
#endif

static inline sad_sums add_sad(sad_sums sums, gpume_samples a, gpume_samples b)
{
#if GPUME_BLOCKS == 4
    return sums + (gpume_halves)_mm512_sad_epu8((__m512i)a, (__m512i)b);
#elif GPUME_BLOCKS > 1
    return sums + (gpume_halves)_mm256_sad_epu8((__m256i)a, (__m256i)b);
#else
    return sums + (gpume_lanes_unsigned)gpume_absolute(gpume_widen(a) - gpume_widen(b));
#endif
}

/* The sum of each block, in the first word of its place. */
static inline gpume_words sads_of(sad_sums sums)
{
#if GPUME_BLOCKS > 1
    return (gpume_words)sums;
#else
    return gpume_sum_lanes(sums);
#endif
}

/* The least SAD of a block, whose rows are given, and the blocks at a place and around it. */
static inline uint32_t least_sad(
    const gpume_samples own[8], const uint8_t *place, ptrdiff_t stride, const uint32_t *orders)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t first = 0; first < 3; first += GPUME_BLOCKS) {
        gpume_samples rows[10];
        for (ptrdiff_t y = 0; y < 10; y++) {
            rows[y] = load_places(place + (y - 1) * stride - 1, first);
        }
        for (uint32_t i = 0; i < 3; i++) {
            sad_sums sums = {0};
            for (uint32_t y = 0; y < 8; y++) {
                sums = add_sad(sums, own[y], rows[i + y]);
            }
            least = least_of(least, sads_of(sums), orders, row_places[i] + first);
        }
    }
    return least;
}

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

/* Whether no vector before it is the same. */
static inline bool is_new(const struct gpume_vector *vectors, uint32_t index)
{
    bool known = false;
    for (uint32_t i = 0; i < index; i++) {
        known = known || (vectors[i].dx == vectors[index].dx && vectors[i].dy == vectors[index].dy);
    }
    return !known;
}

/* The best vector of the block at a place in the target, beginning with these ones. Nothing is
 * better than an equal block at the same place. */
static inline uint64_t best_whole(const uint8_t *target, const uint8_t *reference, ptrdiff_t stride,
    const struct gpume_vector *starts)
{
    const struct gpume_places places = gpume_same_place(target);
    uint64_t best = UINT64_MAX;
    gpume_samples own[8];
    for (ptrdiff_t y = 0; y < 8; y++) {
        own[y] = gpume_load_samples(&places, y * stride);
    }
    for (uint32_t i = 0; i < STARTS && best > rank_of(0, 0, 0); i++) {
        if (is_new(starts, i)) {
            const struct gpume_vector v = starts[i];
            const uint8_t *place = reference + v.dy / 4 * stride + v.dx / 4;
            uint32_t other[PLACES];
            const uint32_t least = least_sad(own, place, stride, orders_of(v, 4, other));
            best = better_of(best, least, v, 4);
        }
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

/* A block beside itself, and its place in the reference. */
struct target {
    struct gpume_rows rows;
    const struct gpume_half *reference;
    const uint8_t *place;
};

static inline struct target target_of(const struct gpume_half *half,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y)
{
    const struct gpume_places places = gpume_same_place(gpume_block_place(half, block_x, block_y));
    return (struct target){gpume_load_rows(&places, half->stride), reference,
        gpume_block_place(reference, block_x, block_y)};
}

/* The place of the samples half a pixel around a vector, in half samples: three columns and three
 * rows. */
struct around {
    ptrdiff_t columns[3], rows[3];
};

static inline struct around around(const struct gpume_half *half, int32_t x, int32_t y)
{
    struct around around;
    for (int32_t i = 0; i < 3; i++) {
        around.columns[i] = gpume_half_column(half, x + i - 1);
        around.rows[i] = gpume_half_row(half, y + i - 1);
    }
    return around;
}

/* The least SATD of `count` neighbours of a vector on half samples, at these places: half a pixel
 * away, or with `quarter` a quarter of a pixel, where they are means of the samples on both sides.
 */
static inline uint32_t least_satd(const struct target *target, struct gpume_vector vector,
    const uint32_t *places, uint32_t count, bool quarter, const uint32_t *orders)
{
    const struct around near = around(target->reference, vector.dx / 2, vector.dy / 2);
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i += GPUME_BLOCKS) {
        struct gpume_near means = {.stride = target->reference->stride};
        for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
            const int32_t x = across(places[i + b]), y = down(places[i + b]);
            means.first.at[b] = target->place + near.columns[quarter && x > 0 ? 1 : x + 1] +
                                near.rows[quarter && y > 0 ? 1 : y + 1];
            means.second.at[b] = target->place + near.columns[quarter && x < 0 ? 1 : x + 1] +
                                 near.rows[quarter && y < 0 ? 1 : y + 1];
        }
        const struct gpume_rows match =
            quarter ? gpume_match_rows(&means) : gpume_load_rows(&means.first, means.stride);
        least = least_of(least, gpume_satd(&target->rows, &match), orders, places + i);
    }
    return least;
}

/* The best of a vector and its eight neighbours half a pixel away, and of that and its four
 * neighbours beside, above and below a quarter away. */
static inline uint64_t best_fraction(const struct target *target, uint64_t best)
{
    static const uint32_t all[] = {0, 1, 2, 3, 5, 6, 7, 8}, nearest[] = {1, 3, 5, 7};
    uint32_t other[PLACES];
    struct gpume_vector v = vector_of(best);
    best = better_of(best, least_satd(target, v, all, 8, false, orders_of(v, 2, other)), v, 2);
    v = vector_of(best);
    return better_of(best, least_satd(target, v, nearest, 4, true, orders_of(v, 1, other)), v, 1);
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
