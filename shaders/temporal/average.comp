/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The weighted means of a plane: the result, or, where more is done within the picture, means with
 * their weights.
 *
 * Grid: one invocation per quad; x = quad of a row, y = row. No shared memory. Reads all arrays but
 * the result and the means, of which it writes one.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_LOCAL_X, local_size_y = GPUME_TEMPORAL_LOCAL_Y) in;

layout(std430, binding = 0) readonly buffer Pictures { QUAD pictures[]; };
layout(std430, binding = 1) readonly buffer Predictions { QUAD predictions[]; };
layout(std430, binding = 2) readonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) readonly buffer Blocks { uint blocks[]; };
layout(std430, binding = 4) readonly buffer State { gpume_temporal_state state; };
layout(std430, binding = 5) writeonly buffer Result { QUAD result[]; };
layout(std430, binding = 6) writeonly buffer Means { uvec4 means[]; };

const uint OWN = 4096u; /* the weight of the sample itself */
const int REACH = 2;    /* of the 5x5 samples around one */

/* Sums down five rows, of the columns from two to the left of a quad on. */
int columns[8];

void add_columns(uint first, uint quad, uint row)
{
    uint line = row * pc.stride, shift = work_shift();
    uint own = pc.place * plane_quads() + line, other = first + line;
    uint last = pc.stride - 1u;
    [[unroll]] for (uint i = 0u; i < 3u; i++) {
        uint at = min(max(quad + i, 1u) - 1u, last);
        ivec4 e = unpack(pictures[own + at]) >> shift;
        e -= unpack(predictions[other + at]) >> shift;
        e *= e;
        [[unroll]] for (uint j = 0u; j < 4u; j++) {
            int column = int(4u * i + j) - 2;
            if (column >= 0 && column < 8) {
                columns[column] += e[j];
            }
        }
    }
}

/* Columns outside the picture are as the nearest one within. */
void mend_columns(uint quad)
{
    if (quad == 0u) {
        columns[0] = columns[1] = columns[2];
    }
    [[unroll]] for (uint i = 3u; i < 8u; i++) {
        columns[i] = 4u * quad + i - 2u < pc.width ? columns[i] : columns[i - 1u];
    }
}

/* D */
ivec4 distance_of(uint first, uvec2 at)
{
    [[unroll]] for (uint i = 0u; i < 8u; i++) {
        columns[i] = 0;
    }
    for (int y = -REACH; y <= REACH; y++) {
        add_columns(first, at.x, uint(clamp(int(at.y) + y, 0, int(pc.height) - 1)));
    }
    mend_columns(at.x);
    ivec4 sum = ivec4(0);
    [[unroll]] for (uint i = 0u; i <= 2u * REACH; i++) {
        sum += ivec4(columns[i], columns[i + 1u], columns[i + 2u], columns[i + 3u]);
    }
    return sum;
}

uvec4 weight_of(ivec4 d, gpume_temporal_curve curve)
{
    ivec4 between = (curve.hi - clamp(d, ivec4(curve.lo), ivec4(curve.hi))) * curve.scale >> 16;
    ivec4 f = mix(between, ivec4(256), lessThanEqual(d, ivec4(curve.lo)));
    return uvec4(f * f >> 10) * curve.strength;
}

/* 1 for the samples of a quad whose place in the reference is within the picture, else 0. */
uvec4 within(uint reference, uint block, uvec2 at)
{
    ivec2 v = vector_of(vectors[reference * block_count() + block]);
    v >>= 2 + ivec2(pc.shift_x, pc.shift_y);
    ivec4 x = ivec4(4u * at.x) + ivec4(0, 1, 2, 3) + v.x;
    int y = int(at.y) + v.y;
    bvec4 inside = equal(clamp(x, ivec4(0), ivec4(pc.width - 1u)), x);
    return y == clamp(y, 0, int(pc.height) - 1) ? uvec4(inside) : uvec4(0u);
}

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= pc.stride || at.y >= pc.height) {
        return;
    }
    gpume_temporal_curve curve = state.curves[pc.plane];
    uint quad = at.y * pc.stride + at.x, used = curve.scale > 0 ? state.used : 0u;
    uint block = at.y / block_width(pc.shift_y) * pc.blocks_x + 4u * at.x / block_width(pc.shift_x);
    uint table = GPUME_TEMPORAL_UNFIT + pc.plane * GPUME_TEMPORAL_REFERENCES;
    uvec4 sum = OWN * uvec4(unpack(pictures[pc.place * plane_quads() + quad]));
    uvec4 weights = uvec4(OWN);
    for (uint i = 0u; i < pc.references; i++) {
        if ((used >> i & 1u) == 0u || blocks[word_of(table + i, block)] == 1u) {
            continue;
        }
        uint first = i * plane_quads();
        uvec4 w = weight_of(distance_of(first, at), curve);
        w *= pc.spatial > 0u ? within(i, block, at) : uvec4(1u);
        sum += w * uvec4(unpack(predictions[first + quad]));
        weights += w;
    }
    if (pc.spatial > 0u && curve.scale > 0) {
        /* Both below 2^16: 36864 * 65535 + 36864 / 2 < 2^32. */
        means[quad] = weights << 16u | ((sum << 16u - pc.bits) + weights / 2u) / weights;
    } else {
        result[quad] = pack(ivec4((sum + weights / 2u) / weights));
    }
}
