/* SPDX-License-Identifier: BSD-2-Clause */
#include "plain_costs.h"

#include "synth.h"

#include <stdbool.h>
#include <stdlib.h>

static int64_t clamp(int64_t value, int64_t end)
{
    return value < 0 ? 0 : value >= end ? end - 1 : value;
}

/* A sample of luma, or the nearest one, rounded to 8 bits. */
static int32_t luma_at(const struct gpume_plane *luma, int64_t x, int64_t y)
{
    const double unit = (double)(1u << (luma->bits - 8));
    const double value = synth_sample(luma, clamp(x, luma->width), clamp(y, luma->height));
    const int32_t rounded = (int32_t)(value / unit + 0.5);
    return rounded > 255 ? 255 : rounded;
}

struct plain plain_half(const struct gpume_plane *luma)
{
    struct plain plain = {
        .width = (luma->width + 15) / 16 * 8, .height = (luma->height + 15) / 16 * 8};
    plain.samples = malloc((size_t)(4 * plain.width * plain.height));
    uint8_t *out = plain.samples;
    for (int64_t plane = 0; plane < 4; plane++) {
        for (int64_t y = plane / 2; y < 2 * plain.height; y += 2) {
            for (int64_t x = plane % 2; x < 2 * plain.width; x += 2) {
                const int32_t sum = luma_at(luma, x, y) + luma_at(luma, x + 1, y) +
                                    luma_at(luma, x, y + 1) + luma_at(luma, x + 1, y + 1);
                *out++ = (uint8_t)((sum + 2) / 4);
            }
        }
    }
    return plain;
}

/* The whole part of a place in half samples. */
static int64_t whole(int64_t half)
{
    return (half - (half & 1)) / 2;
}

int32_t plain_half_at(const struct plain *plain, int64_t x, int64_t y)
{
    const int64_t plane = 2 * (y & 1) + (x & 1);
    return plain->samples[(plane * plain->height + clamp(whole(y), plain->height)) * plain->width +
                          clamp(whole(x), plain->width)];
}

int32_t plain_at(const struct plain *plain, int64_t x, int64_t y)
{
    return plain_half_at(plain, 2 * x, 2 * y);
}

/* Coefficient (u,v) of the Hadamard transform of the quarter of 4x4 that begins at (left,top): the
 * sum of its differences with the sign of the parity of the bits that u and x, and v and y, have in
 * common. */
static int32_t coefficient(
    const int32_t differences[64], int32_t left, int32_t top, int32_t u, int32_t v)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < 16; i++) {
        const int32_t x = i % 4, y = i / 4, common = (u & x) << 2 | (v & y);
        const int32_t parity = (common ^ common >> 1 ^ common >> 2 ^ common >> 3) & 1;
        sum += (parity ? -1 : 1) * differences[8 * (top + y) + left + x];
    }
    return sum;
}

uint32_t plain_satd(const int32_t differences[64])
{
    uint32_t sum = 0;
    for (int32_t i = 0; i < 64; i++) {
        const int32_t left = i & 4, top = i >> 3 & 4;
        sum += (uint32_t)abs(coefficient(differences, left, top, i & 3, i >> 3 & 3));
    }
    return sum / 2;
}

/* Sample `i` of the row above a block, or of the column to the left of it; 0 is the corner. */
static int32_t around(const struct plain *p, int64_t left, int64_t top, int64_t i, bool column)
{
    return column ? plain_at(p, left - 1, top - 1 + i) : plain_at(p, left - 1 + i, top - 1);
}

/* H.265 8.4.4.2.6, without filters: (u,v) are along the edge and away from it. */
static int32_t predict_angular(const struct plain *p, int64_t left, int64_t top, int64_t u,
    int64_t v, int64_t angle, bool horizontal)
{
    const int64_t place = (v + 1) * angle;
    const int64_t fraction = place & 31, first = u + 1 + (place - fraction) / 32;
    int32_t samples[2];
    for (int64_t i = 0; i < 2; i++) {
        const int64_t at = first + i, inverse = angle == -13 ? 630 : 256;
        samples[i] = at >= 0 ? around(p, left, top, at, horizontal)
                             : around(p, left, top, (-at * inverse + 128) / 256, !horizontal);
    }
    return (int32_t)(((32 - fraction) * samples[0] + fraction * samples[1] + 16) / 32);
}

static int32_t predict_intra(
    const struct plain *p, int64_t left, int64_t top, int64_t x, int64_t y, int32_t mode)
{
    int32_t sum = 0;
    switch (mode) {
    case 0:
        for (int64_t i = 0; i < 8; i++) {
            sum += plain_at(p, left + i, top - 1) + plain_at(p, left - 1, top + i);
        }
        return (sum + 8) / 16;
    case 1:
        return plain_at(p, left + x, top - 1);
    case 2:
        return plain_at(p, left - 1, top + y);
    case 3:
        return ((int32_t)(7 - x) * plain_at(p, left - 1, top + y) +
                   (int32_t)(x + 1) * plain_at(p, left + 8, top - 1) +
                   (int32_t)(7 - y) * plain_at(p, left + x, top - 1) +
                   (int32_t)(y + 1) * plain_at(p, left - 1, top + 8) + 8) /
               16;
    case 4:
    case 5:
        return predict_angular(p, left, top, y, x, mode == 4 ? -13 : 13, true);
    default:
        return predict_angular(
            p, left, top, x, y, (const int64_t[]){-32, -13, 13, 32}[mode - 6], false);
    }
}

uint32_t plain_intra_cost(const struct plain *plain, int64_t block_x, int64_t block_y)
{
    uint32_t best = UINT32_MAX;
    for (int32_t mode = 0; mode < 10; mode++) {
        int32_t differences[64];
        for (int64_t i = 0; i < 64; i++) {
            differences[i] = plain_at(plain, 8 * block_x + i % 8, 8 * block_y + i / 8) -
                             predict_intra(plain, 8 * block_x, 8 * block_y, i % 8, i / 8, mode);
        }
        const uint32_t satd = plain_satd(differences);
        best = satd < best ? satd : best;
    }
    return best + 4 + 5;
}

/* What lies at a place in quarter pixels: the mean of what lies half a pixel apart on either side.
 */
static int32_t between(const struct plain *plain, int64_t x, int64_t y)
{
    const int64_t left = whole(x), top = whole(y), odd_x = x & 1, odd_y = y & 1;
    return (plain_half_at(plain, left, top) + plain_half_at(plain, left + odd_x, top + odd_y) + 1) /
           2;
}

static int32_t matched(const struct plain_match *match, int64_t x, int64_t y)
{
    return between(match->reference, 4 * x + match->vector.dx, 4 * y + match->vector.dy);
}

uint32_t plain_match_cost(const struct plain *target, int64_t block_x, int64_t block_y,
    const struct plain_match *match, const struct plain_match *other)
{
    int32_t differences[64];
    for (int64_t i = 0; i < 64; i++) {
        const int64_t x = 8 * block_x + i % 8, y = 8 * block_y + i / 8;
        int32_t prediction = matched(match, x, y);
        if (other) {
            prediction =
                (prediction * match->share + matched(other, x, y) * (64 - match->share) + 32) / 64;
        }
        differences[i] = plain_at(target, x, y) - prediction;
    }
    const bool moves = match->vector.dx != 0 || match->vector.dy != 0 ||
                       (other && (other->vector.dx != 0 || other->vector.dy != 0));
    return plain_satd(differences) + 4 + (moves ? 5 : 0);
}

struct plain plain_quarter(const struct plain *plain)
{
    struct plain quarter = {.width = plain->width / 2, .height = plain->height / 2};
    quarter.samples = malloc((size_t)(quarter.width * quarter.height));
    for (int64_t y = 0; y < quarter.height; y++) {
        for (int64_t x = 0; x < quarter.width; x++) {
            const int32_t sum = plain_at(plain, 2 * x, 2 * y) + plain_at(plain, 2 * x + 1, 2 * y) +
                                plain_at(plain, 2 * x, 2 * y + 1) +
                                plain_at(plain, 2 * x + 1, 2 * y + 1);
            quarter.samples[y * quarter.width + x] = (uint8_t)((sum + 2) / 4);
        }
    }
    return quarter;
}

/* A block that looks for its match. */
struct seeker {
    const struct plain *target, *reference;
    int64_t block_x, block_y;
};

static uint32_t sad_of(const struct seeker *s, struct gpume_vector v)
{
    const struct plain_match match = {.reference = s->reference, .vector = v};
    uint32_t sad = 0;
    for (int64_t i = 0; i < 64; i++) {
        const int64_t x = 8 * s->block_x + i % 8, y = 8 * s->block_y + i / 8;
        sad += (uint32_t)abs(plain_at(s->target, x, y) - matched(&match, x, y));
    }
    return sad;
}

static uint32_t satd_of(const struct seeker *s, struct gpume_vector v)
{
    const struct plain_match match = {.reference = s->reference, .vector = v};
    return plain_match_cost(s->target, s->block_x, s->block_y, &match, NULL) - 4 -
           (v.dx != 0 || v.dy != 0 ? 5 : 0);
}

typedef uint32_t (*difference_fn)(const struct seeker *s, struct gpume_vector v);

/* Smaller is better: the difference, then (0,0), then dy, then dx. */
static double rank_of(const struct seeker *s, struct gpume_vector v, difference_fn difference)
{
    const bool moves = v.dx != 0 || v.dy != 0;
    return difference(s, v) * 1e6 + (moves ? 5e5 : 0) + v.dy * 300 + v.dx;
}

static struct gpume_vector better(const struct seeker *s, struct gpume_vector best,
    struct gpume_vector other, difference_fn difference)
{
    const bool inside = abs(other.dx) <= 64 && abs(other.dy) <= 64;
    return inside && rank_of(s, other, difference) < rank_of(s, best, difference) ? other : best;
}

static struct gpume_vector best_around(
    const struct seeker *s, struct gpume_vector centre, int32_t step, difference_fn difference)
{
    struct gpume_vector best = centre;
    for (int32_t i = 0; i < 9; i++) {
        const struct gpume_vector other = {
            (int16_t)(centre.dx + (i % 3 - 1) * step), (int16_t)(centre.dy + (i / 3 - 1) * step)};
        best = better(s, best, other, difference);
    }
    return best;
}

/* A coarse block covers 16x16 samples. Those near a block overlap the square of 16x16 samples
 * around the block's centre. */
static bool is_near(int64_t block, int64_t coarse)
{
    const int64_t left = 8 * block - 4, right = 8 * block + 12;
    return 16 * coarse < right && 16 * (coarse + 1) > left;
}

struct gpume_vector plain_refine(const struct plain *target, int64_t block_x, int64_t block_y,
    const struct plain *reference, const struct gpume_vector *coarse)
{
    const struct seeker s = {target, reference, block_x, block_y};
    const int64_t across = (target->width + 15) / 16, down = (target->height + 15) / 16;
    struct gpume_vector best = best_around(&s, (struct gpume_vector){0, 0}, 4, sad_of);
    for (int64_t i = 0; i < across * down; i++) {
        if (is_near(block_x, i % across) && is_near(block_y, i / across)) {
            const struct gpume_vector v = {
                (int16_t)(8 * coarse[i].dx), (int16_t)(8 * coarse[i].dy)};
            best = better(&s, best, best_around(&s, v, 4, sad_of), sad_of);
        }
    }
    best = best_around(&s, best, 2, satd_of);
    const struct gpume_vector half = best;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t x = (i == 1) - (i == 0), y = (i == 3) - (i == 2);
        best = better(&s, best,
            (struct gpume_vector){(int16_t)(half.dx + x), (int16_t)(half.dy + y)}, satd_of);
    }
    return best;
}

uint32_t plain_energy(const struct gpume_plane *luma, int64_t block_x, int64_t block_y)
{
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < 256; i++) {
        const int64_t sample = luma_at(luma, 16 * block_x + i % 16, 16 * block_y + i / 16);
        sum += sample;
        squares += sample * sample;
    }
    return (uint32_t)((256 * squares - sum * sum + 255) / 256);
}
