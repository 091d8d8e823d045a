/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SATD of blocks of 8x8 samples as encoders compute it: half the sum of absolute coefficients of
 * the Hadamard transforms of the differences in each quarter of 4x4 samples. The library's metric
 * transforms all 8x8 at once; by such costs too many frames became B frames.
 *
 * Largest numbers: a coefficient of differences up to 255 is at most 16 * 255. By Cauchy, Schwarz
 * and Parseval the sum of the 16 absolute coefficients of a quarter is at most sqrt(16 * sum c^2) =
 * sqrt(16 * 16 * sum d^2) <= 64 * 255. So a SATD is at most 2 * 64 * 255 = 32640.
 */
#ifndef GPUME_ENCODE_KERNELS_SATD_H
#define GPUME_ENCODE_KERNELS_SATD_H

#include "encode/kernels/rows.h"

#if GPUME_BLOCKS > 1
#include <immintrin.h>
#endif

/* The first steps of the Hadamard transforms of columns of four: those of 1 up to `last` rows. */
static inline void gpume_transform(struct gpume_rows *rows, uint32_t last)
{
    for (uint32_t step = 1; step <= last; step *= 2) {
        for (uint32_t i = 0; i < 8; i++) {
            if ((i & step) == 0) {
                const gpume_lanes a = rows->row[i], b = rows->row[i + step];
                rows->row[i] = a + b;
                rows->row[i + step] = a - b;
            }
        }
    }
}

#define GPUME_LOW(i, n, k)                                                                         \
    (i), (n) + (i), (i) + 1, (n) + (i) + 1, (i) + 2, (n) + (i) + 2, (i) + 3, (n) + (i) + 3
#define GPUME_HIGH(i, n, k) GPUME_LOW((i) + 4, n, k)

/* One of three equal steps of a transposition: a perfect shuffle of all 64 numbers of a block. */
static inline struct gpume_rows gpume_interleave(const struct gpume_rows *from)
{
    struct gpume_rows to;
    for (uint32_t i = 0; i < 4; i++) {
        to.row[2 * i] = GPUME_SHUFFLE(from->row[i], from->row[i + 4], GPUME_LOW, 0);
        to.row[2 * i + 1] = GPUME_SHUFFLE(from->row[i], from->row[i + 4], GPUME_HIGH, 0);
    }
    return to;
}

static inline void gpume_transpose(struct gpume_rows *rows)
{
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
    *rows = gpume_interleave(rows);
}

/* The SATD of each block, in all four words of its place. */
static inline gpume_words gpume_satd(const struct gpume_rows *a, const struct gpume_rows *b)
{
    struct gpume_rows rows;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = a->row[y] - b->row[y];
    }
    gpume_transform(&rows, 2);
    gpume_transpose(&rows);
    gpume_transform(&rows, 1);
    gpume_lanes_unsigned sums = {0};
    for (uint32_t i = 0; i < 8; i++) { /* (|a + b| + |a - b|) / 2 = max(|a|, |b|) */
        if ((i & 2) == 0) {
            sums += (gpume_lanes_unsigned)gpume_larger(
                gpume_absolute(rows.row[i]), gpume_absolute(rows.row[i + 2]));
        }
    }
    return gpume_sum_lanes(sums);
}

/* --- the same of samples as they lie in memory, with an x86 processor's first step */

/* Rows of which the first step along x is done: the sums of each block's four pairs of neighbours,
 * then their differences. Where there is no instruction for that, just rows. */
struct gpume_begun {
    gpume_lanes row[8];
};

#if GPUME_BLOCKS > 1

/* Eight samples of each block, twice. */
static inline gpume_samples gpume_load_twice(const struct gpume_places *places, ptrdiff_t shift)
{
    const uint8_t *const *at = places->at;
#if GPUME_BLOCKS == 4
    __m512i all = _mm512_set1_epi64((long long)gpume_load_half(at[0] + shift));
    all = _mm512_mask_set1_epi64(all, 0x0c, (long long)gpume_load_half(at[1] + shift));
    all = _mm512_mask_set1_epi64(all, 0x30, (long long)gpume_load_half(at[2] + shift));
    return (gpume_samples)_mm512_mask_set1_epi64(
        all, 0xc0, (long long)gpume_load_half(at[3] + shift));
#else
    const __m256i first = _mm256_set1_epi64x((long long)gpume_load_half(at[0] + shift));
    const __m256i second = _mm256_set1_epi64x((long long)gpume_load_half(at[1] + shift));
    return (gpume_samples)_mm256_blend_epi32(first, second, 0xf0);
#endif
}

/* The same of blocks side by side. */
static inline gpume_samples gpume_load_row_twice(const uint8_t *at)
{
#if GPUME_BLOCKS == 4
    const __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return (gpume_samples)_mm512_permutexvar_epi64(
        _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), _mm512_castsi256_si512(row));
#else
    const __m128i row = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (gpume_samples)_mm256_permute4x64_epi64(_mm256_castsi128_si256(row), 0x50);
#endif
}

/* Of eight samples, twice. */
static inline gpume_lanes gpume_begin(gpume_samples samples)
{
#if GPUME_BLOCKS == 4
    const __m512i signs = _mm512_set4_epi32(-0x00fe00ff, -0x00fe00ff, 0x01010101, 0x01010101);
    return (gpume_lanes)_mm512_maddubs_epi16((__m512i)samples, signs);
#else
    const __m256i signs = _mm256_setr_epi32(0x01010101, 0x01010101, -0x00fe00ff, -0x00fe00ff,
        0x01010101, 0x01010101, -0x00fe00ff, -0x00fe00ff);
    return (gpume_lanes)_mm256_maddubs_epi16((__m256i)samples, signs);
#endif
}

/* The larger absolute value of each pair of neighbours in two rows. */
static inline gpume_lanes_unsigned gpume_larger_of_pairs(gpume_lanes a, gpume_lanes b)
{
#if GPUME_BLOCKS == 4
    const __mmask32 odd = 0xaaaaaaaa;
    const __m512i first = _mm512_mask_blend_epi16(odd, (__m512i)a, (__m512i)b);
    const __m512i second =
        _mm512_rol_epi32(_mm512_mask_blend_epi16(odd, (__m512i)b, (__m512i)a), 16);
    return (gpume_lanes_unsigned)_mm512_max_epi16(
        _mm512_abs_epi16(first), _mm512_abs_epi16(second));
#else
    const __m256i swap = _mm256_setr_epi32(0x01000302, 0x05040706, 0x09080b0a, 0x0d0c0f0e,
        0x01000302, 0x05040706, 0x09080b0a, 0x0d0c0f0e);
    const __m256i first = _mm256_blend_epi16((__m256i)a, (__m256i)b, 0xaa);
    const __m256i second =
        _mm256_shuffle_epi8(_mm256_blend_epi16((__m256i)b, (__m256i)a, 0xaa), swap);
    return (gpume_lanes_unsigned)_mm256_max_epi16(
        _mm256_abs_epi16(first), _mm256_abs_epi16(second));
#endif
}

/* Eight parts of the SATD of each block. */
static inline gpume_lanes_unsigned gpume_satd_parts(
    const struct gpume_begun *a, const struct gpume_begun *b)
{
    struct gpume_rows rows;
    for (uint32_t y = 0; y < 8; y++) {
        rows.row[y] = a->row[y] - b->row[y];
    }
    gpume_transform(&rows, 2);
    gpume_lanes_unsigned sums = {0};
    for (uint32_t i = 0; i < 8; i += 2) {
        sums += gpume_larger_of_pairs(rows.row[i], rows.row[i + 1]);
    }
    return sums;
}

/* The SATD of each block, in all four words of its place. */
static inline gpume_words gpume_satd_of(const struct gpume_begun *a, const struct gpume_begun *b)
{
    return gpume_sum_lanes(gpume_satd_parts(a, b));
}

#else

static inline gpume_samples gpume_load_twice(const struct gpume_places *places, ptrdiff_t shift)
{
    return gpume_load_samples(places, shift);
}

static inline gpume_samples gpume_load_row_twice(const uint8_t *at)
{
    const struct gpume_places place = {{at}};
    return gpume_load_samples(&place, 0);
}

static inline gpume_lanes gpume_begin(gpume_samples samples)
{
    return gpume_widen(samples);
}

static inline gpume_words gpume_satd_of(const struct gpume_begun *a, const struct gpume_begun *b)
{
    struct gpume_rows first, second;
    memcpy(&first, a, sizeof(first));
    memcpy(&second, b, sizeof(second));
    return gpume_satd(&first, &second);
}

#endif

static inline struct gpume_begun gpume_load_begun(
    const struct gpume_places *places, ptrdiff_t stride)
{
    struct gpume_begun rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_begin(gpume_load_twice(places, y * stride));
    }
    return rows;
}

/* Writes a number for each of the first `count` blocks. */
static inline void gpume_store_words(gpume_words words, uint32_t count, uint16_t *to)
{
    uint32_t all[4 * GPUME_BLOCKS];
    memcpy(all, &words, sizeof(all));
    for (uint32_t i = 0; i < GPUME_BLOCKS && i < count; i++) {
        to[i] = (uint16_t)all[4 * i];
    }
}

#endif
