/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stable sort of one tile by one digit: place[] becomes where in the tile each key goes. Keys lie
 * in the order subgroup, i, lane. Every subgroup finds by ballots which of its lanes hold the same
 * digit, and counts in its own histogram.
 *
 * Shared memory: TILE words or 256 words per subgroup, whichever is more, and 2 KiB at most.
 */
layout(local_size_x_id = GPUME_SORT_SPEC_LOCAL) in;
layout(constant_id = GPUME_SORT_SPEC_LOCAL) const uint LOCAL = 256;
layout(constant_id = GPUME_SORT_SPEC_KEYS) const uint KEYS = 8;
layout(constant_id = GPUME_SORT_SPEC_SUBGROUP) const uint SUBGROUP = 8;
#include "arrays/sort_sum.glsl"

const uint TILE = LOCAL * KEYS;
const uint COUNTERS = SUBGROUPS * GPUME_SORT_DIGITS;
/* Digits that an invocation adds up; those past the last have none. */
const uint COLUMNS = LOCAL < GPUME_SORT_DIGITS ? GPUME_SORT_DIGITS / LOCAL : 1u;

/* Counters first, the tile in its new order then. */
shared uint tile[TILE > COUNTERS ? TILE : COUNTERS];

uint key[KEYS], place[KEYS];

uint digit_of(uint value, uint shift)
{
    return value >> shift & 255u; /* the last digit may reach beyond the word */
}

/* Of the lanes with the same digit: those before this one, and all. */
uvec2 peers(uint digit)
{
    if (SUBGROUP <= 32u) {
        uint same = 0xffffffffu >> ((32u - SUBGROUP) & 31u);
        [[unroll]] for (int bit = 0; bit < 8; bit++) {
            bool set = (digit & (1u << bit)) != 0u;
            uint ballot = subgroupBallot(set).x;
            same &= set ? ballot : ~ballot;
        }
        return uvec2(bitCount(same & gl_SubgroupLtMask.x), bitCount(same));
    }
    uvec4 same = subgroupBallot(true);
    [[unroll]] for (int bit = 0; bit < 8; bit++) {
        bool set = (digit & (1u << bit)) != 0u;
        uvec4 ballot = subgroupBallot(set);
        same &= set ? ballot : ~ballot;
    }
    return uvec2(subgroupBallotExclusiveBitCount(same), subgroupBallotBitCount(same));
}

/* key[] -> place[] among the subgroup's keys of the same digit. Barriers, since a lane may raise a
 * counter that others have yet to read; the workgroup is here as a whole. */
void count_digits(uint shift)
{
    uint base = gl_SubgroupID * GPUME_SORT_DIGITS;
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint at = base + digit_of(key[i], shift);
        uvec2 lanes = peers(at);
        uint before = tile[at];
        subgroupBarrier();
        if (lanes.x == 0u) {
            tile[at] = before + lanes.y;
        }
        subgroupBarrier();
        place[i] = before + lanes.x;
    }
}

/* Counters into places where their keys begin: by digit, then by subgroup. begin[]: those of the
 * digits that are this invocation's, t * COLUMNS and on. */
void begin_digits(uint t, out uint begin[COLUMNS])
{
    uint sum = 0u, all;
    if (t * COLUMNS < GPUME_SORT_DIGITS) {
        [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
            begin[j] = sum;
            [[unroll]] for (uint s = 0; s < SUBGROUPS; s++) {
                sum += tile[s * GPUME_SORT_DIGITS + t * COLUMNS + j];
            }
        }
    }
    sum = sum_before(sum, all);
    if (t * COLUMNS < GPUME_SORT_DIGITS) {
        [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
            begin[j] += sum;
            uint at = t * COLUMNS + j, next = begin[j];
            [[unroll]] for (uint s = 0; s < SUBGROUPS; s++) {
                uint count = tile[s * GPUME_SORT_DIGITS + at];
                tile[s * GPUME_SORT_DIGITS + at] = next;
                next += count;
            }
        }
    }
    barrier();
}

/* key[] -> place[]. Between all invocations' last use of the shared tile and this: a barrier. */
void place_keys(uint t, uint shift, out uint begin[COLUMNS])
{
    for (uint i = t; i < COUNTERS; i += LOCAL) {
        tile[i] = 0u;
    }
    barrier();
    count_digits(shift);
    barrier();
    begin_digits(t, begin);
    uint base = gl_SubgroupID * GPUME_SORT_DIGITS;
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        place[i] += tile[base + digit_of(key[i], shift)];
    }
    barrier();
}
