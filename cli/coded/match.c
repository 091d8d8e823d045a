/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/match.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#define BEFORE 2 /* samples that the longest filter takes to the left of a block, or above it */
#define AFTER 4  /* and behind it, with those of the next pixel */
#define PATCH (GPUME_MATCH_SIDE + BEFORE + AFTER)

/* The samples around a match: those of the block begin at (BEFORE, BEFORE). */
struct match_patch {
    int32_t at[PATCH][PATCH];
    int32_t across[PATCH][PATCH]; /* filtered in x, not rounded */
    int32_t peak;
    uint32_t w, h; /* of the block */
};

/* Samples of a row; those outside the picture are the nearest ones in it. */
static void take_row(
    const struct gpume_plane *plane, int64_t x, int64_t y, uint32_t count, int32_t *to)
{
    const uint8_t *line =
        (const uint8_t *)plane->data + gpume_nearest(y, plane->height) * plane->stride;
    const uint16_t *wide = (const uint16_t *)(const void *)line;
    const bool whole = x >= 0 && x + count <= plane->width;
    if (whole && plane->bits > 8) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = wide[x + i];
        }
    } else if (whole) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = line[x + i];
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            const int64_t column = gpume_nearest(x + i, plane->width);
            to[i] = plane->bits > 8 ? wide[column] : line[column];
        }
    }
}

static int32_t clip(int32_t value, int32_t peak)
{
    return value < 0 ? 0 : value > peak ? peak : value;
}

/* ITU-T H.264 8.4.2.2.1: the filter between c and d. */
static int32_t taps(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a + f - 5 * (b + e) + 20 * (c + d);
}

static int32_t rounded_mean(int32_t a, int32_t b)
{
    return (a + b + 1) >> 1;
}

static void filter_across(struct match_patch *patch)
{
    for (uint32_t j = 0; j < patch->h + BEFORE + AFTER; j++) {
        for (uint32_t i = BEFORE; i < patch->w + BEFORE + 1; i++) {
            const int32_t *p = &patch->at[j][i];
            patch->across[j][i] = taps(p[-2], p[-1], p[0], p[1], p[2], p[3]);
        }
    }
}

/* The pixels of the block, moved by whole ones; and the samples that the standard calls b, h and j,
 * to the right of, below, and in the middle of each pixel. */

static void take_pixels(
    const struct match_patch *patch, uint32_t right, uint32_t below, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        memcpy(to, &patch->at[j + BEFORE + below][BEFORE + right], patch->w * sizeof(*to));
    }
}

static void take_right(const struct match_patch *patch, uint32_t below, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        const int32_t *p = &patch->across[j + BEFORE + below][BEFORE];
        for (uint32_t i = 0; i < patch->w; i++) {
            to[i] = clip((p[i] + 16) >> 5, patch->peak);
        }
    }
}

/* Of one row of either kind of samples, rounded by `shift` bits. */
static void filter_down(
    const int32_t (*p)[PATCH], uint32_t w, int32_t shift, int32_t peak, int32_t *restrict to)
{
    for (uint32_t i = 0; i < w; i++) {
        const int32_t sum = taps(p[0][i], p[1][i], p[2][i], p[3][i], p[4][i], p[5][i]);
        to[i] = clip((sum + (1 << (shift - 1))) >> shift, peak);
    }
}

static void take_below(const struct match_patch *patch, uint32_t right, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        filter_down(
            (const int32_t(*)[PATCH]) & patch->at[j][BEFORE + right], patch->w, 5, patch->peak, to);
    }
}

static void take_middle(const struct match_patch *patch, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        filter_down(
            (const int32_t(*)[PATCH]) & patch->across[j][BEFORE], patch->w, 10, patch->peak, to);
    }
}

/* (fx,fy): quarters from the pixels to the samples. Those of odd quarters are the means of two
 * others. */
static void predict_h264(struct match_patch *patch, uint32_t fx, uint32_t fy, int32_t *to)
{
    int32_t other[GPUME_MATCH_SIDE * GPUME_MATCH_SIDE];
    const uint32_t right = fx == 3, below = fy == 3;
    if (fx > 0) {
        filter_across(patch);
    }
    if (fy == 0) {
        take_right(patch, 0, to);
        take_pixels(patch, right, 0, other);
    } else if (fx == 0) {
        take_below(patch, 0, to);
        take_pixels(patch, 0, below, other);
    } else if (fx == 2) {
        take_middle(patch, to);
        take_right(patch, below, other);
    } else {
        take_below(patch, right, to);
        if (fy == 2) {
            take_middle(patch, other);
        } else {
            take_right(patch, below, other);
        }
    }
    for (uint32_t i = 0; ((fx | fy) & 1) && i < patch->w * patch->h; i++) {
        to[i] = rounded_mean(to[i], other[i]);
    }
}

static void predict_bilinear(const struct match_patch *patch, int32_t fx, int32_t fy, int32_t *to)
{
    for (uint32_t j = BEFORE; j < patch->h + BEFORE; j++, to += patch->w) {
        const int32_t *p = &patch->at[j][BEFORE], *q = &patch->at[j + 1][BEFORE];
        for (uint32_t i = 0; i < patch->w; i++) {
            const int32_t above = (4 - fx) * p[i] + fx * p[i + 1];
            const int32_t under = (4 - fx) * q[i] + fx * q[i + 1];
            to[i] = ((4 - fy) * above + fy * under + 8) >> 4;
        }
    }
}

void gpume_match_predict(const struct gpume_plane *reference, const struct gpume_match_block *block,
    int32_t dx, int32_t dy, enum gpume_interpolation interpolation,
    struct gpume_match_samples *samples)
{
    struct match_patch patch; /* not cleared */
    const uint32_t fx = (uint32_t)dx & 3, fy = (uint32_t)dy & 3;
    const int64_t x = (int64_t)block->x + (dx - (int32_t)fx) / 4;
    const int64_t y = (int64_t)block->y + (dy - (int32_t)fy) / 4;
    if (fx == 0 && fy == 0) {
        for (uint32_t j = 0; j < block->h; j++) {
            take_row(reference, x, y + j, block->w, &samples->values[j * block->w]);
        }
        return;
    }
    patch.peak = (1 << reference->bits) - 1;
    patch.w = block->w;
    patch.h = block->h;
    for (uint32_t j = 0; j < block->h + BEFORE + AFTER; j++) {
        take_row(reference, x - BEFORE, y + j - BEFORE, block->w + BEFORE + AFTER, patch.at[j]);
    }
    if (interpolation == GPUME_INTERPOLATION_BILINEAR) {
        predict_bilinear(&patch, (int32_t)fx, (int32_t)fy, samples->values);
    } else {
        predict_h264(&patch, fx, fy, samples->values);
    }
}

void gpume_match_mean(const struct gpume_match_block *block, struct gpume_match_samples *a,
    const struct gpume_match_samples *b)
{
    for (uint32_t i = 0; i < block->w * block->h; i++) {
        a->values[i] = rounded_mean(a->values[i], b->values[i]);
    }
}

void gpume_match_take(const struct gpume_plane *plane, const struct gpume_match_block *block,
    struct gpume_match_samples *samples)
{
    for (uint32_t j = 0; j < block->h; j++) {
        take_row(plane, block->x, block->y + j, block->w, &samples->values[j * block->w]);
    }
}

/* A sum is at most 16 * 16 * 65535 < 2^24. */
uint64_t gpume_match_sad(const struct gpume_match_block *block, const struct gpume_match_samples *a,
    const struct gpume_match_samples *b, const struct gpume_match_samples *c, uint64_t limit)
{
    uint32_t sad = 0;
    const uint32_t count = block->w * block->h, step = block->w * 4;
    for (uint32_t at = 0; at < count && sad < limit; at += step) {
        const uint32_t end = at + step < count ? at + step : count;
        for (uint32_t i = at; c && i < end; i++) {
            sad += (uint32_t)abs(a->values[i] - rounded_mean(b->values[i], c->values[i]));
        }
        for (uint32_t i = at; !c && i < end; i++) {
            sad += (uint32_t)abs(a->values[i] - b->values[i]);
        }
    }
    return sad;
}

struct gpume_match_sums gpume_match_measure(const struct gpume_match_block *block,
    const struct gpume_match_samples *a, const struct gpume_match_samples *b)
{
    struct gpume_match_sums sums = {gpume_match_sad(block, a, b, NULL, UINT64_MAX), 0};
    for (uint32_t i = 0; i < block->w * block->h; i++) {
        const int32_t difference = a->values[i] - b->values[i];
        sums.sse += (uint64_t)((int64_t)difference * difference);
    }
    return sums;
}
