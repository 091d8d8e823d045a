/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bitonic sorting network (Batcher 1968), the part inside one chunk of GPUME_RANK_CHUNK keys in
 * shared memory. from_costs: makes the keys and sorts the chunk from nothing; otherwise merges:
 * the steps of reach < chunk that follow rank_global.comp. to_ranks: writes the ranks instead of
 * the keys.
 *
 * Grid: x and y = chunk of the field, z = field. Shared memory: GPUME_RANK_CHUNK keys (8 KiB at
 * most). Reads costs or keys, writes keys or ranks.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "rank_key.glsl"

layout(local_size_x = GPUME_RANK_LOCAL) in;
layout(std430, binding = 0) readonly buffer Costs { uint costs[]; };
layout(std430, binding = 1) buffer Keys { KEY keys[]; };
layout(std430, binding = 2) writeonly buffer Ranks { uint ranks[]; };
layout(push_constant) uniform Push { gpume_rank_push pc; };

shared KEY chunk[GPUME_RANK_CHUNK];

void compare_all(uint count, uint reach, uint flip)
{
    for (uint i = gl_LocalInvocationIndex; i < GPUME_RANK_CHUNK / 2; i += GPUME_RANK_LOCAL) {
        uvec2 p = partners(i, reach, flip);
        if (p.y < count && precedes(chunk[p.y], chunk[p.x])) {
            KEY swap = chunk[p.x];
            chunk[p.x] = chunk[p.y];
            chunk[p.y] = swap;
        }
    }
    barrier();
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint first = group * GPUME_RANK_CHUNK, base = gl_WorkGroupID.z * pc.count;
    uint count = first < pc.count ? min(GPUME_RANK_CHUNK, pc.count - first) : 0u;
    for (uint i = gl_LocalInvocationIndex; i < count; i += GPUME_RANK_LOCAL) {
        chunk[i] = pc.from_costs != 0u
                       ? key_of(costs[base + first + i], first + i, pc.index_bits)
                       : keys[base + first + i];
    }
    barrier();
    uint size = pc.from_costs != 0u ? 2u : GPUME_RANK_CHUNK;
    for (; size <= GPUME_RANK_CHUNK; size *= 2u) {
        uint flip = pc.from_costs;
        for (uint reach = size / 2u; reach > 0u; reach /= 2u) {
            compare_all(count, reach, flip);
            flip = 0u;
        }
    }
    for (uint i = gl_LocalInvocationIndex; i < count; i += GPUME_RANK_LOCAL) {
        if (pc.to_ranks != 0u) {
            ranks[base + block_of(chunk[i], pc.index_bits)] = first + i;
        } else {
            keys[base + first + i] = chunk[i];
        }
    }
}
