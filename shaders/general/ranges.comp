/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of the sums of boxes (boxes.comp): the least and the largest at the places of a group
 * (places.glsl). With FULL there is a range for every pixel of the padded frame, of all its
 * fractions; else one for every 4x4 pixels, from the padded frame's first column and the first row
 * of the search window on.
 *
 * Grid: one invocation per quad of a row of sums; x = quad, y = row of ranges. No shared memory.
 * Reads sums, writes ranges: of 8-bit samples in a word, of others in two.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "general/general.glsl"
#include "general/places.glsl"

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_ranges_push pc; };

#ifdef GPUME_WIDE
#define SUMS uvec4
#define RANGE uvec2
#define RANGE_ALIGN 8
#else
#define SUMS uvec2
#define RANGE uint
#define RANGE_ALIGN 4
#endif
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Sums
{
    SUMS at[];
};
layout(buffer_reference, std430, buffer_reference_align = RANGE_ALIGN) writeonly buffer Ranges
{
    RANGE at[];
};

uvec4 unpack_sums(SUMS s)
{
#ifdef GPUME_WIDE
    return s;
#else
    return uvec4(s.x & 0xffffu, s.x >> 16, s.y & 0xffffu, s.y >> 16);
#endif
}

RANGE pack_range(uint least, uint most)
{
#ifdef GPUME_WIDE
    return uvec2(least, most);
#else
    return least | most << 16;
#endif
}

void main()
{
    uint quad = gl_GlobalInvocationID.x, row = pc.row + gl_WorkGroupID.y;
    if (quad >= pc.stride) {
        return;
    }
    uvec4 least = uvec4(NONE), most = uvec4(0u);
    uint count = FULL != 0u ? GROUP : uint(SIDE);
    for (uint i = 0u; i < count; i++) {
        uint plane = FULL != 0u ? i : 0u;
        /* Groups begin this many rows before the padded frame does. */
        int before = FULL != 0u ? 0 : BEFORE_Y * SIDE - WINDOW_Y;
        int line = FULL != 0u ? int(row) : int(row) * SIDE + int(i) - before;
        if (line >= 0 && line < int(pc.sum_rows)) {
            Sums sums = Sums(far_element(pc.sums, plane, pc.plane_words, 4u));
            uvec4 s = unpack_sums(sums.at[uint(line) * pc.stride + quad]);
            least = min(least, s);
            most = max(most, s);
        }
    }
    uint at = row * pc.stride + quad;
    Ranges ranges = Ranges(pc.ranges);
    if (FULL != 0u) {
        for (uint i = 0u; i < 4u; i++) {
            ranges.at[4u * at + i] = pack_range(least[i], most[i]);
        }
    } else {
        least.xy = min(least.xy, least.zw);
        most.xy = max(most.xy, most.zw);
        ranges.at[at] = pack_range(min(least.x, least.y), max(most.x, most.y));
    }
}
