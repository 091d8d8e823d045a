/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/shape.h"

#include "base/grid.h"
#include "model/cost.h"

struct gpume_shape gpume_shape_make(
    uint32_t width, uint32_t height, uint32_t block_w, uint32_t block_h, uint32_t sample_max)
{
    struct gpume_shape shape = {
        .block_w = block_w,
        .block_h = block_h,
        .blocks_x = (uint32_t)gpume_div_up(width, block_w),
        .blocks_y = (uint32_t)gpume_div_up(height, block_h),
    };
    /* The plan allows 2^32 pixels and blocks of 16 or more: at most 2^28 and a few cut ones. */
    shape.blocks = shape.blocks_x * shape.blocks_y;
    shape.cost_bits = gpume_bit_width(gpume_cost_max(block_w, block_h, sample_max));
    shape.index_bits = gpume_bit_width(shape.blocks - 1);
    return shape;
}
