/* SPDX-License-Identifier: BSD-2-Clause */
/* For test_compute: out[i] = SCALE * in[i] + add, for i below count. */
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint UNUSED = 1;
layout(constant_id = 1) const uint SCALE = 1;
layout(std430, binding = 0) readonly buffer In { uint from[]; };
layout(std430, binding = 1) writeonly buffer Out { uint to[]; };
layout(push_constant) uniform Push { uint count, add; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        to[i] = SCALE * UNUSED * from[i] + add;
    }
}
