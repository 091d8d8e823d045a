/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with AVX2. Candidates run in the order of the tie rule, and only a smaller cost
 * replaces the best, which begins as (0,0).
 */
#include "motion/ceiling.h"
#include "motion/search_x86.h"

static inline struct gpume_candidate match_narrow(
    const struct gpume_block *block, int32_t width, int32_t height)
{
    const uint8_t *c = block->target, *r = block->reference;
    ptrdiff_t stride = block->stride;
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        __m256i least = _mm256_set1_epi16(-1), least_dy = _mm256_setzero_si256();
        for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
            __m256i sum = narrow_costs(c, r + dy * stride + dx, stride, width, height);
            __m256i less = _mm256_min_epu16(sum, least);
            __m256i kept = _mm256_cmpeq_epi16(less, least);
            least_dy = _mm256_blendv_epi8(_mm256_set1_epi16((int16_t)dy), least_dy, kept);
            least = less;
        }
        best = best_lane(best, least, least_dy, dx, block->dx_high);
    }
    return best;
}

#include "motion/search_x86_rows.h"

static bool available(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct gpume_search gpume_search_avx2 = {.name = "avx2",
    .summary = "x86-64 with AVX2",
    .available = available,
    .span = search_span,
    .box_row = box_row,
    .differences8 = differences8,
    .differences16 = differences16,
    .ceiling = gpume_ceiling_avx2};
