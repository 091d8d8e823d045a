/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a place costs at least, by the sums of boxes (boxes.comp), and what each place of a group
 * does, by the least and the largest of their sums (ranges.comp). With d the difference of two
 * boxes' sums, of BOX * BOX samples each:
 *
 *   SAD    |d| is at most the sum of absolute differences (triangle inequality).
 *   SSD    (d / BOX)^2 is at most the sum of squares (Cauchy and Schwarz), also if d / BOX is
 *          rounded down. It fits 32 bits where the cost of a block does: at most (BOX * peak)^2.
 *   SATD   four coefficients of an 8x8 tile are the 2x2 Hadamard transform of the d of its
 *          quarters; one of a 4x4 tile is d. The sum of all absolute coefficients is at least
 *          theirs, and rounding keeps the order.
 *
 * Of a group, d lies in a range, and the least |d| of it counts. A coefficient is that of the
 * middles of four ranges, from which it differs by half the sum of their lengths at most.
 *
 * Boxes that are cut by the picture's edge, and tiles, do not count.
 *
 * With GPUME_MEAN the prediction of a sample t is (a + b + 1) >> 1 = (a + b + e) / 2, where b is
 * the other match's, e 0 or 1. So with s = 2 t - b and x the sum of a less that of s, d lies from
 * x / 2 to (x + BOX * BOX) / 2: a range again.
 *
 * Include after cost.glsl and places.glsl.
 */
layout(constant_id = GPUME_SPEC_BOX) const int BOX = 8;

const int BOXES_X = BLOCK_W / BOX, BOXES_Y = BLOCK_H / BOX;

shared int target_sums[BOXES_X * BOXES_Y];

/* Of the reference: sums of boxes of a place, or with `grouped` ranges of a group's. */
struct Sums {
    Words words; /* from the block's first box on */
    uint shift;  /* of two sums in a word: bits below the first one */
    bool grouped;
};

/* Pixels from a group to the next one. */
const int SPACING = FULL != 0u ? 1 : SIDE;

#ifdef GPUME_WIDE
const uint SUMS_IN_WORD = 1u, RANGE_WORDS = 2u;
#else
const uint SUMS_IN_WORD = 2u, RANGE_WORDS = 1u;
#endif

/* Of a plane's sums or a frame's ranges, those from the one with number `first` on. */
Sums sums_from(uvec2 address, uint first, bool grouped)
{
    Sums sums;
    uint word = grouped ? first * RANGE_WORDS : first / SUMS_IN_WORD;
    sums.words = Words(element(address, word, 4u));
    sums.shift = first % SUMS_IN_WORD * 16u;
    sums.grouped = grouped;
    return sums;
}

/* The least and the largest sum of the box at p of the block. */
ivec2 sums_at(Sums sums, ivec2 p)
{
    if (!sums.grouped) {
        uint word = sums.words.at[(uint(p.y) * STRIDE * 4u + uint(p.x)) / SUMS_IN_WORD];
        return ivec2(SUMS_IN_WORD == 1u ? word : word >> sums.shift & 0xffffu);
    }
    uint index = uint(p.y / SPACING) * (STRIDE * 4u / uint(SPACING)) + uint(p.x / SPACING);
#ifdef GPUME_WIDE
    return ivec2(sums.words.at[2u * index], sums.words.at[2u * index + 1u]);
#else
    uint range = sums.words.at[index];
    return ivec2(range & 0xffffu, range >> 16);
#endif
}

#ifdef GPUME_MEAN
const int ROUNDING = BOX * BOX, HALVES = 4;

/* Of the box at p, of 2 t - b. */
int target_sum(Comparison c, ivec2 p)
{
    Quads target = Quads(c.target);
    ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y);
    uint to = uint(place.y) * STRIDE + uint(place.x) / 4u;
    ivec4 sum = ivec4(0);
    for (int y = p.y; y < p.y + BOX; y++) {
        for (int x = p.x; x < p.x + BOX; x += 4) {
            uint offset = uint(y) * STRIDE + uint(x) / 4u;
            uint other = c.other_from + offset;
            sum += 2 * unpack(target.at[to + offset]) -
                   shifted(c.other.at[other], c.other.at[other + 1u], c.other_shift);
        }
    }
    return sum.x + sum.y + sum.z + sum.w;
}
#else
const int ROUNDING = 0, HALVES = 2;
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
            ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y) + p;
            Sums sums = sums_from(boxes, uint(place.y) * STRIDE * 4u + uint(place.x), false);
            target_sums[i] = sums_at(sums, ivec2(0)).x;
#endif
        }
    }
}

/* x: from the least to the largest difference of sums. */
uint bound_of_box(ivec2 x)
{
    x.y += ROUNDING;
    uint u = uint(abs(clamp(0, x.x, x.y)) * 2 / HALVES), mean = u / uint(BOX);
    return METRIC == GPUME_SPEC_METRIC_SAD   ? u
           : METRIC == GPUME_SPEC_METRIC_SSD ? mean * mean
                                             : u + 1u >> 1;
}

uint bound_of_tile(ivec4 least, ivec4 most)
{
    most += ROUNDING;
    ivec4 lengths = most - least;
    ivec4 d = abs(hadamard4(least + most)) - (lengths.x + lengths.y + lengths.z + lengths.w);
    d = max(d, 0) / HALVES;
    return uint(d.x + d.y + d.z + d.w) + 2u >> 2;
}

/* Of the boxes of a tile, or of one box, at p of the block. */
uint bound_at(Sums sums, ivec2 p)
{
    int i = p.y / BOX * BOXES_X + p.x / BOX;
    ivec2 x = sums_at(sums, p) - target_sums[i];
    if (METRIC != GPUME_SPEC_METRIC_SATD || TILE == 4u) {
        return bound_of_box(x);
    }
    ivec2 y = sums_at(sums, p + ivec2(BOX, 0)) - target_sums[i + 1];
    ivec2 z = sums_at(sums, p + ivec2(0, BOX)) - target_sums[i + BOXES_X];
    ivec2 w = sums_at(sums, p + BOX) - target_sums[i + BOXES_X + 1];
    return bound_of_tile(ivec4(x.x, y.x, z.x, w.x), ivec4(x.y, y.y, z.y, w.y));
}

/* It need not be larger than `most`. */
uint bound(Comparison c, Sums sums, uint most)
{
    const int step = METRIC == GPUME_SPEC_METRIC_SATD ? int(TILE) : BOX;
    uint least = 0u;
    if (c.size == BLOCK_SIZE && BLOCK_W <= 2 * step && BLOCK_H <= 2 * step) {
        /* Without branches, so that all loads are under way together. */
        [[unroll]] for (int y = 0; y < BLOCK_H; y += step) {
            [[unroll]] for (int x = 0; x < BLOCK_W; x += step) {
                least += bound_at(sums, ivec2(x, y));
            }
        }
        return least;
    }
    for (int y = 0; y + step <= c.size.y && least <= most; y += step) {
        for (int x = 0; x + step <= c.size.x; x += step) {
            least += bound_at(sums, ivec2(x, y));
        }
    }
    return least;
}

/* Not more than D of v. */
uint bound_of_place(Comparison c, uvec2 boxes, uint plane_words, ivec2 v, uint most)
{
    ivec2 fraction = v & (UNITS - 1), place = c.at + ivec2(PAD_X, WINDOW_Y) + (v >> UNITS_LOG2);
    uvec2 plane = far_element(boxes, uint(fraction.y * UNITS + fraction.x), plane_words, 4u);
    uint first = uint(place.y) * STRIDE * 4u + uint(place.x);
    return bound(c, sums_from(plane, first, false), most);
}

/* Not more than D of any place of the group that begins with v. */
uint bound_of_group(Comparison c, uvec2 ranges, ivec2 v, uint most)
{
    ivec2 place = (c.at + ivec2(PAD_X, BEFORE_Y * SPACING) + (v >> UNITS_LOG2)) / SPACING;
    uint first = uint(place.y) * (STRIDE * 4u / uint(SPACING)) + uint(place.x);
    return bound(c, sums_from(ranges, first, true), most);
}
