/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds the partial sums of predict.comp. Grid: one workgroup per task (x). Shared memory: 10 words
 * per invocation. Reads partials, writes sums.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "common/sums.glsl"

layout(local_size_x = GPUME_REDUCE_LOCAL) in;
layout(std430, binding = 0) readonly buffer Partials { uvec2 partials[]; };
layout(std430, binding = 1) writeonly buffer Totals { uvec2 totals[]; };
layout(push_constant) uniform Push { gpume_reduce_push pc; };

void main()
{
    uint lane = gl_LocalInvocationIndex, field = gl_WorkGroupID.x;
    for (uint s = 0u; s < GPUME_SUMS; s++) {
        uvec2 sum = uvec2(0u);
        for (uint i = lane; i < pc.partials; i += GPUME_REDUCE_LOCAL) {
            add_sum(sum, partials[(field * pc.partials + i) * GPUME_SUMS + s]);
        }
        sums[s][lane] = sum;
    }
    add_lanes(lane);
    if (lane < GPUME_SUMS) {
        totals[(field * pc.layers + pc.layer) * GPUME_SUMS + lane] = sums[lane][0];
    }
}
