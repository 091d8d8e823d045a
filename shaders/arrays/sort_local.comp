/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All passes of a segment of at most a tile of keys, in shared memory: a workgroup for each
 * segment. Grid: x and y = segment. Shared memory: sort_place.glsl. Reads and writes keys and
 * payload in place, or writes ranks, as sort_scatter.comp.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"
#include "arrays/sort_place.glsl"

void main()
{
    uvec2 segment = segment_at(pc.segment_first + group_number());
    if (segment.y == 0u) { /* uniform: the workgroup's segment */
        return;
    }
    bool pairs = has(pc.payload_out), places = !has(pc.payload_in);
    bool to_ranks = (pc.steps & GPUME_SORT_TO_RANKS) != 0u;
    uint base = gl_SubgroupID * SUBGROUP * KEYS + gl_SubgroupInvocationID;
    uint payload[KEYS], begin[COLUMNS];
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint at = base + i * SUBGROUP;
        bool inside = at < segment.y;
        key[i] = inside ? Words(pc.keys_in).word[segment.x + at] ^ pc.flip : ~0u;
        payload[i] = at;
        if (pc.place_shift != 0u && inside) {
            key[i] = key[i] << pc.place_shift | at;
        }
        if (inside && !places) {
            payload[i] = Words(pc.payload_in).word[segment.x + at];
        }
    }
    for (uint pass = 0; pass < pc.passes; pass++) {
        place_keys(invocation_number(), pc.shift + pass * 8u, begin);
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            tile[place[i]] = key[i];
        }
        barrier();
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            key[i] = tile[base + i * SUBGROUP];
        }
        barrier();
        if (pairs) { /* uniform: by pc alone */
            [[unroll]] for (uint i = 0; i < KEYS; i++) {
                tile[place[i]] = payload[i];
            }
            barrier();
            [[unroll]] for (uint i = 0; i < KEYS; i++) {
                payload[i] = tile[base + i * SUBGROUP];
            }
            barrier();
        }
    }
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint at = base + i * SUBGROUP;
        if (at < segment.y && to_ranks) {
            uint place = pairs ? payload[i] : key[i] & pc.place_mask;
            Words(pc.keys_out).word[segment.x + place] = at;
        } else if (at < segment.y) {
            Words(pc.keys_out).word[segment.x + at] = key[i] ^ pc.flip_out;
            if (pairs) {
                Words(pc.payload_out).word[segment.x + at] = payload[i];
            }
        }
    }
}
