/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The predictor of every block of a layer: the median of the vectors that the pass before found for
 * the blocks to the left, above, and above to the right (above to the left in the last column). A
 * missing one is (0,0); where there is one alone, it is that one.
 *
 * Grid: x and y count workgroups of one invocation per block, z = pair. No shared memory. Reads
 * PAIR_VECTORS, writes predictors.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_general_push pc; };

ivec2 median(ivec2 a, ivec2 b, ivec2 c)
{
    return max(min(a, b), min(max(a, b), c));
}

void main()
{
    uint index = group_index() * GPUME_GENERAL_LOCAL + gl_LocalInvocationIndex;
    uint q = gl_WorkGroupID.z, all_blocks = pc.layer.field_blocks, across = pc.layer.blocks_x;
    General general = General(pc.table);
    if (index >= pc.layer.blocks || general.pairs[q].exists == 0u) {
        return;
    }
    Words vectors = words_of(general.at.pair_vectors, q, KEPT * all_blocks);
    uint column = index % across, block = pc.layer.first + index;
    bool has_left = column > 0u, has_above = index >= across, has_right = column + 1u < across;
    ivec2 left = ivec2(0), above = ivec2(0), corner = ivec2(0);
    if (has_left) {
        left = unpack_vector(vectors.at[block - 1u]);
    }
    if (has_above) {
        above = unpack_vector(vectors.at[block - across]);
    }
    if (has_above && across > 1u) {
        uint corner_block = has_right ? block - across + 1u : block - across - 1u;
        corner = unpack_vector(vectors.at[corner_block]);
    }
    ivec2 predictor = median(left, above, corner);
    if (!has_above) {
        predictor = left; /* alone, or (0,0) */
    } else if (across == 1u) {
        predictor = above;
    }
    words_of(general.at.predictors, q, all_blocks).at[block] = pack_vector(predictor);
}
