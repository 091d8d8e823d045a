/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * y = a * x + y, for `count` floats. One invocation takes every total-th element, total being the
 * number of invocations, so that any number of workgroups does the work; neighbours read
 * neighbours. Needs count <= 60,000 * total: some drivers end an invocation at 65,535 iterations.
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
        /* precise: the product is rounded, then the sum, as in the C loop; never both at once. */
        precise float product = a * x[i];
        precise float sum = product + y[i];
        y[i] = sum;
    }
}
