/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One block as the fast searches see it: its place and the rectangle of its candidates. Both edge
 * modes reduce to such a rectangle, which always contains (0,0).
 */
#ifndef GPUME_CPU_SEARCH_BLOCK_H
#define GPUME_CPU_SEARCH_BLOCK_H

#include "base/base.h"
#include "cpu/search/search.h"
#include "model/cost.h"

struct gpume_block {
    const void *target, *reference; /* the block's first sample; the same place in the reference */
    ptrdiff_t stride;               /* samples */
    int32_t width, height;          /* visible */
    int32_t dx_low, dx_high, dy_low, dy_high;
    bool whole; /* not cut by the picture's edge */
};

static inline struct gpume_block gpume_block_at(
    const struct gpume_search_field *field, uint32_t column, uint32_t row)
{
    const struct gpume_plan *plan = field->plan;
    const struct gpume_params *p = &plan->params;
    const struct gpume_shape *layer = field->layer;
    bool inside = p->edge == GPUME_EDGE_INSIDE;
    uint32_t x = column * layer->block_w, y = row * layer->block_h;
    uint32_t width = gpume_min_u32(layer->block_w, p->width - x);
    uint32_t height = gpume_min_u32(layer->block_h, p->height - y);
    size_t offset = (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x;
    return (struct gpume_block){
        .target = (const uint8_t *)field->target + offset * plan->sample_bytes,
        .reference = (const uint8_t *)field->reference + offset * plan->sample_bytes,
        .stride = (ptrdiff_t)plan->padded_stride,
        .width = (int32_t)width,
        .height = (int32_t)height,
        .dx_low = -(int32_t)gpume_plan_reach(p->window_x, x, inside),
        .dx_high = (int32_t)gpume_plan_reach(p->window_x, p->width - width - x, inside),
        .dy_low = -(int32_t)gpume_plan_reach(p->window_y, y, inside),
        .dy_high = (int32_t)gpume_plan_reach(p->window_y, p->height - height - y, inside),
        .whole = width == layer->block_w && height == layer->block_h};
}

#endif
