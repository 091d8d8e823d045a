/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows every block's vector: the predicted frame (if asked for) and the sums of a task, reduced
 * to one set of partial sums per workgroup.
 *
 * Grid: x = GPUME_REDUCE_GROUPS workgroups, fewer for small pictures, that stride over the band's
 * quads, z = task. Shared memory: 10 words per invocation. Reads target, reference, vectors; writes
 * predicted, partials.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "common/sums.glsl"
#include "common/task.glsl"

layout(constant_id = GPUME_SPEC_BLOCK_W) const uint BLOCK_W = 8;
layout(constant_id = GPUME_SPEC_BLOCK_H) const uint BLOCK_H = 8;
layout(constant_id = GPUME_SPEC_WINDOW_X) const int WINDOW_X = 7;
layout(constant_id = GPUME_SPEC_WINDOW_Y) const int WINDOW_Y = 7;
layout(constant_id = GPUME_SPEC_PREDICTED) const uint PREDICTED = 0;

layout(local_size_x = GPUME_REDUCE_LOCAL) in;
layout(std430, binding = 0) readonly buffer Target { QUAD target[]; };
layout(std430, binding = 1) readonly buffer Reference { QUAD reference[]; };
layout(std430, binding = 2) readonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) writeonly buffer Partials { uint partials[]; };
layout(std430, binding = 4) writeonly buffer Predicted { QUAD predicted[]; };
layout(push_constant) uniform Push { gpume_predict_push pc; };

const int PAD_X = (WINDOW_X + 3) / 4 * 4;

/* Four reference samples from sample position x (any alignment) of the row at quad address
 * `line`. */
ivec4 samples_from(uint line, uint x)
{
    ivec4 a = unpack(reference[line + x / 4u]), b = unpack(reference[line + x / 4u + 1u]);
    return from_quads(a, b, x % 4u);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, z = gl_WorkGroupID.z;
    uint to = target_of(pc.frames, z);
    uint from = reference_of(pc.frames, z);
    uint row_quads = (pc.layer.width + 3u) / 4u;
    uint quads = row_quads * (pc.row_end - pc.row_first);
    uint zero = 0u, sad_before = 0u, sad_after = 0u; /* bound: GPUME_REDUCE_GROUPS */
    uvec2 sse_before = uvec2(0u), sse_after = uvec2(0u);

    uint step = gl_NumWorkGroups.x * GPUME_REDUCE_LOCAL;
    for (uint i = gl_WorkGroupID.x * GPUME_REDUCE_LOCAL + lane; i < quads; i += step) {
        uint y = pc.row_first + i / row_quads, quad = i % row_quads;
        uint block = y / BLOCK_H * pc.layer.blocks_x + quad / (BLOCK_W / 4u);
        uint packed = vectors[z * pc.layer.field_blocks + pc.layer.first + block];
        int dx = bitfieldExtract(int(packed), 0, 16), dy = bitfieldExtract(int(packed), 16, 16);
        uint line = (y + uint(WINDOW_Y)) * pc.frames.stride;
        ivec4 t = unpack(target[to + line + quad + uint(PAD_X) / 4u]);
        ivec4 before = unpack(reference[from + line + quad + uint(PAD_X) / 4u]);
        uint match_line = from + uint(int(y) + WINDOW_Y + dy) * pc.frames.stride;
        ivec4 match = samples_from(match_line, uint(int(4u * quad) + PAD_X + dx));
        ivec4 visible = mix(ivec4(0), ivec4(1),
            lessThan(ivec4(4u * quad) + ivec4(0, 1, 2, 3), ivec4(pc.layer.width)));
        add_differences((t - before) * visible, sad_before, sse_before);
        add_differences((t - match) * visible, sad_after, sse_after);
        zero += uint(packed == 0u && y % BLOCK_H == 0u && quad % (BLOCK_W / 4u) == 0u);
        if (PREDICTED != 0u) {
            predicted[z * pc.predicted_quads + (y - pc.row_first) * pc.predicted_stride + quad] =
                pack(match * visible);
        }
    }

    sums[0][lane] = uvec2(zero, 0u);
    sums[1][lane] = uvec2(sad_before, 0u);
    sums[2][lane] = uvec2(sad_after, 0u);
    sums[3][lane] = sse_before;
    sums[4][lane] = sse_after;
    add_lanes(lane);
    if (lane < GPUME_SUM_WORDS) {
        uint index = z * pc.partials + pc.partial_first + gl_WorkGroupID.x;
        partials[index * GPUME_SUM_WORDS + lane] = sums[lane / 2u][0][lane % 2u];
    }
}
