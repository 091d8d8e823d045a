/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lower bounds for the candidates of prune_wide.comp, from block sums: one bound for a whole group
 * of candidates; bounds of four neighbouring candidates from their quarters; and from their
 * sixteenths. Include after the declarations of the sums, the block and the range of candidates.
 */
PAIR target[4]; /* sums of quarters */
PAIR lower;     /* 1; 0 if the picture's edge cuts the lower quarters */
/* Index of the tile of sums of the candidate dx = -PAD_X, dy = -WINDOW_Y, and the distance in tiles
 * from there to the tile of its lower quarters. */
uint tile_first, tile_below;

/* A bound for all candidates of a group. tile: the tile of its first candidate's first quarter. */
uint bound_group(uint tile, PAIR target[4], uint below, PAIR lower)
{
    PAIR zero = PAIR(0.0);
    PAIR sum = max(pair_of(groups[tile]) - target[0], zero) +
               max(pair_of(groups[tile + HALF_W / 4u]) - target[1], zero);
    PAIR under = max(pair_of(groups[tile + below]) - target[2], zero) +
                 max(pair_of(groups[tile + below + HALF_W / 4u]) - target[3], zero);
    sum += lower * under;
    return bits_of(PAIR(sum.x + sum.y)) & 0xffffu;
}

/* The bounds of the four neighbouring candidates in one row of a group. */
uvec2 bound_quad(uint tile, uint row, PAIR target[4], uint below, PAIR lower)
{
    uint at = 4u * tile + row, next = HALF_W, under = 4u * below;
    uvec2 a = quarters[at], b = quarters[at + next];
    uvec2 c = quarters[at + under], d = quarters[at + under + next];
    uvec2 result;
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        PAIR sum = abs(pair_of(a[i]) - target[0]) + abs(pair_of(b[i]) - target[1]);
        sum += lower * (abs(pair_of(c[i]) - target[2]) + abs(pair_of(d[i]) - target[3]));
        result[i] = bits_of(sum);
    }
    return result;
}

/* Sets the bounds of candidates that are not allowed to FAR. */
uvec2 masked(uvec2 both, uint row, uint column)
{
    const uint FAR_LOW = NOWHERE, FAR_HIGH = NOWHERE << 16;
    bool there = row >= range.x && row <= range.y;
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uint left = column + 2u * i, right = left + 1u;
        bool has_left = there && left >= range.z && left <= range.w;
        bool has_right = there && right >= range.z && right <= range.w;
        both[i] = (has_left ? both[i] & 0xffffu : FAR_LOW) |
                  (has_right ? both[i] & 0xffff0000u : FAR_HIGH);
    }
    return both;
}

/* What a row of the block's sixteenths adds to the bounds of four neighbouring candidates; row and
 * column: of its first sum's, from the block at dx = -PAD_X, dy = -WINDOW_Y. */
PAIR[2] bound_row(PAIR sums[2], uint row, uint column, uint y)
{
    uint line = 4u * (tile_first + row / 4u * pc.frames.stride) + row % 4u;
    uvec4 targets = target_sums[y];
    [[unroll]] for (uint x = 0u; x < 4u; x++) {
        uint left = column + x * FOURTH_W;
        uvec2 its = sixteenths[line + (left & ~3u)];
        if (x * FOURTH_W % 4u != 0u) {
            its = uvec2(its.y, sixteenths[line + (left & ~3u) + 4u].x);
        }
        PAIR target_sum = pair_of(targets[x]);
        sums[0] += abs(pair_of(its.x) - target_sum);
        sums[1] += abs(pair_of(its.y) - target_sum);
    }
    return sums;
}

/* The bounds by sixteenths of four neighbouring candidates, of which this is the first. */
uvec2 bound_closely(uint candidate)
{
    uint row = row_of(candidate), column = column_of(candidate);
    PAIR sums[2] = PAIR[2](PAIR(0.0), PAIR(0.0));
    if (size.y == BLOCK_H) {
        [[unroll]] for (uint y = 0u; y < 4u; y++) {
            sums = bound_row(sums, row + y * FOURTH_H, column, y);
        }
    } else { /* those rows of them that are not cut */
        for (uint y = 0u; y < size.y / FOURTH_H; y++) {
            sums = bound_row(sums, row + y * FOURTH_H, column, y);
        }
    }
    return masked(uvec2(bits_of(sums[0]), bits_of(sums[1])), row, column);
}

/* A sum of the target, as a pair of itself. Quarters lie in tiles. */
uint target_sum(uint i)
{
    uint each = i < 16u ? 4u : 2u, k = i % 16u;
    uint width = i < 16u ? FOURTH_W : HALF_W, height = i < 16u ? FOURTH_H : HALF_H;
    uvec2 at = uvec2(k % each * width, k / each * height);
    if (at.y + height > size.y) {
        return 0u;
    }
    at += position + uvec2(PAD_X, WINDOW_Y);
    uint tile = at.y / 4u * pc.frames.stride + at.x / 4u;
    uint from = target_sums_first + 4u * tile + at.y % 4u;
    uint sum = i >= 16u ? quarters[from].x : sixteenths[from][at.x / 2u % 2u];
    return (sum & 0xffffu) * 0x10001u;
}
