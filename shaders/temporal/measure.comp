/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the noise of a plane is measured by, and the texture of luma, for each block.
 *
 * Grid: one workgroup per block; x, y = block. An invocation has a quad of the block; some have
 * none. Shared memory: six words each, and one. Reads pictures and predictions, writes tables of
 * BLOCKS.
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

const uint DIFFERENCE = 0u, SQUARES = 2u, OWN_SUM = 4u, OWN_SQUARES = 5u, VALUES = 6u;
const uint CELL = 8u;
const uint BLACK_MOST = 20u, BLACK_RANGE = 2u; /* steps of 8 bits */

shared uint values[VALUES][GPUME_TEMPORAL_LOCAL];
shared uint bright; /* of the table GPUME_TEMPORAL_BRIGHT */

/* Where the values of a quad wait: those of cell i of 8x8 samples, which are counted two to a row,
 * are at 4 j + i. */
uint slot_of(Place place)
{
    uvec2 inside = uvec2(4u * place.at.x, place.at.y) - place.origin;
    uint quad = inside.y % CELL * 2u + inside.x / 4u % 2u;
    return 4u * quad + inside.x / CELL + 2u * (inside.y / CELL);
}

uint work_sample(uint x, uint y)
{
    uint quad = pc.place * plane_quads() + y * pc.stride + x / 4u;
    return uint(unpack(pictures[quad])[x % 4u]) >> work_shift();
}

/* The least work sample of luma that is not black. */
uint least_bright()
{
    uint shift = min(pc.bits, 10u) - 8u;
    uint darker = min(work_sample(0u, 0u), work_sample(pc.width - 1u, pc.height - 1u));
    return darker <= BLACK_MOST << shift ? darker + (BLACK_RANGE << shift) + 1u : 0u;
}

/* Notes where a quad of luma is not black. */
void find_bright(Place place, ivec4 own)
{
    uvec2 inside = uvec2(4u * place.at.x, place.at.y) - place.origin;
    uint least = least_bright(), columns = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        columns |= place.seen[i] && uint(own[i]) >= least ? 1u << inside.x + i : 0u;
    }
    if (columns != 0u) {
        atomicOr(bright, columns | 1u << 16u + inside.y);
    }
}

/* The sums over the cells, at index 0 to 3. */
void add_up(uint lane)
{
    for (uint half_way = GPUME_TEMPORAL_LOCAL / 2u; half_way >= 4u; half_way /= 2u) {
        barrier();
        [[unroll]] for (uint i = 0u; i < VALUES && lane < half_way; i++) {
            values[i][lane] += values[i][lane + half_way];
        }
    }
    barrier();
}

/* (n Q - S^2) 2^b / n^2; n is a power of two. */
uint variance_of(uint squares, uint sum, uint n, uint b)
{
    uvec2 spread = minus(times(uvec2(squares, 0u), n), product(sum, sum));
    return right(spread, 2u * findMSB(n) - b).x;
}

/* Over the block. */
uint total(uint i)
{
    return values[i][0] + values[i][1] + values[i][2] + values[i][3];
}

/* q */
uint least_cell(Place place)
{
    uint least = GPUME_TEMPORAL_CUT;
    for (uint y = 0u; y < place.size.y / CELL; y++) {
        for (uint x = 0u; x < place.size.x / CELL; x++) {
            uint i = 2u * y + x;
            least = min(least,
                variance_of(values[OWN_SQUARES][i], values[OWN_SUM][i], CELL * CELL, 8u));
        }
    }
    return least;
}

void write_plane(Place place)
{
    uint count = place.size.x * place.size.y, residual = GPUME_TEMPORAL_CUT;
    for (uint i = 0u; i < 2u && place.whole; i++) {
        if ((pc.there >> i & 1u) == 1u) {
            uint sum = uint(abs(int(total(DIFFERENCE + i))));
            residual = min(residual, variance_of(total(SQUARES + i), sum, count, 7u));
        }
    }
    uint texture = GPUME_TEMPORAL_CUT;
    if (place.whole) {
        texture = variance_of(total(OWN_SQUARES), total(OWN_SUM), count, 8u);
        blocks[word_of(GPUME_TEMPORAL_CELL + pc.plane, place.block)] = least_cell(place);
    }
    blocks[word_of(GPUME_TEMPORAL_TEXTURE + pc.plane, place.block)] = texture;
    blocks[word_of(GPUME_TEMPORAL_RESIDUAL + pc.plane, place.block)] = residual;
    if (pc.plane == 0u) {
        blocks[word_of(GPUME_TEMPORAL_SUM, place.block)] = total(OWN_SUM);
        blocks[word_of(GPUME_TEMPORAL_SQUARES, place.block)] = total(OWN_SQUARES);
        blocks[word_of(GPUME_TEMPORAL_BRIGHT, place.block)] = bright;
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    Place place = place_of(gl_WorkGroupID.xy, lane);
    [[unroll]] for (uint i = 0u; i < VALUES; i++) {
        values[i][lane] = 0u;
    }
    if (lane == 0u) {
        bright = 0u;
    }
    barrier();
    if (is_seen(place)) {
        uint slot = slot_of(place);
        uint shift = work_shift();
        ivec4 own = unpack(pictures[pc.place * plane_quads() + quad_of(place)]) >> shift;
        if (pc.plane == 0u) {
            find_bright(place, own);
        }
        own *= ivec4(place.seen);
        values[OWN_SUM][slot] = uint(own.x + own.y + own.z + own.w);
        ivec4 squared = own * own;
        values[OWN_SQUARES][slot] = uint(squared.x + squared.y + squared.z + squared.w);
        [[unroll]] for (uint i = 0u; i < 2u; i++) {
            if ((pc.there >> i & 1u) == 1u) {
                ivec4 other = unpack(predictions[i * plane_quads() + quad_of(place)]) >> shift;
                ivec4 d = own - other * ivec4(place.seen);
                values[DIFFERENCE + i][slot] = uint(d.x + d.y + d.z + d.w);
                d *= d;
                values[SQUARES + i][slot] = uint(d.x + d.y + d.z + d.w);
            }
        }
    }
    add_up(lane);
    if (lane == 0u) {
        write_plane(place);
    }
}
