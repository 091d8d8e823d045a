/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/fidelity.h"

#include "base/base.h"
#include "encode/xpsnr.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SUMS = 4 }; /* of samples of the source and of the decoded frame, of squares, of products */

struct gpume_fidelity {
    struct gpume_fidelity_params params;
    struct gpume_xpsnr *source; /* its samples and weights */
    struct gpume_samples decoded;
    uint32_t *sums; /* SUMS rows: of 4 samples of each column */
    double *cells;  /* 2 * SUMS rows: of 4x4 samples, of two rows of cells in turn */
    uint64_t frames;
    double mse, ssim;        /* sums over the frames */
    double distances, xpsnr; /* the same: roots of weighted errors, and values of the frames */
};

/* --- SSIM: of windows of 8x8 samples, every 4 samples in both directions */

/* Sums of the 4 samples of each column. They fit 32 bits where samples have at most 14. */
static void sum_columns(
    uint32_t *restrict sums, uint32_t width, const uint16_t *a, const uint16_t *b, size_t stride)
{
    uint32_t *restrict first = sums, *restrict second = first + width;
    uint32_t *restrict squares = second + width, *restrict products = squares + width;
    for (uint32_t x = 0; x < width; x++) {
        const uint16_t a0 = a[x], a1 = a[x + stride], a2 = a[x + 2 * stride],
                       a3 = a[x + 3 * stride];
        const uint16_t b0 = b[x], b1 = b[x + stride], b2 = b[x + 2 * stride],
                       b3 = b[x + 3 * stride];
        first[x] = (uint32_t)a0 + a1 + a2 + a3;
        second[x] = (uint32_t)b0 + b1 + b2 + b3;
        squares[x] = (uint32_t)a0 * a0 + (uint32_t)a1 * a1 + (uint32_t)a2 * a2 + (uint32_t)a3 * a3 +
                     (uint32_t)b0 * b0 + (uint32_t)b1 * b1 + (uint32_t)b2 * b2 + (uint32_t)b3 * b3;
        products[x] = (uint32_t)a0 * b0 + (uint32_t)a1 * b1 + (uint32_t)a2 * b2 + (uint32_t)a3 * b3;
    }
}

/* Sums of the 4x4 samples of each cell of a row. Doubles hold all of them exactly. */
static void sum_cells(const uint32_t *sums, uint32_t width, double *cells, uint32_t columns)
{
    for (uint32_t s = 0; s < SUMS; s++, sums += width, cells += columns) {
        for (uint32_t i = 0; i < columns; i++) {
            const uint32_t *four = sums + (size_t)4 * i;
            cells[i] = (double)((uint64_t)four[0] + four[1] + four[2] + four[3]);
        }
    }
}

/* The same for deeper samples. */
static void sum_deep_cells(
    const uint16_t *a, const uint16_t *b, size_t stride, double *cells, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++, a += 4, b += 4) {
        uint64_t sums[SUMS] = {0};
        for (uint32_t y = 0; y < 4; y++) {
            for (uint32_t x = 0; x < 4; x++) {
                const uint64_t p = a[y * stride + x], q = b[y * stride + x];
                sums[0] += p;
                sums[1] += q;
                sums[2] += p * p + q * q;
                sums[3] += p * q;
            }
        }
        for (uint32_t s = 0; s < SUMS; s++) {
            cells[s * columns + i] = (double)sums[s];
        }
    }
}

/* The sum of the SSIM of the windows that two rows of cells make. */
static double add_windows(
    const double *above, const double *below, uint32_t columns, double limit1, double limit2)
{
    double total = 0;
    for (uint32_t i = 0; i + 1 < columns; i++) {
        double sum[SUMS];
        for (uint32_t s = 0; s < SUMS; s++) {
            const double *top = above + s * columns + i, *bottom = below + s * columns + i;
            sum[s] = top[0] + top[1] + bottom[0] + bottom[1];
        }
        const double means = sum[0] * sum[1], squares = sum[0] * sum[0] + sum[1] * sum[1];
        const double variances = 64 * sum[2] - squares, covariance = 64 * sum[3] - means;
        total += (2 * means + limit1) * (2 * covariance + limit2) /
                 ((squares + limit1) * (variances + limit2));
    }
    return total;
}

static double compare_structure(struct gpume_fidelity *fidelity)
{
    const uint32_t width = fidelity->params.width, bits = fidelity->params.bits;
    const uint32_t columns = width / 4, rows = fidelity->params.height / 4;
    const double peak = (double)((1u << bits) - 1);
    /* FFmpeg's constants: whole numbers */
    const double limit1 = floor(.01 * .01 * peak * peak * 64 + .5);
    const double limit2 = floor(.03 * .03 * peak * peak * 64 * 63 + .5);
    const struct gpume_samples *source = &fidelity->source->source;
    const size_t stride = source->stride;
    double total = 0, *cells = fidelity->cells, *above = cells + (size_t)SUMS * columns;
    if (columns < 2 || rows < 2) {
        return (double)NAN;
    }
    for (uint32_t row = 0; row < rows; row++) {
        const uint16_t *a = source->data + (size_t)4 * row * stride;
        const uint16_t *b = fidelity->decoded.data + (size_t)4 * row * stride;
        if (bits > 14) {
            sum_deep_cells(a, b, stride, cells, columns);
        } else {
            sum_columns(fidelity->sums, width, a, b, stride);
            sum_cells(fidelity->sums, width, cells, columns);
        }
        total += row > 0 ? add_windows(above, cells, columns, limit1, limit2) : 0;
        double *next = above;
        above = cells;
        cells = next;
    }
    return total / ((double)(columns - 1) * (rows - 1));
}

/* --- errors of blocks */

/* Of the rectangle from (left, top), which the picture's edges may cut. */
static uint64_t sum_errors(const struct gpume_fidelity *fidelity, uint32_t left, uint32_t top,
    uint32_t width, uint32_t height)
{
    const struct gpume_samples *source = &fidelity->source->source;
    const uint32_t right = gpume_min_u32(left + width, fidelity->params.width);
    const uint32_t bottom = gpume_min_u32(top + height, fidelity->params.height);
    uint64_t sum = 0;
    for (uint32_t row = top; row < bottom; row++) {
        const uint16_t *p = source->data + row * source->stride;
        const uint16_t *q = fidelity->decoded.data + row * fidelity->decoded.stride;
        for (uint32_t i = left; i < right; i++) {
            const int32_t difference = (int32_t)p[i] - q[i];
            sum += (uint32_t)difference * (uint32_t)difference;
        }
    }
    return sum;
}

/* Finds the sum of squared errors, and returns the sum that XPSNR weights. */
static uint64_t compare_blocks(struct gpume_fidelity *fidelity, uint64_t *sse)
{
    const struct gpume_xpsnr *xpsnr = fidelity->source;
    const uint32_t side = xpsnr->side;
    double sum = 0;
    *sse = 0;
    if (side == 0) {
        *sse = sum_errors(fidelity, 0, 0, fidelity->params.width, fidelity->params.height);
        return *sse;
    }
    for (uint32_t i = 0; i < xpsnr->columns * xpsnr->rows; i++) {
        const uint64_t error =
            sum_errors(fidelity, i % xpsnr->columns * side, i / xpsnr->columns * side, side, side);
        *sse += error;
        sum += (double)error * xpsnr->weights[i];
    }
    return (uint64_t)(sum * xpsnr->scale + 0.5);
}

/* In dB, of the root of the weighted errors of a frame. */
static double xpsnr_of(const struct gpume_fidelity *fidelity, double root)
{
    const struct gpume_fidelity_params *params = &fidelity->params;
    const double peak = (double)((1u << params->bits) - 1);
    return 10 * log10((double)params->width * params->height * peak * peak / (root * root));
}

/* --- a comparison */

static bool open_memory(struct gpume_fidelity *fidelity)
{
    const struct gpume_fidelity_params *params = &fidelity->params;
    const uint32_t width = params->width, height = params->height;
    const struct gpume_xpsnr_params of_source = {
        width, height, params->bits, params->rate_num, params->rate_den};
    fidelity->sums = calloc((size_t)SUMS * width, sizeof(*fidelity->sums));
    fidelity->cells = calloc((size_t)SUMS * 2 * (width / 4 + 1), sizeof(*fidelity->cells));
    return fidelity->sums && fidelity->cells &&
           gpume_xpsnr_open(&fidelity->source, &of_source) == GPUME_OK &&
           gpume_samples_open(&fidelity->decoded, width, height);
}

int gpume_fidelity_open(struct gpume_fidelity **result, const struct gpume_fidelity_params *params)
{
    struct gpume_fidelity *fidelity = calloc(1, sizeof(*fidelity));
    if (fidelity) {
        fidelity->params = *params;
    }
    if (!fidelity || !open_memory(fidelity)) {
        gpume_fidelity_close(&fidelity);
        return gpume_log_nomem(&params->log, "the comparison of frames");
    }
    *result = fidelity;
    return GPUME_OK;
}

void gpume_fidelity_add(struct gpume_fidelity *fidelity, const struct gpume_plane *source,
    const struct gpume_plane *decoded, struct gpume_fidelity_frame *result)
{
    const double pixels = (double)fidelity->params.width * fidelity->params.height;
    struct gpume_fidelity_frame frame;
    gpume_xpsnr_take(fidelity->source, source);
    gpume_samples_take(&fidelity->decoded, decoded);
    frame.wsse = compare_blocks(fidelity, &frame.sse);
    frame.ssim = compare_structure(fidelity);
    const double root = sqrt((double)frame.wsse);
    fidelity->frames++;
    fidelity->mse += (double)frame.sse / pixels;
    fidelity->ssim += frame.ssim;
    fidelity->distances += root;
    fidelity->xpsnr += root >= 1 ? xpsnr_of(fidelity, root) : (double)INFINITY;
    if (result) {
        *result = frame;
    }
}

struct gpume_fidelity_scores gpume_fidelity_scores(const struct gpume_fidelity *fidelity)
{
    const double frames = (double)fidelity->frames;
    const double peak = (double)((1u << fidelity->params.bits) - 1);
    return (struct gpume_fidelity_scores){
        .frames = fidelity->frames,
        .bits = fidelity->params.bits,
        .psnr = 10 * log10(peak * peak / (fidelity->mse / frames)),
        .ssim = fidelity->ssim / frames,
        /* where roots are so small, FFmpeg's filter takes the mean of the frames' values */
        .xpsnr = fidelity->distances >= frames && frames > 0
                     ? xpsnr_of(fidelity, fidelity->distances / frames)
                     : fidelity->xpsnr / frames,
    };
}

void gpume_fidelity_close(struct gpume_fidelity **pointer)
{
    struct gpume_fidelity *fidelity = *pointer;
    if (!fidelity) {
        return;
    }
    *pointer = NULL;
    gpume_xpsnr_close(&fidelity->source);
    free(fidelity->decoded.data);
    free(fidelity->sums);
    free(fidelity->cells);
    free(fidelity);
}
