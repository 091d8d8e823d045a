/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/fidelity.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A plane of samples, with its last row and column repeated once: where sides are odd, filters of
 * XPSNR reach beyond them. */
struct samples {
    uint16_t *data;
    size_t stride; /* samples */
};

enum { SUMS = 4 }; /* of samples of the source and of the decoded frame, of squares, of products */

/* XPSNR's blocks. */
struct block_grid {
    uint32_t side, columns, rows; /* side: a multiple of 4; 0: the picture is too small for any */
    bool is_large;                /* the activity is that of 2x2 samples */
    bool second;                  /* differences between frames are of the second order */
    double scale;                 /* of weighted errors */
    double least;                 /* activity */
    double *errors, *weights;     /* by block */
};

struct gpume_fidelity {
    struct gpume_fidelity_params params;
    struct samples source, before, before2, decoded; /* before: source frames, at first zero */
    uint32_t *sums;                                  /* SUMS rows: of 4 samples of each column */
    double *cells; /* 2 * SUMS rows: of 4x4 samples, of two rows of cells in turn */
    struct block_grid grid;
    uint64_t frames;
    double mse, ssim;        /* sums over the frames */
    double distances, xpsnr; /* the same: roots of weighted errors, and values of the frames */
};

static bool open_samples(struct samples *samples, uint32_t width, uint32_t height)
{
    samples->stride = (size_t)width + 1;
    samples->data = calloc(samples->stride * ((size_t)height + 1), sizeof(*samples->data));
    return samples->data != NULL;
}

static void take_samples(struct samples *samples, const struct gpume_plane *plane)
{
    const size_t width = plane->width, row_bytes = samples->stride * sizeof(*samples->data);
    uint16_t *to = samples->data;
    for (uint32_t y = 0; y < plane->height; y++, to += samples->stride) {
        const void *from = (const char *)plane->data + (ptrdiff_t)y * plane->stride;
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
    const size_t stride = fidelity->source.stride;
    double total = 0, *cells = fidelity->cells, *above = cells + (size_t)SUMS * columns;
    if (columns < 2 || rows < 2) {
        return (double)NAN;
    }
    for (uint32_t row = 0; row < rows; row++) {
        const uint16_t *a = fidelity->source.data + (size_t)4 * row * stride;
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

/* --- XPSNR */

struct extent {
    uint32_t begin, end;
};

static uint64_t sum_errors(
    const uint16_t *a, const uint16_t *b, size_t stride, struct extent x, struct extent y)
{
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row++) {
        const uint16_t *p = a + row * stride, *q = b + row * stride;
        for (uint32_t i = x.begin; i < x.end; i++) {
            const int32_t difference = (int32_t)p[i] - q[i];
            sum += (uint32_t)difference * (uint32_t)difference;
        }
    }
    return sum;
}

/* How much samples differ from their eight neighbours. */
static uint64_t sum_spatial(const struct samples *source, struct extent x, struct extent y)
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
static uint64_t sum_spatial_large(const struct samples *source, struct extent x, struct extent y)
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
static uint64_t sum_temporal(
    const struct gpume_fidelity *fidelity, struct extent x, struct extent y)
{
    const size_t stride = fidelity->source.stride;
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row++) {
        const uint16_t *o = fidelity->source.data + row * stride;
        const uint16_t *m1 = fidelity->before.data + row * stride;
        const uint16_t *m2 = fidelity->before2.data + row * stride;
        uint32_t line = 0;
        if (fidelity->grid.second) {
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
    const struct gpume_fidelity *fidelity, struct extent x, struct extent y)
{
    const size_t stride = fidelity->source.stride;
    const int32_t again = fidelity->grid.second ? 1 : 0;
    uint64_t sum = 0;
    for (uint32_t row = y.begin; row < y.end; row += 2) {
        const uint16_t *o = fidelity->source.data + row * stride;
        const uint16_t *m1 = fidelity->before.data + row * stride;
        const uint16_t *m2 = fidelity->before2.data + row * stride;
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
static double weigh_block(const struct gpume_fidelity *fidelity, struct extent x, struct extent y)
{
    const uint32_t width = fidelity->params.width, height = fidelity->params.height;
    const bool is_large = fidelity->grid.is_large;
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
        spatial = sum_spatial(&fidelity->source, inner_x, inner_y);
    } else if (inner_x.end - x.begin > 12) {
        spatial = sum_spatial_large(&fidelity->source, inner_x, inner_y);
    }
    const uint64_t temporal =
        2 * (is_large ? sum_temporal_large(fidelity, x, y) : sum_temporal(fidelity, x, y));
    const double activity =
        (double)spatial / ((double)inner_width * (inner_y.end - inner_y.begin)) +
        (double)temporal / ((double)(x.end - x.begin) * (y.end - y.begin));
    return 1 / (activity > fidelity->grid.least ? activity : fidelity->grid.least);
}

/* In small pictures no block has a larger weight than the larger one of its neighbours, on either
 * side and above. Called when the weight of block i is known; reduces that of the block before. */
static void smooth_weight(const struct block_grid *grid, uint32_t i)
{
    double *weights = grid->weights;
    const uint32_t columns = grid->columns, column = i % columns;
    double most = column == 0  ? (i > 1 ? weights[i - 2] : 0)
                  : column > 1 ? fmax(weights[i - 2], weights[i])
                               : weights[i];
    if (i > columns) {
        most = fmax(most, weights[i - 1 - columns]);
    }
    if (i > 0 && weights[i - 1] > most) {
        weights[i - 1] = most;
    }
    if (i + 1 == columns * grid->rows && i > columns) {
        most = fmax(weights[i - 1], weights[i - columns]);
        weights[i] = weights[i] > most ? most : weights[i];
    }
}

/* Finds the sum of squared errors, and returns the weighted sum. */
static uint64_t compare_blocks(struct gpume_fidelity *fidelity, uint64_t *sse)
{
    const uint32_t width = fidelity->params.width, height = fidelity->params.height;
    const struct block_grid *grid = &fidelity->grid;
    const uint16_t *a = fidelity->source.data, *b = fidelity->decoded.data;
    const size_t stride = fidelity->source.stride;
    const bool smooths = (uint64_t)width * height <= 640 * 480;
    if (grid->side == 0) {
        *sse = sum_errors(a, b, stride, (struct extent){0, width}, (struct extent){0, height});
        return *sse;
    }
    *sse = 0;
    for (uint32_t i = 0; i < grid->columns * grid->rows; i++) {
        const uint32_t left = i % grid->columns * grid->side, top = i / grid->columns * grid->side;
        const struct extent x = {left, left + grid->side < width ? left + grid->side : width};
        const struct extent y = {top, top + grid->side < height ? top + grid->side : height};
        const uint64_t error = sum_errors(a, b, stride, x, y);
        *sse += error;
        grid->errors[i] = (double)error;
        grid->weights[i] = weigh_block(fidelity, x, y);
        if (smooths) {
            smooth_weight(grid, i);
        }
    }
    double sum = 0;
    for (uint32_t i = 0; i < grid->columns * grid->rows; i++) {
        sum += grid->errors[i] * grid->weights[i];
    }
    return (uint64_t)(sum * grid->scale + 0.5);
}

/* In dB, of the root of the weighted errors of a frame. */
static double xpsnr_of(const struct gpume_fidelity *fidelity, double root)
{
    const struct gpume_fidelity_params *params = &fidelity->params;
    const double peak = (double)((1u << params->bits) - 1);
    return 10 * log10((double)params->width * params->height * peak * peak / (root * root));
}

/* --- a comparison */

static bool open_grid(struct block_grid *grid, const struct gpume_fidelity_params *params)
{
    const double pixels = (double)params->width * params->height;
    const double ratio = pixels / (3840.0 * 2160.0);
    *grid = (struct block_grid){
        .side = 4 * (uint32_t)(32 * sqrt(ratio) + 0.5),
        .is_large = pixels > 2048 * 1152,
        .second = params->rate_den > 0 && params->rate_num / params->rate_den >= 32,
        .scale = sqrt(16 * ldexp(1, 2 * (int)params->bits - 9) / sqrt(fmax(0.00001, ratio))),
        .least = (double)(1u << (params->bits - 6)),
    };
    if (grid->side == 0) {
        return true;
    }
    grid->columns = (params->width + grid->side - 1) / grid->side;
    grid->rows = (params->height + grid->side - 1) / grid->side;
    const size_t blocks = (size_t)grid->columns * grid->rows;
    grid->errors = calloc(blocks, sizeof(*grid->errors));
    grid->weights = calloc(blocks, sizeof(*grid->weights));
    return grid->errors && grid->weights;
}

static bool open_memory(struct gpume_fidelity *fidelity)
{
    const uint32_t width = fidelity->params.width, height = fidelity->params.height;
    fidelity->sums = calloc((size_t)SUMS * width, sizeof(*fidelity->sums));
    fidelity->cells = calloc((size_t)SUMS * 2 * (width / 4 + 1), sizeof(*fidelity->cells));
    return fidelity->sums && fidelity->cells && open_samples(&fidelity->source, width, height) &&
           open_samples(&fidelity->before, width, height) &&
           open_samples(&fidelity->before2, width, height) &&
           open_samples(&fidelity->decoded, width, height) &&
           open_grid(&fidelity->grid, &fidelity->params);
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
    take_samples(&fidelity->source, source);
    take_samples(&fidelity->decoded, decoded);
    frame.wsse = compare_blocks(fidelity, &frame.sse);
    frame.ssim = compare_structure(fidelity);
    const double root = sqrt((double)frame.wsse);
    fidelity->frames++;
    fidelity->mse += (double)frame.sse / pixels;
    fidelity->ssim += frame.ssim;
    fidelity->distances += root;
    fidelity->xpsnr += root >= 1 ? xpsnr_of(fidelity, root) : (double)INFINITY;
    const struct samples oldest = fidelity->before2;
    fidelity->before2 = fidelity->before;
    fidelity->before = fidelity->source;
    fidelity->source = oldest;
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
    free(fidelity->source.data);
    free(fidelity->before.data);
    free(fidelity->before2.data);
    free(fidelity->decoded.data);
    free(fidelity->sums);
    free(fidelity->cells);
    free(fidelity->grid.errors);
    free(fidelity->grid.weights);
    free(fidelity);
}
