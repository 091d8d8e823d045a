/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two measurements of the noise, of which the lower one counts: how strongly the flattest blocks
 * respond to a mask that texture hardly excites (Immerkaer, "Fast noise variance estimation", CVIU
 * 64, 1996), and how much the best predicted blocks differ from their predictions. Texture alone
 * raises the first and motion that was not found the second, but seldom both.
 */
#include "filter/noise.h"

#include "base/base.h"
#include "filter/temporal.h"

#include <stdbool.h>
#include <stdlib.h>

#define ROUNDING 21u /* 256 / 12: the variance of rounding to whole steps */

static uint32_t work_bits(uint32_t bits)
{
    return bits < 10 ? bits : 10;
}

uint64_t gpume_noise_of_sigma(uint32_t sigma, uint32_t bits)
{
    const uint64_t square = (uint64_t)sigma * sigma << 2 * (work_bits(bits) - 8);
    return (256 * square + 5000) / 10000;
}

/* a - 2b + c of a row, at columns beside the plane's edges of the nearest ones. */
static int32_t bend(const uint16_t *row, uint32_t x, uint32_t width, uint32_t shift)
{
    const uint32_t left = x > 0 ? x - 1 : 0, right = x + 1 < width ? x + 1 : x;
    return (row[left] >> shift) - 2 * (row[x] >> shift) + (row[right] >> shift);
}

uint64_t gpume_noise_response(const struct gpume_patch *patch)
{
    uint64_t sum = 0;
    for (uint32_t y = patch->y; y < patch->y + patch->h; y++) {
        const uint16_t *row = patch->plane + (size_t)y * patch->plane_w;
        const uint16_t *above = y > 0 ? row - patch->plane_w : row;
        const uint16_t *below = y + 1 < patch->plane_h ? row + patch->plane_w : row;
        for (uint32_t x = patch->x; x < patch->x + patch->w; x++) {
            const int32_t response = bend(above, x, patch->plane_w, patch->shift) -
                                     2 * bend(row, x, patch->plane_w, patch->shift) +
                                     bend(below, x, patch->plane_w, patch->shift);
            sum += (uint64_t)abs(response);
        }
    }
    return sum;
}

uint64_t gpume_noise_residual(const struct gpume_patch *patch, const uint16_t *prediction)
{
    const uint64_t samples = (uint64_t)patch->w * patch->h;
    int64_t sum = 0;
    uint64_t squares = 0;
    for (uint32_t y = patch->y; y < patch->y + patch->h; y++) {
        const size_t at = (size_t)y * patch->plane_w + patch->x;
        for (uint32_t x = 0; x < patch->w; x++) {
            const int32_t d =
                (patch->plane[at + x] >> patch->shift) - (prediction[at + x] >> patch->shift);
            sum += d;
            squares += (uint32_t)(d * d);
        }
    }
    return 128 * (samples * squares - (uint64_t)(sum * sum)) / (samples * samples);
}

/* The value of this index in rising order (quickselect; Hoare's partition about the middle one). */
static uint64_t value_at(uint64_t *values, uint32_t count, uint32_t index)
{
    uint32_t first = 0, last = count - 1;
    while (first < last) {
        const uint64_t pivot = values[first + (last - first) / 2];
        uint32_t i = first, k = last;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[k] > pivot) {
                k--;
            }
            if (i >= k) {
                break;
            }
            const uint64_t swapped = values[i];
            values[i++] = values[k];
            values[k--] = swapped;
        }
        /* first .. k are at most the pivot, k + 1 .. last at least. */
        first = index > k ? k + 1 : first;
        last = index > k ? last : k;
    }
    return values[index];
}

uint64_t gpume_noise_variance(struct gpume_noise_values *values, uint32_t bits)
{
    const uint32_t count = values->count;
    if (count == 0 || values->flat > count) { /* more than half of all */
        return 0;
    }
    const uint64_t samples = values->samples,
                   most = gpume_noise_of_sigma(100 * GPUME_TEMPORAL_SIGMA_MAX, bits);
    const uint64_t response = value_at(values->responses, count, count / 12);
    const uint64_t spatial = 11170 * response * response / (1000 * samples * samples);
    const uint64_t residual = value_at(values->residuals, count, count / 8);
    const uint64_t lower = spatial < residual ? spatial : residual;
    const uint64_t variance = lower > ROUNDING ? lower - ROUNDING : 0;
    return variance < most ? variance : most;
}
