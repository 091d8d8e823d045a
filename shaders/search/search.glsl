/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the search kernels share: the plan's constants, the tie rule as a number, which candidates
 * count, and vectors as they are stored. Include after common.glsl.
 */
#include "model/cost.h"

layout(constant_id = GPUME_SPEC_BLOCK_W) const uint BLOCK_W = 8;
layout(constant_id = GPUME_SPEC_BLOCK_H) const uint BLOCK_H = 8;
layout(constant_id = GPUME_SPEC_WINDOW_X) const int WINDOW_X = 7;
layout(constant_id = GPUME_SPEC_WINDOW_Y) const int WINDOW_Y = 7;
layout(constant_id = GPUME_SPEC_INSIDE) const uint INSIDE = 0;

const uvec2 BLOCK_SIZE = uvec2(BLOCK_W, BLOCK_H);
const int PAD_X = (WINDOW_X + 3) / 4 * 4;

uint order_of(int dx, int dy) { return gpume_order(dx, dy, WINDOW_X, WINDOW_Y); }

/* Where block `block` of task z has its results. */
uint result_index(gpume_layer_push layer, uint z, uint block)
{
    return z * layer.field_blocks + layer.first + block;
}

bool wins(uint cost, uint order, uint best_cost, uint best_order)
{
    return cost < best_cost || (cost == best_cost && order < best_order);
}

bool allowed(ivec2 at, ivec2 size, ivec2 picture, int dx, int dy)
{
    if (abs(dx) > WINDOW_X) {
        return false;
    }
    ivec2 low = at + ivec2(dx, dy);
    return INSIDE == 0u || (all(greaterThanEqual(low, ivec2(0))) &&
                               all(lessThanEqual(low + size, picture)));
}

/* The vector of an order number, packed as dx in the low and dy in the high half. */
uint vector_of(uint order)
{
    int index = int(order) - 1, span = 2 * WINDOW_X + 1;
    ivec2 v = order == 0u ? ivec2(0) : ivec2(index % span - WINDOW_X, index / span - WINDOW_Y);
    return (uint(v.x) & 0xffffu) | uint(v.y) << 16;
}
