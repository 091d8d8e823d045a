/* SPDX-License-Identifier: BSD-2-Clause */
/* src/grain/grain.c: grain that is made here, by the model of AV1, is found again: its strength by
 * intensity within 10 %, its coefficients within 0.1. tests/cli/test_grain.sh does the same with
 * grain that libaom and dav1d make. */
#include "grain/grain.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 384, H = 256, EDGE = 16, PICTURES = 12, PLANES = 3 };

struct field {
    int width, height;
    double v[(W + 2 * EDGE) * (H + EDGE)];
};

static uint64_t state = 1;

static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 33) / 2147483648.0;
}

static double draw_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += draw();
    }
    return sum;
}

static double *at(struct field *field, int x, int y)
{
    return &field->v[(y + EDGE) * (field->width + 2 * EDGE) + x + EDGE];
}

/* White noise through the filter; luma: comes in by the last coefficient, averaged where chroma is
 * halved. NULL: none. */
static void make_field(
    struct field *field, int width, int height, const double *c, struct field *luma, int halved)
{
    field->width = width;
    field->height = height;
    for (int y = -EDGE; y < height; y++) {
        for (int x = -EDGE; x < width + EDGE; x++) {
            double value = draw_normal();
            for (int i = 0; i < 24; i++) {
                const int dx = i % 7 - 3, dy = i / 7 - 3;
                if (y + dy >= -EDGE && x + dx >= -EDGE && x + dx < width + EDGE) {
                    value += c[i] * *at(field, x + dx, y + dy);
                }
            }
            if (luma && x >= 0 && y >= 0 && x < width) {
                const int n = 1 << halved;
                for (int k = 0; k < n * n; k++) {
                    value += c[24] * *at(luma, n * x + k % n, n * y + k / n) / (n * n);
                }
            }
            *at(field, x, y) = value;
        }
    }
}

/* A slope of luma; chroma is level. */
static double clean_at(int plane, int x, int bits)
{
    return ldexp(plane == 0 ? 30 + 180.0 * x / W : 100 + 20 * plane, bits - 8);
}

/* Of white grain before the filter, in steps of 8 bits. */
static double strength_at(int plane, double light)
{
    return plane == 0 ? 1 + 3 * light / 255 : plane == 1 ? 1.5 : 2 - light / 255;
}

struct made {
    struct gpume_plane picture[PLANES], clean[PLANES];
};

static void put_sample(const struct gpume_plane *plane, int x, int y, double value)
{
    const double peak = (1 << plane->bits) - 1, whole = fmin(fmax(floor(value + 0.5), 0), peak);
    uint8_t *row = (uint8_t *)plane->data + y * plane->stride;
    if (plane->bits > 8) {
        ((uint16_t *)(void *)row)[x] = (uint16_t)whole;
    } else {
        row[x] = (uint8_t)whole;
    }
}

static void open_planes(struct gpume_plane *planes, int bits, int halved)
{
    for (int p = 0; p < PLANES; p++) {
        const uint32_t w = p > 0 ? W >> halved : W, h = p > 0 ? H >> halved : H;
        planes[p] = (struct gpume_plane){.width = w,
            .height = h,
            .bits = (uint32_t)bits,
            .stride = (ptrdiff_t)w * (bits > 8 ? 2 : 1),
            .data = malloc((size_t)w * h * 2)};
        REQUIRE(planes[p].data);
    }
}

/* A picture with grain, times as strong, and the same without. */
static void make_picture(
    struct made *made, const double c[PLANES][25], int bits, int halved, double times)
{
    static struct field fields[PLANES];
    for (int p = 0; p < PLANES; p++) {
        const int shift = p > 0 ? halved : 0;
        make_field(&fields[p], W >> shift, H >> shift, c[p], p > 0 ? &fields[0] : NULL, halved);
        for (int y = 0; y < H >> shift; y++) {
            for (int x = 0; x < W >> shift; x++) {
                const double clean = clean_at(p, x, bits);
                const double light = clean_at(0, x << shift, 8);
                const double grain = ldexp(strength_at(p, light), bits - 8) * *at(&fields[p], x, y);
                put_sample(&made->clean[p], x, y, floor(clean + 0.5));
                put_sample(&made->picture[p], x, y, floor(clean + 0.5) + times * grain);
            }
        }
    }
}

/* Of the table, in steps of 8 bits: white noise of 511.525 / 16, scaled. */
static double white_at(const struct gpume_grain_table *table, int plane, double light)
{
    const uint8_t *x = table->at[plane], *y = table->scaling[plane];
    const uint32_t last = table->points[plane] - 1;
    double scaling = light <= x[0] ? y[0] : y[last];
    for (uint32_t i = 0; i < last; i++) {
        if (light >= x[i] && light < x[i + 1]) {
            scaling = y[i] + (light - x[i]) * (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
        }
    }
    return ldexp(scaling * 511.525 / 16, -(int)(table->scaling_shift + table->grain_scale_shift));
}

static void check_table(
    const struct gpume_grain_table *table, const double c[PLANES][25], double times)
{
    for (int p = 0; p < PLANES; p++) {
        REQUIRE(table->points[p] >= 1 && table->points[p] <= (p == 0 ? 14 : 10));
        for (uint32_t i = 1; i < table->points[p]; i++) {
            REQUIRE(table->at[p][i] > table->at[p][i - 1]);
        }
        for (int i = 0; i < (p == 0 ? 24 : 25); i++) {
            const double found = ldexp(table->coefficients[p][i], -(int)table->ar_coeff_shift);
            REQUIRE(fabs(found - c[p][i]) < 0.1);
        }
        /* At equal coefficients, white noise before the filter says how strong grain is. */
        for (double light = 40; light <= 200; light += 20) {
            const double ratio = white_at(table, p, light) / (times * strength_at(p, light));
            REQUIRE(ratio > 0.9 && ratio < 1.1);
        }
    }
}

static const double coefficients[2][PLANES][25] = {
    {{0}, {0}, {0}},
    {{[9] = -0.02, [10] = 0.05, [16] = -0.07, [17] = 0.17, [18] = -0.06, [22] = -0.08, [23] = 0.4},
        {[10] = 0.08, [17] = 0.2, [23] = 0.25, [24] = 0.8}, {[17] = 0.1, [23] = 0.1, [24] = -0.2}},
};

static void check_grain(int bits, int halved, const double c[PLANES][25], uint32_t threads)
{
    const struct gpume_grain_params params = {.width = W,
        .height = H,
        .bits = (uint32_t)bits,
        .chroma = true,
        .shift_x = (uint32_t)halved,
        .shift_y = (uint32_t)halved,
        .threads = threads};
    struct gpume_grain *grain = NULL;
    struct made made;
    const struct gpume_grain_segment *segments;
    size_t count;
    open_planes(made.picture, bits, halved);
    open_planes(made.clean, bits, halved);
    REQUIRE(gpume_grain_open(&grain, &params) == GPUME_OK);
    state = 1;
    for (int i = 0; i < PICTURES; i++) {
        make_picture(&made, c, bits, halved, 1);
        REQUIRE(gpume_grain_add(grain, made.picture, made.clean, i * 40000) == GPUME_OK);
    }
    REQUIRE(gpume_grain_finish(grain, &segments, &count) == GPUME_OK);
    REQUIRE(count == 1 && segments[0].start_us == 0 && segments[0].blocks > 500);
    check_table(&segments[0].table, c, 1);
    gpume_grain_close(&grain);
    for (int p = 0; p < PLANES; p++) {
        free(made.picture[p].data);
        free(made.clean[p].data);
    }
}

/* Grain that becomes twice as strong begins a segment, unless one is wanted. */
static void check_segments(bool single)
{
    const struct gpume_grain_params params = {.width = W,
        .height = H,
        .bits = 8,
        .chroma = true,
        .shift_x = 1,
        .shift_y = 1,
        .single = single,
        .threads = 2};
    struct gpume_grain *grain = NULL;
    struct made made;
    const struct gpume_grain_segment *segments;
    size_t count;
    open_planes(made.picture, 8, 1);
    open_planes(made.clean, 8, 1);
    REQUIRE(gpume_grain_open(&grain, &params) == GPUME_OK);
    for (int i = 0; i < 48; i++) {
        make_picture(&made, coefficients[1], 8, 1, i < 24 ? 1 : 2);
        REQUIRE(gpume_grain_add(grain, made.picture, made.clean, i * 40000) == GPUME_OK);
    }
    REQUIRE(gpume_grain_finish(grain, &segments, &count) == GPUME_OK);
    REQUIRE(count == (single ? 1 : 2));
    if (!single) {
        REQUIRE(segments[1].start_us == 24 * 40000);
        check_table(&segments[0].table, coefficients[1], 1);
        check_table(&segments[1].table, coefficients[1], 2);
    }
    gpume_grain_close(&grain);
    for (int p = 0; p < PLANES; p++) {
        free(made.picture[p].data);
        free(made.clean[p].data);
    }
}

/* Sums that no grain has give a table within its limits, too. */
static void check_wild_sums(void)
{
    const struct gpume_grain_params params = {
        .width = W, .height = H, .bits = 8, .chroma = true, .shift_x = 1, .shift_y = 1};
    for (int i = 0; i < 200; i++) {
        struct gpume_grain_sums sums = {0};
        struct gpume_grain_segment segment = {0};
        const double scale = pow(10, 12 * draw());
        for (int b = 0; b < (int)GPUME_GRAIN_BINS; b += 1 + (int)(4 * draw())) {
            struct gpume_grain_bin *bin = &sums.bins[b];
            bin->blocks = 1 + floor(100 * draw());
            bin->light = bin->blocks * (8 * b + 7 * draw());
            bin->sum = scale * draw();
            for (int p = 0; p < PLANES; p++) {
                for (int k = 0; k < (int)GPUME_GRAIN_LAGS; k++) {
                    bin->lags[p][k] = scale * (draw() - (k > 0 ? 0.5 : 0.1));
                }
                for (int k = 0; k < (int)GPUME_GRAIN_CROSS && p > 0; k++) {
                    bin->cross[p - 1][k] = scale * (draw() - 0.5);
                }
            }
        }
        gpume_grain_solve(&params, &sums, &segment);
        const struct gpume_grain_table *table = &segment.table;
        REQUIRE(table->ar_coeff_shift >= 6 && table->ar_coeff_shift <= 9);
        REQUIRE(table->scaling_shift >= 8 && table->scaling_shift <= 11);
        REQUIRE(table->grain_scale_shift <= 3);
        for (int p = 0; p < PLANES; p++) {
            REQUIRE(table->points[p] <= (p == 0 ? 14 : 10));
            for (uint32_t k = 1; k < table->points[p]; k++) {
                REQUIRE(table->at[p][k] > table->at[p][k - 1]);
            }
        }
        REQUIRE(gpume_grain_is_alike(&params, &sums, &sums));
    }
}

int main(void)
{
    check_grain(8, 1, coefficients[0], 1);
    check_grain(8, 1, coefficients[1], 3);
    check_grain(10, 1, coefficients[1], 2);
    check_grain(8, 0, coefficients[1], 2);
    check_grain(16, 1, coefficients[0], 2);
    check_segments(false);
    check_segments(true);
    check_wild_sums();
    return harness_verdict();
}
