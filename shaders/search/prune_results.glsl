/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both forms of pruning write: counts, and blocks that fall back to the full search; and which
 * candidates of a block are allowed. Include after search.glsl and the declarations of pc, fallback
 * and counts.
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

/* Sends block `index` of the layer, counted over all tasks, to the full search. */
void fall_back(uint index)
{
    fallback[pc.fallback_list + 1u + atomicAdd(fallback[pc.fallback_list], 1u)] = index;
}

/* Adds to a 64-bit count of task z: candidates past the quarters, or past the sixteenths. Counts
 * are spread over slots, since atomics of all workgroups on one word would be slow. */
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
