/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texture of blocks: the sum of absolute differences between neighbouring samples, to the right
 * and below, both of them visible and in the block. At most 2 * 128 * 128 * 65535 < 2^32.
 *
 * Grid: x and y = block of the layer, z = task. Shared memory: a word per invocation. Reads the
 * measured surface; writes texture.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

shared uint sums[GPUME_GENERAL_LOCAL];

/* What the quad at (x,y) adds in a block that ends before `end`. */
uint texture_of(Quads plane, uvec2 at, uvec2 end)
{
    uint line = (at.y + uint(WINDOW_Y)) * STRIDE + uint(PAD_X) / 4u + at.x / 4u;
    ivec4 here = unpack(plane.at[line]);
    ivec4 right = ivec4(here.yzw, unpack(plane.at[line + 1u]).x);
    ivec4 below = at.y + 1u < end.y ? unpack(plane.at[line + STRIDE]) : here;
    uvec4 x = at.x + uvec4(0u, 1u, 2u, 3u);
    uvec4 differences = uvec4(lessThan(x + 1u, uvec4(end.x))) * uvec4(abs(right - here)) +
                        uvec4(lessThan(x, uvec4(end.x))) * uvec4(abs(below - here));
    return differences.x + differences.y + differences.z + differences.w;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, block = group_index(), z = gl_WorkGroupID.z;
    if (block >= pc.layer.blocks) { /* uniform: the workgroup's block */
        return;
    }
    ivec2 place = ivec2(block % pc.layer.blocks_x, block / pc.layer.blocks_x) * BLOCK_SIZE;
    uvec2 corner = uvec2(place);
    uvec2 end = uvec2(min(place + BLOCK_SIZE, ivec2(pc.layer.width, pc.layer.height)));
    Quads plane = plane_of(General(pc.table).pairs[z * REFERENCES].measured_target, 0u, 0u);
    uint quads_x = (end.x - corner.x + 3u) / 4u, quads = quads_x * (end.y - corner.y);
    uint sum = 0u;
    for (uint i = lane; i < quads; i += GPUME_GENERAL_LOCAL) {
        sum += texture_of(plane, corner + uvec2(i % quads_x * 4u, i / quads_x), end);
    }
    sums[lane] = sum;
    for (uint half_count = GPUME_GENERAL_LOCAL / 2u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            sums[lane] += sums[lane + half_count];
        }
    }
    if (lane == 0u) {
        words_of(General(pc.table).at.texture, z, pc.layer.field_blocks)
            .at[pc.layer.first + block] = sums[0];
    }
}
