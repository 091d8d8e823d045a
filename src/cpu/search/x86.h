/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the searches for x86-64 share, compiled in each of them for its own instruction set: blocks
 * of unusual shapes without elimination, and the way through a row of blocks.
 */
#ifndef GPUME_CPU_SEARCH_X86_H
#define GPUME_CPU_SEARCH_X86_H

#include "cpu/search/box_rows.h"
#include "cpu/search/elimination.h"
#include "cpu/search/excess16_avx2.h"

#if defined(__AVX2__)

typedef struct gpume_candidate (*match_fn)(const struct gpume_block *block);
typedef struct gpume_candidate (*match16_fn)(const struct gpume_block *block, uint32_t largest);

static inline bool is_narrow(const struct gpume_block *block)
{
    return block->width % 4 == 0 && block->width <= NARROW_MAX && block->height <= NARROW_MAX;
}

static inline struct gpume_candidate match_wide(const struct gpume_block *block)
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
static inline struct gpume_candidate match_any(const struct gpume_block *block)
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

/* Any block, without elimination. */
static inline struct gpume_candidate match_common(const struct gpume_block *block)
{
    return block->width % 4 ? match_any(block) : match_wide(block);
}

#define LINE 64 /* bytes that come into the cache together */

/* Asks for what the row of blocks below sees and this one does not, a part with every block. The
 * searches read too few bytes of too many rows for the processor to do so by itself. */
static inline void prefetch_below(
    const struct gpume_search_field *field, const struct gpume_block *block, uint32_t column)
{
    uint32_t bytes = field->plan->sample_bytes;
    uint32_t width = field->layer->block_w * bytes, height = field->layer->block_h;
    uint32_t apart = width < LINE ? LINE / width : 1; /* blocks that share a line */
    size_t stride = (size_t)block->stride * bytes;
    size_t below = height * stride, window = field->plan->params.window_y * stride;
    for (uint32_t row = column % apart; row < height; row += apart) {
        for (uint32_t at = 0; at < width; at += LINE) { /* beyond the frame: of no effect */
            uintptr_t offset = below + row * stride + at;
            __builtin_prefetch((const void *)((uintptr_t)block->target + offset));
            __builtin_prefetch((const void *)((uintptr_t)block->reference + window + offset));
        }
    }
}

/* match: without elimination. */
static inline void search_columns(match_fn match, match16_fn match16,
    const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    bool wide_samples = field->plan->sample_bytes == 2;
    uint32_t largest = wide_samples ? largest_sample(field, span) : 0;
    size_t first = (size_t)span->row * field->layer->blocks_x;
    for (uint32_t column = span->first; column < span->end; column++) {
        if (gpume_search_cancelled(field)) {
            return;
        }
        struct gpume_block block = gpume_block_at(field, column, span->row);
        struct gpume_candidate best;
        prefetch_below(field, &block, column);
        if (wide_samples) {
            best = match16(&block, largest);
        } else if (field->boxes && block.whole) {
            const struct gpume_vector *left =
                column > span->first ? &vectors[first + column - 1] : NULL;
            const struct gpume_vector *last = field->hints ? &field->hints[first + column] : NULL;
            best = eliminate(field, &block, left, last, counts);
        } else {
            best = match(&block);
        }
        vectors[first + column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[first + column] = best.cost;
    }
}

#endif
#endif
