/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First of the three kernels of a pass: how often each digit occurs in each tile. An invocation
 * counts KEYS keys of a tile, a workgroup a tile. Grid: x and y = tile of the segment, z = segment.
 * Shared memory: 1 KiB. Reads keys, writes counts[digit][tile] of the segment.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "sort_segment.glsl"

layout(local_size_x_id = GPUME_SORT_SPEC_LOCAL) in;
layout(constant_id = GPUME_SORT_SPEC_LOCAL) const uint LOCAL = 256;
layout(constant_id = GPUME_SORT_SPEC_KEYS) const uint KEYS = 8;

const uint TILE = LOCAL * KEYS;

shared uint histogram[GPUME_SORT_DIGITS];

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    uint first = group_number() * TILE, t = gl_LocalInvocationID.x;
    if (first >= segment.y) { /* the whole workgroup */
        return;
    }
    for (uint i = t; i < GPUME_SORT_DIGITS; i += LOCAL) {
        histogram[i] = 0u;
    }
    barrier();
    Words keys = Words(pc.keys_in);
    uint base = segment.x + first, count = min(TILE, segment.y - first);
    if (count == TILE) {
        uint key[KEYS];
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            key[i] = keys.word[base + i * LOCAL + t];
        }
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            atomicAdd(histogram[bitfieldExtract(key[i] ^ pc.flip, int(pc.shift), 8)], 1u);
        }
    } else {
        for (uint i = t; i < count; i += LOCAL) {
            uint key = keys.word[base + i] ^ pc.flip;
            atomicAdd(histogram[bitfieldExtract(key, int(pc.shift), 8)], 1u);
        }
    }
    barrier();
    uint tiles = (segment.y + TILE - 1u) / TILE, out_at = counts_at(segment, TILE) + group_number();
    for (uint i = t; i < GPUME_SORT_DIGITS; i += LOCAL) {
        Words(pc.counts).word[out_at + i * tiles] = histogram[i];
    }
}
