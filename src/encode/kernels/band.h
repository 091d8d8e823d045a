/* SPDX-License-Identifier: BSD-2-Clause */
/* What is computed of the rows of a band (half.h) and of a half plane. */
#ifndef GPUME_ENCODE_KERNELS_BAND_H
#define GPUME_ENCODE_KERNELS_BAND_H

#include "encode/decision.h"
#include "encode/half.h"
#include "encode/kernels/rows.h"

#define OUTPUTS (8 * GPUME_BLOCKS) /* of as many pairs of samples */

typedef uint8_t gpume_outputs __attribute__((vector_size(OUTPUTS)));

static inline gpume_lanes_unsigned gpume_load_pairs(const uint8_t *at)
{
    gpume_lanes_unsigned pairs;
    memcpy(&pairs, at, sizeof(pairs));
    return pairs;
}

#define SQUARES ((GPUME_BLOCKS + 1) / 2) /* whose rows are loaded at a time, or their halves */
#define HALVES (2 * SQUARES / GPUME_BLOCKS)
#define WORDS (4 * GPUME_BLOCKS) /* of 32 bits in a vector */

/* Sums of two neighbours, each pair of which is one number in any byte order. */
static inline gpume_lanes_unsigned gpume_pair_sums_of(gpume_lanes_unsigned pairs)
{
    return (pairs & 0xff) + (pairs >> 8);
}

static inline uint8_t gpume_mean_of_four(const uint8_t *upper, const uint8_t *lower)
{
    return (uint8_t)((upper[0] + upper[1] + lower[0] + lower[1] + 2) >> 2);
}

static inline gpume_words gpume_pairs_of(gpume_lanes_unsigned lanes)
{
    const gpume_words pairs = (gpume_words)lanes;
    return (pairs & 0xffff) + (pairs >> 16);
}

/* sum (s - mean)^2 = sum s^2 - (sum s)^2 / n. The sum of 256 squares is below 2^24. */
static inline uint32_t gpume_energy_of(uint32_t sum, uint32_t squares)
{
    return squares - (sum * sum >> 8);
}

/* Of SQUARES squares. The sum of 16 samples in one lane, or twice that, is below 2^16. */
static inline void gpume_energies_of(const uint8_t *at, ptrdiff_t stride, uint32_t *energies)
{
    gpume_lanes_unsigned sums = {0};
    gpume_words squares = {0};
    for (uint32_t i = 0; i < HALVES * GPUME_SQUARE; i++) {
        const uint8_t *row = at + (ptrdiff_t)(i / HALVES) * stride + i % HALVES * 8;
        const struct gpume_places places = gpume_side_by_side(row);
        const gpume_lanes_unsigned samples = (gpume_lanes_unsigned)gpume_load_lanes(&places, 0);
        sums += samples;
        squares += gpume_pairs_of(samples * samples);
    }
    const gpume_words pairs = gpume_pairs_of(sums);
    for (uint32_t square = 0; square < SQUARES; square++) {
        uint32_t sum = 0, square_sum = 0;
        for (uint32_t i = square * WORDS / SQUARES; i < (square + 1) * WORDS / SQUARES; i++) {
            sum += pairs[i];
            square_sum += squares[i];
        }
        energies[square] = gpume_energy_of(sum, square_sum);
    }
}

static inline uint32_t energy_of_one(const uint8_t *at, ptrdiff_t stride)
{
    uint32_t sum = 0, squares = 0;
    for (uint32_t y = 0; y < GPUME_SQUARE; y++) {
        for (uint32_t x = 0; x < GPUME_SQUARE; x++) {
            const uint32_t sample = at[(ptrdiff_t)y * stride + x];
            sum += sample;
            squares += sample * sample;
        }
    }
    return gpume_energy_of(sum, squares);
}

static inline void energies(const struct gpume_band *band, uint32_t count, uint32_t *to)
{
    uint32_t i = 0;
    for (; i + SQUARES <= count; i += SQUARES) {
        gpume_energies_of(band->samples + i * GPUME_SQUARE, band->stride, to + i);
    }
    for (; i < count; i++) {
        to[i] = energy_of_one(band->samples + i * GPUME_SQUARE, band->stride);
    }
}

static inline void halve(uint8_t *to, const uint8_t *upper, const uint8_t *lower, uint32_t count)
{
    uint32_t x = 0;
    for (; x + OUTPUTS <= count; x += OUTPUTS) {
        const gpume_lanes_unsigned sums = gpume_pair_sums_of(gpume_load_pairs(upper + 2 * x)) +
                                          gpume_pair_sums_of(gpume_load_pairs(lower + 2 * x));
        const gpume_outputs means = __builtin_convertvector((sums + 2) >> 2, gpume_outputs);
        memcpy(to + x, &means, sizeof(means));
    }
    for (; x < count; x++) {
        to[x] = gpume_mean_of_four(upper + 2 * x, lower + 2 * x);
    }
}

/* --- weighted samples (weights.h) */

/* Products of samples and scales are at most 255 * 127 in magnitude, so 16 bits hold them with the
 * rounding. What is above 255 or below 0 with the offset is clipped. */
static inline gpume_lanes gpume_weigh(const struct gpume_weight *weight, gpume_lanes samples)
{
    const int32_t half = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
    gpume_lanes v = samples * (int16_t)weight->scale + (int16_t)half;
    v = (v >> weight->denominator) + (int16_t)weight->offset;
    v &= ~(v >> 15);
    const gpume_lanes above = v > 255;
    return (v & ~above) | (above & 255);
}

static inline void weigh_row(
    uint8_t *to, const uint8_t *from, uint32_t count, const struct gpume_weight *weight)
{
    for (uint32_t x = 0; x < count; x += OUTPUTS) {
        gpume_outputs samples;
        memcpy(&samples, from + x, sizeof(samples));
        const gpume_lanes weighted =
            gpume_weigh(weight, __builtin_convertvector(samples, gpume_lanes));
        samples = __builtin_convertvector(weighted, gpume_outputs);
        memcpy(to + x, &samples, sizeof(samples));
    }
}

#endif
