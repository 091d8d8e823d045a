/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Predicts a plane from its references, by luma's vectors: luma as H.264 8.4.2.2.1 interpolates,
 * chroma as H.265 8.5.3.3.3.2.
 *
 * Grid: one invocation per quad; x = quad of a row, y = row, z = reference. No shared memory. Reads
 * pictures and vectors, writes predictions.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_LOCAL_X, local_size_y = GPUME_TEMPORAL_LOCAL_Y) in;

layout(std430, binding = 0) readonly buffer Pictures { QUAD pictures[]; };
layout(std430, binding = 1) writeonly buffer Predictions { QUAD predictions[]; };
layout(std430, binding = 2) readonly buffer Vectors { uint vectors[]; };

const int SIX[6] = {1, -5, 20, 20, -5, 1};
const int FOUR[8][4] = {{0, 64, 0, 0}, {-2, 58, 10, -2}, {-4, 54, 16, -2}, {-6, 46, 28, -4},
    {-4, 36, 36, -4}, {-4, 28, 46, -6}, {-2, 16, 54, -4}, {-2, 10, 58, -2}};

uint first; /* quad of the reference */

/* Of the reference; outside, the nearest one. */
int sample_at(int x, int y)
{
    ivec2 at = clamp(ivec2(x, y), ivec2(0), ivec2(pc.width, pc.height) - 1);
    return unpack(pictures[first + uint(at.y) * pc.stride + uint(at.x >> 2)])[at.x & 3];
}

/* Nine samples of a row, from two to the left of x on. */
int line[9];

void load_line(int x, int y)
{
    [[unroll]] for (int i = 0; i < 9; i++) {
        line[i] = sample_at(x + i - 2, y);
    }
}

ivec4 six_across()
{
    ivec4 sum = ivec4(0);
    [[unroll]] for (int i = 0; i < 6; i++) {
        sum += SIX[i] * ivec4(line[i], line[i + 1], line[i + 2], line[i + 3]);
    }
    return sum;
}

/* Four samples of luma from (x,y) on, moved by halves of a sample, 0 to 2. */
ivec4 half_luma(ivec2 at, ivec2 halves)
{
    at += halves >> 1;
    bool across = (halves.x & 1) == 1, down = (halves.y & 1) == 1;
    ivec4 sum = ivec4(0); /* at most 52 * 52 * 65535 < 2^28 */
    for (int i = down ? 0 : 2; i < (down ? 6 : 3); i++) {
        load_line(at.x, at.y + i - 2);
        ivec4 row = across ? six_across() : ivec4(line[2], line[3], line[4], line[5]);
        sum += (down ? SIX[i] : 1) * row;
    }
    int shift = (across ? 5 : 0) + (down ? 5 : 0);
    return shift == 0 ? sum
                      : clamp(sum + (1 << shift - 1) >> shift, ivec4(0), ivec4(peak()));
}

/* v: quarters of a sample. What lies between two halves is their mean; between four, that of those
 * which lie half a sample away from a whole one in x and in y. */
ivec4 predict_luma(ivec2 at, ivec2 v)
{
    at += v >> 2;
    v &= 3;
    ivec2 a = v >> 1, b = v + 1 >> 1;
    if ((v.x & 1) == 1 && (v.y & 1) == 1) {
        a = ivec2(1, v.y == 3 ? 2 : 0);
        b = ivec2(v.x == 3 ? 2 : 0, 1);
    }
    ivec4 one = half_luma(at, a);
    return a == b ? one : one + half_luma(at, b) + 1 >> 1;
}

/* v: eighths of a sample. */
ivec4 predict_chroma(ivec2 at, ivec2 v)
{
    at += v >> 3;
    ivec4 sum = ivec4(0); /* at most 84 * 84 * 65535 < 2^29 */
    for (int i = 0; i < 4; i++) {
        load_line(at.x + 1, at.y + i - 1);
        ivec4 row = ivec4(0);
        [[unroll]] for (int j = 0; j < 4; j++) {
            row += FOUR[v.x & 7][j] * ivec4(line[j], line[j + 1], line[j + 2], line[j + 3]);
        }
        sum += FOUR[v.y & 7][i] * row;
    }
    return clamp(sum + 2048 >> 12, ivec4(0), ivec4(peak()));
}

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    uint reference = gl_GlobalInvocationID.z;
    if (at.x >= pc.stride || at.y >= pc.height || (pc.there >> reference & 1u) == 0u) {
        return;
    }
    uvec2 block = uvec2(4u * at.x / block_width(pc.shift_x), at.y / block_width(pc.shift_y));
    ivec2 v = vector_of(vectors[reference * block_count() + block.y * pc.blocks_x + block.x]);
    ivec2 place = ivec2(4u * at.x, at.y);
    first = (pc.places[reference / 4u] >> 8u * (reference % 4u) & 0xffu) * plane_quads();
    predictions[reference * plane_quads() + at.y * pc.stride + at.x] =
        pack(pc.plane == 0u ? predict_luma(place, v)
                            : predict_chroma(place, v << 1 - ivec2(pc.shift_x, pc.shift_y)));
}
