/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies keys and payload of segments, nothing in between. An invocation copies up to
 * GPUME_SORT_COPY_KEYS keys. Grid: x and y = part of a segment, z = segment. No shared memory.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"

layout(local_size_x = GPUME_SORT_COPY_LOCAL) in;

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    uint first =
        group_number() * GPUME_SORT_COPY_LOCAL * GPUME_SORT_COPY_KEYS + gl_LocalInvocationID.x;
    [[unroll]] for (uint i = 0; i < GPUME_SORT_COPY_KEYS; i++) {
        uint at = first + i * GPUME_SORT_COPY_LOCAL;
        if (at < segment.y) {
            if (has(pc.keys_in)) {
                Words(pc.keys_out).word[segment.x + at] = Words(pc.keys_in).word[segment.x + at];
            }
            if (has(pc.payload_in)) {
                Words(pc.payload_out).word[segment.x + at] =
                    Words(pc.payload_in).word[segment.x + at];
            }
        }
    }
}
