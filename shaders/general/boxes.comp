/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of boxes: at every place of a padded plane that of the BOX x BOX samples to its right and
 * below. Boxes that leave the padded frame are made of its last samples; no block has such a box.
 *
 * Grid: one invocation per quad of places and GPUME_BOXES_ROWS rows; x = quad of a row, y = rows.
 * No shared memory. Reads a plane, writes its sums: of 8-bit samples in 16 bits (64 * 255 < 2^16),
 * of others in 32.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "general/general.glsl"

layout(constant_id = GPUME_SPEC_BOX) const int BOX = 8;

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_boxes_push pc; };

#ifdef GPUME_WIDE
#define SUMS uvec4
#else
#define SUMS uvec2
#endif
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Sums
{
    SUMS at[];
};

SUMS pack_sums(uvec4 s)
{
#ifdef GPUME_WIDE
    return s;
#else
    return s.xz | s.yw << 16;
#endif
}

/* Sums of BOX samples of a row, from the quad's four places on. */
uvec4 row_sums(Quads plane, uint row, uint quad)
{
    uint line = min(row, pc.rows - 1u) * pc.stride, last = pc.stride - 1u;
    ivec4 a = unpack(plane.at[line + quad]), b = unpack(plane.at[line + min(quad + 1u, last)]);
    ivec4 sum = ivec4(a.x + a.y + a.z + a.w);
    sum.yzw += ivec3(b.x - a.x, b.x + b.y - a.x - a.y, b.x + b.y + b.z - a.x - a.y - a.z);
    if (BOX == 8) {
        ivec4 c = unpack(plane.at[line + min(quad + 2u, last)]);
        ivec4 second = ivec4(b.x + b.y + b.z + b.w);
        second.yzw += ivec3(c.x - b.x, c.x + c.y - b.x - b.y, c.x + c.y + c.z - b.x - b.y - b.z);
        sum += second;
    }
    return uvec4(sum);
}

void main()
{
    uint quad = gl_GlobalInvocationID.x, first = pc.row + gl_WorkGroupID.y * GPUME_BOXES_ROWS;
    if (quad >= pc.stride) {
        return;
    }
    Quads plane = Quads(pc.plane);
    uvec4 rows[8]; /* the last of them, by number modulo BOX */
    uvec4 sum = uvec4(0u);
    [[unroll]] for (int i = 0; i < BOX - 1; i++) {
        rows[i] = row_sums(plane, first + uint(i), quad);
        sum += rows[i];
    }
    [[unroll]] for (int i = 0; i < GPUME_BOXES_ROWS; i++) {
        uint row = first + uint(i);
        uvec4 next = row_sums(plane, row + uint(BOX - 1), quad);
        sum += next;
        if (row < pc.rows) {
            Sums(pc.sums).at[row * pc.stride + quad] = pack_sums(sum);
        }
        sum -= rows[i % BOX];
        rows[(i + BOX - 1) % BOX] = next;
    }
}
