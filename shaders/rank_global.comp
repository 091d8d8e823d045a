/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step of the bitonic network whose partners lie a chunk or more apart.
 * Grid: x and y count workgroups of GPUME_RANK_LOCAL comparisons, z = field. No shared memory.
 * Reads and writes keys.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "rank_key.glsl"

layout(local_size_x = GPUME_RANK_LOCAL) in;
layout(std430, binding = 0) buffer Keys { KEY keys[]; };
layout(push_constant) uniform Push { gpume_rank_push pc; };

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uvec2 p = partners(group * GPUME_RANK_LOCAL + gl_LocalInvocationIndex, pc.reach, pc.flip);
    if (p.y >= pc.count) {
        return;
    }
    p += gl_WorkGroupID.z * pc.count;
    KEY low = keys[p.x], high = keys[p.y];
    if (precedes(high, low)) {
        keys[p.x] = high;
        keys[p.y] = low;
    }
}
