/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the noise of a plane is measured by, and the texture of luma, for each block.
 *
 * Grid: one workgroup per block; x, y = block. An invocation has a quad of the block; some have
 * none. Shared memory: seven words each. Reads pictures and predictions, writes tables of BLOCKS.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_LOCAL) in;

layout(std430, binding = 0) readonly buffer Pictures { QUAD pictures[]; };
layout(std430, binding = 1) readonly buffer Predictions { QUAD predictions[]; };
layout(std430, binding = 2) writeonly buffer Blocks { uint blocks[]; };

const uint RESPONSE = 0u, DIFFERENCE = 1u, SQUARES = 3u, SUM = 5u, TEXTURE = 6u, VALUES = 7u;

shared uint values[VALUES][GPUME_TEMPORAL_LOCAL];

/* The sums over all invocations, at index 0. */
void add_up(uint lane)
{
    for (uint half_way = GPUME_TEMPORAL_LOCAL / 2u; half_way > 0u; half_way /= 2u) {
        barrier();
        [[unroll]] for (uint i = 0u; i < VALUES && lane < half_way; i++) {
            values[i][lane] += values[i][lane + half_way];
        }
    }
    barrier();
}

/* A work sample of the picture; outside, the nearest one. */
int sample_at(int x, int y)
{
    ivec2 at = clamp(ivec2(x, y), ivec2(0), ivec2(pc.width, pc.height) - 1);
    uint quad = pc.place * plane_quads() + uint(at.y) * pc.stride + uint(at.x >> 2);
    return unpack(pictures[quad])[at.x & 3] >> work_shift();
}

/* a - 2b + c of a row. */
ivec4 bend(ivec2 at, int y)
{
    int line[6];
    [[unroll]] for (int i = 0; i < 6; i++) {
        line[i] = sample_at(at.x + i - 1, at.y + y);
    }
    return ivec4(line[0], line[1], line[2], line[3]) -
           2 * ivec4(line[1], line[2], line[3], line[4]) +
           ivec4(line[2], line[3], line[4], line[5]);
}

/* 128 (n Q - S^2) / n^2; n is a power of two. */
uint residual_of(uint i, uint count)
{
    uvec2 scaled = times(uvec2(values[SQUARES + i][0], 0u), count);
    uint magnitude = uint(abs(int(values[DIFFERENCE + i][0])));
    return right(minus(scaled, product(magnitude, magnitude)), 2u * findMSB(count) - 7u).x;
}

void write_plane(Place place)
{
    uint count = place.size.x * place.size.y, residual = GPUME_TEMPORAL_CUT;
    for (uint i = 0u; i < 2u && place.whole; i++) {
        if ((pc.there >> i & 1u) == 1u) {
            residual = min(residual, residual_of(i, count));
        }
    }
    blocks[word_of(GPUME_TEMPORAL_RESPONSE + pc.plane, place.block)] =
        place.whole ? values[RESPONSE][0] : GPUME_TEMPORAL_CUT;
    blocks[word_of(GPUME_TEMPORAL_RESIDUAL + pc.plane, place.block)] = residual;
    if (pc.plane == 0u) {
        blocks[word_of(GPUME_TEMPORAL_SUM, place.block)] = values[SUM][0];
        blocks[word_of(GPUME_TEMPORAL_SQUARES, place.block)] = values[TEXTURE][0];
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    Place place = place_of(gl_WorkGroupID.xy, lane);
    [[unroll]] for (uint i = 0u; i < VALUES; i++) {
        values[i][lane] = 0u;
    }
    if (is_seen(place)) {
        uint shift = work_shift();
        ivec2 at = ivec2(4u * place.at.x, place.at.y);
        ivec4 own = unpack(pictures[pc.place * plane_quads() + quad_of(place)]) >> shift;
        own *= ivec4(place.seen);
        uvec4 response = uvec4(abs(bend(at, -1) - 2 * bend(at, 0) + bend(at, 1)));
        values[RESPONSE][lane] = response.x + response.y + response.z + response.w;
        values[SUM][lane] = uint(own.x + own.y + own.z + own.w);
        ivec4 squared = own * own;
        values[TEXTURE][lane] = uint(squared.x + squared.y + squared.z + squared.w);
        [[unroll]] for (uint i = 0u; i < 2u; i++) {
            if ((pc.there >> i & 1u) == 1u) {
                ivec4 other = unpack(predictions[i * plane_quads() + quad_of(place)]) >> shift;
                ivec4 d = own - other * ivec4(place.seen);
                values[DIFFERENCE + i][lane] = uint(d.x + d.y + d.z + d.w);
                d *= d;
                values[SQUARES + i][lane] = uint(d.x + d.y + d.z + d.w);
            }
        }
    }
    add_up(lane);
    if (lane == 0u) {
        write_plane(place);
    }
}
