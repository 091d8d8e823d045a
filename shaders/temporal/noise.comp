/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The noise of each plane, and how weights follow from it.
 *
 * Grid: one workgroup per plane; x = plane. Shared memory: 264 words. Reads tables of BLOCKS,
 * writes the state.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_GATHER) in;

layout(std430, binding = 0) readonly buffer Blocks { uint blocks[]; };
layout(std430, binding = 1) buffer State { gpume_temporal_state state; };

const uint ROUNDING = 21u; /* 256 / 12: the variance of rounding to whole steps */
const uint TEXTURE_PART = 32u;
const uint DIGITS = 256u;

shared uint bins[DIGITS];
shared uint flat_blocks, others, prefix, rank;
shared uint left_column, top_row, right_column, bottom_row; /* of what is not black in luma */

uint texture_of(uint block)
{
    return blocks[word_of(GPUME_TEMPORAL_TEXTURE + gl_WorkGroupID.x, block)];
}

/* Finds the smallest rectangle that holds all of luma that is not black. */
void find_area(uint lane)
{
    uvec2 first = uvec2(0xffffffffu), last = uvec2(0u);
    if (lane == 0u) {
        left_column = top_row = 0xffffffffu;
        right_column = bottom_row = 0u;
    }
    barrier();
    for (uint i = lane; i < block_count(); i += GPUME_TEMPORAL_GATHER) {
        uint bright = blocks[word_of(GPUME_TEMPORAL_BRIGHT, i)];
        if (bright != 0u) {
            uvec2 origin = uvec2(i % pc.blocks_x, i / pc.blocks_x) * GPUME_TEMPORAL_SIDE;
            uvec2 lines = uvec2(bright & 0xffffu, bright >> 16u);
            first = min(first, origin + uvec2(findLSB(lines)));
            last = max(last, origin + uvec2(findMSB(lines)));
        }
    }
    atomicMin(left_column, first.x);
    atomicMin(top_row, first.y);
    atomicMax(right_column, last.x);
    atomicMax(bottom_row, last.y);
    barrier();
}

bool is_in_area(uint block)
{
    uvec2 first = uvec2(block % pc.blocks_x, block / pc.blocks_x) * GPUME_TEMPORAL_SIDE;
    uvec2 last = first + (GPUME_TEMPORAL_SIDE - 1);
    return first.x >= left_column && first.y >= top_row && last.x <= right_column &&
           last.y <= bottom_row;
}

bool is_measured(uint block)
{
    uint texture = texture_of(block);
    return texture != 0u && texture != GPUME_TEMPORAL_CUT && is_in_area(block);
}

void count_blocks(uint lane)
{
    if (lane == 0u) {
        flat_blocks = others = 0u;
    }
    barrier();
    for (uint i = lane; i < block_count(); i += GPUME_TEMPORAL_GATHER) {
        if (texture_of(i) == 0u && is_in_area(i)) {
            atomicAdd(flat_blocks, 1u);
        } else if (is_measured(i)) {
            atomicAdd(others, 1u);
        }
    }
    barrier();
}

/* The bin that holds the value of index `rank`, which then counts within the bin. */
void choose_digit()
{
    uint digit = 0u;
    while (rank >= bins[digit]) {
        rank -= bins[digit++];
    }
    prefix = prefix << 8u | digit;
}

/* The value of this index in rising order, of those of the measured blocks in a table: digit by
 * digit, from the highest on. */
uint value_at(uint lane, uint table, uint index)
{
    barrier();
    if (lane == 0u) {
        prefix = 0u;
        rank = index;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        bins[lane] = 0u;
        barrier();
        for (uint i = lane; i < block_count(); i += GPUME_TEMPORAL_GATHER) {
            uint value = blocks[word_of(table + gl_WorkGroupID.x, i)];
            if (is_measured(i) && (shift == 24 || value >> shift + 8 == prefix)) {
                atomicAdd(bins[value >> shift & 0xffu], 1u);
            }
        }
        barrier();
        if (lane == 0u) {
            choose_digit();
        }
        barrier();
    }
    return prefix;
}

/* cell is below 2^26 */
uint variance_of(uint texture, uint cell, uint residual)
{
    uint part = texture / TEXTURE_PART, lower = min(cell, residual);
    uint found = lower > part ? 2u * (lower - part) : 0u;
    return min(found > ROUNDING ? found - ROUNDING : 0u, pc.most);
}

/* found: V before `least`. */
gpume_temporal_curve curve_of(uint found)
{
    gpume_temporal_curve curve;
    uint variance = max(found, min(pc.least, 4u * found)); /* found is below 2^24 */
    curve.variance = variance;
    curve.lo = int(75u * variance >> 9u);
    curve.hi = int(375u * variance >> 9u); /* 375 V < 2^32 */
    curve.scale = curve.hi > curve.lo ? (1 << 24) / (curve.hi - curve.lo) : 0;
    /* at most 64 * 2^25 */
    curve.strength = variance > 0u ? pc.strength * (variance + found) / (2u * variance) : 0u;
    return curve;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, variance = pc.given;
    if (pc.measure == 1u) {
        variance = 0u;
        find_area(lane);
        count_blocks(lane);
        uint count = others;
        /* uniform: the numbers of blocks are read between barriers */
        if (count > 0u && flat_blocks <= count && (pc.there & 3u) != 0u) {
            uint texture = value_at(lane, GPUME_TEMPORAL_TEXTURE, count / 12u);
            uint cell = value_at(lane, GPUME_TEMPORAL_CELL, count / 12u);
            uint residual = value_at(lane, GPUME_TEMPORAL_RESIDUAL, count / 8u);
            variance = variance_of(texture, cell, residual);
        }
        /* measured: below 2^24 */
        variance = pc.given > 0u ? min(pc.given, GPUME_TEMPORAL_GIVEN_MOST * variance) : variance;
    }
    if (lane == 0u) {
        state.curves[gl_WorkGroupID.x] = curve_of(variance);
    }
}
