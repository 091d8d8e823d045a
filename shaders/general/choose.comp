/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes every block's results from the pair of the first reference. Grid: one invocation per block
 * of all layers, z = task. No shared memory. Reads PAIR_* and predictors, writes results.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

void main()
{
    uint block = group_index() * GPUME_GENERAL_LOCAL + gl_LocalInvocationIndex;
    uint z = gl_WorkGroupID.z, q = z * REFERENCES, blocks = pc.layer.field_blocks;
    if (block >= blocks) {
        return;
    }
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
}
