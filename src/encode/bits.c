/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/bits.h"

#include "encode/fixed.h"

#define ONE 65536 /* 1 in the fixed-point numbers of this file */

#define SHARP_DETAILS 3
#define SHARP_MEANS 1
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

void gpume_bits_find_prices(struct gpume_bits_prices *prices, const struct gpume_bits_model *model,
    enum gpume_frame_type type, int32_t qp)
{
    const struct gpume_bits_coefficients *of = &model->of[type];
    const int64_t begin = of->threshold + of->step * qp / GPUME_QP_ONE;
    for (int32_t bin = 0; bin < (int32_t)GPUME_SPECTRUM_BINS; bin++) {
        const int64_t size = GPUME_BITS_FIXED(GPUME_SPECTRUM_FIRST + 0.25) + bin * (ONE / 2);
        const int64_t details = bend_price(size - begin, SHARP_DETAILS);
        const int64_t means = bend_price(size - begin, SHARP_MEANS);
        prices->details[bin] = (uint32_t)(of->details * details / ONE);
        prices->means[bin] = (uint32_t)(of->means * means / ONE);
    }
    prices->vectors = (uint32_t)of->vectors;
}

/* Prices are below 2^25: sizes are at most 2^9, so x is at most 9 + 3 + 0.18 * 32 and bits per
 * octave below 9. So the sum of 64,000 coefficients is below 2^41, and so are the bits of vectors.
 * The scale is below 2^32: if all blocks are looked at, it is growth; if not, the frame has 256,000
 * pixels or more, and the coded picture 2^28 at most. 1/4096 of the sum, times the scale, is below
 * 2^62. */
uint64_t gpume_bits_at(
    const struct gpume_bits_frame *frame, const struct gpume_bits_prices *prices, uint32_t growth)
{
    const struct gpume_spectrum *spectrum = &frame->spectrum;
    const uint64_t sampled = spectrum->sampled > 0 ? spectrum->sampled : 1;
    const uint64_t scale = (uint64_t)spectrum->blocks * growth / sampled;
    uint64_t sum = (uint64_t)spectrum->vectors * prices->vectors / ONE;
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        sum += (uint64_t)spectrum->means[i] * prices->means[i];
        sum += (uint64_t)spectrum->details[i] * prices->details[i];
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
