/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidate pc.candidate of every block: the least (cost, order) among the places of the window
 * that lie two pixels or more, in x or y, from the candidates before it; whole pixels, or with FULL
 * every fraction.
 *
 * Grid: x and y count workgroups of LOCAL invocations, one per block; z = pair. The invocations
 * take turns at the places; each keeps its best, then the workgroup's best is found. Several
 * dispatches may share the places of a large window, with barriers between them: each but the first
 * continues from the best so far. Shared memory: 3 words per invocation. Reads the searched surface
 * and predictors; reads and writes PAIR_VECTORS, PAIR_COSTS, PAIR_TIES.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "general/general.glsl"
#include "general/cost.glsl"
#include "general/places.glsl"

layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

/* Cost, order, and how many other places have that cost. */
shared uvec3 bests[LOCAL];

uvec3 better(uvec3 a, uvec3 b)
{
    if (a.x == b.x && a.x != NONE) {
        return uvec3(a.x, min(a.y, b.y), a.z + b.z + 1u);
    }
    return a.x <= b.x ? a : b;
}

bool is_apart(Words vectors, uint block, ivec2 v)
{
    for (uint k = 0u; k < pc.candidate; k++) {
        ivec2 d = abs(v - unpack_vector(vectors.at[k * pc.layer.field_blocks + block]));
        if (max(d.x, d.y) < 2 * UNITS) {
            return false;
        }
    }
    return true;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, index = pc.block_first + group_index();
    General general = General(pc.table);
    uint q = gl_WorkGroupID.z, all_blocks = pc.layer.field_blocks;
    if (index >= pc.layer.blocks || general.pairs[q].exists == 0u) {
        return; /* the whole workgroup */
    }
    Comparison c = comparison_of(pc, general.pairs[q], index);
    uint block = pc.layer.first + index, result = pc.candidate * all_blocks + block;
    Words vectors = words_of(general.at.pair_vectors, q, KEPT * all_blocks);
    Words costs = words_of(general.at.pair_costs, q, KEPT * all_blocks);
    Words ties = words_of(general.at.pair_ties, q, all_blocks);
    uint predictor = 0u;
    if (RATE != 0u) {
        predictor = words_of(general.at.predictors, q, all_blocks).at[block];
    }

    uvec3 best = uvec3(NONE, NONE, 0u);
    for (uint i = pc.first + lane; i < pc.end; i += LOCAL) {
        ivec2 v = place_of(i);
        if (allowed(c, v) && is_apart(vectors, block, v)) {
            best = better(best, uvec3(cost_of(c, v, predictor), order_of(v), 0u));
        }
    }
    bests[lane] = best;
    for (uint half_count = LOCAL / 2u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            bests[lane] = better(bests[lane], bests[lane + half_count]);
        }
    }
    if (lane == 0u) {
        best = bests[0];
        bool counts = CONFIDENCE != 0u && pc.candidate == 0u;
        if (pc.first > 0u) {
            uint count = counts ? ties.at[block] : 0u;
            uvec2 earlier = uvec2(costs.at[result], order_of(unpack_vector(vectors.at[result])));
            best = better(best, uvec3(earlier, count));
        }
        vectors.at[result] = best.x == NONE ? 0u : pack_vector(vector_of(best.y));
        costs.at[result] = best.x;
        if (counts) {
            ties.at[block] = best.z;
        }
    }
}
