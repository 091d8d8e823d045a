/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/spectrum.h"

#include "base/base.h"
#include "encode/fixed.h"
#include "encode/kernels/band.h"
#include "encode/kernels/match.h"
#include "encode/weights.h"

#include <stdlib.h>
#include <string.h>

#define SIDE GPUME_HALF_BLOCK
#define BINS ((int32_t)GPUME_SPECTRUM_BINS)
#define ONE 65536       /* 1 in fixed-point numbers */
#define PART (SIDE / 2) /* samples across a transform */
/* In 1/256 octaves: a coefficient that is divided by 4 begins 2 lower, and bin 0 is not octave 0.
 */
#define FIRST_SIZE ((2 + GPUME_SPECTRUM_FIRST) * 256)

_Static_assert(GPUME_BLOCKS == 1, "blocks are measured one at a time");

/* --- which blocks */

/* Frames that follow each other in a pattern of types must not always get the same part. */
struct gpume_sampling gpume_sampling_of(uint32_t blocks_x, uint32_t blocks_y, uint64_t frame)
{
    uint32_t step = 1;
    while (gpume_div_up(blocks_x, step) * gpume_div_up(blocks_y, step) > GPUME_SPECTRUM_BLOCKS) {
        step++;
    }
    const uint32_t mixed = (uint32_t)frame * UINT32_C(2654435761) >> 16; /* 2^32 * golden ratio */
    return (struct gpume_sampling){step, mixed % (uint32_t)gpume_min_u64(step, blocks_x),
        mixed / step % (uint32_t)gpume_min_u64(step, blocks_y)};
}

/* --- predictions */

struct sampled_block {
    uint32_t x, y, index;
};

/* The vectors of a block in the past and the future reference. */
struct motion {
    struct gpume_vector past, future;
};

static bool has_past_vector(enum gpume_source_kind kind)
{
    return kind == GPUME_FROM_PAST || kind == GPUME_FROM_BOTH;
}

static bool has_future_vector(enum gpume_source_kind kind)
{
    return kind == GPUME_FROM_FUTURE || kind == GPUME_FROM_BOTH;
}

static enum gpume_source_kind source_kind(
    const struct gpume_predicted *predicted, const struct sampled_block *block)
{
    return (enum gpume_source_kind)predicted->kinds[block->index];
}

static struct motion motion_of(
    const struct gpume_predicted *predicted, const struct sampled_block *block)
{
    const enum gpume_source_kind kind = source_kind(predicted, block);
    struct motion motion = {0};
    if (has_past_vector(kind)) {
        motion.past = predicted->past.vectors[block->index];
    }
    if (has_future_vector(kind)) {
        motion.future = predicted->future.vectors[block->index];
    }
    return motion;
}

static struct gpume_near near_of(const struct gpume_matches *matches,
    const struct sampled_block *block, struct gpume_vector vector)
{
    const struct gpume_half *half = matches->reference;
    struct gpume_near near = {.stride = half->stride};
    gpume_near_set(&near, 0, half, gpume_block_place(half, block->x, block->y), vector);
    return near;
}

/* A block from its references, with these vectors. As a call, it takes three times as long: GCC
 * then loads samples one by one. */
static inline __attribute__((always_inline)) struct gpume_rows predict_by(
    const struct gpume_predicted *predicted, const struct sampled_block *block,
    const struct motion *motion)
{
    const enum gpume_source_kind kind = source_kind(predicted, block);
    if (kind == GPUME_FROM_PAST) {
        const struct gpume_near past = near_of(&predicted->past, block, motion->past);
        struct gpume_rows rows = gpume_match_rows(&past);
        for (uint32_t y = 0; y < SIDE; y++) {
            rows.row[y] = gpume_weigh(&predicted->weight, rows.row[y]);
        }
        return rows;
    }
    const struct gpume_near future = near_of(&predicted->future, block, motion->future);
    if (kind == GPUME_FROM_FUTURE) {
        return gpume_match_rows(&future);
    }
    const struct gpume_near past = near_of(&predicted->past, block, motion->past);
    return gpume_mean_rows(&past, &future, predicted->past_share);
}

static uint32_t difference(const uint8_t *samples, ptrdiff_t stride, const int16_t *predicted)
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
static void predict_part(const uint8_t *samples, ptrdiff_t stride, int16_t *predicted)
{
    int16_t tries[3][PART * SIDE];
    uint32_t mean = PART, best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < PART; i++) {
        mean += samples[(ptrdiff_t)i - stride] + samples[(ptrdiff_t)i * stride - 1];
    }
    for (uint32_t y = 0; y < PART; y++) {
        for (uint32_t x = 0; x < PART; x++) {
            tries[0][y * SIDE + x] = samples[(ptrdiff_t)x - stride];
            tries[1][y * SIDE + x] = samples[(ptrdiff_t)y * stride - 1];
            tries[2][y * SIDE + x] = (int16_t)(mean / (2 * PART));
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t differs = difference(samples, stride, tries[i]);
        if (differs < least) {
            least = differs;
            best = i;
        }
    }
    for (uint32_t y = 0; y < PART; y++) {
        memcpy(predicted + y * SIDE, tries[best] + y * SIDE, PART * sizeof(*predicted));
    }
}

static struct gpume_rows predict_from_self(
    const struct gpume_half *half, const struct sampled_block *block)
{
    const uint8_t *samples = gpume_block_place(half, block->x, block->y);
    int16_t predicted[SIDE * SIDE];
    struct gpume_rows rows;
    for (uint32_t part = 0; part < 4; part++) {
        const uint32_t x = part % 2 * PART, y = part / 2 * PART;
        predict_part(
            samples + (ptrdiff_t)y * half->stride + x, half->stride, predicted + y * SIDE + x);
    }
    memcpy(&rows, predicted, sizeof(rows));
    return rows;
}

/* --- coefficients */

/* log2 of a size in 1/256, of the middle of the sixteenth of the octave in which it lies. */
static const int16_t logarithms[256] = {-32768, 11, 267, 413, 523, 604, 669, 725, 779, 822, 860,
    894, 925, 954, 981, 1006, 1035, 1057, 1078, 1097, 1116, 1133, 1150, 1166, 1181, 1196, 1210,
    1224, 1237, 1250, 1262, 1274, 1291, 1291, 1313, 1313, 1334, 1334, 1353, 1353, 1372, 1372, 1389,
    1389, 1406, 1406, 1422, 1422, 1437, 1437, 1452, 1452, 1466, 1466, 1480, 1480, 1493, 1493, 1506,
    1506, 1518, 1518, 1530, 1530, 1547, 1547, 1547, 1547, 1569, 1569, 1569, 1569, 1590, 1590, 1590,
    1590, 1609, 1609, 1609, 1609, 1628, 1628, 1628, 1628, 1645, 1645, 1645, 1645, 1662, 1662, 1662,
    1662, 1678, 1678, 1678, 1678, 1693, 1693, 1693, 1693, 1708, 1708, 1708, 1708, 1722, 1722, 1722,
    1722, 1736, 1736, 1736, 1736, 1749, 1749, 1749, 1749, 1762, 1762, 1762, 1762, 1774, 1774, 1774,
    1774, 1786, 1786, 1786, 1786, 1803, 1803, 1803, 1803, 1803, 1803, 1803, 1803, 1825, 1825, 1825,
    1825, 1825, 1825, 1825, 1825, 1846, 1846, 1846, 1846, 1846, 1846, 1846, 1846, 1865, 1865, 1865,
    1865, 1865, 1865, 1865, 1865, 1884, 1884, 1884, 1884, 1884, 1884, 1884, 1884, 1901, 1901, 1901,
    1901, 1901, 1901, 1901, 1901, 1918, 1918, 1918, 1918, 1918, 1918, 1918, 1918, 1934, 1934, 1934,
    1934, 1934, 1934, 1934, 1934, 1949, 1949, 1949, 1949, 1949, 1949, 1949, 1949, 1964, 1964, 1964,
    1964, 1964, 1964, 1964, 1964, 1978, 1978, 1978, 1978, 1978, 1978, 1978, 1978, 1992, 1992, 1992,
    1992, 1992, 1992, 1992, 1992, 2005, 2005, 2005, 2005, 2005, 2005, 2005, 2005, 2018, 2018, 2018,
    2018, 2018, 2018, 2018, 2018, 2030, 2030, 2030, 2030, 2030, 2030, 2030, 2030, 2042, 2042, 2042,
    2042, 2042, 2042, 2042, 2042};

/* Counts by bin; those of coefficients that are 0 come first. Bits of vectors, in 1/65536. */
struct counts {
    uint32_t means[1 + GPUME_SPECTRUM_BINS], details[1 + GPUME_SPECTRUM_BINS];
    uint32_t vectors[GPUME_SPECTRUM_BINS];
};

/* The index at which a coefficient counts. shift: added to its logarithm, in 1/256. size: at most
 * 16 * 255; a large one is divided by 16, which keeps its place within the octave. */
static uint32_t bin_of_size(int32_t size, int32_t shift)
{
    const bool large = size >= 256;
    const int32_t logarithm = logarithms[large ? size >> 4 : size] + (large ? 4 * 256 : 0);
    const int32_t bin = (logarithm + shift) >> 7, last = GPUME_SPECTRUM_BINS - 1;
    const int32_t place = 1 + (bin < last ? bin : last), least = size > 0;
    return (uint32_t)(place > least ? place : least);
}

static void count(struct counts *counts, const struct gpume_rows *blocks,
    const struct gpume_rows *predicted, int32_t shift)
{
    struct gpume_rows rows;
    int16_t coefficients[SIDE][SIDE];
    for (uint32_t y = 0; y < SIDE; y++) {
        rows.row[y] = blocks->row[y] - predicted->row[y];
    }
    gpume_transform(&rows, 2);
    gpume_transpose(&rows);
    gpume_transform(&rows, 2);
    for (uint32_t y = 0; y < SIDE; y++) {
        rows.row[y] = gpume_absolute(rows.row[y]);
    }
    memcpy(coefficients, &rows, sizeof(coefficients));
    for (uint32_t y = 0; y < SIDE; y++) {
        uint32_t *first = y % PART == 0 ? counts->means : counts->details;
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t *of = x % PART == 0 ? first : counts->details;
            of[bin_of_size(coefficients[y][x], shift)]++;
        }
    }
}

/* What the 5/4 of weights that brighten does to the octave of a coefficient, in 1/256. */
static int32_t shift_of_weight(const struct gpume_predicted *predicted)
{
    const uint64_t one = 256;
    const uint64_t cost = gpume_weight_coding_cost(&predicted->weight, predicted->distance, one);
    return (gpume_fixed_log2(cost) - gpume_fixed_log2(one)) / 256;
}

/* --- vectors */

static uint32_t bits_of_difference(int32_t d)
{
    return (uint32_t)gpume_fixed_log2(1 + 2 * (uint64_t)abs(d));
}

static struct motion expected_motion(
    const struct gpume_predicted *predicted, const struct sampled_block *block)
{
    const uint32_t blocks_x = predicted->target->width / SIDE;
    const enum gpume_source_kind kind = source_kind(predicted, block);
    struct motion expected = {0};
    if (has_past_vector(kind)) {
        expected.past =
            gpume_expected_vector(predicted->past.vectors, blocks_x, block->x, block->y);
    }
    if (has_future_vector(kind)) {
        expected.future =
            gpume_expected_vector(predicted->future.vectors, blocks_x, block->x, block->y);
    }
    return expected;
}

static uint32_t motion_bits(const struct motion *motion, const struct motion *expected)
{
    return bits_of_difference(motion->past.dx - expected->past.dx) +
           bits_of_difference(motion->past.dy - expected->past.dy) +
           bits_of_difference(motion->future.dx - expected->future.dx) +
           bits_of_difference(motion->future.dy - expected->future.dy);
}

static uint32_t satd_of(const struct gpume_rows *samples, const struct gpume_rows *match)
{
    uint16_t satd;
    gpume_store_words(gpume_satd(samples, match), 1, &satd);
    return satd;
}

static void count_vectors(struct counts *counts, const struct gpume_predicted *predicted,
    const struct sampled_block *block, const struct gpume_rows *samples,
    const struct gpume_rows *match)
{
    const struct motion motion = motion_of(predicted, block), still = {0};
    const struct motion expected = expected_motion(predicted, block);
    const uint32_t bits = motion_bits(&motion, &expected);
    if (bits == 0) {
        return;
    }
    const struct gpume_rows by_expected = predict_by(predicted, block, &expected);
    const struct gpume_rows by_place = predict_by(predicted, block, &still);
    const uint32_t other =
        gpume_min_u32(satd_of(samples, &by_expected), satd_of(samples, &by_place));
    const uint32_t own = satd_of(samples, match), saved = other > own ? other - own : 0;
    const int64_t each = (int64_t)gpume_fixed_log2(saved + 2) - gpume_fixed_log2(bits) + 16 * ONE;
    const int64_t bin = (each - GPUME_SPECTRUM_FIRST_SAVED * ONE) / (ONE / 2);
    counts->vectors[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1] += bits;
}

/* --- all of it */

static void measure_block(const struct gpume_predicted *predicted,
    const struct sampled_block *block, int32_t shift_of_weight, bool vectors, struct counts *counts)
{
    const struct gpume_half *target = predicted->target;
    const enum gpume_source_kind kind = source_kind(predicted, block);
    const int32_t offset = predicted->offsets ? predicted->offsets[block->index] : 0;
    const int32_t shift = (kind == GPUME_FROM_PAST ? shift_of_weight : 0) -
                          (int32_t)gpume_div_nearest(offset, 6) - FIRST_SIZE;
    const struct gpume_rows samples = gpume_target_rows(target, block->x, block->y);
    const struct motion motion = motion_of(predicted, block);
    const struct gpume_rows match = kind == GPUME_FROM_SELF ? predict_from_self(target, block)
                                                            : predict_by(predicted, block, &motion);
    count(counts, &samples, &match, shift);
    if (vectors) {
        count_vectors(counts, predicted, block, &samples, &match);
    }
}

static bool block_differs(
    const struct gpume_predicted *predicted, const struct sampled_block *block)
{
    const struct motion motion = motion_of(predicted, block);
    const bool moves = (motion.past.dx | motion.past.dy | motion.future.dx | motion.future.dy) != 0;
    const bool is_intra = source_kind(predicted, block) == GPUME_FROM_SELF;
    const uint16_t same = is_intra ? gpume_intra_cost(0) : gpume_mean_cost(0, moves);
    return predicted->costs[block->index] > same;
}

void gpume_spectrum_measure(
    struct gpume_spectrum *spectrum, const struct gpume_predicted *predicted)
{
    const struct gpume_half *target = predicted->target;
    const uint32_t blocks_x = target->width / SIDE, blocks_y = target->height / SIDE;
    const struct gpume_sampling sampling = gpume_sampling_of(blocks_x, blocks_y, predicted->frame);
    const int32_t shift = shift_of_weight(predicted);
    const uint32_t most =
        (uint32_t)(gpume_div_up(blocks_x, sampling.step) * gpume_div_up(blocks_y, sampling.step));
    const uint32_t share = (uint32_t)gpume_div_up(most, GPUME_SPECTRUM_VECTORS);
    struct counts counts = {0};
    *spectrum = (struct gpume_spectrum){.blocks = blocks_x * blocks_y};
    for (uint32_t y = sampling.y; y < blocks_y; y += sampling.step) {
        for (uint32_t x = sampling.x; x < blocks_x; x += sampling.step) {
            const struct sampled_block block = {x, y, y * blocks_x + x};
            const bool vectors = (spectrum->sampled++ + predicted->frame) % share == 0;
            spectrum->differing += block_differs(predicted, &block);
            if (gpume_coded_cost(predicted->costs[block.index]) > 0) {
                measure_block(predicted, &block, shift, vectors, &counts);
            }
        }
    }
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        spectrum->means[i] = (uint16_t)counts.means[1 + i];
        spectrum->details[i] = (uint16_t)counts.details[1 + i];
        spectrum->vectors[i] = (uint16_t)(((uint64_t)counts.vectors[i] * share + ONE / 2) / ONE);
    }
}
