/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ceiling_x86.h"

#include <immintrin.h>

#define SUMS 8 /* independent chains: more than the latencies of vdbpsadbw and vpaddw in cycles */

uint64_t gpume_bench_loop_avx512(uint64_t rounds)
{
    __m512i sums[SUMS], target = _mm512_set1_epi8(3), places = _mm512_set1_epi8(5);
    for (int i = 0; i < SUMS; i++) {
        sums[i] = _mm512_setzero_si512();
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < SUMS; i++) {
            __asm__ volatile("" : "+v"(places)); /* the compiler must assume that they changed */
            sums[i] = _mm512_add_epi16(sums[i], _mm512_dbsad_epu8(target, places, 0x94));
        }
    }
    for (int i = 0; i < SUMS; i++) {
        __asm__ volatile("" : : "v"(sums[i])); /* keeps the sums alive */
    }
    return rounds * SUMS * 32 * 4; /* 32 places, four samples */
}
