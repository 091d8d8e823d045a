/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both forms of the sieve leave behind: counts, blocks left over; and which candidates of a
 * block count at all. Include after search.glsl, where pc, fallback and counts are there.
 */

/* The first and the last row, the first and the last column that are allowed, of those that begin
 * at dx = -PAD_X, dy = -WINDOW_Y. */
uvec4 allowed_range(uvec2 position, uvec2 size)
{
    ivec2 window = ivec2(WINDOW_X, WINDOW_Y), before = window, after = window;
    if (INSIDE != 0u) {
        before = min(window, ivec2(position));
        after = min(window, ivec2(pc.layer.width, pc.layer.height) - ivec2(position) - ivec2(size));
    }
    return uvec4(WINDOW_Y - before.y, WINDOW_Y + after.y, PAD_X - before.x, PAD_X + after.x);
}

uint candidates_in(uvec4 range) { return (range.y - range.x + 1u) * (range.w - range.z + 1u); }

/* Block `index` of the batch goes to the full search. */
void fall_back(uint index)
{
    fallback[pc.fallback_list + 1u + atomicAdd(fallback[pc.fallback_list], 1u)] = index;
}

/* 64-bit counts of field z: candidates past the quarters and past the sixteenths. In slots, as one
 * word is not added to quickly by all workgroups. */
void count_up(uint z, uint which, uint value)
{
    const uint CANDIDATES = uint(2 * WINDOW_Y + 1) * uint(2 * WINDOW_X + 1);
    uint slot = z * GPUME_COUNT_SLOTS + gl_WorkGroupID.x % GPUME_COUNT_SLOTS;
    uint at = slot * GPUME_COUNT_WORDS + which * 2u;
    if (pc.layer.blocks <= 0xffffffffu / CANDIDATES) {
        atomicAdd(counts[at], value);
        return;
    }
    uint before = atomicAdd(counts[at], value);
    if (before + value < before) {
        atomicAdd(counts[at + 1u], 1u);
    }
}
