/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sum of an array (low word, high word), or its smallest element (value, index of the first).
 * A tree of pairs: Harris 2007, "Optimizing parallel reduction in CUDA"; integers, so that the
 * order of evaluation does not matter.
 *
 * A first dispatch leaves a pair for each workgroup, a second one of a single workgroup takes these
 * (ELEMENT 8) to one. Grid: x = workgroup. Shared memory: 8 bytes an invocation. Sums: at most
 * 2^32 elements below 2^32, so below 2^64.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "arrays/array.glsl"
#include "common/common.glsl"

layout(constant_id = GPUME_ARRAY_SPEC_MINIMUM) const uint MINIMUM = 0;

const uint AT_ONCE = 4u; /* quads whose loads are under way together */

shared uvec2 pairs[GPUME_ARRAY_LOCAL];

uvec2 combine(uvec2 a, uvec2 b)
{
    if (MINIMUM != 0u) {
        return b.x < a.x || (b.x == a.x && b.y < a.y) ? b : a;
    }
    add_sum(a, b);
    return a;
}

/* Sums of a quad: at most 16 * 255 or 8 * 65535, so that a word holds them. */
uvec2 take(uvec2 mine, uvec4 quad, uint index, uvec2 range)
{
    uint sum = 0u;
    [[unroll]] for (uint i = 0u; i < IN_QUAD; i++)
    {
        uint value = element_of(quad, i);
        bool counts = i >= range.x && i < range.y;
        if (MINIMUM != 0u) {
            uvec2 other = uvec2(value, index * IN_QUAD + i - pc.skip);
            mine = counts ? combine(mine, other) : mine;
        } else if (ELEMENT == 4u) {
            add_word(mine, counts ? value : 0u);
        } else {
            sum += counts ? value : 0u;
        }
    }
    add_word(mine, sum);
    return mine;
}

/* By tiles of AT_ONCE * GPUME_ARRAY_LOCAL quads side by side. */
uvec2 take_quads(uvec2 mine, uint lane)
{
    const uint tile = AT_ONCE * GPUME_ARRAY_LOCAL;
    Quads data = Quads(uvec2(pc.data[0], pc.data[1]));
    const uint step = gl_NumWorkGroups.x * tile;
    for (uint first = gl_WorkGroupID.x * tile; first < pc.quads; first += step) {
        uvec4 quads[AT_ONCE];
        [[unroll]] for (uint k = 0u; k < AT_ONCE; k++) {
            quads[k] = data.at[min(first + k * GPUME_ARRAY_LOCAL + lane, pc.quads - 1u)];
        }
        bool inside = first > 0u && first + tile < pc.quads;
        [[unroll]] for (uint k = 0u; k < AT_ONCE; k++) {
            uint index = first + k * GPUME_ARRAY_LOCAL + lane;
            if (inside) {
                mine = take(mine, quads[k], index, uvec2(0u, IN_QUAD));
            } else if (index < pc.quads) {
                mine = take(mine, quads[k], index, range_of(index));
            }
        }
    }
    return mine;
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uvec2 mine = MINIMUM != 0u ? uvec2(0xffffffffu) : uvec2(0u);
    if (ELEMENT == 8u) {
        Pairs data = Pairs(uvec2(pc.data[0], pc.data[1]));
        for (uint i = lane; i < pc.quads; i += GPUME_ARRAY_LOCAL) { /* one workgroup */
            mine = combine(mine, data.at[i]);
        }
    } else {
        mine = take_quads(mine, lane);
    }
    pairs[lane] = mine;
    for (uint half_count = GPUME_ARRAY_LOCAL / 2; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            pairs[lane] = combine(pairs[lane], pairs[lane + half_count]);
        }
    }
    if (lane == 0u) {
        Pairs(uvec2(pc.results[0], pc.results[1])).at[gl_WorkGroupID.x] = pairs[0];
    }
}
