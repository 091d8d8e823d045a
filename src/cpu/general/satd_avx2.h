/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SATD of 8-bit samples with AVX2: two tiles of 8x8 side by side, each in one half of the
 * registers. Other blocks go to the plain loops. A number after both transforms is at most 64 * 255
 * < 2^15.
 */
#ifndef GPUME_CPU_GENERAL_SATD_AVX2_H
#define GPUME_CPU_GENERAL_SATD_AVX2_H

#include "cpu/general/distortion.h"

#include <immintrin.h>

/* `count` samples, 8 or 16; those that are missing are 0. */
static inline __m128i load_samples(const uint8_t *at, uint32_t count)
{
    return count == 16 ? _mm_loadu_si128((const __m128i *)(const void *)at)
                       : _mm_loadl_epi64((const __m128i *)(const void *)at);
}

/* Hadamard's transform of each column of 8 numbers. */
static inline void transform8(__m256i r[8])
{
    for (uint32_t step = 1; step < 8; step *= 2) {
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

static inline uint32_t sum_lanes(__m128i v)
{
    v = _mm_add_epi32(v, _mm_unpackhi_epi64(v, v));
    return (uint32_t)_mm_cvtsi128_si32(v) + (uint32_t)_mm_extract_epi32(v, 1);
}

/* c: the other match of a mean, or NULL. */
static inline uint32_t satd_pair(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, ptrdiff_t stride, uint32_t columns)
{
    __m256i r[8], sum = _mm256_setzero_si256();
    for (ptrdiff_t y = 0; y < 8; y++) {
        __m128i match = load_samples(b + y * stride, columns);
        if (c) {
            match = _mm_avg_epu8(match, load_samples(c + y * stride, columns));
        }
        r[y] = _mm256_sub_epi16(_mm256_cvtepu8_epi16(load_samples(a + y * stride, columns)),
            _mm256_cvtepu8_epi16(match));
    }
    transform8(r);
    transpose8(r);
    transform8(r);
    for (uint32_t i = 0; i < 8; i++) {
        sum =
            _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_abs_epi16(r[i]), _mm256_set1_epi16(1)));
    }
    return ((sum_lanes(_mm256_castsi256_si128(sum)) + 2) >> 2) +
           ((sum_lanes(_mm256_extracti128_si256(sum, 1)) + 2) >> 2);
}

static inline uint32_t satd8_tiles(
    const struct gpume_target *t, const uint8_t *match, const uint8_t *other, uint32_t limit)
{
    uint32_t sum = 0;
    for (uint32_t y = 0; y < t->height && sum <= limit; y += 8) {
        for (uint32_t x = 0; x < t->width; x += 16) {
            ptrdiff_t at = (ptrdiff_t)y * t->stride + x;
            sum += satd_pair((const uint8_t *)t->samples + at, match + at,
                other ? other + at : NULL, t->stride, t->width - x < 16 ? 8 : 16);
        }
    }
    return sum;
}

static inline bool has_whole_tiles(const struct gpume_target *t)
{
    return t->tile == 8 && t->width % 8 == 0 && t->height % 8 == 0;
}

static uint32_t fast_satd8(const struct gpume_target *t, const void *match, uint32_t limit)
{
    return has_whole_tiles(t) ? satd8_tiles(t, match, NULL, limit) : satd8(t, match, limit);
}

static uint32_t fast_mean_satd8(const struct gpume_target *t, const void *match, uint32_t limit)
{
    return has_whole_tiles(t) ? satd8_tiles(t, match, t->other, limit)
                              : mean_satd8(t, match, limit);
}

#endif
