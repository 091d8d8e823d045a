/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What blocks cost that are predicted by the mean of their matches in two references: those that
 * vectors lead to, and those at the same place.
 *
 * Grid: x counts workgroups along a row of blocks, y rows, z frames with two references each.
 * Workgroup: a duo for each block, of which one follows the vectors. Shared memory: a word per
 * invocation. Reads the frames; BLOCKS has the vectors in the past and in the future references, in
 * quarter pixels. In place of the former it gets the SATD by the vectors, bit 15 set if one is not
 * (0,0), and above it the SATD at the same place.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "encode/shared.h"
#include "encode/block.glsl"

layout(local_size_x = GPUME_ENCODE_LOCAL) in;

const uint DUO = GPUME_ENCODE_DUO, DUOS = GPUME_ENCODE_LOCAL / DUO;

shared uint found[GPUME_ENCODE_LOCAL];

void main()
{
    uint lane = gl_LocalInvocationIndex, member = lane % DUO;
    uvec2 at = uvec2(gl_WorkGroupID.x * DUOS + lane / DUO, gl_WorkGroupID.y);
    bool live = at.x < pc.blocks_x;
    at.x = min(at.x, pc.blocks_x - 1u);
    uint block = own_block(at);
    gpume_encode_task task = own_task();
    uint corner = 8u * (at.y * pc.stride + at.x);
    uint past_word = member == 0u ? blocks[pc.word + block] : 0u;
    uint future_word = member == 0u ? blocks[pc.more + block] : 0u;
    uvec2 past = match_of(task.past + corner, unpack_vector(past_word));
    uvec2 future = match_of(task.future + corner, unpack_vector(future_word));
    uint rest = GPUME_ENCODE_SHARES - task.past_share;
    int d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(task.target + corner, y);
        uvec2 a = load_match_row(past, y), b = load_match_row(future, y);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            /* both columns at once: at most 64 * 255 + 32 in each half */
            uint sums = uint(column_pair(a, x)) * task.past_share + uint(column_pair(b, x)) * rest;
            d[4u * y + x] = column_pair(row, x) - int(sums + 0x00200020u >> 6u & 0x00ff00ffu);
        }
    }
    found[lane] = satd_of(d) | ((past_word | future_word) != 0u ? 0x8000u : 0u);
    barrier();
    if (live && member == 0u) {
        blocks[pc.word + block] = found[lane] | found[lane + 1u] << 16u;
    }
}
