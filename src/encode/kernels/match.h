/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples that vectors lead to, and what they cost. On half samples they lie in one of the
 * planes of half.h; elsewhere they are the mean (a + b + 1) >> 1 of the nearest ones to the left or
 * above, and to the right or below: with both components odd, of these two in the diagonal.
 */
#ifndef GPUME_ENCODE_KERNELS_MATCH_H
#define GPUME_ENCODE_KERNELS_MATCH_H

#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/kernels/satd.h"

/* Where a column or a row of the picture in half samples lies, relative to number 0. */
static inline ptrdiff_t gpume_half_column(const struct gpume_half *half, int32_t x)
{
    return (x & 1) * half->plane + (x >> 1);
}

static inline ptrdiff_t gpume_half_row(const struct gpume_half *half, int32_t y)
{
    return 2 * (y & 1) * half->plane + (y >> 1) * half->stride;
}

static inline const uint8_t *gpume_block_place(
    const struct gpume_half *half, uint32_t block_x, uint32_t block_y)
{
    return half->samples + (ptrdiff_t)(block_y * GPUME_HALF_BLOCK) * half->stride +
           block_x * GPUME_HALF_BLOCK;
}

static inline struct gpume_rows gpume_target_rows(
    const struct gpume_half *half, uint32_t block_x, uint32_t block_y)
{
    const struct gpume_places places =
        gpume_side_by_side(gpume_block_place(half, block_x, block_y));
    return gpume_load_rows(&places, half->stride);
}

/* The samples that matches are means of; the same ones twice on half samples. */
struct gpume_near {
    struct gpume_places first, second;
    ptrdiff_t stride;
};

/* The match of block number b of those side by side: `place` is where it lies itself. */
static inline void gpume_near_set(struct gpume_near *near, uint32_t b,
    const struct gpume_half *half, const uint8_t *place, struct gpume_vector v)
{
    near->first.at[b] =
        place + gpume_half_row(half, v.dy >> 1) + gpume_half_column(half, v.dx >> 1);
    near->second.at[b] =
        place + gpume_half_row(half, (v.dy + 1) >> 1) + gpume_half_column(half, (v.dx + 1) >> 1);
}

/* The matches of blocks from number i of a row on. Those beyond its end are the blocks there. */
static inline struct gpume_near gpume_near_of(
    const struct gpume_matches *matches, uint32_t i, uint32_t block_y)
{
    const struct gpume_half *half = matches->reference;
    struct gpume_near near = {.stride = half->stride};
    for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
        const uint8_t *place = gpume_block_place(half, i + b, block_y);
        const bool moves = i + b < half->width / GPUME_HALF_BLOCK;
        const struct gpume_vector v = moves ? matches->vectors[i + b] : (struct gpume_vector){0};
        gpume_near_set(&near, b, half, place, v);
    }
    return near;
}

static inline gpume_samples gpume_match_row(const struct gpume_near *near, ptrdiff_t y)
{
    return gpume_mean(gpume_load_samples(&near->first, y * near->stride),
        gpume_load_samples(&near->second, y * near->stride));
}

static inline struct gpume_rows gpume_match_rows(const struct gpume_near *near)
{
    struct gpume_rows rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_widen(gpume_match_row(near, y));
    }
    return rows;
}

static inline struct gpume_rows gpume_mean_rows(
    const struct gpume_near *past, const struct gpume_near *future, uint32_t past_share)
{
    const int16_t share = (int16_t)past_share, rest = (int16_t)(GPUME_SHARES - past_share);
    struct gpume_rows rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        const gpume_lanes a = gpume_widen(gpume_match_row(past, y));
        const gpume_lanes b = gpume_widen(gpume_match_row(future, y));
        rows.row[y] = (a * share + b * rest + (int16_t)(GPUME_SHARES / 2)) >> 6;
    }
    return rows;
}

/* --- the same, as SATD begins */

/* Blocks at their own places. */
static inline struct gpume_begun gpume_begun_at(
    const struct gpume_half *half, uint32_t block_x, uint32_t block_y)
{
    const uint8_t *at = gpume_block_place(half, block_x, block_y);
    struct gpume_begun rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_begin(gpume_load_row_twice(at + y * half->stride));
    }
    return rows;
}

static inline gpume_samples gpume_match_twice(const struct gpume_near *near, ptrdiff_t y)
{
    return gpume_mean(gpume_load_twice(&near->first, y * near->stride),
        gpume_load_twice(&near->second, y * near->stride));
}

static inline struct gpume_begun gpume_match_begun(const struct gpume_near *near)
{
    struct gpume_begun rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_begin(gpume_match_twice(near, y));
    }
    return rows;
}

/* (a * share + b * (GPUME_SHARES - share) + GPUME_SHARES / 2) / GPUME_SHARES, of samples twice, as
 * SATD begins. */
static inline gpume_lanes gpume_begin_mean(gpume_samples a, gpume_samples b, uint32_t share)
{
    const int16_t rest = (int16_t)(GPUME_SHARES - share);
#if GPUME_BLOCKS == 4
    const __m512i shares = _mm512_set1_epi16((int16_t)(share | (uint32_t)rest << 8));
    const __m512i pairs = _mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
    const __m512i sums =
        _mm512_add_epi16(_mm512_maddubs_epi16(pairs, shares), _mm512_set1_epi16(GPUME_SHARES / 2));
    const __m512i means = _mm512_srli_epi16(sums, 6);
    return gpume_begin((gpume_samples)_mm512_packus_epi16(means, means));
#elif GPUME_BLOCKS == 2
    const __m256i shares = _mm256_set1_epi16((int16_t)(share | (uint32_t)rest << 8));
    const __m256i pairs = _mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
    const __m256i sums =
        _mm256_add_epi16(_mm256_maddubs_epi16(pairs, shares), _mm256_set1_epi16(GPUME_SHARES / 2));
    const __m256i means = _mm256_srli_epi16(sums, 6);
    return gpume_begin((gpume_samples)_mm256_packus_epi16(means, means));
#else
    return (gpume_widen(a) * (int16_t)share + gpume_widen(b) * rest +
               (int16_t)(GPUME_SHARES / 2)) >>
           6;
#endif
}

static inline struct gpume_begun gpume_mean_begun(
    const struct gpume_near *past, const struct gpume_near *future, uint32_t past_share)
{
    struct gpume_begun rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] =
            gpume_begin_mean(gpume_match_twice(past, y), gpume_match_twice(future, y), past_share);
    }
    return rows;
}

/* Of what lies at the blocks' own places. */
static inline struct gpume_begun gpume_mean_begun_at(const struct gpume_half *past,
    const struct gpume_half *future, uint32_t block_x, uint32_t block_y, uint32_t past_share)
{
    const uint8_t *a = gpume_block_place(past, block_x, block_y);
    const uint8_t *b = gpume_block_place(future, block_x, block_y);
    struct gpume_begun rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_begin_mean(gpume_load_row_twice(a + y * past->stride),
            gpume_load_row_twice(b + y * future->stride), past_share);
    }
    return rows;
}

static inline void match_satds(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *matches, uint16_t *satds)
{
    const uint32_t count = half->width / GPUME_HALF_BLOCK;
    for (uint32_t i = 0; i < count; i += GPUME_BLOCKS) {
        const struct gpume_begun blocks = gpume_begun_at(half, i, block_y);
        struct gpume_begun match;
        if (matches->vectors) {
            const struct gpume_near near = gpume_near_of(matches, i, block_y);
            match = gpume_match_begun(&near);
        } else {
            match = gpume_begun_at(matches->reference, i, block_y);
        }
        gpume_store_words(gpume_satd_of(&blocks, &match), count - i, satds + i);
    }
}

/* Prefetches a row of lines that the blocks below will read, if they move like these, as
 * prefetch_below does. */
static inline void gpume_prefetch_matches(const struct gpume_near *near, uint32_t block_x)
{
    for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
        const ptrdiff_t y = (ptrdiff_t)(GPUME_HALF_BLOCK + (block_x + b) % 8);
        __builtin_prefetch(near->first.at[b] + y * near->stride);
        __builtin_prefetch(near->second.at[b] + y * near->stride);
    }
}

static inline void mean_satds(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint32_t past_share,
    uint16_t *satds)
{
    const uint32_t count = half->width / GPUME_HALF_BLOCK;
    for (uint32_t i = 0; i < count; i += GPUME_BLOCKS) {
        const struct gpume_begun blocks = gpume_begun_at(half, i, block_y);
        struct gpume_begun mean;
        if (past->vectors) {
            const struct gpume_near a = gpume_near_of(past, i, block_y);
            const struct gpume_near b = gpume_near_of(future, i, block_y);
            gpume_prefetch_matches(&a, i);
            gpume_prefetch_matches(&b, i);
            mean = gpume_mean_begun(&a, &b, past_share);
        } else {
            mean = gpume_mean_begun_at(past->reference, future->reference, i, block_y, past_share);
        }
        gpume_store_words(gpume_satd_of(&blocks, &mean), count - i, satds + i);
    }
}

#endif
