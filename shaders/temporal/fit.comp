/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Corrects the light of the blocks of a plane's predictions, and rejects those that do not fit. The
 * blocks of luma come first: chroma is rejected with them.
 *
 * Grid: one workgroup per block; x, y = block, z = reference. An invocation has a quad of the
 * block; some have none. Shared memory: a word each. Reads pictures, vectors and the state, reads
 * and writes predictions and tables of BLOCKS.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_LOCAL) in;

layout(std430, binding = 0) readonly buffer Pictures { QUAD pictures[]; };
layout(std430, binding = 1) buffer Predictions { QUAD predictions[]; };
layout(std430, binding = 2) readonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) buffer Blocks { uint blocks[]; };
layout(std430, binding = 4) readonly buffer State { gpume_temporal_state state; };

const uint FIT = 16u;        /* variances that the mean square difference of a block may have */
const uint LIGHT_STEPS = 16u; /* of 8 bits, that the light of a block may change by */

shared int values[GPUME_TEMPORAL_LOCAL];

int add_up(uint lane, int value)
{
    barrier();
    values[lane] = value;
    for (uint half_way = GPUME_TEMPORAL_LOCAL / 2u; half_way > 0u; half_way /= 2u) {
        barrier();
        if (lane < half_way) {
            values[lane] += values[lane + half_way];
        }
    }
    barrier();
    return values[0];
}

/* What is added to the prediction; false: too much. */
bool find_light(int sum, uint n, out int change)
{
    uint magnitude = uint(abs(sum)), shift = 2u * work_shift();
    uvec2 noise = uvec2(state.curves[pc.plane].variance, 0u);
    noise = times(shift > 0u ? left(noise, shift) : noise, 18u * n);
    change = 0;
    if (!is_above(left(product(magnitude, magnitude), 8u), noise)) {
        return true;
    }
    uint mean = (2u * magnitude + n) / (2u * n);
    if (mean > LIGHT_STEPS << pc.bits - 8u) {
        return false;
    }
    change = sum < 0 ? -int(mean) : int(mean);
    return true;
}

bool reaches_edge(uint block, uint reference)
{
    ivec2 v = vector_of(vectors[reference * block_count() + block]);
    return any(greaterThanEqual(abs(v), ivec2(pc.limit_x, pc.limit_y)));
}

void main()
{
    uint lane = gl_LocalInvocationIndex, reference = gl_WorkGroupID.z;
    if ((pc.there >> reference & 1u) == 0u) { /* uniform: z is the reference */
        return;
    }
    Place place = place_of(gl_WorkGroupID.xy, lane);
    uint n = place.size.x * place.size.y, at = reference * plane_quads() + quad_of(place);
    bool seen = is_seen(place);
    ivec4 own = ivec4(0), other = ivec4(0);
    if (seen) {
        own = unpack(pictures[pc.place * plane_quads() + quad_of(place)]);
        other = unpack(predictions[at]);
    }
    ivec4 d = (own - other) * ivec4(place.seen);
    int change;
    bool fits = find_light(add_up(lane, d.x + d.y + d.z + d.w), n, change);
    if (change != 0 && seen) {
        other = clamp(other + change, ivec4(0), ivec4(peak()));
        predictions[at] = pack(other);
    }
    uint luma = word_of(GPUME_TEMPORAL_UNFIT + reference, place.block);
    uint table = GPUME_TEMPORAL_UNFIT + pc.plane * GPUME_TEMPORAL_REFERENCES + reference;
    if (pc.plane == 0u) {
        ivec4 e = ((own >> work_shift()) - (other >> work_shift())) * ivec4(place.seen);
        e *= e;
        uint errors = uint(add_up(lane, e.x + e.y + e.z + e.w));
        /* Both sides by 16: 16 * 256 * 1023^2 < 2^32. */
        uint variance = state.curves[0].variance;
        fits = fits && !reaches_edge(place.block, reference) &&
               16u * errors <= n * (FIT / 16u * variance + 256u * work_square());
        if (lane == 0u) {
            blocks[word_of(GPUME_TEMPORAL_ERRORS + reference, place.block)] = errors;
        }
    } else {
        fits = fits && blocks[luma] == 0u;
    }
    if (lane == 0u) {
        blocks[word_of(table, place.block)] = fits ? 0u : 1u;
    }
}
