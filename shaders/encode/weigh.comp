/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What blocks cost that are predicted from a weighted reference: at the same place, and where their
 * vectors in the plain reference lead.
 *
 * Grid: x counts workgroups along a row of blocks, y rows, z pairs of frames. Workgroup: a duo for
 * each block, of which one follows the vectors. Shared memory: a word per invocation. Reads the
 * frames; BLOCKS has the vectors, in quarter pixels, and gets the SATD at the same place and, in
 * the upper half, that by the vectors.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "encode/shared.h"
#include "encode/block.glsl"

layout(local_size_x = GPUME_ENCODE_LOCAL) in;

const uint DUO = GPUME_ENCODE_DUO, DUOS = GPUME_ENCODE_LOCAL / DUO;

shared uint found[GPUME_ENCODE_LOCAL];

/* Column x of a row by the weight: H.264 8.4.2.3. */
int weigh(uvec2 row, uint x, uint weight)
{
    int sample_value = int((x < 4u ? row.x >> 8u * x : row.y >> 8u * (x - 4u)) & 0xffu);
    int scale = int(weight >> 8u & 0xffu), denominator = int(weight >> 16u);
    int scaled = (sample_value * scale + (1 << denominator >> 1)) >> denominator;
    return clamp(scaled + int(weight & 0xffu) - 128, 0, 255);
}

/* Of two samples whose mean is a match. */
int weigh_match(uvec2 a, uvec2 b, uint x, uint weight)
{
    return (weigh(a, x, weight) + weigh(b, x, weight) + 1) >> 1;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, member = lane % DUO;
    uvec2 at = uvec2(gl_WorkGroupID.x * DUOS + lane / DUO, gl_WorkGroupID.y);
    bool live = at.x < pc.blocks_x;
    at.x = min(at.x, pc.blocks_x - 1u);
    uint block = pc.word + own_block(at);
    gpume_encode_task task = own_task();
    uint corner = 8u * (at.y * pc.stride + at.x);
    uvec2 match =
        match_of(task.past + corner, member == 1u ? unpack_vector(blocks[block]) : ivec2(0));
    int d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(task.target + corner, y);
        uvec2 a = load_row(match.x + y * pc.stride), b = load_row(match.y + y * pc.stride);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            d[4u * y + x] = column_pair(row, x) - weigh_match(a, b, x, task.weight) -
                            (weigh_match(a, b, x + 4u, task.weight) << 16);
        }
    }
    found[lane] = satd_of(d);
    barrier();
    if (live && member == 0u) {
        blocks[block] = found[lane] | found[lane + 1u] << 16u;
    }
}
