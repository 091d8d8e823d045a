/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies between samples (section 8). Every tap outside the picture takes the nearest edge
 * sample. x and y are whole pixels, fx and fy quarters to the right and down from there.
 */
#include "oracle.h"

#include <stdlib.h>

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static int whole(const struct picture *picture, int x, int y)
{
    const int inside_x = clamp(x, 0, picture->width - 1);
    const int inside_y = clamp(y, 0, picture->height - 1);
    return picture->samples[inside_y * picture->width + inside_x];
}

static int clip_sample(const struct picture *picture, int value)
{
    return clamp(value, 0, (1 << picture->bits) - 1);
}

/* H.264, 8.4.2.2.1: the six taps reach from two samples before to three after. */
static const int h264_taps[6] = {1, -5, 20, 20, -5, 1};

/* Unrounded half samples: b1 lies to the right of (x,y), h1 below it. */
static int h264_b1(const struct picture *picture, int x, int y)
{
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        sum += h264_taps[i] * whole(picture, x + i - 2, y);
    }
    return sum;
}

static int h264_h1(const struct picture *picture, int x, int y)
{
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        sum += h264_taps[i] * whole(picture, x, y + i - 2);
    }
    return sum;
}

static int h264_b(const struct picture *picture, int x, int y)
{
    return clip_sample(picture, (h264_b1(picture, x, y) + 16) >> 5);
}

static int h264_h(const struct picture *picture, int x, int y)
{
    return clip_sample(picture, (h264_h1(picture, x, y) + 16) >> 5);
}

static int h264_j(const struct picture *picture, int x, int y)
{
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        sum += h264_taps[i] * h264_b1(picture, x, y + i - 2);
    }
    return clip_sample(picture, (sum + 512) >> 10);
}

/* Names of figure 8-4 of the standard: G at (x,y), H to its right, M below; b and h half samples of
 * G, m of H, s of M. */
static int h264(const struct picture *picture, int x, int y, int fx, int fy)
{
    const int G = whole(picture, x, y);
    const int H = whole(picture, x + 1, y);
    const int M = whole(picture, x, y + 1);
    const int b = h264_b(picture, x, y);
    const int h = h264_h(picture, x, y);
    const int j = h264_j(picture, x, y);
    const int m = h264_h(picture, x + 1, y);
    const int s = h264_b(picture, x, y + 1);
    const int pairs[4][4][2] = {
        /*  G           a       b       c  */
        {{G, G}, {G, b}, {b, b}, {b, H}},
        /*  d           e       f       g  */
        {{G, h}, {b, h}, {b, j}, {b, m}},
        /*  h           i       j       k  */
        {{h, h}, {h, j}, {j, j}, {j, m}},
        /*  n           p       q       r  */
        {{h, M}, {h, s}, {j, s}, {s, m}},
    };
    return (pairs[fy][fx][0] + pairs[fy][fx][1] + 1) >> 1;
}

/* H.265, 8.5.3.3.3.1: from three samples before to four after. */
static const int hevc_taps[4][8] = {
    {0, 0, 0, 64, 0, 0, 0, 0},
    {-1, 4, -10, 58, 17, -5, 1, 0},
    {-1, 4, -11, 40, 40, -11, 4, -1},
    {0, 1, -5, 17, 58, -10, 4, -1},
};

static int hevc_row(const struct picture *picture, int x, int y, int fx)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += hevc_taps[fx][i] * whole(picture, x + i - 3, y);
    }
    return sum;
}

static int hevc_column(const struct picture *picture, int x, int y, int fy)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += hevc_taps[fy][i] * whole(picture, x, y + i - 3);
    }
    return sum;
}

static int hevc(const struct picture *picture, int x, int y, int fx, int fy)
{
    const int bits = picture->bits;
    const int shift1 = bits - 8 < 4 ? bits - 8 : 4;
    const int shift2 = 6;
    const int shift3 = 14 - bits > 2 ? 14 - bits : 2;
    int value = 0;
    if (fx == 0 && fy == 0) {
        value = whole(picture, x, y) << shift3;
    } else if (fy == 0) {
        value = hevc_row(picture, x, y, fx) >> shift1;
    } else if (fx == 0) {
        value = hevc_column(picture, x, y, fy) >> shift1;
    } else {
        for (int i = 0; i < 8; i++) {
            value += hevc_taps[fy][i] * (hevc_row(picture, x, y + i - 3, fx) >> shift1);
        }
        value >>= shift2;
    }
    const int shift = 14 - bits;
    return clip_sample(picture, (value + (1 << (shift - 1))) >> shift);
}

static int bilinear(const struct picture *picture, int x, int y, int fx, int fy)
{
    const int A = whole(picture, x, y);
    const int B = whole(picture, x + 1, y);
    const int C = whole(picture, x, y + 1);
    const int D = whole(picture, x + 1, y + 1);
    return ((4 - fx) * (4 - fy) * A + fx * (4 - fy) * B + (4 - fx) * fy * C + fx * fy * D + 8) >> 4;
}

int interpolate(const struct picture *picture, enum interpolation how, int x, int y, int fx, int fy)
{
    if (fx == 0 && fy == 0) {
        return whole(picture, x, y);
    }
    switch (how) {
    case INTERPOLATION_H264:
        return h264(picture, x, y, fx, fy);
    case INTERPOLATION_HEVC:
        return hevc(picture, x, y, fx, fy);
    case INTERPOLATION_BILINEAR:
        return bilinear(picture, x, y, fx, fy);
    }
    abort();
}

static int stride_of(const struct options *options, const struct picture *picture)
{
    return picture->width + 2 * options->window_x;
}

static const uint16_t *plane(const struct options *options, struct picture *picture, int fx, int fy)
{
    struct plane *made = &picture->planes[fy][fx];
    if (made->samples) {
        return made->samples;
    }
    const int stride = stride_of(options, picture);
    const int rows = picture->height + 2 * options->window_y;
    made->samples = allocate((size_t)stride * (size_t)rows, sizeof(*made->samples));
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < stride; x++) {
            made->samples[y * stride + x] = (uint16_t)interpolate(picture, options->interpolation,
                x - options->window_x, y - options->window_y, fx, fy);
        }
    }
    return made->samples;
}

static int floor_quotient(int value, int divisor)
{
    return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

void predict(const struct options *options, struct picture *reference, const struct place *place,
    struct vector vector, uint16_t *samples)
{
    const int subpel = options->subpel;
    const int dx = floor_quotient(vector.dx, subpel);
    const int dy = floor_quotient(vector.dy, subpel);
    const int fx = (vector.dx - dx * subpel) * (4 / subpel);
    const int fy = (vector.dy - dy * subpel) * (4 / subpel);
    const int stride = stride_of(options, reference);
    const uint16_t *from = plane(options, reference, fx, fy) +
                           (place->y + dy + options->window_y) * stride + place->x + dx +
                           options->window_x;
    for (int y = 0; y < place->h; y++) {
        for (int x = 0; x < place->w; x++) {
            samples[y * place->w + x] = from[y * stride + x];
        }
    }
}
