/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics (section 9) and rate (section 10). */
#include "oracle.h"

#include <stdlib.h>

static uint64_t sad(const uint16_t *a, const uint16_t *b, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += (uint64_t)abs(a[i] - b[i]);
    }
    return sum;
}

static uint64_t ssd(const uint16_t *a, const uint16_t *b, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const int64_t difference = a[i] - b[i];
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

/* The Hadamard transform of `side` values that are `stride` apart, without normalisation. */
static void hadamard(int64_t *values, int side, int stride)
{
    for (int half = 1; half < side; half *= 2) {
        for (int i = 0; i < side; i++) {
            if (i & half) {
                continue;
            }
            const int64_t first = values[i * stride];
            const int64_t second = values[(i + half) * stride];
            values[i * stride] = first + second;
            values[(i + half) * stride] = first - second;
        }
    }
}

static uint64_t satd_tile(int64_t *values, int side)
{
    for (int i = 0; i < side; i++) {
        hadamard(values + i * side, side, 1);
    }
    uint64_t sum = 0;
    for (int i = 0; i < side; i++) {
        hadamard(values + i, side, side);
    }
    for (int i = 0; i < side * side; i++) {
        sum += (uint64_t)llabs(values[i]);
    }
    return side == 8 ? (sum + 2) >> 2 : (sum + 1) >> 1;
}

/* The tiles' size follows the shape's sides. Where the block is not visible the difference is 0, so
 * that a tile without visible pixels adds nothing. */
static uint64_t satd(struct shape shape, const uint16_t *a, const uint16_t *b, int w, int h)
{
    const int side = shape.width % 8 == 0 && shape.height % 8 == 0 ? 8 : 4;
    uint64_t sum = 0;
    for (int top = 0; top < h; top += side) {
        for (int left = 0; left < w; left += side) {
            int64_t values[64] = {0};
            for (int y = top; y < top + side && y < h; y++) {
                for (int x = left; x < left + side && x < w; x++) {
                    values[(y - top) * side + x - left] = a[y * w + x] - b[y * w + x];
                }
            }
            sum += satd_tile(values, side);
        }
    }
    return sum;
}

uint64_t distortion(
    enum metric metric, struct shape shape, const uint16_t *a, const uint16_t *b, int w, int h)
{
    switch (metric) {
    case METRIC_SAD:
        return sad(a, b, w * h);
    case METRIC_SATD:
        return satd(shape, a, b, w, h);
    case METRIC_SSD:
        return ssd(a, b, w * h);
    }
    abort();
}

/* The length of v as a signed Exp-Golomb code. */
static int bits(int v)
{
    const int k = v > 0 ? 2 * v - 1 : -2 * v;
    int log = 0;
    while ((k + 1) >> (log + 1)) {
        log++;
    }
    return 2 * log + 1;
}

int vector_bits(struct vector vector, struct vector predictor)
{
    return bits(vector.dx - predictor.dx) + bits(vector.dy - predictor.dy);
}

uint64_t total_cost(uint64_t distortion_alone, int lambda, int bit_count)
{
    return distortion_alone + (((uint64_t)lambda * (uint64_t)bit_count + 128) >> 8);
}
