/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refines vectors: the best by COST_METRIC of a vector and its eight neighbours half a pixel away,
 * then the same a quarter of a pixel away.
 *
 * Grid: x and y count workgroups of LOCAL invocations, eight for each vector: the kept candidates
 * of one block, then those of the next; z = pair. Shared memory: 2 words per invocation. Reads the
 * searched surface and predictors; reads and writes PAIR_VECTORS and PAIR_COSTS.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "general/general.glsl"
#include "general/cost.glsl"

layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

layout(constant_id = GPUME_SPEC_WHOLE) const uint WHOLE = 0;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

shared uvec2 offers[LOCAL]; /* cost, vector */

void main()
{
    uint lane = gl_LocalInvocationIndex, team = lane / 8u, member = lane % 8u;
    uint job = group_index() * (LOCAL / 8u) + team, index = pc.block_first + job / pc.end;
    General general = General(pc.table);
    uint q = gl_WorkGroupID.z, all_blocks = pc.layer.field_blocks;
    if (general.pairs[q].exists == 0u) { /* uniform: the workgroup's pair */
        return;
    }
    bool live = index < pc.block_end;
    index = min(index, pc.block_end - 1u);
    Comparison c = comparison_of(pc, general.pairs[q], index);
    uint block = pc.layer.first + index, result = job % pc.end * all_blocks + block;
    Words vectors = words_of(general.at.pair_vectors, q, KEPT * all_blocks);
    Words costs = words_of(general.at.pair_costs, q, KEPT * all_blocks);
    uint predictor = 0u;
    if (RATE != 0u) {
        predictor = words_of(general.at.predictors, q, all_blocks).at[block];
    }
    ivec2 best = unpack_vector(vectors.at[result]) * (WHOLE != 0u ? UNITS : 1);
    uint best_cost = costs.at[result];
    live = live && best_cost != NONE;
    if (live && COST_METRIC != METRIC) {
        best_cost = cost_of(c, best, predictor);
    }

    uint ninth = member < 4u ? member : member + 1u; /* of the places around it; 4 is the centre */
    ivec2 around = ivec2(ninth % 3u, ninth / 3u) - 1;
    for (int reach = UNITS / 2; reach > 0; reach /= 2) {
        ivec2 v = best + around * reach;
        uvec2 offer = uvec2(NONE, 0u);
        if (live && allowed(c, v)) {
            offer = uvec2(cost_of(c, v, predictor), pack_vector(v));
        }
        barrier();
        offers[lane] = offer;
        barrier();
        for (uint i = 0u; i < 8u; i++) {
            uvec2 other = offers[team * 8u + i];
            ivec2 w = unpack_vector(other.y);
            if (other.x < best_cost || (other.x == best_cost && other.x != NONE &&
                                           order_of(w) < order_of(best))) {
                best_cost = other.x;
                best = w;
            }
        }
    }
    if (live && member == 0u) {
        vectors.at[result] = pack_vector(best);
        costs.at[result] = best_cost;
    }
}
