/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies a plane from upload memory into a padded frame, repeating edge samples outwards.
 * Grid: one invocation per quad of the padded frame; x = quad of a row, y = row. No shared memory.
 * Begins with reads of host-written memory, ends with shader writes.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"

layout(local_size_x = GPUME_UPLOAD_LOCAL) in;
layout(std430, binding = 0) readonly buffer Plane { uint plane[]; };
layout(std430, binding = 1) writeonly buffer Padded { QUAD padded[]; };
layout(push_constant) uniform Push { gpume_upload_push pc; };

/* The quad of a plane's row that starts at sample x, a multiple of 4. */
QUAD quad_at(uint line, uint x)
{
#ifdef GPUME_WIDE
    return uvec2(plane[line + x / 2u], plane[line + x / 2u + 1u]);
#else
    return plane[line + x / 4u];
#endif
}

void main()
{
    uint quad = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
    if (quad >= pc.padded_stride || row >= pc.rows) {
        return;
    }
    int y = clamp(int(pc.row + row) - int(pc.pad_y), 0, int(pc.height) - 1);
    uint line = pc.plane_base + uint(y) * pc.plane_stride;
    int left = int(4u * quad) - int(pc.pad_x), last = int(pc.width) - 1;
    QUAD value;
    if (left >= 0 && left + 3 <= last) {
        value = quad_at(line, uint(left));
    } else {
        ivec4 samples;
        for (int i = 0; i < 4; i++) {
            int x = clamp(left + i, 0, last);
            samples[i] = unpack(quad_at(line, uint(x) & ~3u))[x & 3];
        }
        value = pack(samples);
    }
    padded[pc.padded_base + (pc.row + row) * pc.padded_stride + quad] = value;
}
