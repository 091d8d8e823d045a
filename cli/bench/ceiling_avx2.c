/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ceiling_x86.h"

#include <immintrin.h>

#define SUMS 8 /* independent chains: more than the latencies of vmpsadbw and vpaddw in cycles */

uint64_t gpume_bench_loop_avx2(uint64_t rounds)
{
    __m256i sums[SUMS], target = _mm256_set1_epi8(3), places = _mm256_set1_epi8(5);
    for (int i = 0; i < SUMS; i++) {
        sums[i] = _mm256_setzero_si256();
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < SUMS; i++) {
            __asm__ volatile("" : "+x"(places)); /* the compiler must assume that they changed */
            sums[i] = _mm256_add_epi16(sums[i], _mm256_mpsadbw_epu8(places, target, 0));
        }
    }
    for (int i = 0; i < SUMS; i++) {
        __asm__ volatile("" : : "x"(sums[i])); /* keeps the sums alive */
    }
    return rounds * SUMS * 2 * 8 * 4; /* two lanes, eight places, four samples */
}
