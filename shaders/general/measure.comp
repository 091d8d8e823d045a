/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the vectors of the first layer's blocks, or of the chosen ones: the predicted frame (if
 * asked for) and the sums of a task, reduced to one set of partial sums per workgroup, for
 * reduce.comp. Sums before are against the task's first reference.
 *
 * Grid: x = GPUME_REDUCE_GROUPS workgroups, fewer for small pictures, that stride over the
 * picture's quads, z = task. Shared memory: 10 words per invocation. Reads the measured surface and
 * results; writes predicted, partials.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"
#include "common/sums.glsl"

layout(constant_id = GPUME_SPEC_PREDICTED) const uint PREDICTED = 0;

layout(local_size_x = GPUME_REDUCE_LOCAL) in;
layout(push_constant) uniform Push { gpume_measure_push pc; };

/* The block that predicts a quad, and whether this is its first one. */
uint block_at(uvec2 at, uint z, out bool is_first)
{
    uvec2 size = uvec2(pc.cell_w, pc.cell_h), cell = at / size, inside = at % size;
    uint index = cell.y * pc.general.layer.blocks_x + cell.x;
    is_first = inside.x / 4u == 0u && inside.y == 0u;
    if (!has(General(pc.general.table).at.cells)) {
        return index;
    }
    uint block = words_of(General(pc.general.table).at.cells, z, pc.general.layer.blocks).at[index];
    is_first = is_first && (block & GPUME_CELL_FIRST) != 0u;
    return block & ~GPUME_CELL_FIRST;
}

/* The quad at `at` moved by a vector in one of the task's references. */
ivec4 match_at(uvec2 at, uint pair, uint vector)
{
    ivec2 v = unpack_vector(vector), whole = v >> UNITS_LOG2, fraction = v & (UNITS - 1);
    Quads plane = plane_of(General(pc.general.table).pairs[pair].measured_reference,
        uint(fraction.y * UNITS + fraction.x), pc.general.plane_quads);
    uint x = uint(int(at.x) + PAD_X + whole.x);
    uint line = uint(int(at.y) + WINDOW_Y + whole.y) * STRIDE + x / 4u;
    ivec4 a = unpack(plane.at[line]), b = unpack(plane.at[line + 1u]);
    return from_quads(a, b, x % 4u);
}

struct prediction {
    ivec4 samples;
    bool is_zero; /* without any motion */
};

prediction predict(uvec2 at, uint z, uint block)
{
    gpume_general_table table = General(pc.general.table).at;
    uint vector = words_of(table.vectors, z, KEPT * pc.general.layer.field_blocks).at[block];
    uint reference = 0u, reference2 = NONE;
    if (has(table.refs)) {
        reference = words_of(table.refs, z, pc.general.layer.field_blocks).at[block];
    }
    if (has(table.refs2)) {
        reference2 = words_of(table.refs2, z, pc.general.layer.field_blocks).at[block];
    }
    ivec4 match = match_at(at, z * REFERENCES + reference, vector);
    if (reference2 == NONE) {
        return prediction(match, vector == 0u);
    }
    uint vector2 = words_of(table.vectors2, z, pc.general.layer.field_blocks).at[block];
    ivec4 match2 = match_at(at, z * REFERENCES + reference2, vector2);
    return prediction((match + match2 + 1) >> 1, (vector | vector2) == 0u);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, z = gl_WorkGroupID.z;
    uint row_quads = (pc.general.layer.width + 3u) / 4u,
         quads = row_quads * pc.general.layer.height;
    gpume_general_pair first = General(pc.general.table).pairs[z * REFERENCES];
    Quads target = plane_of(first.measured_target, 0u, 0u);
    Quads reference = plane_of(first.measured_reference, 0u, 0u);
    uint zero = 0u, sad_before = 0u, sad_after = 0u; /* bound: GPUME_REDUCE_GROUPS */
    uvec2 sse_before = uvec2(0u), sse_after = uvec2(0u);

    uint step = gl_NumWorkGroups.x * GPUME_REDUCE_LOCAL;
    for (uint i = gl_WorkGroupID.x * GPUME_REDUCE_LOCAL + lane; i < quads; i += step) {
        uvec2 at = uvec2(i % row_quads * 4u, i / row_quads);
        bool is_first;
        uint block = block_at(at, z, is_first);
        prediction after = predict(at, z, block);
        uint line = (at.y + uint(WINDOW_Y)) * STRIDE + uint(PAD_X) / 4u + at.x / 4u;
        ivec4 t = unpack(target.at[line]), before = unpack(reference.at[line]);
        ivec4 visible =
            ivec4(lessThan(ivec4(at.x) + ivec4(0, 1, 2, 3), ivec4(pc.general.layer.width)));
        add_differences((t - before) * visible, sad_before, sse_before);
        add_differences((t - after.samples) * visible, sad_after, sse_after);
        zero += uint(is_first && after.is_zero);
        if (PREDICTED != 0u) {
            plane_of(General(pc.general.table).at.predicted, z, pc.predicted_quads)
                .at[at.y * pc.predicted_stride + at.x / 4u] = pack(after.samples * visible);
        }
    }

    sums[0][lane] = uvec2(zero, 0u);
    sums[1][lane] = uvec2(sad_before, 0u);
    sums[2][lane] = uvec2(sad_after, 0u);
    sums[3][lane] = sse_before;
    sums[4][lane] = sse_after;
    add_lanes(lane);
    if (lane < GPUME_SUM_WORDS) {
        uint index = (z * gl_NumWorkGroups.x + gl_WorkGroupID.x) * GPUME_SUM_WORDS + lane;
        Words(General(pc.general.table).at.partials).at[index] = sums[lane / 2u][0][lane % 2u];
    }
}
