/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/spectrum.h"

#include "base/grid.h"
#include "encode/fixed.h"
#include "encode/weights.h"

#include <stdlib.h>
#include <string.h>

#define SIDE GPUME_HALF_BLOCK
#define PART (SIDE / 2) /* samples across a transform */

/* --- which blocks */

struct sampling {
    uint32_t step, x, y; /* every step-th block along both axes, from these on */
};

/* Frames that follow each other in a pattern of types must not always get the same part. */
static struct sampling sampling_of(uint32_t blocks_x, uint32_t blocks_y, uint64_t frame)
{
    uint32_t step = 1;
    while (gpume_div_up(blocks_x, step) * gpume_div_up(blocks_y, step) > GPUME_SPECTRUM_BLOCKS) {
        step++;
    }
    const uint32_t mixed = (uint32_t)frame * UINT32_C(2654435761) >> 16; /* 2^32 * golden ratio */
    return (struct sampling){step, mixed % (uint32_t)gpume_min_u64(step, blocks_x),
        mixed / step % (uint32_t)gpume_min_u64(step, blocks_y)};
}

/* --- predictions: SIDE * SIDE samples */

struct block {
    uint32_t x, y, index;
    const uint8_t *samples; /* of the target */
    ptrdiff_t stride;
};

static const uint8_t *place(
    const struct gpume_half *half, const struct block *block, int32_t x, int32_t y)
{
    const ptrdiff_t row = (ptrdiff_t)(block->y * SIDE) + (y >> 1);
    const ptrdiff_t column = (ptrdiff_t)(block->x * SIDE) + (x >> 1);
    return half->samples + (2 * (y & 1) + (x & 1)) * half->plane + row * half->stride + column;
}

/* The samples that a vector leads to: costs.h. */
static void fetch(const struct gpume_half *half, const struct block *block, struct gpume_vector v,
    uint8_t samples[SIDE * SIDE])
{
    const uint8_t *first = place(half, block, v.dx >> 1, v.dy >> 1);
    const uint8_t *second = place(half, block, (v.dx + 1) >> 1, (v.dy + 1) >> 1);
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            samples[y * SIDE + x] = (uint8_t)((first[x] + second[x] + 1) >> 1);
        }
        first += half->stride;
        second += half->stride;
    }
}

static void weigh(const struct gpume_weight *weight, uint8_t samples[SIDE * SIDE])
{
    const int32_t half = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const int32_t value =
            ((samples[i] * weight->scale + half) >> weight->denominator) + weight->offset;
        samples[i] = (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
    }
}

static void average(uint32_t share, const uint8_t other[SIDE * SIDE], uint8_t samples[SIDE * SIDE])
{
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const uint32_t sum = samples[i] * share + other[i] * (GPUME_SHARES - share);
        samples[i] = (uint8_t)((sum + GPUME_SHARES / 2) / GPUME_SHARES);
    }
}

static void predict_from_others(const struct gpume_predicted *predicted, const struct block *block,
    uint8_t samples[SIDE * SIDE])
{
    const enum gpume_source_kind kind = (enum gpume_source_kind)predicted->kinds[block->index];
    const struct gpume_matches *past = &predicted->past, *future = &predicted->future;
    const bool still = kind == GPUME_FROM_STILL;
    struct gpume_vector a = {0, 0}, b = {0, 0};
    uint8_t other[SIDE * SIDE];
    if (!still && kind != GPUME_FROM_FUTURE) {
        a = past->vectors[block->index];
    }
    if (!still && kind != GPUME_FROM_PAST) {
        b = future->vectors[block->index];
    }
    switch (kind) {
    case GPUME_FROM_FUTURE:
        fetch(future->reference, block, b, samples);
        return;
    case GPUME_FROM_PAST:
        fetch(past->reference, block, a, samples);
        weigh(&predicted->weight, samples);
        return;
    default:
        fetch(past->reference, block, a, samples);
        fetch(future->reference, block, b, other);
        average(predicted->past_share, other, samples);
    }
}

static uint32_t difference(const uint8_t *samples, ptrdiff_t stride, const uint8_t *predicted)
{
    uint32_t sum = 0;
    for (uint32_t y = 0; y < PART; y++) {
        for (uint32_t x = 0; x < PART; x++) {
            sum += (uint32_t)abs(samples[(ptrdiff_t)y * stride + x] - predicted[y * SIDE + x]);
        }
    }
    return sum;
}

/* A part by the row above, by the column to the left, or by the mean of both: whichever differs
 * least. */
static void predict_part(const uint8_t *samples, ptrdiff_t stride, uint8_t *predicted)
{
    uint8_t tries[3][PART * SIDE];
    uint32_t mean = PART, best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < PART; i++) {
        mean += samples[(ptrdiff_t)i - stride] + samples[(ptrdiff_t)i * stride - 1];
    }
    for (uint32_t y = 0; y < PART; y++) {
        memcpy(tries[0] + y * SIDE, samples - stride, PART);
        memset(tries[1] + y * SIDE, samples[(ptrdiff_t)y * stride - 1], PART);
        memset(tries[2] + y * SIDE, (int)(mean / (2 * PART)), PART);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t differs = difference(samples, stride, tries[i]);
        if (differs < least) {
            least = differs;
            best = i;
        }
    }
    for (uint32_t y = 0; y < PART; y++) {
        memcpy(predicted + y * SIDE, tries[best] + y * SIDE, PART);
    }
}

static void predict_from_self(const struct block *block, uint8_t samples[SIDE * SIDE])
{
    for (uint32_t part = 0; part < 4; part++) {
        const uint32_t x = part % 2 * PART, y = part / 2 * PART;
        predict_part(block->samples + (ptrdiff_t)y * block->stride + x, block->stride,
            samples + y * SIDE + x);
    }
}

/* --- coefficients */

/* The transforms of the columns of both halves, whose rows become columns. */
static void transform_columns(const int16_t from[SIDE * SIDE], int16_t to[SIDE * SIDE])
{
    for (uint32_t half = 0; half < SIDE; half += PART) {
        for (uint32_t x = 0; x < SIDE; x++) {
            const int16_t *v = from + half * SIDE + x;
            const int a = v[0] + v[SIDE], b = v[0] - v[SIDE];
            const int c = v[2 * SIDE] + v[3 * SIDE], d = v[2 * SIDE] - v[3 * SIDE];
            int16_t *out = to + x * SIDE + half;
            out[0] = (int16_t)(a + c);
            out[1] = (int16_t)(b + d);
            out[2] = (int16_t)(a - c);
            out[3] = (int16_t)(b - d);
        }
    }
}

/* log2 of 1 + (k + 1/2) / 16, in 1/256 */
static const uint8_t fractions[16] = {
    11, 33, 54, 73, 92, 109, 126, 142, 157, 172, 186, 200, 213, 226, 238, 250};

/* Where a coefficient counts; shift: of its octave, in 1/256. It is at most 16 * 255. */
static uint32_t bin_of(uint32_t size, int32_t shift)
{
    const int32_t octave = 31 - __builtin_clz(size);
    const uint32_t fraction = fractions[(size << 4 >> octave) & 15];
    const int32_t bin = (octave * 256 + (int32_t)fraction + shift) >> 7;
    return bin < 0                              ? 0
           : bin < (int32_t)GPUME_SPECTRUM_BINS ? (uint32_t)bin
                                                : GPUME_SPECTRUM_BINS - 1;
}

static void count(struct gpume_spectrum *spectrum, const struct block *block,
    const uint8_t predicted[SIDE * SIDE], int32_t shift)
{
    int16_t residual[SIDE * SIDE], rows[SIDE * SIDE];
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            residual[y * SIDE + x] = (int16_t)(block->samples[(ptrdiff_t)y * block->stride + x] -
                                               predicted[y * SIDE + x]);
        }
    }
    transform_columns(residual, rows);
    transform_columns(rows, residual);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const bool mean = i % PART == 0 && i / SIDE % PART == 0;
        const uint32_t size = (uint32_t)abs(residual[i]);
        if (size > 0) {
            (mean ? spectrum->means : spectrum->details)[bin_of(size, shift)]++;
        }
    }
}

/* What an offset, in 1/256 QP, and the 5/4 of weights that brighten do to the octave of a
 * coefficient, with the division by 4 and the first octave. */
static int32_t shift_of(const struct gpume_predicted *predicted, uint32_t index)
{
    const int32_t offset = predicted->offsets ? predicted->offsets[index] : 0;
    const bool weighted = predicted->kinds && predicted->kinds[index] == GPUME_FROM_PAST;
    const uint64_t one = 256;
    const uint64_t cost =
        weighted ? gpume_weight_coding_cost(&predicted->weight, predicted->distance, one) : one;
    const int32_t more = (gpume_fixed_log2(cost) - gpume_fixed_log2(one)) / 256;
    return more - (int32_t)gpume_div_nearest(offset, 6) - (2 + GPUME_SPECTRUM_FIRST) * 256;
}

/* --- vectors */

static int32_t median(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static uint32_t bits_of_difference(int32_t d)
{
    return (uint32_t)gpume_fixed_log2(1 + 2 * (uint64_t)abs(d));
}

/* The median of the neighbours to the left, above, and above to the right or left, as in H.264
 * 8.4.1.3; in the first row that to the left. */
static uint32_t vector_bits(
    const struct gpume_vector *vectors, uint32_t blocks_x, const struct block *block)
{
    const struct gpume_vector *here = vectors + block->index;
    const struct gpume_vector zero = {0, 0};
    const struct gpume_vector left = block->x > 0 ? here[-1] : zero;
    struct gpume_vector above = left, corner = left;
    if (block->y > 0) {
        above = here[-(ptrdiff_t)blocks_x];
        corner = block->x + 1 < blocks_x ? here[1 - (ptrdiff_t)blocks_x]
                 : block->x > 0          ? here[-1 - (ptrdiff_t)blocks_x]
                                         : zero;
    }
    return bits_of_difference(here->dx - median(left.dx, above.dx, corner.dx)) +
           bits_of_difference(here->dy - median(left.dy, above.dy, corner.dy));
}

static void measure_block(struct gpume_spectrum *spectrum, const struct gpume_predicted *predicted,
    const struct block *block)
{
    const uint32_t blocks_x = predicted->target->width / SIDE;
    const enum gpume_source_kind kind =
        predicted->kinds ? (enum gpume_source_kind)predicted->kinds[block->index] : GPUME_FROM_SELF;
    uint8_t samples[SIDE * SIDE];
    if (kind == GPUME_FROM_SELF) {
        predict_from_self(block, samples);
    } else {
        predict_from_others(predicted, block, samples);
    }
    count(spectrum, block, samples, shift_of(predicted, block->index));
    if (kind == GPUME_FROM_PAST || kind == GPUME_FROM_BOTH) {
        spectrum->vectors += vector_bits(predicted->past.vectors, blocks_x, block);
    }
    if (kind == GPUME_FROM_FUTURE || kind == GPUME_FROM_BOTH) {
        spectrum->vectors += vector_bits(predicted->future.vectors, blocks_x, block);
    }
}

void gpume_spectrum_measure(
    struct gpume_spectrum *spectrum, const struct gpume_predicted *predicted)
{
    const struct gpume_half *target = predicted->target;
    const uint32_t blocks_x = target->width / SIDE, blocks_y = target->height / SIDE;
    const struct sampling sampling = sampling_of(blocks_x, blocks_y, predicted->frame);
    *spectrum = (struct gpume_spectrum){.blocks = blocks_x * blocks_y};
    for (uint32_t y = sampling.y; y < blocks_y; y += sampling.step) {
        for (uint32_t x = sampling.x; x < blocks_x; x += sampling.step) {
            const struct block block = {.x = x,
                .y = y,
                .index = y * blocks_x + x,
                .samples = place(target, &(struct block){.x = x, .y = y}, 0, 0),
                .stride = target->stride};
            spectrum->sampled++;
            if (gpume_coded_cost(predicted->costs[block.index]) > 0) {
                measure_block(spectrum, predicted, &block);
            }
        }
    }
}
