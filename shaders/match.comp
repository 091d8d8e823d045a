/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search: for every block the candidate with the smallest (cost, order).
 *
 * Grid: x and y count workgroups of GPUME_MATCH_LOCAL / TEAM blocks, z = field of the batch. A
 * team of TEAM invocations shares one block and takes turns at its jobs: a job is four
 * neighbouring dx at one dy, from one pass over the block's rows. Jobs of a wide window are split
 * over several dispatches, each of which starts from the best of the one before; a barrier lies
 * between them.
 *
 * Shared memory: 2 words an invocation. Access: reads target and reference, reads and writes
 * vectors and costs.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "common.glsl"
#include "search.glsl"

layout(constant_id = GPUME_SPEC_SIEVED) const uint SIEVED = 0;
layout(constant_id = GPUME_SPEC_TEAM) const uint TEAM = 64;

layout(local_size_x = GPUME_MATCH_LOCAL) in;
layout(std430, binding = 0) readonly buffer Target { QUAD target[]; };
layout(std430, binding = 1) readonly buffer Reference { QUAD reference[]; };
layout(std430, binding = 2) buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) buffer Costs { uint costs[]; };
layout(std430, binding = 4) readonly buffer Todo { uint todo[]; };
layout(push_constant) uniform Push { gpume_match_push pc; };

shared uint team_cost[GPUME_MATCH_LOCAL];
shared uint team_order[GPUME_MATCH_LOCAL];

const uint DX_QUADS = uint(PAD_X + WINDOW_X + 1 + 3) / 4;

/* Costs of four neighbouring candidates; each at most 128 * 128 * 65535 < 2^31. `to`, `from`:
 * quad addresses of the block and of its leftmost match; tail: visible samples of the last quad,
 * if cut. */
ivec4 sad_quad(uint to, uint from, uint rows, uint quads, uint tail)
{
    ivec4 sums = ivec4(0);
    for (uint y = 0; y < rows; y++) {
        ivec4 left = unpack(reference[from]);
        for (uint x = 0; x < quads; x++) {
            ivec4 right = unpack(reference[from + x + 1u]);
            ivec4 t = unpack(target[to + x]);
            sums += abs(t.x - left);
            sums += abs(t.y - ivec4(left.yzw, right.x));
            sums += abs(t.z - ivec4(left.zw, right.xy));
            sums += abs(t.w - ivec4(left.w, right.xyz));
            left = right;
        }
        if (tail > 0u) {
            ivec4 right = unpack(reference[from + quads + 1u]);
            ivec4 t = unpack(target[to + quads]);
            sums += abs(t.x - left);
            sums += tail > 1u ? abs(t.y - ivec4(left.yzw, right.x)) : ivec4(0);
            sums += tail > 2u ? abs(t.z - ivec4(left.zw, right.xy)) : ivec4(0);
        }
        to += pc.pair.stride;
        from += pc.pair.stride;
    }
    return sums;
}

void search(uint block, uint member, inout uint best_cost, inout uint best_order)
{
    ivec2 at = ivec2(block % pc.blocks_x, block / pc.blocks_x) * int(BLOCK);
    ivec2 size = min(ivec2(BLOCK), ivec2(pc.width, pc.height) - at);
    uint z = gl_GlobalInvocationID.z;
    uint to = pc.pair.target_base +
              ((pc.pair.target_frame + z) % pc.pair.ring) * pc.pair.frame_quads +
              uint(at.y + WINDOW_Y) * pc.pair.stride + uint(at.x + PAD_X) / 4u;
    uint from = pc.pair.reference_base +
                ((pc.pair.reference_frame + z) % pc.pair.ring) * pc.pair.frame_quads +
                uint(at.y) * pc.pair.stride + uint(at.x) / 4u;
    for (uint job = pc.job_first + member; job < pc.job_end; job += TEAM) {
        uint dy_index = job / DX_QUADS, dx_quad = job % DX_QUADS;
        int dy = int(dy_index) - WINDOW_Y, dx = 4 * int(dx_quad) - PAD_X;
        ivec4 sums = sad_quad(to, from + dy_index * pc.pair.stride + dx_quad, uint(size.y),
            uint(size.x) / 4u, uint(size.x) % 4u);
        for (int i = 0; i < 4; i++) {
            uint order = order_of(dx + i, dy);
            if (allowed(at, size, ivec2(pc.width, pc.height), dx + i, dy) &&
                wins(uint(sums[i]), order, best_cost, best_order)) {
                best_cost = uint(sums[i]);
                best_order = order;
            }
        }
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, member = lane % TEAM;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint block = pc.block_first + group * (GPUME_MATCH_LOCAL / TEAM) + lane / TEAM;
    uint out_index = gl_GlobalInvocationID.z * pc.blocks + block;
    bool live = block < pc.block_end && (SIEVED == 0u || todo[out_index] != 0u);

    uint best_cost = 0xffffffffu, best_order = 0xffffffffu;
    if (live) {
        search(block, member, best_cost, best_order);
        if (member == 0u && pc.job_first > 0u) {
            int dx = bitfieldExtract(int(vectors[out_index]), 0, 16);
            int dy = bitfieldExtract(int(vectors[out_index]), 16, 16);
            uint cost = costs[out_index], order = order_of(dx, dy);
            if (wins(cost, order, best_cost, best_order)) {
                best_cost = cost;
                best_order = order;
            }
        }
    }
    team_cost[lane] = best_cost;
    team_order[lane] = best_order;
    for (uint step = TEAM / 2u; step > 0u; step /= 2u) {
        barrier();
        if (member < step && wins(team_cost[lane + step], team_order[lane + step], team_cost[lane],
                                 team_order[lane])) {
            team_cost[lane] = team_cost[lane + step];
            team_order[lane] = team_order[lane + step];
        }
    }
    if (live && member == 0u) {
        vectors[out_index] = vector_of(team_order[lane]);
        costs[out_index] = team_cost[lane];
    }
}
