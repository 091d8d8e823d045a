/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/xpsnr.h"

#include "base/base.h"
#include "encode/fixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gpume_samples_open(struct gpume_samples *samples, uint32_t width, uint32_t height)
{
    samples->stride = (size_t)width + 1;
    samples->data = calloc(samples->stride * ((size_t)height + 1), sizeof(*samples->data));
    return samples->data != NULL;
}

void gpume_samples_take(struct gpume_samples *samples, const struct gpume_plane *plane)
{
    const size_t width = plane->width, row_bytes = samples->stride * sizeof(*samples->data);
    uint16_t *to = samples->data;
    for (uint32_t y = 0; y < plane->height; y++, to += samples->stride) {
        const void *from = gpume_plane_row(plane, y);
        if (plane->bits > 8) {
            memcpy(to, from, width * sizeof(*to));
        } else {
            const uint8_t *bytes = from;
            for (size_t x = 0; x < width; x++) {
                to[x] = bytes[x];
            }
        }
        to[width] = to[width - 1];
    }
    memcpy(to, to - samples->stride, row_bytes);
}

/* --- activity */

struct extent {
    uint32_t begin, end;
};

/* How much samples differ from their eight neighbours. */
static uint64_t sum_spatial(const struct gpume_samples *source, struct extent x, struct extent y)
{
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row++) {
        const uint16_t *o = source->data + row * source->stride;
        const uint16_t *above = o - source->stride, *below = o + source->stride;
        uint32_t line = 0; /* at most 2 * 12 * 2^16 per sample, and blocks are at most 2048 wide */
        for (uint32_t i = x.begin; i < x.end; i++) {
            const int32_t sides = o[i - 1] + o[i + 1] + above[i] + below[i];
            const int32_t corners = above[i - 1] + above[i + 1] + below[i - 1] + below[i + 1];
            line += (uint32_t)abs(12 * o[i] - 2 * sides - corners);
        }
        sum += line;
    }
    return sum;
}

static inline int32_t pair(const uint16_t *row)
{
    return row[0] + row[1];
}

/* The same of every 2x2 samples and those around them: 6x6 without the corners. */
static uint64_t sum_spatial_large(
    const struct gpume_samples *source, struct extent x, struct extent y)
{
    const size_t stride = source->stride;
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row += 2) {
        const uint16_t *r0 = source->data + (row - 2) * stride, *r1 = r0 + stride,
                       *r2 = r1 + stride, *r3 = r2 + stride, *r4 = r3 + stride, *r5 = r4 + stride;
        for (uint32_t i = x.begin; i < x.end; i += 2) {
            const int32_t inner = pair(r2 + i) + pair(r3 + i);
            const int32_t sides =
                pair(r1 + i) + pair(r4 + i) + r2[i - 1] + r2[i + 2] + r3[i - 1] + r3[i + 2];
            const int32_t corners = r1[i - 1] + r1[i + 2] + r4[i - 1] + r4[i + 2];
            const int32_t rim = r0[i - 1] + pair(r0 + i) + r0[i + 2] + r5[i - 1] + pair(r5 + i) +
                                r5[i + 2] + r1[i - 2] + r2[i - 2] + r3[i - 2] + r4[i - 2] +
                                r1[i + 3] + r2[i + 3] + r3[i + 3] + r4[i + 3];
            sum += (uint32_t)abs(12 * inner - 3 * sides - 2 * corners - rim);
        }
    }
    return sum;
}

/* How much samples differ from those of the frame before, or how much that difference differs from
 * the one before. */
static uint64_t sum_temporal(const struct gpume_xpsnr *xpsnr, struct extent x, struct extent y)
{
    const size_t stride = xpsnr->source.stride;
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row++) {
        const uint16_t *o = xpsnr->source.data + row * stride;
        const uint16_t *m1 = xpsnr->before.data + row * stride;
        const uint16_t *m2 = xpsnr->before2.data + row * stride;
        uint32_t line = 0;
        if (xpsnr->second) {
            for (uint32_t i = x.begin; i < x.end; i++) {
                line += (uint32_t)abs(o[i] - 2 * m1[i] + m2[i]);
            }
        } else {
            for (uint32_t i = x.begin; i < x.end; i++) {
                line += (uint32_t)abs(o[i] - m1[i]);
            }
        }
        sum += line;
    }
    return sum;
}

/* The same of every 2x2 samples. */
static uint64_t sum_temporal_large(
    const struct gpume_xpsnr *xpsnr, struct extent x, struct extent y)
{
    const size_t stride = xpsnr->source.stride;
    const int32_t again = xpsnr->second ? 1 : 0;
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row += 2) {
        const uint16_t *o = xpsnr->source.data + row * stride;
        const uint16_t *m1 = xpsnr->before.data + row * stride;
        const uint16_t *m2 = xpsnr->before2.data + row * stride;
        for (uint32_t i = x.begin; i < x.end; i += 2) {
            const int32_t now = pair(o + i) + pair(o + stride + i);
            const int32_t last = pair(m1 + i) + pair(m1 + stride + i);
            const int32_t older = pair(m2 + i) + pair(m2 + stride + i);
            sum += (uint32_t)abs(now - last - again * (last - older));
        }
    }
    return sum;
}

/* The weight of a block: the inverse of its activity. The filter leaves out a border of the
 * picture. A block that lies in that border has the weight 1, and in large pictures those at an
 * edge that have at most 12 columns left no spatial activity: so it is in FFmpeg's filter. */
static double weigh_block(const struct gpume_xpsnr *xpsnr, struct extent x, struct extent y)
{
    const uint32_t width = xpsnr->params.width, height = xpsnr->params.height;
    const bool is_large = xpsnr->is_large;
    const uint32_t border = is_large ? 2 : 1;
    const struct extent inner_x = {
        x.begin > 0 ? x.begin : border, x.end < width ? x.end : width - border};
    const struct extent inner_y = {
        y.begin > 0 ? y.begin : border, y.end < height ? y.end : height - border};
    if (inner_x.end <= inner_x.begin || inner_y.end <= inner_y.begin) {
        return 1;
    }
    const uint32_t inner_width = inner_x.end - inner_x.begin;
    uint64_t spatial = 0;
    if (!is_large) {
        spatial = sum_spatial(&xpsnr->source, inner_x, inner_y);
    } else if (inner_x.end - x.begin > 12) {
        spatial = sum_spatial_large(&xpsnr->source, inner_x, inner_y);
    }
    const uint64_t temporal =
        2 * (is_large ? sum_temporal_large(xpsnr, x, y) : sum_temporal(xpsnr, x, y));
    const double activity =
        (double)spatial / ((double)inner_width * (inner_y.end - inner_y.begin)) +
        (double)temporal / ((double)(x.end - x.begin) * (y.end - y.begin));
    return 1 / (activity > xpsnr->least ? activity : xpsnr->least);
}

/* In small pictures no block has a larger weight than the larger one of its neighbours, on either
 * side and above. Called when the weight of block i is known; reduces that of the block before. */
static void smooth_weight(const struct gpume_xpsnr *xpsnr, uint32_t i)
{
    double *weights = xpsnr->weights;
    const uint32_t columns = xpsnr->columns, column = i % columns;
    double most = column == 0  ? (i > 1 ? weights[i - 2] : 0)
                  : column > 1 ? fmax(weights[i - 2], weights[i])
                               : weights[i];
    if (i > columns) {
        most = fmax(most, weights[i - 1 - columns]);
    }
    if (i > 0 && weights[i - 1] > most) {
        weights[i - 1] = most;
    }
    if (i + 1 == columns * xpsnr->rows && i > columns) {
        most = fmax(weights[i - 1], weights[i - columns]);
        weights[i] = weights[i] > most ? most : weights[i];
    }
}

/* --- frames */

static double xpsnr_side(double pixels)
{
    return 4 * floor(32 * sqrt(pixels / (3840.0 * 2160.0)) + 0.5);
}

static double xpsnr_scale(double pixels, uint32_t bits)
{
    const double ratio = pixels / (3840.0 * 2160.0);
    return sqrt(16 * ldexp(1, 2 * (int)bits - 9) / sqrt(fmax(0.00001, ratio)));
}

static double xpsnr_least(uint32_t bits)
{
    return (double)(1u << (bits - 6));
}

int gpume_xpsnr_open(struct gpume_xpsnr **result, const struct gpume_xpsnr_params *params)
{
    struct gpume_xpsnr *xpsnr = calloc(1, sizeof(*xpsnr));
    if (!xpsnr) {
        return GPUME_NOMEM;
    }
    const uint32_t width = params->width, height = params->height;
    const double pixels = (double)width * height;
    *xpsnr = (struct gpume_xpsnr){
        .params = *params,
        .side = (uint32_t)xpsnr_side(pixels),
        .is_large = pixels > 2048 * 1152,
        .second = params->rate_den > 0 && params->rate_num / params->rate_den >= 32,
        .scale = xpsnr_scale(pixels, params->bits),
        .least = xpsnr_least(params->bits),
    };
    if (xpsnr->side > 0) {
        xpsnr->columns = (width + xpsnr->side - 1) / xpsnr->side;
        xpsnr->rows = (height + xpsnr->side - 1) / xpsnr->side;
        xpsnr->weights = calloc((size_t)xpsnr->columns * xpsnr->rows, sizeof(*xpsnr->weights));
    }
    if ((xpsnr->side > 0 && !xpsnr->weights) ||
        !gpume_samples_open(&xpsnr->source, width, height) ||
        !gpume_samples_open(&xpsnr->before, width, height) ||
        !gpume_samples_open(&xpsnr->before2, width, height)) {
        gpume_xpsnr_close(&xpsnr);
        return GPUME_NOMEM;
    }
    *result = xpsnr;
    return GPUME_OK;
}

void gpume_xpsnr_take(struct gpume_xpsnr *xpsnr, const struct gpume_plane *source)
{
    const uint32_t width = xpsnr->params.width, height = xpsnr->params.height;
    const bool smooths = (uint64_t)width * height <= 640 * 480;
    const struct gpume_samples oldest = xpsnr->before2;
    xpsnr->before2 = xpsnr->before;
    xpsnr->before = xpsnr->source;
    xpsnr->source = oldest;
    gpume_samples_take(&xpsnr->source, source);
    for (uint32_t i = 0; i < xpsnr->columns * xpsnr->rows; i++) {
        const uint32_t left = i % xpsnr->columns * xpsnr->side,
                       top = i / xpsnr->columns * xpsnr->side;
        const struct extent x = {left, left + xpsnr->side < width ? left + xpsnr->side : width};
        const struct extent y = {top, top + xpsnr->side < height ? top + xpsnr->side : height};
        xpsnr->weights[i] = weigh_block(xpsnr, x, y);
        if (smooths) {
            smooth_weight(xpsnr, i);
        }
    }
}

void gpume_xpsnr_parts(const struct gpume_xpsnr *xpsnr, uint32_t *parts)
{
    parts[0] = 65536;
    for (uint32_t i = 0; i < xpsnr->columns * xpsnr->rows; i++) {
        const double part = xpsnr->weights[i] * xpsnr->least;
        parts[i] = (uint32_t)gpume_fixed_from_double(part < 1 ? part : 1);
    }
}

/* Depths do not matter: errors are squares, and so are peaks. */
double gpume_xpsnr_factor(uint64_t pixels)
{
    return xpsnr_side((double)pixels) > 0 ? xpsnr_scale((double)pixels, 8) / xpsnr_least(8) : 1;
}

void gpume_xpsnr_close(struct gpume_xpsnr **pointer)
{
    struct gpume_xpsnr *xpsnr = *pointer;
    if (xpsnr) {
        *pointer = NULL;
        free(xpsnr->source.data);
        free(xpsnr->before.data);
        free(xpsnr->before2.data);
        free(xpsnr->weights);
        free(xpsnr);
    }
}
