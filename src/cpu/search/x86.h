/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the searches for x86-64 share, compiled in each of them for its own instruction set: the
 * search of a span, which selects a kernel for each block, and the kernels for unusual blocks.
 */
#ifndef GPUME_CPU_SEARCH_X86_H
#define GPUME_CPU_SEARCH_X86_H

#include "cpu/search/box_rows.h"
#include "cpu/search/elimination8.h"
#include "cpu/search/excess16_avx2.h"

#if defined(__AVX2__)

/* The including file defines these two for its instruction set: the best candidate of a block,
 * without elimination. width and height are the block's, mostly as constants. */

/* Where is_narrow: 8-bit samples. */
static inline struct gpume_candidate match_narrow(
    const struct gpume_block *block, int32_t width, int32_t height);

/* Where is_narrow16: 16-bit samples. */
static inline struct gpume_candidate match16_narrow(const struct gpume_block *block, int32_t width);

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

/* A block cut to a width that is not a multiple of 4: one candidate at a time. */
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

static struct gpume_candidate match(const struct gpume_block *block)
{
    int32_t height = block->height;
    if (!is_narrow(block)) {
        return match_common(block);
    }
    switch (block->width) { /* constants, so that the loops are unrolled */
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

/* largest: see largest_sample. */
static struct gpume_candidate match16(const struct gpume_block *block, uint32_t largest)
{
    if (!is_narrow16(block, largest)) {
        return match16_common(block, largest);
    }
    switch (block->width) {
    case 4:
        return match16_narrow(block, 4);
    case 8:
        return match16_narrow(block, 8);
    case 16:
        return match16_narrow(block, 16);
    default:
        return match16_narrow(block, block->width);
    }
}

#define LINE 64 /* bytes of a cache line */

/* Prefetches what the next row of blocks will read and this one does not, some of it with every
 * block. The processor does not prefetch it: the searches read few bytes of many rows. */
static inline void prefetch_below(
    const struct gpume_search_field *field, const struct gpume_block *block, uint32_t column)
{
    uint32_t bytes = field->plan->sample_bytes;
    uint32_t width = field->layer->block_w * bytes, height = field->layer->block_h;
    uint32_t apart = width < LINE ? LINE / width : 1; /* blocks that share a line */
    size_t stride = (size_t)block->stride * bytes;
    size_t below = height * stride, window = field->plan->params.window_y * stride;
    for (uint32_t row = column % apart; row < height; row += apart) {
        for (uint32_t at = 0; at < width; at += LINE) { /* no effect beyond the frame */
            uintptr_t offset = below + row * stride + at;
            __builtin_prefetch((const void *)((uintptr_t)block->target + offset));
            __builtin_prefetch((const void *)((uintptr_t)block->reference + window + offset));
        }
    }
}

static void search_span(const struct gpume_search_field *field, const struct gpume_span *span,
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
