/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from coarse ones, as src/encode/costs.h says.
 *
 * Grid: x counts workgroups along a row of blocks, y rows, z pairs of frames. Workgroup: a team for
 * each block, whose members share the comparisons. Shared memory: a word per invocation. Reads the
 * frames; BLOCKS has the coarse vectors and gets ranks.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "encode/shared.h"
#include "encode/block.glsl"

layout(local_size_x = GPUME_ENCODE_LOCAL) in;

const uint TEAM = GPUME_ENCODE_TEAM;
const int LIMIT = GPUME_ENCODE_LIMIT;
const uint NONE = 0xffffffffu, NEAREST = 4u;

shared uint offers[GPUME_ENCODE_LOCAL];

/* The better candidate is smaller: SAD or SATD, 15 bits (satd.h); then (0,0), then dy, then dx. */
uint rank_of(uint difference, ivec2 v)
{
    uint moves = v == ivec2(0) ? 0u : 1u;
    return difference << 17u | moves << 16u | uint(v.y + LIMIT) << 8u | uint(v.x + LIMIT);
}

ivec2 vector_of(uint rank)
{
    return ivec2(rank & 0xffu, rank >> 8u & 0xffu) - LIMIT;
}

uint compare(uint target, uint reference, ivec2 v, bool by_satd)
{
    uvec2 match = match_of(reference, v);
    int d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(target, y), other = load_match_row(match, y);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            d[4u * y + x] = column_pair(row, x) - column_pair(other, x);
        }
    }
    return rank_of(by_satd ? satd_of(d) : sad_of(d), v);
}

/* The best of what the members of a team offer. */
uint best_of_team(uint offer)
{
    uint lane = gl_LocalInvocationIndex, first = lane - lane % TEAM, best = NONE;
    barrier();
    offers[lane] = offer;
    barrier();
    for (uint i = 0u; i < TEAM; i++) {
        best = min(best, offers[first + i]);
    }
    return best;
}

/* The vectors that a block begins with: those of the four coarse blocks nearest to it, or (0,0). In
 * quarter pixels. */
ivec2 first_vector(uvec2 at, uint i)
{
    uvec2 count = (uvec2(pc.blocks_x, pc.blocks_y) + 1u) / 2u;
    ivec2 side = ivec2(at & 1u) * 2 - 1; /* towards the second nearest coarse block */
    ivec2 place = ivec2(at / 2u) + side * ivec2(i & 1u, i >> 1u & 1u);
    uvec2 inside = uvec2(clamp(place, ivec2(0), ivec2(count) - 1));
    uint word = pc.more + (gl_WorkGroupID.z * count.y + inside.y) * count.x + inside.x;
    return i < NEAREST ? 8 * unpack_vector(blocks[word]) : ivec2(0);
}

/* What a member offers at this place, if it lies in the window. */
uint offer_at(uint target, uint reference, ivec2 v, bool by_satd)
{
    bool allowed = all(lessThanEqual(abs(v), ivec2(LIMIT)));
    uint offer = compare(target, reference, allowed ? v : ivec2(0), by_satd);
    return allowed ? offer : NONE;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, team = lane / TEAM, member = lane % TEAM;
    uvec2 at = uvec2(gl_WorkGroupID.x * (GPUME_ENCODE_LOCAL / TEAM) + team, gl_WorkGroupID.y);
    bool live = at.x < pc.blocks_x;
    at.x = min(at.x, pc.blocks_x - 1u);
    gpume_encode_task task = own_task();
    uint corner = 8u * (at.y * pc.stride + at.x);
    uint target = task.target + corner, reference = task.past + corner;

    uint ninth = member < 4u ? member : member + 1u; /* of the places around one; 4 is the centre */
    ivec2 around = ivec2(ninth % 3u, ninth / 3u) - 1;
    uint own = offer_at(target, reference, first_vector(at, member), false);
    for (uint i = 0u; i <= NEAREST; i++) {
        own = min(own, offer_at(target, reference, first_vector(at, i) + 4 * around, false));
    }
    uint best = compare(target, reference, vector_of(best_of_team(own)), true);
    own = offer_at(target, reference, vector_of(best) + 2 * around, true);
    best = min(best, best_of_team(own));
    ivec2 beside = ivec2(1, 0) * (int(member & 1u) * 2 - 1); /* two members compare each of four */
    own = offer_at(
        target, reference, vector_of(best) + ((member & 2u) == 0u ? beside : beside.yx), true);
    best = min(best, best_of_team(own));
    if (live && member == 0u) {
        blocks[pc.word + own_block(at)] = best;
    }
}
