/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sum of a square of samples at every position of a padded frame, cut to 11 bits, for
 * sieve.comp: half floats, two to a word. At most 64 * 64 * 65535 < 2^28 before the cut.
 *
 * Grid: x = quad of columns, y = GPUME_BOX_ROWS rows downwards, z = frame of the batch. No shared
 * memory. Reads padded frames, writes sums.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "common.glsl"

layout(constant_id = GPUME_SPEC_BOX) const uint BOX = 8;
layout(constant_id = GPUME_SPEC_BOX_SHIFT) const uint BOX_SHIFT = 0;
layout(constant_id = GPUME_SPEC_BITS) const uint BITS = 8;

layout(local_size_x = GPUME_BOX_LOCAL) in;
layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) writeonly buffer Sums { uvec2 sums[]; };
layout(push_constant) uniform Push { gpume_box_push pc; };

/* Memory may hold samples beyond their depth. Cut to it they differ by no more than before, so that
 * bounds from their sums hold. */
ivec4 samples_at(uint quad)
{
    return min(unpack(padded[quad]), ivec4((1 << BITS) - 1));
}

/* Sums of BOX samples of a row from each sample of a quad. Quads past the last are not read: only
 * sums that lie wholly inside the frame mean anything. */
ivec4 row_sums(uint quad, uint past)
{
    ivec4 first = samples_at(quad), next = first;
    int sum = 0;
    for (uint i = 0u; i < BOX / 4u; i++) {
        ivec4 s = i == 0u ? first : samples_at(min(quad + i, past));
        sum += s.x + s.y + s.z + s.w;
    }
    if (BOX % 4u != 0u) { /* half a quad: BOX is even */
        ivec4 s = BOX < 4u ? first : samples_at(min(quad + BOX / 4u, past));
        ivec4 t = samples_at(min(quad + BOX / 4u + 1u, past));
        sum += s.x + s.y;
        next = ivec4(s.zw, t.xy);
    } else {
        next = samples_at(min(quad + BOX / 4u, past));
    }
    ivec3 change = next.xyz - first.xyz;
    return sum + ivec4(0, change.x, change.x + change.y, change.x + change.y + change.z);
}

void main()
{
    uint x = gl_GlobalInvocationID.x, first = gl_GlobalInvocationID.y * GPUME_BOX_ROWS;
    uint base = ((pc.frame + gl_GlobalInvocationID.z) % pc.ring) * pc.frame_quads;
    if (x >= pc.stride || first >= pc.rows) {
        return;
    }
    ivec4 sum = ivec4(0);
    for (uint y = first; y < first + BOX; y++) {
        uint line = base + y * pc.stride;
        sum += row_sums(line + x, line + pc.stride - 1u);
    }
    uint end = min(first + GPUME_BOX_ROWS, pc.rows);
    for (uint y = first; y < end; y++) {
        uint line = base + y * pc.stride;
        vec4 cut = uintBitsToFloat(0x4b000000u | uvec4(sum >> BOX_SHIFT)) - 8388608.0;
        sums[line + x] = uvec2(packHalf2x16(cut.xy), packHalf2x16(cut.zw));
        if (y + 1u < end) {
            uint below = line + BOX * pc.stride;
            sum += row_sums(below + x, below + pc.stride - 1u) -
                   row_sums(line + x, line + pc.stride - 1u);
        }
    }
}
