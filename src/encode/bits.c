/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/bits.h"

#include "base/base.h"
#include "encode/fixed.h"

#include <stdlib.h>
#include <string.h>

#define ONE 65536 /* 1 in the fixed-point numbers of this file */

#define SHARP_DETAILS 3
#define SHARP_MEANS 2
#define BLOCK_QP (32 * GPUME_QP_ONE)
#define AREA_EXPONENT GPUME_BITS_FIXED(0.7)

/* How bits shrink when the quantizer's step doubles: the exponents by which encoders scale the
 * texture and the vectors of the first pass. */
#define TEXTURE_EXPONENT GPUME_BITS_FIXED(1.1)
#define VECTORS_EXPONENT GPUME_BITS_FIXED(0.5)

void gpume_bits_frame_init(struct gpume_bits_frame *frame, const struct gpume_bits_model *model,
    const struct gpume_decision *decision)
{
    *frame = (struct gpume_bits_frame){
        .type = decision->type,
        .header = model->header + (decision->coded == 0 ? model->stream : 0),
        .spectrum = *decision->spectrum,
    };
}

uint32_t gpume_bits_growth(uint64_t area, uint64_t area_analysed)
{
    const int64_t larger = (int64_t)gpume_fixed_log2(area) - gpume_fixed_log2(area_analysed);
    return gpume_fixed_exp2(AREA_EXPONENT * larger / ONE);
}

/* log2(1 + 2^(sharp x)) / sharp in 1/ONE, where x is in 1/ONE. */
static int64_t bend_price(int64_t x, int64_t sharp)
{
    const int64_t steep = sharp * x;
    if (steep > 16 * ONE) {
        return x;
    }
    const uint64_t power = gpume_fixed_exp2(steep);
    return (gpume_fixed_log2(power + ONE) - gpume_fixed_log2(ONE)) / sharp;
}

/* 1 / (1 + 2^(-1.5 x)), where x is in 1/ONE. */
static int64_t part_spent(int64_t x)
{
    const int64_t one = ONE, power = gpume_fixed_exp2(-3 * x / 2);
    return one * one / (one + power);
}

void gpume_bits_find_prices(
    struct gpume_bits_prices *prices, const struct gpume_bits_coefficients *of, int32_t qp)
{
    const int64_t begin = of->threshold + of->step * qp / GPUME_QP_ONE;
    const int64_t steps = (int64_t)ONE * qp / GPUME_STEP_QP;
    const int64_t steps_of_block = (int64_t)ONE * BLOCK_QP / GPUME_STEP_QP;
    for (int32_t bin = 0; bin < (int32_t)GPUME_SPECTRUM_BINS; bin++) {
        const int64_t size = GPUME_BITS_FIXED(GPUME_SPECTRUM_FIRST + 0.25) + bin * (ONE / 2);
        const int64_t details = bend_price(size - begin, SHARP_DETAILS);
        const int64_t means = bend_price(size - begin, SHARP_MEANS);
        prices->details[bin] = (uint32_t)(of->details * details / ONE);
        prices->means[bin] = (uint32_t)(of->means * means / ONE);
        const int64_t saved = GPUME_BITS_FIXED(GPUME_SPECTRUM_FIRST_SAVED + 0.25) + bin * (ONE / 2);
        const int64_t enough = of->saving + steps;
        prices->vectors[bin] = (uint32_t)(of->vectors * part_spent(saved - enough) / ONE);
    }
    prices->block = (uint32_t)(of->block * gpume_fixed_exp2(steps_of_block - steps) / ONE);
}

/* Prices are below 2^30. Of coefficients: sizes are at most 2^9, so x is at most 9 + 3 + 0.18 * 32,
 * and bits per octave are below 11. Of blocks: below 17 bits at QP 32, and 2^(56/6) times as many
 * at QP -24. So the sum of 64,000 coefficients, of 2^16 bits of vectors in each bin and of 1,000
 * blocks is below 2^42. The scale is below 2^32: if all blocks are looked at, it is growth; if not,
 * the frame has 256,000 pixels or more, and the coded picture 2^28 at most. 1/4096 of the sum,
 * times the scale, is below 2^62. */
uint64_t gpume_bits_at(
    const struct gpume_bits_frame *frame, const struct gpume_bits_prices *prices, uint32_t growth)
{
    const struct gpume_spectrum *spectrum = &frame->spectrum;
    const uint64_t sampled = spectrum->sampled > 0 ? spectrum->sampled : 1;
    const uint64_t scale = (uint64_t)spectrum->blocks * growth / sampled;
    uint64_t sum = (uint64_t)spectrum->differing * prices->block;
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        sum += (uint64_t)spectrum->means[i] * prices->means[i];
        sum += (uint64_t)spectrum->details[i] * prices->details[i];
        sum += (uint64_t)spectrum->vectors[i] * prices->vectors[i];
    }
    return frame->header + ((sum >> 12) * scale >> 20);
}

uint32_t gpume_bits_texture(uint64_t bits, uint64_t bits_less)
{
    const int64_t exponent = (int64_t)gpume_fixed_log2(bits) - gpume_fixed_log2(bits_less);
    const int64_t part =
        (exponent - VECTORS_EXPONENT) * 256 / (TEXTURE_EXPONENT - VECTORS_EXPONENT);
    return part < 0 ? 0 : part > 256 ? 256 : (uint32_t)part;
}

int32_t gpume_qp_of_ratio(double ratio)
{
    const int64_t fixed = gpume_fixed_from_double(ratio);
    const int64_t log = (int64_t)gpume_fixed_log2((uint64_t)fixed) - gpume_fixed_log2(ONE);
    return (int32_t)(log * 6 * GPUME_QP_ONE / ONE);
}

/* --- the decoder's buffer */

/* How far back a frame that is too large raises levels, at most. */
#define REACH 250

/* In tenths of the buffer, as encoders assume: how full it is at first, and how full it should stay
 * while levels can be raised. */
#define FULL_AT_FIRST 9
#define RESERVE 1

bool gpume_bits_plan_init(struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer)
{
    *plan = (struct gpume_bits_plan){
        .levels = calloc(buffer->frames, sizeof(*plan->levels)),
        .sizes = calloc(buffer->frames, sizeof(*plan->sizes)),
        .left = calloc(buffer->frames, sizeof(*plan->left)),
    };
    return plan->levels && plan->sizes && plan->left;
}

void gpume_bits_plan_free(struct gpume_bits_plan *plan)
{
    free(plan->levels);
    free(plan->sizes);
    free(plan->left);
    *plan = (struct gpume_bits_plan){0};
}

/* What is in the buffer when the frame's time has come. */
static uint64_t fill_at(
    const struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer, size_t frame)
{
    return frame > 0 ? gpume_min_u64(plan->left[frame - 1] + buffer->rate, buffer->size)
                     : buffer->size / 10 * FULL_AT_FIRST;
}

/* Takes the frames out of the buffer. Returns the last one of them at whose time it was full; or
 * `full`, if it was at none. */
static size_t take_frames(struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer,
    size_t first, size_t last, size_t full)
{
    for (size_t i = first; i <= last; i++) {
        const uint64_t fill = fill_at(plan, buffer, i);
        const uint64_t size = buffer->bits(buffer->user, i, plan->levels);
        full = fill == buffer->size ? i : full;
        plan->sizes[i] = size;
        plan->left[i] = fill > size ? fill - size : 0;
    }
    return full;
}

/* Raises the lowest of the frames' levels. Returns the first frame whose level it was; all before
 * it stay what they are. `last` + 1: none could be raised. */
static size_t raise_lowest(
    struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer, size_t first, size_t last)
{
    uint8_t lowest = buffer->highest;
    size_t changed = last + 1;
    for (size_t i = last + 1; i-- > first;) {
        if (plan->levels[i] <= lowest && plan->levels[i] < buffer->highest) {
            lowest = plan->levels[i];
            changed = i;
        }
    }
    for (size_t i = changed; i <= last; i++) {
        plan->levels[i] = plan->levels[i] == lowest ? (uint8_t)(lowest + 1) : plan->levels[i];
    }
    return changed;
}

bool gpume_bits_plan_at(
    struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer, uint8_t lowest)
{
    const uint64_t reserve = buffer->size / 10 * RESERVE;
    size_t first = 0; /* since when the buffer has not been full */
    plan->broken = buffer->frames;
    plan->bits = 0;
    memset(plan->levels, lowest, buffer->frames);
    for (size_t i = 0; i < buffer->frames; i++) {
        if (buffer->ended && buffer->ended()) {
            return false;
        }
        first = fill_at(plan, buffer, i) == buffer->size ? i : first;
        take_frames(plan, buffer, i, i, first);
        for (size_t changed = first; plan->left[i] < reserve && changed <= i;) {
            first = i - first > REACH ? i - REACH : first;
            changed = raise_lowest(plan, buffer, first, i);
            first = take_frames(plan, buffer, changed, i, first);
        }
        if (plan->sizes[i] > fill_at(plan, buffer, i) && plan->broken == buffer->frames) {
            plan->broken = i;
        }
    }
    for (size_t i = 0; i < buffer->frames; i++) {
        plan->bits += plan->sizes[i];
    }
    return true;
}
