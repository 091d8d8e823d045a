/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step of a bitonic network whose partners lie a chunk or more apart. An invocation makes one
 * comparison. Grid: x and y count workgroups of comparisons, z = segment. No shared memory. Reads
 * and writes pairs (key, place).
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"
#include "arrays/sort_network.glsl"

layout(local_size_x = GPUME_BITONIC_LOCAL) in;

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    uint i = group_number() * GPUME_BITONIC_LOCAL + gl_LocalInvocationIndex;
    uvec2 p = partners(i, pc.reach, (pc.steps & GPUME_BITONIC_FLIP) != 0u);
    if (p.y >= segment.y) {
        return;
    }
    p += segment.x;
    Pairs keys = Pairs(pc.counts);
    uvec2 low = keys.pair[p.x], high = keys.pair[p.y];
    if (precedes(high, low)) {
        keys.pair[p.x] = high;
        keys.pair[p.y] = low;
    }
}
