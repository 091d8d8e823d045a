/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mean of a past and a future match: one turn, in which one of the two vectors is searched anew
 * with the other fixed. What is found replaces the vector if the cost falls. Where it does not, the
 * block is settled, unless this was the first turn: both vectors have been searched with the other
 * one as it is. Where the mean costs less than the block's result, it becomes the result.
 *
 * Grid: x and y count workgroups of LOCAL invocations, one per block; z = task. The invocations
 * take turns at the places of the window. Dispatches may share the places out, with a barrier
 * between them: all but the first continue from the best so far, and the last one refines it.
 * Shared memory: 2 words per invocation. Reads the searched surface and predictors; reads and
 * writes means and results.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#define GPUME_MEAN
#include "common/shared.h"
#include "general/general.glsl"
#include "general/cost.glsl"
#include "general/means.glsl"
#include "general/places.glsl"

layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64; /* a power of 2, 16 or more */

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(push_constant) uniform Push { gpume_mean_push pc; };

shared uvec2 offers[LOCAL]; /* cost, order */

bool wins(uvec2 a, uvec2 b)
{
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

/* The best of all invocations' offers, for all of them. */
uvec2 best_offer(uvec2 offer)
{
    uint lane = gl_LocalInvocationIndex;
    barrier();
    offers[lane] = offer;
    for (uint half_count = LOCAL / 2u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count && wins(offers[lane + half_count], offers[lane])) {
            offers[lane] = offers[lane + half_count];
        }
    }
    barrier();
    return offers[0];
}

uvec2 offer_of(Comparison c, ivec2 v, uint predictor)
{
    return uvec2(cost_of(c, v, predictor), order_of(v));
}

uvec2 search(Comparison c, uint predictor)
{
    uvec2 best = uvec2(NONE);
    for (uint i = pc.general.first + gl_LocalInvocationIndex; i < pc.general.end; i += LOCAL) {
        ivec2 v = place_of(i);
        if (allowed(c, v)) {
            uvec2 offer = offer_of(c, v, predictor);
            best = wins(offer, best) ? offer : best;
        }
    }
    return best_offer(best);
}

/* The best of a vector and its eight neighbours, at half a pixel, then at a quarter. */
uvec2 refine(Comparison c, uint predictor, uvec2 best)
{
    uint lane = gl_LocalInvocationIndex;
    for (int reach = FULL != 0u ? 0 : UNITS / 2; reach > 0; reach /= 2) {
        ivec2 v = vector_of(best.y) + (ivec2(lane % 3u, lane / 3u) - 1) * reach;
        uvec2 offer = uvec2(NONE);
        if (lane < 9u && allowed(c, v)) {
            offer = offer_of(c, v, predictor);
        }
        best = best_offer(offer);
    }
    return best;
}

uint predictor_of(uint q, uint block)
{
    return RATE == 0u
               ? 0u
               : words_of(General(pc.general.table).at.predictors, q, pc.general.layer.field_blocks)
                     .at[block];
}

/* The mean as the result of its block. */
void take(Mean mean, uint z, uint block, uint bits)
{
    uint blocks = pc.general.layer.field_blocks;
    gpume_general_table table = General(pc.general.table).at;
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
    uint index = pc.general.block_first + group_index(), z = gl_WorkGroupID.z;
    uint block = pc.general.layer.first + index, blocks = pc.general.layer.field_blocks;
    General general = General(pc.general.table);
    if (index >= pc.general.layer.blocks) {
        return; /* the whole workgroup, here and below */
    }
    Means means = means_of(general.at.means, z, blocks);
    Mean mean = means.at[block];
    if (mean.is_settled != 0u) {
        return;
    }
    uint side = pc.turn % 2u, other = 1u - side;
    uint q = z * REFERENCES + mean.references[side];
    uint other_q = z * REFERENCES + mean.references[other];
    uint predictor = predictor_of(q, block);
    Comparison c = comparison_of(pc.general, general.pairs[q], index);
    ivec2 fixed_vector = unpack_vector(mean.vectors[other]);
    uint fixed_bits = bits_of(fixed_vector, predictor_of(other_q, block));
    set_other(c, general.pairs[other_q].reference, fixed_vector, fixed_bits);

    uvec2 found = search(c, predictor);
    if (pc.general.first > 0u && wins(mean.found, found)) {
        found = mean.found;
    }
    bool is_last = pc.general.end == pc.places;
    if (is_last) {
        found = refine(c, predictor, found);
    }
    memoryBarrierBuffer(); /* all have read the mean */
    barrier();
    if (gl_LocalInvocationIndex > 0u) {
        return;
    }
    mean.found = found;
    if (is_last) {
        if (pc.turn == 0u) {
            mean.cost = cost_of(c, unpack_vector(mean.vectors[side]), predictor);
        }
        bool falls = found.x < mean.cost;
        if (falls) {
            mean.cost = found.x;
            mean.vectors[side] = pack_vector(vector_of(found.y));
        }
        mean.is_settled = uint(pc.turn > 0u && !falls);
        if (mean.cost < words_of(general.at.costs, z, blocks).at[block]) {
            uint bits = bits_of(unpack_vector(mean.vectors[side]), predictor) + fixed_bits;
            take(mean, z, block, bits);
        }
    }
    means.at[block] = mean;
}
