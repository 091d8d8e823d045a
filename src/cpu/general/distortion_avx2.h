/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SAD and SATD of 8-bit samples with AVX2. Blocks that are cut, or of other sizes than its pieces
 * fill, go to the plain loops.
 */
#ifndef GPUME_CPU_GENERAL_DISTORTION_AVX2_H
#define GPUME_CPU_GENERAL_DISTORTION_AVX2_H

#include "cpu/general/plain.h"

#include <immintrin.h>
#include <string.h>

static inline __m128i load8(const uint8_t *at)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)at);
}

static inline __m128i load16(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* --- SAD: four rows at a time, 8 columns, or 16 where the width has them */

static inline __m128i load_rows(const uint8_t *at, ptrdiff_t stride)
{
    return _mm_unpacklo_epi64(load8(at), load8(at + stride));
}

/* Of two rows. other: of a mean, or NULL. */
static inline __m128i sad_rows(
    const uint8_t *a, const uint8_t *b, const uint8_t *other, ptrdiff_t stride)
{
    __m128i match = load_rows(b, stride);
    match = other ? _mm_avg_epu8(match, load_rows(other, stride)) : match;
    return _mm_sad_epu8(load_rows(a, stride), match);
}

/* The same of 16 columns of one row. */
static inline __m128i sad_row16(const uint8_t *a, const uint8_t *b, const uint8_t *other)
{
    const __m128i match = other ? _mm_avg_epu8(load16(b), load16(other)) : load16(b);
    return _mm_sad_epu8(load16(a), match);
}

static inline uint32_t fast_sad8_of(
    const struct gpume_target *t, const uint8_t *match, const uint8_t *other, uint32_t limit)
{
    const ptrdiff_t stride = t->stride;
    const uint32_t wide = t->width % 16 == 0 ? t->width : 0;
    uint32_t sum = 0;
    if (t->width % 8 != 0 || t->height % 4 != 0) {
        return sad8_of(t, match, other, limit);
    }
    for (uint32_t y = 0; y < t->height && sum <= limit; y += 4) {
        __m128i sums = _mm_setzero_si128();
        for (uint32_t x = 0; x < wide; x += 16) {
            for (ptrdiff_t row = y; row < (ptrdiff_t)y + 4; row++) {
                ptrdiff_t at = row * stride + x;
                sums = _mm_add_epi32(sums, sad_row16((const uint8_t *)t->samples + at, match + at,
                                               other ? other + at : NULL));
            }
        }
        for (uint32_t x = wide; x < t->width; x += 8) {
            for (ptrdiff_t row = y; row < (ptrdiff_t)y + 4; row += 2) {
                ptrdiff_t at = row * stride + x;
                sums = _mm_add_epi32(sums, sad_rows((const uint8_t *)t->samples + at, match + at,
                                               other ? other + at : NULL, stride));
            }
        }
        sum += (uint32_t)_mm_cvtsi128_si32(sums) + (uint32_t)_mm_extract_epi32(sums, 2);
    }
    return sum;
}

DEFINE_DISTORTION(fast_sad8)

/* --- SATD: two tiles of 8x8 at a time, each in one half of the registers: side by side in one
 * match, or at the same place of two. A number after both transforms is at most 64 * 255 < 2^15. */

/* Hadamard's transform of each column of 8 numbers, but for the steps from `end` on. */
static inline void transform8(__m256i r[8], uint32_t end)
{
    for (uint32_t step = 1; step < end; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                __m256i sum = _mm256_add_epi16(r[i], r[i + step]);
                r[i + step] = _mm256_sub_epi16(r[i], r[i + step]);
                r[i] = sum;
            }
        }
    }
}

/* Of both tiles. */
static inline void transpose8(__m256i r[8])
{
    __m256i a[8], b[8];
    for (uint32_t i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (uint32_t i = 0; i < 8; i += 4) {
        for (uint32_t j = 0; j < 2; j++) {
            b[i + 2 * j] = _mm256_unpacklo_epi32(a[i + j], a[i + j + 2]);
            b[i + 2 * j + 1] = _mm256_unpackhi_epi32(a[i + j], a[i + j + 2]);
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        r[2 * i] = _mm256_unpacklo_epi64(b[i], b[i + 4]);
        r[2 * i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 4]);
    }
}

/* The sum of absolute coefficients, rounded. half: the sum over the larger one of every two that
 * the last step of the transform adds and subtracts: |a + b| + |a - b| = 2 max(|a|, |b|). */
static inline uint32_t rounded(__m128i half)
{
    half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    uint32_t sum = (uint32_t)_mm_cvtsi128_si32(half) + (uint32_t)_mm_extract_epi32(half, 1);
    return (2 * sum + 2) >> 2;
}

/* Adds the SATD of each half of rows of differences. */
static inline void add_tiles(__m256i r[8], uint32_t sums[2])
{
    __m256i half = _mm256_setzero_si256();
    transform8(r, 8);
    transpose8(r);
    transform8(r, 4);
    for (uint32_t i = 0; i < 4; i++) { /* at most 4 * 32 * 255 < 2^15 */
        half = _mm256_add_epi16(
            half, _mm256_max_epi16(_mm256_abs_epi16(r[i]), _mm256_abs_epi16(r[i + 4])));
    }
    half = _mm256_madd_epi16(half, _mm256_set1_epi16(1));
    sums[0] += rounded(_mm256_castsi256_si128(half));
    sums[1] += rounded(_mm256_extracti128_si256(half, 1));
}

/* Of 16 columns of one match; c: the other match of a mean, or NULL. */
static inline uint32_t satd_16x8(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, ptrdiff_t stride)
{
    __m256i r[8];
    uint32_t sums[2] = {0, 0};
    for (ptrdiff_t y = 0; y < 8; y++) {
        __m128i match = load16(b + y * stride);
        match = c ? _mm_avg_epu8(match, load16(c + y * stride)) : match;
        r[y] = _mm256_sub_epi16(
            _mm256_cvtepu8_epi16(load16(a + y * stride)), _mm256_cvtepu8_epi16(match));
    }
    add_tiles(r, sums);
    return sums[0] + sums[1];
}

/* Of 8 columns of two matches. */
static inline void add_satd_8x8(const uint8_t *a, const uint8_t *b, const uint8_t *b2,
    const uint8_t *c, ptrdiff_t stride, uint32_t sums[2])
{
    __m256i r[8];
    for (ptrdiff_t y = 0; y < 8; y++) {
        __m128i target = load8(a + y * stride);
        __m128i match = _mm_unpacklo_epi64(load8(b + y * stride), load8(b2 + y * stride));
        if (c) {
            __m128i other = load8(c + y * stride);
            match = _mm_avg_epu8(match, _mm_unpacklo_epi64(other, other));
        }
        r[y] = _mm256_sub_epi16(
            _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(target)), _mm256_cvtepu8_epi16(match));
    }
    add_tiles(r, sums);
}

static inline bool has_whole_tiles(const struct gpume_target *t)
{
    return t->tile == 8 && t->width % 8 == 0 && t->height % 8 == 0;
}

static inline uint32_t fast_satd8_of(
    const struct gpume_target *t, const uint8_t *match, const uint8_t *other, uint32_t limit)
{
    uint32_t sums[2] = {0, 0};
    if (!has_whole_tiles(t)) {
        return satd8_of(t, match, other, limit);
    }
    for (uint32_t y = 0; y < t->height && sums[0] <= limit; y += 8) {
        const ptrdiff_t row = (ptrdiff_t)y * t->stride;
        const uint8_t *a = (const uint8_t *)t->samples + row, *b = match + row;
        const uint8_t *c = other ? other + row : NULL;
        uint32_t x = 0;
        for (; t->width - x >= 16; x += 16) {
            sums[0] += satd_16x8(a + x, b + x, c ? c + x : NULL, t->stride);
        }
        if (x < t->width) {
            add_satd_8x8(a + x, b + x, b + x, c ? c + x : NULL, t->stride, sums);
        }
    }
    return sums[0];
}

DEFINE_DISTORTION(fast_satd8)

/* Of two matches. */
static inline void satd8_both(const struct gpume_target *t, const uint8_t *const matches[2],
    const uint8_t *other, uint32_t limit, uint32_t sums[2])
{
    sums[0] = sums[1] = 0;
    for (uint32_t y = 0; y < t->height && (sums[0] <= limit || sums[1] <= limit); y += 8) {
        for (uint32_t x = 0; x < t->width; x += 8) {
            ptrdiff_t at = (ptrdiff_t)y * t->stride + x;
            add_satd_8x8((const uint8_t *)t->samples + at, matches[0] + at, matches[1] + at,
                other ? other + at : NULL, t->stride, sums);
        }
    }
}

static inline void several_satd8_of(const struct gpume_target *t, const void *const *matches,
    const uint8_t *other, uint32_t count, uint32_t limit, uint32_t *d)
{
    for (uint32_t i = 0; !has_whole_tiles(t) && i < count; i++) {
        d[i] = satd8_of(t, matches[i], other, limit);
    }
    for (uint32_t i = 0; has_whole_tiles(t) && i < count; i += 2) {
        bool alone = i + 1 == count;
        const uint8_t *both[2] = {matches[i], matches[alone ? i : i + 1]};
        uint32_t sums[2];
        satd8_both(t, both, other, limit, sums);
        memcpy(d + i, sums, (alone ? 1 : 2) * sizeof(*d));
    }
}

/* As gpume_distortions_fn. */
static void several_satd8(const struct gpume_target *t, const void *const *matches, uint32_t count,
    uint32_t limit, uint32_t *d)
{
    if (t->other) {
        several_satd8_of(t, matches, t->other, count, limit, d);
    } else {
        several_satd8_of(t, matches, NULL, count, limit, d);
    }
}

#endif
