/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Third kernel of a pass: keys, and payload if there is any, to their places by this digit. A
 * workgroup sorts a tile in shared memory, so that neighbours write to neighbouring places. Grid: x
 * and y = tile of the segment, z = segment. Shared memory: sort_place.glsl, and 1 KiB. Reads keys,
 * payload, counts, totals; writes keys and payload elsewhere, or ranks.
 *
 * For ranks the first pass packs each key with its place (place_shift), or takes places for payload
 * (payload_in is 0).
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"
#include "arrays/sort_place.glsl"

layout(constant_id = GPUME_SORT_SPEC_PAIRS) const uint PAIRS = 1;

shared uint target[GPUME_SORT_DIGITS]; /* of a digit's first key, less its place in the tile */

/* Where in memory the keys of each digit of this tile go. */
void find_targets(uvec2 segment, uint t, uint begin[COLUMNS])
{
    uint tiles = (segment.y + TILE - 1u) / TILE, total[COLUMNS], sum = 0u, all;
    if (t * COLUMNS < GPUME_SORT_DIGITS) {
        uint at = totals_at(segment, TILE) + t * COLUMNS;
        [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
            total[j] = Words(pc.totals).word[at + j];
            sum += total[j];
        }
    }
    sum = segment.x + sum_before(sum, all);
    if (t * COLUMNS < GPUME_SORT_DIGITS) {
        uint at = counts_at(segment, TILE) + group_number();
        [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
            uint digit = t * COLUMNS + j;
            target[digit] = sum + Words(pc.counts).word[at + digit * tiles] - begin[j];
            sum += total[j];
        }
    }
}

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    uint first = group_number() * TILE, t = invocation_number();
    if (first >= segment.y) { /* uniform: the workgroup's tile */
        return;
    }
    const bool pairs = PAIRS != 0u;
    bool to_ranks = (pc.steps & GPUME_SORT_TO_RANKS) != 0u;
    uint count = min(TILE, segment.y - first);
    uint base = gl_SubgroupID * SUBGROUP * KEYS + gl_SubgroupInvocationID;
    /* Places past the end hold the largest key, and being last they stay last. */
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint at = base + i * SUBGROUP;
        key[i] = at < count ? Words(pc.keys_in).word[segment.x + first + at] ^ pc.flip : ~0u;
    }
    if (pc.place_shift != 0u) {
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            uint at = base + i * SUBGROUP;
            key[i] = at < count ? key[i] << pc.place_shift | (first + at) : ~0u;
        }
    }
    uint begin[COLUMNS];
    place_keys(t, pc.shift, begin);
    find_targets(segment, t, begin);
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        tile[place[i]] = key[i];
    }
    barrier();
    uint to[KEYS];
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint at = i * LOCAL + t, value = tile[at];
        to[i] = target[digit_of(value, pc.shift)] + at;
        if (at < count && !to_ranks) {
            Words(pc.keys_out).word[to[i]] = value ^ pc.flip_out;
        } else if (at < count && !pairs) {
            Words(pc.keys_out).word[segment.x + (value & pc.place_mask)] = to[i] - segment.x;
        }
    }
    if (pairs) { /* uniform: PAIRS */
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            uint at = base + i * SUBGROUP;
            key[i] = first + at;
            if (has(pc.payload_in)) {
                key[i] = at < count ? Words(pc.payload_in).word[segment.x + key[i]] : 0u;
            }
        }
        barrier();
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            tile[place[i]] = key[i];
        }
        barrier();
        [[unroll]] for (uint i = 0; i < KEYS; i++) {
            uint at = i * LOCAL + t;
            if (at < count && !to_ranks) {
                Words(pc.payload_out).word[to[i]] = tile[at];
            } else if (at < count) {
                Words(pc.keys_out).word[segment.x + tile[at]] = to[i] - segment.x;
            }
        }
    }
}
