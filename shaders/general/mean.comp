/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mean of a past and a future match: one turn, in which one of the two vectors is searched anew
 * with the other fixed. What is found replaces the vector if the cost falls. Where it does not, the
 * block is settled, unless this was the first turn: both vectors have been searched with the other
 * one as it is. Where the mean costs less than the block's result, it becomes the result.
 *
 * Grid: x and y count workgroups of LOCAL invocations, one per block; z = task. Several dispatches
 * may share the places of a large window, with barriers between them: each but the first continues
 * from the best so far, and the last one refines it. Shared memory: 17 words per invocation, one
 * per box of the block, and 9. Reads the searched surface, sums of boxes and predictors; reads and
 * writes means and results.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#define GPUME_MEAN
#include "common/shared.h"
#include "general/general.glsl"
#include "general/cost.glsl"
#include "general/places.glsl"
#include "general/bound.glsl"
#include "general/means.glsl"

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(push_constant) uniform Push
{
    gpume_general_push pc;
    uint turn;    /* even: the past vector is searched anew, else the future one */
    uint is_last; /* of the turn's dispatches */
};

#include "general/search.glsl"

bool is_candidate(ivec2 v)
{
    return allowed(comparison, v);
}

bool wins(uvec2 a, uvec2 b)
{
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

const uint NEAR = 9u; /* a vector and its neighbours */
shared uint near_sums[NEAR];

/* The best of v and its neighbours at distance `reach`, as cost of a result and order; with reach 0
 * v alone. */
uvec2 best_near(ivec2 v, int reach, uint lane)
{
    uint count = reach > 0 ? NEAR : 1u, parts = max(LOCAL / count, 1u);
    uvec2 best = uvec2(NONE);
    barrier();
    if (lane < NEAR) {
        near_sums[lane] = 0u;
    }
    barrier();
    for (uint i = lane; i < count * parts; i += LOCAL) {
        ivec2 w = v + reach * (ivec2(i % count % 3u, i % count / 3u) - 1);
        if (is_candidate(w)) {
            atomicAdd(near_sums[i % count],
                difference_part(COST_METRIC, comparison, w, i / count, parts));
        }
    }
    barrier();
    for (uint i = 0u; i < count; i++) {
        ivec2 w = v + reach * (ivec2(i % 3u, i / 3u) - 1);
        uvec2 other = uvec2(near_sums[i] + price_of(comparison, w, predictor), order_of(w));
        if (is_candidate(w) && wins(other, best)) {
            best = other;
        }
    }
    return best;
}

uint predictor_of(uint q, uint block)
{
    return RATE == 0u
               ? 0u
               : words_of(General(pc.table).at.predictors, q, pc.layer.field_blocks).at[block];
}

/* The mean as the result of its block. */
void take(Mean mean, uint z, uint block, uint bits)
{
    uint blocks = pc.layer.field_blocks;
    gpume_general_table table = General(pc.table).at;
    words_of(table.costs, z, blocks).at[block] = mean.cost;
    words_of(table.refs, z, blocks).at[block] = mean.references[0];
    words_of(table.vectors, z, blocks).at[block] = mean.vectors[0];
    words_of(table.refs2, z, blocks).at[block] = mean.references[1];
    words_of(table.vectors2, z, blocks).at[block] = mean.vectors[1];
    if (RATE != 0u) {
        words_of(table.bits, z, blocks).at[block] = bits;
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, index = pc.block_first + group_index();
    uint z = gl_WorkGroupID.z, block = pc.layer.first + index, blocks = pc.layer.field_blocks;
    General general = General(pc.table);
    if (index >= pc.block_end) { /* uniform: the workgroup's block */
        return;
    }
    Means means = means_of(general.at.means, z, blocks);
    Mean mean = means.at[block];
    if (mean.is_settled != 0u) { /* uniform: written after the last barrier */
        return;
    }
    uint side = turn % 2u, q = z * REFERENCES + mean.references[side];
    uint other_q = z * REFERENCES + mean.references[1u - side];
    ivec2 other_vector = unpack_vector(mean.vectors[1u - side]);
    uint other_bits = bits_of(other_vector, predictor_of(other_q, block));
    predictor = predictor_of(q, block);
    boxes = general.pairs[q].reference_boxes;
    ranges = general.pairs[q].reference_ranges;
    comparison = comparison_of(pc, general.pairs[q], index);
    set_other(comparison, general.pairs[other_q].reference, other_vector, other_bits);
    if (pc.pruned != 0u) {
        load_target_sums(comparison, uvec2(0u), lane, LOCAL);
    }

    uvec2 found = pc.first > 0u ? mean.found : uvec2(NONE);
    bool begins = turn == 0u && pc.first == 0u; /* it has no cost yet */
    bool is_searched = false;
    int reach = is_last != 0u && FULL == 0u ? UNITS / 2 : 0;
    while (begins || !is_searched || reach > 0) { /* uniform: all three are */
        if (!begins && !is_searched) { /* uniform: both are */
            /* Refinement may lead below the cost from a place that is above it. */
            uint most = FULL != 0u || UNITS == 1 ? min(found.x, mean.cost) : found.x;
            uvec2 other = search_block(most, lane).xy;
            found = wins(other, found) ? other : found;
            is_searched = true;
            continue;
        }
        ivec2 v = begins ? unpack_vector(mean.vectors[side]) : vector_of(found.y);
        uvec2 near = best_near(v, begins ? 0 : reach, lane);
        if (begins) {
            mean.cost = near.x;
            begins = false;
        } else {
            found = near;
            reach /= 2;
        }
    }
    memoryBarrierBuffer(); /* all have read the mean */
    barrier();
    if (lane > 0u) {
        return;
    }
    mean.found = found;
    if (is_last != 0u) {
        bool falls = found.x < mean.cost;
        if (falls) {
            mean.cost = found.x;
            mean.vectors[side] = pack_vector(vector_of(found.y));
        }
        mean.is_settled = uint(turn > 0u && !falls);
        if (mean.cost < words_of(general.at.costs, z, blocks).at[block]) {
            uint bits = bits_of(unpack_vector(mean.vectors[side]), predictor);
            take(mean, z, block, bits + other_bits);
        }
    }
    means.at[block] = mean;
}
