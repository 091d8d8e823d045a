/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain search and the plain kernels of the general search: loops over all candidates that
 * define the right answer.
 */
#include "base/base.h"
#include "cpu/general/plain.h"
#include "cpu/search/search.h"
#include "model/cost.h"

/* The place of a block: the sample offset of its upper left corner in a padded frame, and its
 * visible size. */
struct visible_block {
    size_t offset;
    uint32_t x, y, width, height;
};

/* 32 bits hold the cost: see gpume_cost_max. Inlined, so that the compiler can unroll loops of a
 * constant width. */
#define DEFINE_COST(name, sample)                                                                  \
    static inline uint32_t name(                                                                   \
        const sample *a, const sample *b, size_t stride, uint32_t width, uint32_t height)          \
    {                                                                                              \
        uint32_t sum = 0;                                                                          \
        for (uint32_t y = 0; y < height; y++) {                                                    \
            for (uint32_t x = 0; x < width; x++) {                                                 \
                sum += gpume_cost_of_sample(a[x], b[x]);                                           \
            }                                                                                      \
            a += stride;                                                                           \
            b += stride;                                                                           \
        }                                                                                          \
        return sum;                                                                                \
    }
DEFINE_COST(cost8, uint8_t)
DEFINE_COST(cost16, uint16_t)

static uint32_t cost_of(const struct gpume_plan *plan, const struct visible_block *block,
    const void *target, const void *reference, int32_t dx, int32_t dy)
{
    size_t stride = plan->padded_stride;
    ptrdiff_t shift = (ptrdiff_t)dy * (ptrdiff_t)stride + dx;
    if (plan->sample_bytes == 2) {
        const uint16_t *a = (const uint16_t *)target + block->offset;
        const uint16_t *b = (const uint16_t *)reference + block->offset + shift;
        return cost16(a, b, stride, block->width, block->height);
    }
    const uint8_t *a = (const uint8_t *)target + block->offset;
    const uint8_t *b = (const uint8_t *)reference + block->offset + shift;
    switch (block->width) { /* constants for the common widths */
    case 8:
        return cost8(a, b, stride, 8, block->height);
    case 16:
        return cost8(a, b, stride, 16, block->height);
    default:
        return cost8(a, b, stride, block->width, block->height);
    }
}

/* Whether the whole match lies inside the picture. */
static bool is_inside(
    const struct gpume_params *p, const struct visible_block *block, int32_t dx, int32_t dy)
{
    int64_t x = (int64_t)block->x + dx, y = (int64_t)block->y + dy;
    return x >= 0 && y >= 0 && x + block->width <= p->width && y + block->height <= p->height;
}

static struct gpume_candidate best_match(const struct gpume_plan *plan,
    const struct visible_block *block, const void *target, const void *reference)
{
    const struct gpume_params *p = &plan->params;
    int32_t wx = (int32_t)p->window_x, wy = (int32_t)p->window_y;
    struct gpume_candidate best = {.cost = cost_of(plan, block, target, reference, 0, 0)};
    for (int32_t dy = -wy; dy <= wy; dy++) {
        for (int32_t dx = -wx; dx <= wx; dx++) {
            if (p->edge == GPUME_EDGE_INSIDE && !is_inside(p, block, dx, dy)) {
                continue;
            }
            struct gpume_candidate candidate = {
                cost_of(plan, block, target, reference, dx, dy), dx, dy};
            if (gpume_candidate_wins(candidate, best)) {
                best = candidate;
            }
        }
    }
    return best;
}

static void plain_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    (void)counts; /* no candidate is eliminated */
    const struct gpume_plan *plan = field->plan;
    const struct gpume_params *p = &plan->params;
    const struct gpume_shape *layer = field->layer;
    size_t first = (size_t)span->row * layer->blocks_x;
    for (uint32_t column = span->first; column < span->end; column++) {
        if (gpume_search_cancelled(field)) {
            return;
        }
        struct visible_block block = {
            .x = column * layer->block_w, .y = span->row * layer->block_h};
        block.width = gpume_min_u32(layer->block_w, p->width - block.x);
        block.height = gpume_min_u32(layer->block_h, p->height - block.y);
        block.offset =
            (size_t)(plan->pad_y + block.y) * plan->padded_stride + plan->pad_x + block.x;
        struct gpume_candidate best = best_match(plan, &block, field->target, field->reference);
        vectors[first + column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[first + column] = best.cost;
    }
}

static bool is_always_available(void)
{
    return true;
}

const struct gpume_general_kernels gpume_kernels_plain = {.bounds = GPUME_BOUNDS,
    .sum_rows = sum_rows,
    .distortions = GPUME_DISTORTIONS(sad8, satd8),
    .fraction_rows = fraction_rows};

const struct gpume_search gpume_search_plain = {.name = "plain",
    .summary = "portable C, every candidate in full; defines the answer",
    .available = is_always_available,
    .span = plain_span,
    .differences8 = gpume_differences8,
    .differences16 = gpume_differences16,
    .general = &gpume_kernels_plain};
