/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/costs.h"

#include "encode/satd.h"

#include <string.h>

#define SIDE GPUME_HALF_BLOCK

struct prediction {
    uint8_t samples[SIDE][SIDE];
};

/* --- within a frame */

static void predict_mean(const uint8_t *block, ptrdiff_t stride, struct prediction *out)
{
    uint32_t sum = SIDE;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)SIDE; i++) {
        sum += (uint32_t)block[i - stride] + block[i * stride - 1];
    }
    memset(out->samples, (int)(sum / (2 * SIDE)), sizeof(out->samples));
}

static void predict_down(const uint8_t *block, ptrdiff_t stride, struct prediction *out)
{
    for (uint32_t y = 0; y < SIDE; y++) {
        memcpy(out->samples[y], block - stride, SIDE);
    }
}

static void predict_across(const uint8_t *block, ptrdiff_t stride, struct prediction *out)
{
    for (ptrdiff_t y = 0; y < (ptrdiff_t)SIDE; y++) {
        memset(out->samples[y], block[y * stride - 1], SIDE);
    }
}

static void predict_planar(const uint8_t *block, ptrdiff_t stride, struct prediction *out)
{
    const uint32_t right = block[SIDE - stride], below = block[(ptrdiff_t)SIDE * stride - 1];
    for (uint32_t y = 0; y < SIDE; y++) {
        const uint32_t left = block[(ptrdiff_t)y * stride - 1];
        for (uint32_t x = 0; x < SIDE; x++) {
            const uint32_t above = block[(ptrdiff_t)x - stride];
            const uint32_t across = (SIDE - 1 - x) * left + (x + 1) * right;
            const uint32_t down = (SIDE - 1 - y) * above + (y + 1) * below;
            out->samples[y][x] = (uint8_t)((across + down + SIDE) / (2 * SIDE));
        }
    }
}

static const uint8_t *block_at(const struct gpume_half *half, uint32_t block_x, uint32_t block_y)
{
    return half->samples + (ptrdiff_t)(block_y * SIDE) * half->stride + block_x * SIDE;
}

void gpume_intra_costs(const struct gpume_half *half, uint32_t block_y, uint16_t *costs)
{
    static void (*const modes[])(const uint8_t *, ptrdiff_t, struct prediction *) = {
        predict_mean, predict_down, predict_across, predict_planar};
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        const uint8_t *block = block_at(half, i, block_y);
        uint32_t best = UINT32_MAX;
        for (uint32_t mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
            struct prediction prediction;
            modes[mode](block, half->stride, &prediction);
            const uint32_t satd = gpume_satd(block, half->stride, prediction.samples[0], SIDE);
            best = satd < best ? satd : best;
        }
        costs[i] = (uint16_t)(best + GPUME_PENALTY_ANY + GPUME_PENALTY_INTRA);
    }
}

/* --- from others */

/* The only place that knows what lies between samples; libgpume is given the same interpolation. */
static void interpolate(const struct gpume_half *half, const uint8_t *block,
    struct gpume_vector vector, struct prediction *out)
{
    const uint32_t fx = (uint32_t)vector.dx & 3, fy = (uint32_t)vector.dy & 3;
    const ptrdiff_t stride = half->stride;
    const uint8_t *at = block + (vector.dy >> 2) * stride + (vector.dx >> 2);
    for (uint32_t y = 0; y < SIDE; y++, at += stride) {
        for (uint32_t x = 0; x < SIDE; x++) {
            const uint32_t upper = (4 - fx) * at[x] + fx * at[x + 1];
            const uint32_t lower =
                (4 - fx) * at[(ptrdiff_t)x + stride] + fx * at[(ptrdiff_t)x + stride + 1];
            out->samples[y][x] = (uint8_t)(((4 - fy) * upper + fy * lower + 8) >> 4);
        }
    }
}

void gpume_match_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *matches, uint16_t *costs)
{
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        struct prediction a;
        interpolate(
            matches->reference, block_at(matches->reference, i, block_y), matches->vectors[i], &a);
        const uint32_t satd =
            gpume_satd(block_at(half, i, block_y), half->stride, a.samples[0], SIDE);
        costs[i] = gpume_match_cost(satd, matches->vectors[i]);
    }
}

static void average(struct prediction *a, const struct prediction *b)
{
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const uint32_t sum =
            (uint32_t)a->samples[i / SIDE][i % SIDE] + b->samples[i / SIDE][i % SIDE] + 1;
        a->samples[i / SIDE][i % SIDE] = (uint8_t)(sum / 2);
    }
}

void gpume_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint16_t *costs)
{
    for (uint32_t i = 0; i < half->width / SIDE; i++) {
        struct prediction a, b;
        interpolate(past->reference, block_at(past->reference, i, block_y), past->vectors[i], &a);
        interpolate(
            future->reference, block_at(future->reference, i, block_y), future->vectors[i], &b);
        average(&a, &b);
        const uint32_t satd =
            gpume_satd(block_at(half, i, block_y), half->stride, a.samples[0], SIDE);
        costs[i] = (uint16_t)(satd + GPUME_PENALTY_ANY + GPUME_PENALTY_BOTH);
    }
}
