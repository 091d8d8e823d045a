/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rest of a search for x86-64 once it has its match_narrow(block, width, height), and for
 * 16-bit samples match16_narrow(block, width), which is asked where is_narrow16: to be included
 * after them. Gives what struct gpume_search wants: search_span, box_row, differences8 and 16.
 */
#ifndef GPUME_CPU_SEARCH_X86_ROWS_H
#define GPUME_CPU_SEARCH_X86_ROWS_H

#include "cpu/search/x86.h"

#if defined(__AVX2__)

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

/* largest: of largest_sample. */
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

static void search_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    search_columns(match, match16, field, span, vectors, costs, counts);
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

#endif

#endif
