/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/match.h"

#include "base/grid.h"

#include <stdlib.h>

#define BEFORE 2 /* samples that the longest filter takes to the left of a block, or above it */
#define AFTER 4  /* and behind it, with those of the next pixel */
#define PATCH (GPUME_MATCH_SIDE + BEFORE + AFTER)

/* The samples around a match: those of the block begin at (BEFORE, BEFORE). */
struct match_patch {
    int32_t at[PATCH][PATCH];
    int32_t across[PATCH][PATCH]; /* filtered in x, not rounded */
    int32_t peak;
};

/* Samples of a row; those outside the picture are the nearest ones in it. */
static void take_row(
    const struct gpume_plane *plane, int64_t x, int64_t y, uint32_t count, int32_t *to)
{
    const uint8_t *line =
        (const uint8_t *)plane->data + gpume_nearest(y, plane->height) * plane->stride;
    const uint16_t *wide = (const uint16_t *)(const void *)line;
    const bool whole = x >= 0 && x + count <= plane->width;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t column = whole ? x + i : gpume_nearest(x + i, plane->width);
        to[i] = plane->bits > 8 ? wide[column] : line[column];
    }
}

static int32_t clip(const struct match_patch *patch, int32_t value)
{
    return value < 0 ? 0 : value > patch->peak ? patch->peak : value;
}

/* ITU-T H.264 8.4.2.2.1: the filter between c and d. */
static int32_t taps(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

static void filter_across(struct match_patch *patch, uint32_t w, uint32_t h)
{
    for (uint32_t j = 0; j < h + BEFORE + AFTER; j++) {
        for (uint32_t i = BEFORE; i < w + BEFORE + 1; i++) {
            const int32_t *p = &patch->at[j][i];
            patch->across[j][i] = taps(p[-2], p[-1], p[0], p[1], p[2], p[3]);
        }
    }
}

/* The samples that the standard calls b, h and j, to the right of, below, and in the middle of
 * the pixel (i,j). */
static int32_t half_right(const struct match_patch *patch, uint32_t i, uint32_t j)
{
    return clip(patch, (patch->across[j][i] + 16) >> 5);
}

static int32_t half_below(const struct match_patch *patch, uint32_t i, uint32_t j)
{
    const int32_t(*p)[PATCH] = &patch->at[j];
    return clip(patch, (taps(p[-2][i], p[-1][i], p[0][i], p[1][i], p[2][i], p[3][i]) + 16) >> 5);
}

static int32_t half_middle(const struct match_patch *patch, uint32_t i, uint32_t j)
{
    const int32_t(*p)[PATCH] = &patch->across[j];
    return clip(patch, (taps(p[-2][i], p[-1][i], p[0][i], p[1][i], p[2][i], p[3][i]) + 512) >> 10);
}

static int32_t rounded_mean(int32_t a, int32_t b)
{
    return (a + b + 1) >> 1;
}

/* (fx,fy): quarters from the pixel (i,j) to the sample. */
static int32_t sample_h264(
    const struct match_patch *patch, uint32_t i, uint32_t j, uint32_t fx, uint32_t fy)
{
    const uint32_t right = i + (fx == 3), below = j + (fy == 3);
    if (fx == 0 && fy == 0) {
        return patch->at[j][i];
    }
    if (fy == 0) {
        const int32_t half = half_right(patch, i, j);
        return fx == 2 ? half : rounded_mean(half, patch->at[j][right]);
    }
    if (fx == 0) {
        const int32_t half = half_below(patch, i, j);
        return fy == 2 ? half : rounded_mean(half, patch->at[below][i]);
    }
    if (fx == 2) {
        const int32_t middle = half_middle(patch, i, j);
        return fy == 2 ? middle : rounded_mean(middle, half_right(patch, i, below));
    }
    const int32_t beside = half_below(patch, right, j);
    return rounded_mean(beside, fy == 2 ? half_middle(patch, i, j) : half_right(patch, i, below));
}

static int32_t sample_bilinear(
    const struct match_patch *patch, uint32_t i, uint32_t j, int32_t fx, int32_t fy)
{
    const int32_t above = (4 - fx) * patch->at[j][i] + fx * patch->at[j][i + 1];
    const int32_t below = (4 - fx) * patch->at[j + 1][i] + fx * patch->at[j + 1][i + 1];
    return ((4 - fy) * above + fy * below + 8) >> 4;
}

void gpume_match_predict(const struct gpume_plane *reference, const struct gpume_match_block *block,
    int32_t dx, int32_t dy, enum gpume_interpolation interpolation,
    struct gpume_match_samples *samples)
{
    struct match_patch patch;
    const uint32_t fx = (uint32_t)dx & 3, fy = (uint32_t)dy & 3;
    const bool bilinear = interpolation == GPUME_INTERPOLATION_BILINEAR;
    const int64_t x = (int64_t)block->x + (dx - (int32_t)fx) / 4 - BEFORE;
    const int64_t y = (int64_t)block->y + (dy - (int32_t)fy) / 4 - BEFORE;
    patch.peak = (1 << reference->bits) - 1;
    for (uint32_t j = 0; j < block->h + BEFORE + AFTER; j++) {
        take_row(reference, x, y + j, block->w + BEFORE + AFTER, patch.at[j]);
    }
    if (!bilinear && fx > 0) {
        filter_across(&patch, block->w, block->h);
    }
    int32_t *to = samples->values;
    for (uint32_t j = BEFORE; j < block->h + BEFORE; j++) {
        for (uint32_t i = BEFORE; i < block->w + BEFORE; i++) {
            *to++ = bilinear ? sample_bilinear(&patch, i, j, (int32_t)fx, (int32_t)fy)
                             : sample_h264(&patch, i, j, fx, fy);
        }
    }
}

void gpume_match_mean(const struct gpume_match_block *block, struct gpume_match_samples *a,
    const struct gpume_match_samples *b)
{
    for (uint32_t i = 0; i < block->w * block->h; i++) {
        a->values[i] = rounded_mean(a->values[i], b->values[i]);
    }
}

struct gpume_match_sums gpume_match_measure(const struct gpume_plane *target,
    const struct gpume_match_block *block, const struct gpume_match_samples *samples)
{
    struct gpume_match_sums sums = {0, 0};
    const int32_t *from = samples->values;
    int32_t row[GPUME_MATCH_SIDE];
    for (uint32_t j = 0; j < block->h; j++) {
        take_row(target, block->x, block->y + j, block->w, row);
        for (uint32_t i = 0; i < block->w; i++) {
            const int32_t difference = row[i] - *from++;
            sums.sad += (uint32_t)abs(difference);
            sums.sse += (uint64_t)((int64_t)difference * difference);
        }
    }
    return sums;
}
