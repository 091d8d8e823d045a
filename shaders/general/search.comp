/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidate pc.candidate of every block: the least (cost, order) among the places of the window
 * that lie two pixels or more, in x or y, from the candidates before it; whole pixels, or with FULL
 * every fraction.
 *
 * Grid: x and y count workgroups of LOCAL invocations, one per block; z = pair. Several dispatches
 * may share the places of a large window, with barriers between them: each but the first continues
 * from the best so far. Shared memory: 17 words per invocation, one per box of the block. Reads
 * the searched surface, sums of boxes and predictors; reads and writes PAIR_VECTORS, PAIR_COSTS,
 * PAIR_TIES; adds to COUNTS.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "common/shared.h"
#include "general/general.glsl"
#include "general/cost.glsl"
#include "general/places.glsl"
#include "general/bound.glsl"

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

#include "general/search.glsl"

/* Of the block: */
uint block;
Words vectors;

bool is_apart(ivec2 v)
{
    for (uint k = 0u; k < pc.candidate; k++) {
        ivec2 d = abs(v - unpack_vector(vectors.at[k * pc.layer.field_blocks + block]));
        if (max(d.x, d.y) < 2 * UNITS) {
            return false;
        }
    }
    return true;
}

bool is_candidate(ivec2 v)
{
    return allowed(comparison, v) && is_apart(v);
}

/* Adds to the task's 64-bit count of compared candidates. It is spread over slots, since atomics of
 * all workgroups on one word would be slow. */
void count_up(uvec2 counts, uint task, uint value)
{
    Words words = words_of(counts, task, GPUME_COUNT_BYTES / 4);
    uint slot = group_index() % GPUME_COUNT_SLOTS;
    uint at = slot * GPUME_COUNT_WORDS + GPUME_COUNT_PAST_PARTS * 2;
    uint before = atomicAdd(words.at[at], value);
    if (before + value < before) {
        atomicAdd(words.at[at + 1u], 1u);
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, index = pc.block_first + group_index();
    General general = General(pc.table);
    uint q = gl_WorkGroupID.z, all_blocks = pc.layer.field_blocks;
    /* uniform: the workgroup's block */
    if (index >= pc.block_end || general.pairs[q].exists == 0u) {
        return;
    }
    comparison = comparison_of(pc, general.pairs[q], index);
    boxes = general.pairs[q].reference_boxes;
    ranges = general.pairs[q].reference_ranges;
    block = pc.layer.first + index;
    vectors = words_of(general.at.pair_vectors, q, KEPT * all_blocks);
    Words costs = words_of(general.at.pair_costs, q, KEPT * all_blocks);
    Words ties = words_of(general.at.pair_ties, q, all_blocks);
    uint result = pc.candidate * all_blocks + block;
    predictor = 0u;
    if (RATE != 0u) {
        predictor = words_of(general.at.predictors, q, all_blocks).at[block];
    }
    if (pc.pruned != 0u) {
        load_target_sums(comparison, general.pairs[q].target_boxes, lane, LOCAL);
    }
    uvec3 best = search_block(pc.first > 0u ? costs.at[result] : NONE, lane);
    if (lane == 0u) {
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
        if (pc.pruned != 0u) {
            count_up(general.at.counts, q / REFERENCES, compared);
        }
    }
}
