/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search with AVX2. Candidates run in the order of the tie rule, and only a smaller cost
 * replaces the best, which begins as (0,0).
 */
#include "motion/box_rows.h"
#include "motion/elimination.h"
#include "motion/lanes_avx2.h"

/* The best of the lanes' bests by the tie rule. Lane i stands for dx + i; those above dx_high do
 * not count. */
static inline struct gpume_candidate best_lane(
    struct gpume_candidate best, __m256i costs, __m256i dys, int32_t dx, int32_t dx_high)
{
    uint16_t cost[LANES];
    int16_t dy[LANES];
    _mm256_storeu_si256((__m256i *)(void *)cost, costs);
    _mm256_storeu_si256((__m256i *)(void *)dy, dys);
    int32_t count = dx_high - dx + 1 < LANES ? dx_high - dx + 1 : LANES;
    for (int32_t i = 0; i < count; i++) {
        struct gpume_candidate candidate = {cost[i], dx + i, dy[i]};
        if (candidate.cost <= best.cost && gpume_candidate_wins(candidate, best)) {
            best = candidate;
        }
    }
    return best;
}

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

static struct gpume_candidate match_wide(const struct gpume_block *block)
{
    const uint8_t *r = block->reference;
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
            __m256i costs[2];
            wide_costs(block, r + dy * block->stride + dx, costs);
            uint32_t mask = below(costs, best.cost, block->dx_high - dx + 1);
            if (mask) {
                take(&best, costs, mask, dx, dy);
            }
        }
    }
    return best;
}

/* A block cut to a width that is no multiple of 4: one candidate at a time. */
static struct gpume_candidate match_any(const struct gpume_block *block)
{
    struct gpume_candidate best = {.cost = cost_of(block, 0, 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx++) {
            uint32_t cost = cost_of(block, dx, dy);
            if (cost < best.cost) {
                best = (struct gpume_candidate){cost, dx, dy};
            }
        }
    }
    return best;
}

static struct gpume_candidate match(const struct gpume_block *block)
{
    int32_t height = block->height;
    if (block->width % 4) {
        return match_any(block);
    }
    if (height > NARROW_MAX) {
        return match_wide(block);
    }
    switch (block->width) { /* constants, so that the loops unroll */
    case 4:
        return match_narrow(block, 4, height);
    case 8:
        return height == 8 ? match_narrow(block, 8, 8) : match_narrow(block, 8, height);
    case 12:
        return match_narrow(block, 12, height);
    case 16:
        return height == 16 ? match_narrow(block, 16, 16) : match_narrow(block, 16, height);
    default:
        return match_wide(block);
    }
}

static void search_row(const struct gpume_search_field *field, uint32_t row,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    if (field->plan->sample_bytes == 2) {
        gpume_search_plain.row(field, row, vectors, costs, counts);
        return;
    }
    for (uint32_t column = 0; column < field->plan->blocks_x; column++) {
        struct gpume_block block = gpume_block_at(field, column, row);
        struct gpume_candidate best;
        if (field->boxes && block.whole) {
            best = eliminate(field, &block, column, row, vectors, counts);
        } else {
            best = match(&block);
        }
        vectors[column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[column] = best.cost;
    }
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
