/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from whole-pixel ones, as src/encode/costs.h says.
 *
 * Grid: x counts workgroups along a row of blocks, y rows, z pairs of frames. Workgroup: a team for
 * each block, whose members compare the eight neighbours of a vector. Shared memory: a word per
 * invocation. Reads the frames; BLOCKS has whole-pixel vectors and gets ranks.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "encode/shared.h"
#include "encode/block.glsl"

layout(local_size_x = GPUME_ENCODE_LOCAL) in;

const uint TEAM = GPUME_ENCODE_TEAM;
const int LIMIT = GPUME_ENCODE_LIMIT;
const uint NONE = 0xffffffffu;

shared uint offers[GPUME_ENCODE_LOCAL];

/* The better candidate is smaller: SATD, 15 bits (satd.h); then (0,0), then dy, then dx. */
uint rank_of(uint satd, ivec2 v)
{
    uint moves = v == ivec2(0) ? 0u : 1u;
    return satd << 17u | moves << 16u | uint(v.y + LIMIT) << 8u | uint(v.x + LIMIT);
}

ivec2 vector_of(uint rank)
{
    return ivec2(rank & 0xffu, rank >> 8u & 0xffu) - LIMIT;
}

uint compare(uint target, uint reference, ivec2 v)
{
    uvec2 match = match_of(reference, v);
    int d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(target, y), other = load_match_row(match, y);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            d[4u * y + x] = column_pair(row, x) - column_pair(other, x);
        }
    }
    return rank_of(satd_of(d), v);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, team = lane / TEAM, member = lane % TEAM;
    uvec2 at = uvec2(gl_WorkGroupID.x * (GPUME_ENCODE_LOCAL / TEAM) + team, gl_WorkGroupID.y);
    bool live = at.x < pc.blocks_x;
    at.x = min(at.x, pc.blocks_x - 1u);
    uint block = pc.word + own_block(at);
    gpume_encode_task task = own_task();
    uint corner = 8u * (at.y * pc.stride + at.x);
    uint target = task.target + corner, reference = task.past + corner;

    uint best = compare(target, reference, 4 * unpack_vector(blocks[block]));
    uint ninth = member < 4u ? member : member + 1u; /* of the places around it; 4 is the centre */
    ivec2 around = ivec2(ninth % 3u, ninth / 3u) - 1;
    for (int reach = 2; reach > 0; reach--) {
        ivec2 v = vector_of(best) + around * reach;
        bool allowed = all(lessThanEqual(abs(v), ivec2(LIMIT)));
        uint offer = compare(target, reference, allowed ? v : ivec2(0));
        barrier();
        offers[lane] = allowed ? offer : NONE;
        barrier();
        for (uint i = 0u; i < TEAM; i++) {
            best = min(best, offers[team * TEAM + i]);
        }
    }
    if (live && member == 0u) {
        blocks[block] = best;
    }
}
