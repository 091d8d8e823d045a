/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As many 16-bit lanes as a register holds, with AVX2 or AVX-512 (BW), for the files compiled for
 * them. A lane is one of neighbouring dx.
 */
#ifndef GPUME_CPU_SEARCH_WIDE_H
#define GPUME_CPU_SEARCH_WIDE_H

#include "cpu/search/lanes_avx2.h"

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

#elif defined(__AVX2__)

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
