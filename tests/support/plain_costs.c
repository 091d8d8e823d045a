/* SPDX-License-Identifier: BSD-2-Clause */
#include "plain_costs.h"

#include "synth.h"

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
    plain.samples = malloc((size_t)(plain.width * plain.height));
    for (int64_t y = 0; y < plain.height; y++) {
        for (int64_t x = 0; x < plain.width; x++) {
            const int32_t sum = luma_at(luma, 2 * x, 2 * y) + luma_at(luma, 2 * x + 1, 2 * y) +
                                luma_at(luma, 2 * x, 2 * y + 1) +
                                luma_at(luma, 2 * x + 1, 2 * y + 1);
            plain.samples[y * plain.width + x] = (uint8_t)((sum + 2) / 4);
        }
    }
    return plain;
}

int32_t plain_at(const struct plain *plain, int64_t x, int64_t y)
{
    return plain->samples[clamp(y, plain->height) * plain->width + clamp(x, plain->width)];
}

/* Coefficient (u,v) of the Hadamard transform: the sum of all differences with the sign of the
 * parity of the bits that u and x, and v and y, have in common. */
uint32_t plain_satd(const int32_t differences[64])
{
    uint32_t sum = 0;
    for (int32_t uv = 0; uv < 64; uv++) {
        int32_t coefficient = 0;
        for (int32_t xy = 0; xy < 64; xy++) {
            int32_t sign = 1;
            for (int32_t bit = 1; bit < 64; bit *= 2) {
                sign = (uv & xy & bit) != 0 ? -sign : sign;
            }
            coefficient += sign * differences[xy];
        }
        sum += (uint32_t)abs(coefficient);
    }
    return (sum + 2) / 4;
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
    default:
        return ((int32_t)(7 - x) * plain_at(p, left - 1, top + y) +
                   (int32_t)(x + 1) * plain_at(p, left + 8, top - 1) +
                   (int32_t)(7 - y) * plain_at(p, left + x, top - 1) +
                   (int32_t)(y + 1) * plain_at(p, left - 1, top + 8) + 8) /
               16;
    }
}

uint32_t plain_intra_cost(const struct plain *plain, int64_t block_x, int64_t block_y)
{
    uint32_t best = UINT32_MAX;
    for (int32_t mode = 0; mode < 4; mode++) {
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

/* What lies at a place in quarter pixels, as gpume.h defines bilinear interpolation. */
static int32_t between(const struct plain *plain, int64_t x, int64_t y)
{
    const int64_t left = x >= 0 ? x / 4 : -((3 - x) / 4), top = y >= 0 ? y / 4 : -((3 - y) / 4);
    const int32_t fx = (int32_t)(x - 4 * left), fy = (int32_t)(y - 4 * top);
    return ((4 - fx) * (4 - fy) * plain_at(plain, left, top) +
               fx * (4 - fy) * plain_at(plain, left + 1, top) +
               (4 - fx) * fy * plain_at(plain, left, top + 1) +
               fx * fy * plain_at(plain, left + 1, top + 1) + 8) /
           16;
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
            prediction = (prediction + matched(other, x, y) + 1) / 2;
        }
        differences[i] = plain_at(target, x, y) - prediction;
    }
    const bool moves = match->vector.dx != 0 || match->vector.dy != 0 ||
                       (other && (other->vector.dx != 0 || other->vector.dy != 0));
    return plain_satd(differences) + 4 + (moves ? 5 : 0);
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
