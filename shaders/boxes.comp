/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sum of a quarter block's samples from every position of a padded frame, for sieve.comp. At
 * most 64 * 64 * 65535 < 2^28.
 *
 * Grid: x = column of sums, y = GPUME_BOX_ROWS of them downwards. No shared memory. Reads padded
 * frames, writes boxes.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "common.glsl"

layout(constant_id = GPUME_SPEC_BLOCK) const uint BLOCK = 8;
const uint BOX = BLOCK / 2u;

layout(local_size_x = GPUME_BOX_LOCAL) in;
layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) writeonly buffer Boxes { uint boxes[]; };
layout(push_constant) uniform Push { gpume_box_push pc; };

/* BOX samples of a row from sample x of the frame that starts at quad `base`. */
uint row_sum(uint base, uint row, uint x)
{
    uint line = base + row * pc.stride, sum = 0u;
    for (uint i = x; i < x + BOX;) {
        ivec4 s = unpack(padded[line + i / 4u]);
        uint skip = i & 3u, take = min(4u - skip, x + BOX - i);
        for (uint k = 0u; k < 4u; k++) {
            sum += k >= skip && k < skip + take ? uint(s[k]) : 0u;
        }
        i += take;
    }
    return sum;
}

void main()
{
    uint x = gl_GlobalInvocationID.x, first = gl_GlobalInvocationID.y * GPUME_BOX_ROWS;
    if (x >= pc.columns) {
        return;
    }
    uint base = pc.frame * pc.frame_quads, sum = 0u;
    for (uint y = first; y < first + BOX; y++) {
        sum += row_sum(base, y, x);
    }
    uint end = min(first + GPUME_BOX_ROWS, pc.rows);
    for (uint y = first; y < end; y++) {
        boxes[4u * (base + y * pc.stride) + x] = sum;
        if (y + 1u < end) {
            sum += row_sum(base, y + BOX, x) - row_sum(base, y, x);
        }
    }
}
