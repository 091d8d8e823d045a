/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First of the three kernels of a pass: how often each digit occurs in each tile. A workgroup
 * counts a tile, four keys at a time where they are aligned. Grid: x and y = tile of the segment,
 * z = segment. Shared memory: 1 KiB. Reads keys, writes counts[digit][tile] of the segment.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"

layout(local_size_x_id = GPUME_SORT_SPEC_LOCAL) in;
layout(constant_id = GPUME_SORT_SPEC_LOCAL) const uint LOCAL = 256;
layout(constant_id = GPUME_SORT_SPEC_KEYS) const uint KEYS = 8;

const uint TILE = LOCAL * KEYS;
const uint ROUNDS = (KEYS + 3u) / 4u; /* of four keys an invocation */

shared uint histogram[GPUME_SORT_DIGITS];

void count_key(uint key)
{
    atomicAdd(histogram[((key ^ pc.flip) << pc.place_shift) >> pc.shift & 255u], 1u);
}

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    uint first = group_number() * TILE, t = gl_LocalInvocationID.x;
    if (first >= segment.y) { /* uniform: the workgroup's tile */
        return;
    }
    for (uint i = t; i < GPUME_SORT_DIGITS; i += LOCAL) {
        histogram[i] = 0u;
    }
    barrier();
    uint base = segment.x + first, count = min(TILE, segment.y - first);
    uvec2 address = address_of(pc.keys_in, base);
    if (count == TILE && address.x % 16u == 0u) {
        uvec4 quad[ROUNDS];
        [[unroll]] for (uint i = 0; i < ROUNDS; i++) {
            uint at = i * LOCAL + t;
            quad[i] = at < TILE / 4u ? Quads(address).quad[at] : uvec4(0u);
        }
        [[unroll]] for (uint i = 0; i < ROUNDS; i++) {
            if (i * LOCAL + t < TILE / 4u) {
                count_key(quad[i].x);
                count_key(quad[i].y);
                count_key(quad[i].z);
                count_key(quad[i].w);
            }
        }
    } else {
        for (uint i = t; i < count; i += LOCAL) {
            count_key(Words(pc.keys_in).word[base + i]);
        }
    }
    barrier();
    uint tiles = (segment.y + TILE - 1u) / TILE, out_at = counts_at(segment, TILE) + group_number();
    for (uint i = t; i < GPUME_SORT_DIGITS; i += LOCAL) {
        Words(pc.counts).word[out_at + i * tiles] = histogram[i];
    }
}
