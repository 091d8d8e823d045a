/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes every block's results from the pair where it costs least, the first of equals; and notes
 * the best match on either side of the target, if means of them are wanted.
 *
 * Grid: x and y count workgroups of one invocation per block of all layers, z = task. No shared
 * memory. Reads PAIR_* and predictors; writes results and means.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"
#include "general/means.glsl"

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

void take(uint z, uint reference, uint block)
{
    uint q = z * REFERENCES + reference, blocks = pc.layer.field_blocks;
    gpume_general_table table = General(pc.table).at;
    for (uint k = 0u; k < KEPT; k++) {
        uint index = k * blocks + block;
        uint vector = words_of(table.pair_vectors, q, KEPT * blocks).at[index];
        words_of(table.vectors, z, KEPT * blocks).at[index] = vector;
        words_of(table.costs, z, KEPT * blocks).at[index] =
            words_of(table.pair_costs, q, KEPT * blocks).at[index];
        if (RATE != 0u) {
            uint predictor = words_of(table.predictors, q, blocks).at[block];
            words_of(table.bits, z, KEPT * blocks).at[index] =
                bits_of(unpack_vector(vector), predictor);
        }
    }
    if (CONFIDENCE != 0u) {
        words_of(table.ties, z, blocks).at[block] = words_of(table.pair_ties, q, blocks).at[block];
    }
    if (has(table.refs)) {
        words_of(table.refs, z, blocks).at[block] = reference;
    }
}

/* The mean starts from the best past and the best future match. */
void start_mean(uint z, uint block, uint sides[2])
{
    uint blocks = pc.layer.field_blocks;
    gpume_general_table table = General(pc.table).at;
    Mean mean;
    mean.is_settled = 0u;
    mean.cost = NONE;
    mean.found = uvec2(NONE);
    for (uint side = 0u; side < 2u; side++) {
        uint reference = sides[side], q = z * REFERENCES + (reference == NONE ? 0u : reference);
        mean.references[side] = reference;
        mean.vectors[side] = words_of(table.pair_vectors, q, KEPT * blocks).at[block];
        mean.is_settled |= uint(reference == NONE);
    }
    means_of(table.means, z, blocks).at[block] = mean;
    words_of(table.refs2, z, blocks).at[block] = NONE;
    words_of(table.vectors2, z, blocks).at[block] = 0u;
}

void main()
{
    uint block = group_index() * GPUME_GENERAL_LOCAL + gl_LocalInvocationIndex;
    uint z = gl_WorkGroupID.z, blocks = pc.layer.field_blocks, best = 0u;
    if (block >= blocks) {
        return;
    }
    uint best_cost = NONE, sides[2] = uint[2](NONE, NONE), costs[2] = uint[2](NONE, NONE);
    for (uint i = 0u; i < REFERENCES; i++) {
        uint q = z * REFERENCES + i;
        gpume_general_pair pair = General(pc.table).pairs[q];
        uint cost = words_of(General(pc.table).at.pair_costs, q, KEPT * blocks).at[block];
        if (pair.exists != 0u && cost < best_cost) {
            best_cost = cost;
            best = i;
        }
        if (pair.exists != 0u && cost < costs[pair.future]) {
            costs[pair.future] = cost;
            sides[pair.future] = i;
        }
    }
    take(z, best, block);
    if (has(General(pc.table).at.means)) {
        start_mean(z, block, sides);
    }
}
