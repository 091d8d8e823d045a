/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which references are used.
 *
 * Grid: one workgroup. Shared memory: 768 words. Reads tables of BLOCKS, reads and writes the
 * state.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_GATHER) in;

layout(std430, binding = 0) readonly buffer Blocks { uint blocks[]; };
layout(std430, binding = 1) buffer State { gpume_temporal_state state; };

shared uvec2 sums[GPUME_TEMPORAL_GATHER];
shared uint counts[GPUME_TEMPORAL_GATHER];

/* The sums over all invocations, at index 0. */
void add_up(uint lane, uvec2 sum, uint count)
{
    barrier();
    sums[lane] = sum;
    counts[lane] = count;
    for (uint half_way = GPUME_TEMPORAL_GATHER / 2u; half_way > 0u; half_way /= 2u) {
        barrier();
        if (lane < half_way) {
            sums[lane] = plus(sums[lane], sums[lane + half_way]);
            counts[lane] += counts[lane + half_way];
        }
    }
    barrier();
}

/* The visible samples of luma. */
uint size_of(uint block)
{
    uvec2 origin = uvec2(block % pc.blocks_x, block / pc.blocks_x) * GPUME_TEMPORAL_SIDE;
    uvec2 size = min(uvec2(pc.width, pc.height) - origin, uvec2(GPUME_TEMPORAL_SIDE));
    return size.x * size.y;
}

/* 256 A / n = 256 Q - 256 s^2 / n, rounded up, where A = n Q - s^2. */
uvec2 texture_of(uint block, uint n)
{
    uint sum = blocks[word_of(GPUME_TEMPORAL_SUM, block)];
    uvec2 squares = left(uvec2(blocks[word_of(GPUME_TEMPORAL_SQUARES, block)], 0u), 8u);
    return minus(squares, divided(plus(left(product(sum, sum), 8u), uvec2(n - 1u, 0u)), n));
}

/* T */
uvec2 allowed(uint lane)
{
    uvec2 sum = uvec2(0u);
    uint variance = state.curves[0].variance;
    for (uint i = lane; i < block_count(); i += GPUME_TEMPORAL_GATHER) {
        uint n = size_of(i);
        sum = plus(sum, beyond(texture_of(i, n), product(2u * n, variance)));
        sum = plus(sum, product(n, variance + 4096u * work_square()));
    }
    add_up(lane, sum, 0u);
    return sums[0];
}

/* R, and of how many blocks. */
uvec2 unlike(uint lane, uint reference, out uint fitting)
{
    uvec2 sum = uvec2(0u);
    uint count = 0u, variance = state.curves[0].variance;
    for (uint i = lane; i < block_count(); i += GPUME_TEMPORAL_GATHER) {
        uint errors = blocks[word_of(GPUME_TEMPORAL_ERRORS + reference, i)];
        sum = plus(sum, beyond(left(uvec2(errors, 0u), 8u), product(4u * size_of(i), variance)));
        count += 1u - blocks[word_of(GPUME_TEMPORAL_UNFIT + reference, i)];
    }
    add_up(lane, sum, count);
    fitting = counts[0];
    return sums[0];
}

void main()
{
    uint lane = gl_LocalInvocationIndex, used = 0u;
    uvec2 most = allowed(lane);
    bool open[2] = bool[2](true, true); /* the past, the future */
    for (uint i = 0u; i < pc.references; i++) {
        bool fits = false;
        if ((pc.there >> i & 1u) == 1u) { /* uniform: so is i */
            uint fitting;
            uvec2 least = left(unlike(lane, i, fitting), 1u);
            /* Whether a picture is of another scene than the one before it is known of the past. */
            uint next = (pc.number - i / 2u) % GPUME_TEMPORAL_BEGINS;
            bool by_scene = i % 2u == 0u && i > 0u;
            fits = 2u * fitting >= block_count() &&
                   (by_scene ? state.begins[next] == 0u : !is_above(least, most));
        }
        open[i % 2u] = open[i % 2u] && fits;
        used |= (open[i % 2u] ? 1u : 0u) << i;
    }
    if (lane == 0u) {
        bool changed = false;
        for (uint p = 0u; p < pc.planes; p++) {
            changed = changed || state.curves[p].scale > 0;
        }
        state.used = used;
        state.count = changed ? bitCount(used) : 0u;
        state.begins[pc.number] = 1u - (used & 1u);
    }
}
