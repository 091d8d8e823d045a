/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much the best predicted blocks differ from their predictions: noise of two frames, however
 * coarse it is, since the two are independent. What remains of motion that the search could not
 * follow exactly grows with the texture, so a part of the texture is subtracted; and noise is no
 * stronger than all that the flattest cells of blocks have.
 */
#include "filter/noise.h"

#include "base/base.h"
#include "filter/temporal.h"
#include "temporal/shared.h"

#define ROUNDING 21u /* 256 / 12: the variance of rounding to whole steps */
#define CELL 8u
#define BLACK_MOST 20u   /* steps of 8 bits, of the darker corner of a picture with bars */
#define BLACK_RANGE 2u   /* the same, that the samples of bars exceed it by */
#define TEXTURE_PART 32u /* of its variance, that remains of texture whose motion was found */

static uint32_t work_bits(uint32_t bits)
{
    return bits < 10 ? bits : 10;
}

uint64_t gpume_noise_or_given(uint64_t measured, uint64_t given)
{
    return given > 0 ? gpume_min_u64(given, GPUME_TEMPORAL_GIVEN_MOST * measured) : measured;
}

uint64_t gpume_noise_of_sigma(uint32_t sigma, uint32_t bits)
{
    const uint64_t square = (uint64_t)sigma * sigma << 2 * (work_bits(bits) - 8);
    return (256 * square + 5000) / 10000;
}

struct gpume_noise_area gpume_noise_find_area(const struct gpume_patch *luma, uint32_t bits)
{
    const uint32_t step = 1u << (work_bits(bits) - 8);
    const size_t count = (size_t)luma->w * luma->h;
    const uint32_t darker =
        gpume_min_u32(luma->plane[0] >> luma->shift, luma->plane[count - 1] >> luma->shift);
    const uint32_t bright = darker <= BLACK_MOST * step ? darker + BLACK_RANGE * step + 1 : 0;
    struct gpume_noise_area area = {luma->w, luma->h, 0, 0};
    for (uint32_t y = 0; y < luma->h; y++) {
        const uint16_t *row = luma->plane + (size_t)y * luma->w;
        uint32_t first = 0, end = luma->w;
        while (first < end && (uint32_t)row[first] >> luma->shift < bright) {
            first++;
        }
        while (end > first && (uint32_t)row[end - 1] >> luma->shift < bright) {
            end--;
        }
        if (first < end) {
            area.left = gpume_min_u32(area.left, first);
            area.right = gpume_max_u32(area.right, end);
            area.top = gpume_min_u32(area.top, y);
            area.bottom = y + 1;
        }
    }
    return area;
}

uint64_t gpume_noise_texture(const struct gpume_patch *patch)
{
    uint64_t sum = 0, squares = 0;
    for (uint32_t y = patch->y; y < patch->y + patch->h; y++) {
        const uint16_t *row = patch->plane + (size_t)y * patch->plane_w + patch->x;
        for (uint32_t x = 0; x < patch->w; x++) {
            const uint32_t sample = row[x] >> patch->shift;
            sum += sample;
            squares += sample * sample;
        }
    }
    return (uint64_t)patch->w * patch->h * squares - sum * sum;
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

uint64_t gpume_noise_cell(const struct gpume_patch *patch)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t y = 0; y < patch->h; y += CELL) {
        for (uint32_t x = 0; x < patch->w; x += CELL) {
            struct gpume_patch cell = *patch;
            cell.x += x;
            cell.y += y;
            cell.w = cell.h = CELL;
            least = gpume_min_u64(least, gpume_noise_texture(&cell));
        }
    }
    return 256 * least / (CELL * CELL * CELL * CELL);
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
    const uint64_t most = gpume_noise_of_sigma(100 * GPUME_TEMPORAL_SIGMA_MAX, bits);
    const uint64_t texture = value_at(values->textures, count, count / 12);
    const uint64_t residual = value_at(values->residuals, count, count / 8);
    const uint64_t cell = value_at(values->cells, count, count / 12);
    const uint64_t part = texture / TEXTURE_PART, lower = gpume_min_u64(residual, cell);
    const uint64_t found = lower > part ? 2 * (lower - part) : 0;
    const uint64_t variance = found > ROUNDING ? found - ROUNDING : 0;
    return variance < most ? variance : most;
}
