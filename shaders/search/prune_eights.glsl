/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates of prune_small.comp and prune_strips.comp, which take eight neighbours of a row at a
 * time. Include after search.glsl and the declarations of pc, position and size.
 */

/* A candidate: row (dy + WINDOW_Y) and column (dx + PAD_X). */
uint candidate_of(uint row, uint column) { return row << 12 | column; }
uint row_of(uint candidate) { return candidate >> 12 & 0xfffu; }
uint column_of(uint candidate) { return candidate & 0xfffu; }
uint zero_candidate() { return candidate_of(uint(WINDOW_Y), uint(PAD_X)); }

uvec2 visible(uvec2 corner)
{
    return min(BLOCK_SIZE, uvec2(pc.layer.width, pc.layer.height) - corner);
}

/* Which of eight candidates count: bits 0 to 3 are the first of each pair, 16 to 19 the others. */
uint allowed_of(uint row, uint column)
{
    uint mask = 0u;
    [[unroll]] for (uint i = 0u; i < 8u; i++) {
        ivec2 v = ivec2(column + i, row) - ivec2(PAD_X, WINDOW_Y);
        ivec2 picture = ivec2(pc.layer.width, pc.layer.height);
        bool counts = allowed(ivec2(position), ivec2(size), picture, v.x, v.y);
        mask |= uint(counts) << i / 2u + 16u * (i % 2u);
    }
    return mask;
}

/* Clears the bit of a candidate in such a mask of the eight that begins with `first`. */
uint without(uint mask, uint first, uint candidate)
{
    uint i = candidate - first;
    return i < 8u ? mask & ~(1u << i / 2u + 16u * (i % 2u)) : mask;
}
