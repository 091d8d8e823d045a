/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with AVX2. Candidates run in the order of the tie rule, and only a smaller cost
 * replaces the best, which begins as (0,0).
 */
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

static struct gpume_candidate match(const struct gpume_block *block)
{
    int32_t height = block->height;
    if (!is_narrow(block)) {
        return match_common(block);
    }
    switch (block->width) { /* constants, so that the loops unroll */
    case 4:
        return match_narrow(block, 4, height);
    case 8:
        return height == 8 ? match_narrow(block, 8, 8) : match_narrow(block, 8, height);
    case 12:
        return match_narrow(block, 12, height);
    default:
        return height == 16 ? match_narrow(block, 16, 16) : match_narrow(block, 16, height);
    }
}

static void search_row(const struct gpume_search_field *field, uint32_t row,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    search_columns(match, field, row, vectors, costs, counts);
}

static struct gpume_differences differences8(const uint8_t *a, const uint8_t *b, uint32_t count)
{
    return gpume_differences8(a, b, count);
}

static struct gpume_differences differences16(const uint16_t *a, const uint16_t *b, uint32_t count)
{
    return gpume_differences16(a, b, count);
}

static void box_row(
    const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row)
{
    gpume_box_row_any(boxes, padded, level, row);
}

static bool available(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct gpume_search gpume_search_avx2 = {.name = "avx2",
    .available = available,
    .row = search_row,
    .box_row = box_row,
    .differences8 = differences8,
    .differences16 = differences16};
