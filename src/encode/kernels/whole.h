/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole-pixel vectors from coarse ones (costs.h).
 */
#ifndef GPUME_ENCODE_KERNELS_WHOLE_H
#define GPUME_ENCODE_KERNELS_WHOLE_H

#include "encode/kernels/candidates.h"

#if GPUME_BLOCKS > 1
#include <immintrin.h>
#endif

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

#endif
