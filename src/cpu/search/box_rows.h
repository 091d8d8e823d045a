/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Box sums as plain loops for the compiler's vectors. Each implementation of the search compiles
 * them for its own instruction set. A call makes one row of one level. Rows may be made in any
 * order, but a level only after the level that it is made of.
 */
#ifndef GPUME_CPU_SEARCH_BOX_ROWS_H
#define GPUME_CPU_SEARCH_BOX_ROWS_H

#include "cpu/search/boxes.h"

/* 4x4 sums: first sums of 4 samples in a column, then of 4 neighbouring columns, in place: entry x
 * reads x .. x + 3. The last three entries keep their columns, as the frame ends there. */
static inline void gpume_box_row4(
    const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t row)
{
    size_t stride = boxes->stride;
    const uint8_t *p = padded + row * stride;
    uint16_t *sums = boxes->sums[0] + row * stride;
    for (size_t x = 0; x < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + stride] + p[x + 2 * stride] + p[x + 3 * stride]);
    }
    for (size_t x = 0; x + 3 < stride; x++) {
        sums[x] = (uint16_t)(sums[x] + sums[x + 1] + sums[x + 2] + sums[x + 3]);
    }
}

/* Each box of four boxes of the level below, which are half as wide and high. */
static inline void gpume_box_row_double(
    const struct gpume_boxes *boxes, uint32_t level, uint32_t row)
{
    size_t stride = boxes->stride, step = boxes->sizes[level - 1];
    const uint16_t *restrict p = boxes->sums[level - 1] + row * stride;
    uint16_t *restrict sums = boxes->sums[level] + row * stride;
    const uint16_t *restrict q = p + step * stride;
    for (size_t x = 0; x + step < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + step] + q[x] + q[x + step]);
    }
}

/* Each 12x12 sum of nine 4x4 sums. */
static inline void gpume_box_row12(const struct gpume_boxes *boxes, uint32_t level, uint32_t row)
{
    size_t stride = boxes->stride;
    const uint16_t *restrict p = boxes->sums[0] + row * stride;
    uint16_t *restrict sums = boxes->sums[level] + row * stride;
    const uint16_t *restrict q = p + 4 * stride, *restrict r = p + 8 * stride;
    for (size_t x = 0; x + 8 < stride; x++) {
        sums[x] = (uint16_t)(p[x] + p[x + 4] + p[x + 8] + q[x] + q[x + 4] + q[x + 8] + r[x] +
                             r[x + 4] + r[x + 8]);
    }
}

static inline void gpume_box_row_any(
    const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row)
{
    if (level == 0) {
        gpume_box_row4(boxes, padded, row);
    } else if (boxes->sizes[level] == 12) {
        gpume_box_row12(boxes, level, row);
    } else {
        gpume_box_row_double(boxes, level, row);
    }
}

#endif
