/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a place costs at least, by the sums of boxes (boxes.comp). Include after cost.glsl. With d
 * the difference of two boxes' sums, of BOX * BOX samples each:
 *
 *   SAD    |d| is at most the sum of absolute differences (triangle inequality).
 *   SSD    (d / BOX)^2 is at most the sum of squares (Cauchy and Schwarz), also if d / BOX is
 *          rounded down. It fits 32 bits where the cost of a block does: at most (BOX * peak)^2.
 *   SATD   four coefficients of an 8x8 tile are the 2x2 Hadamard transform of the d of its
 *          quarters; one of a 4x4 tile is d. The sum of all absolute coefficients is at least
 *          theirs, and rounding keeps the order.
 *
 * Boxes that are cut by the picture's edge, and tiles, do not count.
 *
 * With GPUME_MEAN the prediction of a sample t is (a + b + 1) >> 1 = (a + b + e) / 2, where b is
 * the other match's, e 0 or 1. So with s = 2 t - b and x the sum of a less that of s, d lies from
 * x / 2 to (x + BOX * BOX) / 2, and the least |d| counts. Coefficients of tiles are taken of the
 * middle, from which each of four d is at most BOX * BOX / 4 away.
 */
layout(constant_id = GPUME_SPEC_BOX) const int BOX = 8;

const int BOXES_X = BLOCK_W / BOX, BOXES_Y = BLOCK_H / BOX;

shared int target_sums[BOXES_X * BOXES_Y];

/* sums: of a plane. place: of its padded frame. */
int sum_at(Words sums, ivec2 place, uint stride)
{
    uint index = uint(place.y) * stride * 4u + uint(place.x);
#ifdef GPUME_WIDE
    return int(sums.at[index]);
#else
    return int(bitfieldExtract(sums.at[index / 2u], int(index % 2u) * 16, 16));
#endif
}

#ifdef GPUME_MEAN
/* Of the box at p, of 2 t - b. */
int target_sum(Comparison c, ivec2 p)
{
    Quads target = Quads(c.target);
    ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y);
    uint to = uint(place.y) * c.stride + uint(place.x) / 4u;
    ivec4 sum = ivec4(0);
    for (int y = p.y; y < p.y + BOX; y++) {
        for (int x = p.x; x < p.x + BOX; x += 4) {
            uint offset = uint(y) * c.stride + uint(x) / 4u;
            sum += 2 * unpack(target.at[to + offset]) - other_samples(c, offset);
        }
    }
    return sum.x + sum.y + sum.z + sum.w;
}

int difference_of(int x) { return x > 0 ? x / 2 : -(max(-x - BOX * BOX, 0) / 2); }
#else
int difference_of(int x) { return x; }
#endif

/* All of the workgroup calls it, and a barrier comes before a bound is asked for. */
void load_target_sums(Comparison c, uvec2 boxes, uint lane, uint lanes)
{
    for (uint i = lane; i < uint(BOXES_X * BOXES_Y); i += lanes) {
        ivec2 p = ivec2(int(i) % BOXES_X, int(i) / BOXES_X) * BOX;
        if (all(lessThanEqual(p + BOX, c.size))) {
#ifdef GPUME_MEAN
            target_sums[i] = target_sum(c, p);
#else
            target_sums[i] = sum_at(Words(boxes), c.at + ivec2(PAD_X, WINDOW_Y) + p, c.stride);
#endif
        }
    }
}

uint bound_of_box(int d)
{
    uint u = uint(abs(d)), mean = u / uint(BOX);
    return METRIC == GPUME_SPEC_METRIC_SAD   ? u
           : METRIC == GPUME_SPEC_METRIC_SSD ? mean * mean
                                             : u + 1u >> 1;
}

uint bound_of_tile(ivec4 d)
{
#ifdef GPUME_MEAN
    d = max(abs(hadamard4(2 * d + BOX * BOX)) / 4 - BOX * BOX, 0);
#else
    d = abs(hadamard4(d));
#endif
    return uint(d.x + d.y + d.z + d.w) + 2u >> 2;
}

/* Of the boxes of a tile, or of one box, at p of the block. */
uint bound_at(Words sums, ivec2 place, uint stride, ivec2 p)
{
    int i = p.y / BOX * BOXES_X + p.x / BOX;
    int d = sum_at(sums, place + p, stride) - target_sums[i];
    if (METRIC != GPUME_SPEC_METRIC_SATD || TILE == 4u) {
        return bound_of_box(difference_of(d));
    }
    place += p;
    ivec3 others = ivec3(sum_at(sums, place + ivec2(BOX, 0), stride),
        sum_at(sums, place + ivec2(0, BOX), stride), sum_at(sums, place + BOX, stride));
    ivec3 ours =
        ivec3(target_sums[i + 1], target_sums[i + BOXES_X], target_sums[i + BOXES_X + 1]);
    return bound_of_tile(ivec4(d, others - ours));
}

/* Not more than D of v; it need not be larger than `most`. */
uint bound(Comparison c, uvec2 boxes, uint plane_words, ivec2 v, uint most)
{
    const int step = METRIC == GPUME_SPEC_METRIC_SATD ? int(TILE) : BOX;
    ivec2 fraction = v & (UNITS - 1);
    ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y) + (v >> UNITS_LOG2);
    Words sums = Words(far_element(boxes, uint(fraction.y * UNITS + fraction.x), plane_words, 4u));
    uint least = 0u;
    if (c.size == BLOCK_SIZE && BLOCK_W <= 2 * step && BLOCK_H <= 2 * step) {
        /* Without branches, so that all loads are under way together. */
        [[unroll]] for (int y = 0; y < BLOCK_H; y += step) {
            [[unroll]] for (int x = 0; x < BLOCK_W; x += step) {
                least += bound_at(sums, place, c.stride, ivec2(x, y));
            }
        }
        return least;
    }
    for (int y = 0; y + step <= c.size.y && least <= most; y += step) {
        for (int x = 0; x + step <= c.size.x; x += step) {
            least += bound_at(sums, place, c.stride, ivec2(x, y));
        }
    }
    return least;
}
