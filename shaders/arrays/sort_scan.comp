/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second kernel of a pass: in which place of its digit each tile begins. A workgroup owns one digit
 * of a segment, or all of them if the grid has but one in x. Grid: x = digit, z = segment. Shared
 * memory: 1 KiB at most. Turns counts into sums over the tiles before, writes totals[digit] of the
 * segment.
 *
 * Loops: 2^30 keys are 2^20 tiles at most (of 1024), 2^17 / LOCAL rounds of LOCAL / SUBGROUP + 16
 * iterations, of which there are the most where LOCAL is 32 and SUBGROUP 4: 2^12 * 24 before the
 * loops of 8 are unrolled, 2^15 then. The host lets one invocation have GPUME_SORT_ROW_MAX tiles of
 * up to 8 digits.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "arrays/sort_segment.glsl"

layout(local_size_x_id = GPUME_SORT_SPEC_LOCAL) in;
layout(constant_id = GPUME_SORT_SPEC_LOCAL) const uint LOCAL = 256;
layout(constant_id = GPUME_SORT_SPEC_KEYS) const uint KEYS = 8; /* gives the tile, as elsewhere */
layout(constant_id = GPUME_SORT_SPEC_SUBGROUP) const uint SUBGROUP = 8;
#include "arrays/sort_sum.glsl"

const uint TILE = LOCAL * KEYS;

/* Short rows of many segments: a digit for each invocation, a workgroup for each segment. */
void scan_rows(uvec2 segment, uint tiles)
{
    Words counts = Words(pc.counts);
    for (uint digit = invocation_number(); digit < GPUME_SORT_DIGITS; digit += LOCAL) {
        uint row = counts_at(segment, TILE) + digit * tiles, sum = 0u;
        for (uint i = 0u; i < tiles; i++) {
            uint count = counts.word[row + i];
            counts.word[row + i] = sum;
            sum += count;
        }
        Words(pc.totals).word[totals_at(segment, TILE) + digit] = sum;
    }
}

void main()
{
    uvec2 segment = segment_at(pc.segment_first + gl_WorkGroupID.z);
    if (segment.y == 0u) { /* uniform: the workgroup's segment */
        return;
    }
    uint tiles = (segment.y + TILE - 1u) / TILE, carry = 0u;
    if (gl_NumWorkGroups.x == 1u) {
        scan_rows(segment, tiles);
        return;
    }
    Words counts = Words(pc.counts);
    uint digit = gl_WorkGroupID.x, t = invocation_number();
    uint row = counts_at(segment, TILE) + digit * tiles;
    /* uniform: so is tiles */
    for (uint first = 0u; first < tiles; first += LOCAL * GPUME_SORT_SCAN_KEYS) {
        uint at = first + t * GPUME_SORT_SCAN_KEYS, value[GPUME_SORT_SCAN_KEYS], sum = 0u, all;
        [[unroll]] for (uint i = 0; i < GPUME_SORT_SCAN_KEYS; i++) {
            value[i] = at + i < tiles ? counts.word[row + at + i] : 0u;
            sum += value[i];
        }
        sum = carry + sum_before(sum, all);
        [[unroll]] for (uint i = 0; i < GPUME_SORT_SCAN_KEYS; i++) {
            if (at + i < tiles) {
                counts.word[row + at + i] = sum;
            }
            sum += value[i];
        }
        carry += all;
    }
    if (t == 0u) {
        Words(pc.totals).word[totals_at(segment, TILE) + digit] = carry;
    }
}
