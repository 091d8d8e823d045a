/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with AVX2. Every lane is a dx and keeps its smallest cost and the first dy that has
 * it; the tie rule decides between lanes.
 */
#include "cpu/search/lanes_avx2.h"
#include "cpu/search/x86.h"

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

/* Costs of whole blocks, which 16 bits hold. Returns the number of dy: DYS or 1. */
static inline int32_t costs_of_block(__m256i sums[DYS], const struct part16 *part,
    const struct chunk16 *chunk, int32_t dy, int32_t width)
{
    if (part->count - dy < DYS) {
        costs_of_rows(sums, part, chunk, dy, 0, part->height, width, 1);
        return 1;
    }
    costs_of_rows(sums, part, chunk, dy, 0, part->height, width, DYS);
    return DYS;
}

static inline struct gpume_candidate match16_narrow(const struct gpume_block *block, int32_t width)
{
    struct chunk16 chunk;
    struct part16 part = {
        .target = block->target, .stride = block->stride, .height = block->height};
    struct gpume_candidate best = {.cost = cost_of16(block)};
    sum_own(&part, width);
    for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
        __m256i least = _mm256_set1_epi16(-1), least_dy = _mm256_setzero_si256(), sums[DYS];
        for (int32_t dy = block->dy_low; dy <= block->dy_high; dy += CHUNK16) {
            part.count = smaller(CHUNK16, block->dy_high - dy + 1);
            part.reference = (const uint16_t *)block->reference + dy * block->stride + dx;
            fill_chunk16(&chunk, &part, width);
            for (int32_t i = 0; i < part.count;) {
                int32_t dys = costs_of_block(sums, &part, &chunk, i, width);
                for (int32_t k = 0; k < dys; k++, i++) {
                    __m256i here = _mm256_set1_epi16((int16_t)(dy + i));
                    __m256i less = _mm256_min_epu16(sums[k], least);
                    __m256i kept = _mm256_cmpeq_epi16(less, least);
                    least_dy = _mm256_blendv_epi8(here, least_dy, kept);
                    least = less;
                }
            }
        }
        best = best_lane(best, least, least_dy, dx, block->dx_high);
    }
    return best;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct gpume_search gpume_search_avx2 = {.name = "avx2",
    .summary = "x86-64 with AVX2",
    .available = has_avx2,
    .span = search_span,
    .box_row = gpume_box_row_any,
    .differences8 = gpume_differences8,
    .differences16 = gpume_differences16,
    .general = &gpume_kernels_avx2};
