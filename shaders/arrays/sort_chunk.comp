/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a bitonic network that stays within a chunk of GPUME_BITONIC_CHUNK keys in shared
 * memory. A segment has a slot of pc.slot places: many short ones share a chunk and are done in one
 * dispatch; of long ones (slot = chunk) each chunk is sorted from keys, or merged after
 * sort_step.comp, and its keys wait in between with their places. Payload is fetched at the end.
 *
 * Grid: x and y = chunk, z = segment of long ones. Shared memory: 8 KiB. Reads and writes keys and
 * payload, long ones also pairs (key, place).
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"
#include "arrays/sort_network.glsl"

#define PLACES (GPUME_BITONIC_CHUNK / GPUME_BITONIC_LOCAL)

layout(local_size_x = GPUME_BITONIC_LOCAL) in;

shared uvec2 chunk[GPUME_BITONIC_CHUNK];

void compare_all(uint reach, bool flip)
{
    for (uint i = gl_LocalInvocationIndex; i < GPUME_BITONIC_CHUNK / 2; i += GPUME_BITONIC_LOCAL) {
        uvec2 p = partners(i, reach, flip);
        uvec2 low = chunk[p.x], high = chunk[p.y];
        if (precedes(high, low)) {
            chunk[p.x] = high;
            chunk[p.y] = low;
        }
    }
    barrier();
}

void sort_chunk(bool merge)
{
    for (uint size = merge ? pc.slot : 2u; size <= pc.slot; size *= 2u) { /* uniform: by pc alone */
        bool flip = !merge;
        for (uint reach = size / 2u; reach > 0u; reach /= 2u) { /* uniform: as size is */
            compare_all(reach, flip);
            flip = false;
        }
    }
}

void main()
{
    bool from_keys = (pc.steps & GPUME_BITONIC_FROM_KEYS) != 0u;
    bool to_keys = (pc.steps & GPUME_BITONIC_TO_KEYS) != 0u;
    bool pairs = has(pc.payload_in);
    bool slots = pc.most <= GPUME_BITONIC_CHUNK; /* else a chunk is a part of segment z */
    uvec2 segment[PLACES];
    uint within[PLACES];
    [[unroll]] for (uint i = 0; i < PLACES; i++) {
        uint p = i * GPUME_BITONIC_LOCAL + gl_LocalInvocationIndex;
        uint number = gl_WorkGroupID.z;
        within[i] = group_number() * GPUME_BITONIC_CHUNK + p;
        if (slots) {
            number = within[i] / pc.slot;
            within[i] = p & (pc.slot - 1u);
        }
        segment[i] = segment_at(pc.segment_first + number);
        uvec2 value = uvec2(~0u);
        if (within[i] < segment[i].y) {
            uint at = segment[i].x + within[i];
            if (from_keys) {
                value = uvec2(Words(pc.keys_in).word[at] ^ pc.flip, within[i]);
            } else {
                value = Pairs(pc.counts).pair[at];
            }
        }
        chunk[p] = value;
    }
    barrier();
    sort_chunk(!from_keys);
    uint payload[PLACES];
    [[unroll]] for (uint i = 0; i < PLACES; i++) {
        uint place = chunk[i * GPUME_BITONIC_LOCAL + gl_LocalInvocationIndex].y;
        bool inside = to_keys && pairs && within[i] < segment[i].y;
        payload[i] = inside ? Words(pc.payload_in).word[segment[i].x + place] : 0u;
    }
    memoryBarrierBuffer(); /* short ones are sorted in place */
    barrier();
    [[unroll]] for (uint i = 0; i < PLACES; i++) {
        if (within[i] < segment[i].y) {
            uint at = segment[i].x + within[i];
            uvec2 value = chunk[i * GPUME_BITONIC_LOCAL + gl_LocalInvocationIndex];
            if (to_keys && (pc.steps & GPUME_SORT_TO_RANKS) != 0u) {
                Words(pc.keys_out).word[segment[i].x + value.y] = within[i];
            } else if (!to_keys) {
                Pairs(pc.counts).pair[at] = value;
            } else {
                Words(pc.keys_out).word[at] = value.x ^ pc.flip_out;
                if (pairs) {
                    Words(pc.payload_out).word[at] = payload[i];
                }
            }
        }
    }
}
