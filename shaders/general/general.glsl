/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all kernels of the general search share: the plan's constants, memory by address, vectors as
 * they are stored. Include after common/shared.h.
 */
#include "general/shared.h"
#include "common/common.glsl"
#include "model/cost.h"

layout(constant_id = GPUME_SPEC_BLOCK_W) const int BLOCK_W = 8;
layout(constant_id = GPUME_SPEC_BLOCK_H) const int BLOCK_H = 8;
layout(constant_id = GPUME_SPEC_WINDOW_X) const int WINDOW_X = 7;
layout(constant_id = GPUME_SPEC_WINDOW_Y) const int WINDOW_Y = 7;
layout(constant_id = GPUME_SPEC_INSIDE) const uint INSIDE = 0;
layout(constant_id = GPUME_SPEC_UNITS_LOG2) const int UNITS_LOG2 = 0;
layout(constant_id = GPUME_SPEC_METRIC) const uint METRIC = GPUME_SPEC_METRIC_SAD;
layout(constant_id = GPUME_SPEC_COST_METRIC) const uint COST_METRIC = GPUME_SPEC_METRIC_SAD;
layout(constant_id = GPUME_SPEC_RATE) const uint RATE = 0;
layout(constant_id = GPUME_SPEC_LAMBDA) const uint LAMBDA = 0;
layout(constant_id = GPUME_SPEC_KEPT) const uint KEPT = 1;
layout(constant_id = GPUME_SPEC_CONFIDENCE) const uint CONFIDENCE = 0;
layout(constant_id = GPUME_SPEC_REFERENCES) const uint REFERENCES = 1;
layout(constant_id = GPUME_SPEC_STRIDE) const uint STRIDE = 1; /* quads per padded row */

#ifdef GPUME_WIDE
#define QUAD_ALIGN 8
#else
#define QUAD_ALIGN 4
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer General
{
    gpume_general_table at;
    gpume_general_pair pairs[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words
{
    uint at[];
};
layout(buffer_reference, std430, buffer_reference_align = QUAD_ALIGN) readonly buffer Quads
{
    QUAD at[];
};

const uint NONE = 0xffffffffu; /* GPUME_NONE */
const int UNITS = 1 << UNITS_LOG2;
const ivec2 BLOCK_SIZE = ivec2(BLOCK_W, BLOCK_H);
const int PAD_X = (WINDOW_X + 3) / 4 * 4;

/* The address of element `index`, of this many bytes each; index times bytes may pass 32 bits. */
uvec2 element(uvec2 address, uint index, uint bytes)
{
    uint high, low, carry;
    umulExtended(index, bytes, high, low);
    low = uaddCarry(address.x, low, carry);
    return uvec2(low, address.y + high + carry);
}

/* The same with 64 bits of index. */
uvec2 far_element(uvec2 address, uint rows, uint row, uint bytes)
{
    uint high, low, carry;
    umulExtended(rows, row, high, low);
    address = element(address, low, bytes);
    return uvec2(address.x, address.y + high * bytes);
}

/* Words of pair or task q, of an array that has `each` of them for one. */
Words words_of(uvec2 array, uint q, uint each)
{
    return Words(far_element(array, q, each, 4u));
}

/* A plane of a frame. */
Quads plane_of(uvec2 frame, uint plane, uint plane_quads)
{
    return Quads(far_element(frame, plane, plane_quads, QUAD_ALIGN));
}

/* Whether the plan wants this array. */
bool has(uvec2 array)
{
    return (array.x | array.y) != 0u;
}

ivec2 unpack_vector(uint word)
{
    return ivec2(bitfieldExtract(int(word), 0, 16), bitfieldExtract(int(word), 16, 16));
}

uint pack_vector(ivec2 v)
{
    return (uint(v.x) & 0xffffu) | uint(v.y) << 16;
}

uint order_of(ivec2 v)
{
    return gpume_order(v.x, v.y, WINDOW_X * UNITS, WINDOW_Y * UNITS);
}

uint bits_of(ivec2 v, uint predictor)
{
    ivec2 p = unpack_vector(predictor);
    return gpume_rate_bits(v.x, v.y, p.x, p.y);
}

/* What dispatches of gpume_slot_dispatch_many count workgroups by. */
uint group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
