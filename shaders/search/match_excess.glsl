/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches a tile of match_tiles.comp again if it has samples beyond their bit depth, as some files
 * do: from memory, one block after the other, one candidate per invocation. 32 bits hold any cost:
 * 128 * 128 * 65535 < 2^30. Rare and slow.
 */

/* Four samples from sample s of the first of two quads. */
ivec4 samples_from(ivec4 a, ivec4 b, uint s)
{
    ivec4 odd = s == 1u ? ivec4(a.yzw, b.x) : ivec4(a.w, b.xyz);
    return s == 0u ? a : s == 2u ? ivec4(a.zw, b.xy) : odd;
}

uint excess_cost(uint to, uint from, uint shift, uvec2 size)
{
    ivec4 sum = ivec4(0);
    for (uint y = 0u; y < size.y; y++) {
        for (uint x = 0u; x < size.x / 4u; x++) {
            ivec4 left = unpack(reference[from + x]), right = unpack(reference[from + x + 1u]);
            sum += abs(unpack(target[to + x]) - samples_from(left, right, shift));
        }
        to += pc.frames.stride;
        from += pc.frames.stride;
    }
    return uint(sum.x + sum.y + sum.z + sum.w);
}

/* One block; sizes of 0 are of no account. */
void compare_excess_of(uint b)
{
    uvec2 at = block_at(b) * BLOCK_SIZE, size = block_size(b);
    uvec2 across = allowed_range(at.x, size.x, pc.layer.width, WINDOW_X);
    uvec2 down = allowed_range(at.y, size.y, pc.layer.height, WINDOW_Y);
    uint to = (b % TILE_X) * BLOCK_W / 4u + (b / TILE_X) * BLOCK_H * pc.frames.stride;
    uint least_cost = NONE, least_index = NONE;
    for (uint i = gl_LocalInvocationIndex; i < SPAN_X * SPAN_Y; i += LOCAL) {
        uint column = i % SPAN_X, row = i / SPAN_X;
        if (size.y == 0u || column < across.x || column > across.y || row < down.x ||
            row > down.y) {
            continue;
        }
        uint from = reference_base + to + row * pc.frames.stride + (column + SKIP) / 4u;
        uint cost = excess_cost(target_base + to, from, (column + SKIP) % 4u, size);
        if (wins(cost, i, least_cost, least_index)) {
            least_cost = cost;
            least_index = i;
        }
        if (column == uint(WINDOW_X) && row == uint(WINDOW_Y)) {
            zero_cost[b] = cost;
        }
    }
    reduce_words(b, least_cost, least_index);
}

void compare_excess()
{
    start_blocks();
    for (uint b = 0u; b < BLOCKS; b++) {
        barrier();
        compare_excess_of(b);
    }
    barrier();
}
