/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * y = a * x + y for `count` floats. Invocation i of `total` takes elements i, i + total...: any
 * number of workgroups will do, and neighbouring invocations read neighbouring elements. Needs
 * count <= 60,000 * total: some drivers end an invocation at 65,535 iterations.
 */
#version 450
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; float a; };

void main()
{
    uint total = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += total) {
        /* precise: product and sum are rounded separately, as in the C loop, not fused. */
        precise float product = a * x[i];
        precise float sum = product + y[i];
        y[i] = sum;
    }
}
