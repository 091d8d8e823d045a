/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/bits.h"

#include "encode/fixed.h"

#define ONE 65536 /* 1 in the fixed-point numbers of this file */

/* A constant as a fixed-point number. */
#define FIXED(value) ((int64_t)((value)*ONE + ((value) < 0 ? -0.5 : 0.5)))

struct coefficients {
    int64_t threshold, step; /* octaves; octaves per QP */
    int64_t details, means;  /* slopes: bits per octave */
    int64_t vectors;         /* bits per bit of spectrum.h */
};
#define FITTED(threshold, step, details, means, vectors)                                           \
    {                                                                                              \
        FIXED(threshold), FIXED(step), FIXED(details), FIXED(means), FIXED(vectors)                \
    }

/* By type of frame, from tests/bench/firstpass/fit.py: 31 clips at 4 rates. Predicted sizes of 42
 * other clips are 0.60 to 2.01 of the true ones for x264 and 0.66 to 1.78 for x265, off by 14.9 and
 * 14.5 % in the mean. */
static const struct coefficients models[GPUME_ENCODERS][GPUME_FRAME_B + 1] =
    {
        [GPUME_ENCODER_X264] =
            {
                [GPUME_FRAME_IDR] = FITTED(-2.325, 0.1600, 4.547, 4.160, 0),
                [GPUME_FRAME_I] = FITTED(-2.325, 0.1600, 4.547, 4.160, 0),
                [GPUME_FRAME_P] = FITTED(-2.463, 0.1675, 4.397, 3.904, 0.268),
                [GPUME_FRAME_B_REF] = FITTED(-1.755, 0.1427, 4.832, 0.297, 0.431),
                [GPUME_FRAME_B] = FITTED(-1.471, 0.1322, 4.997, 0.103, 0.443),
            },
        [GPUME_ENCODER_X265] =
            {
                [GPUME_FRAME_IDR] = FITTED(-2.208, 0.1526, 4.073, 1.806, 0),
                [GPUME_FRAME_I] = FITTED(-2.208, 0.1526, 4.073, 1.806, 0),
                [GPUME_FRAME_P] = FITTED(-2.666, 0.1717, 4.119, 2.301, 0.127),
                [GPUME_FRAME_B_REF] = FITTED(-1.876, 0.1553, 5.605, 0.000, 0.279),
                [GPUME_FRAME_B] = FITTED(-1.131, 0.1412, 8.128, 0.000, 0.164),
            },
};
#define SHARP_DETAILS 3
#define SHARP_MEANS 1
#define AREA_EXPONENT FIXED(0.7)

/* What the encoders count of a frame in which nothing is coded. Where a video begins with black,
 * these are all bits of the first seconds, and x264 scales its quantizer by how far they are off.
 */
static const uint32_t header_bits[GPUME_ENCODERS] = {
    [GPUME_ENCODER_X264] = 128, [GPUME_ENCODER_X265] = 24};

/* And of the first frame in addition: x264's parameter sets and its message about its options,
 * which are in front of it unless the container keeps them elsewhere. x265 does not count them. */
static const uint32_t stream_bits[GPUME_ENCODERS] = {[GPUME_ENCODER_X264] = 5880};

/* How bits shrink when the quantizer's step doubles: the exponents by which encoders scale the
 * texture and the vectors of the first pass. */
#define TEXTURE_EXPONENT FIXED(1.1)
#define VECTORS_EXPONENT FIXED(0.5)

void gpume_bits_frame_init(struct gpume_bits_frame *frame, enum gpume_encoder encoder,
    const struct gpume_decision *decision)
{
    *frame = (struct gpume_bits_frame){
        .type = decision->type,
        .header = header_bits[encoder] + (decision->coded == 0 ? stream_bits[encoder] : 0),
        .spectrum = *decision->spectrum,
    };
}

uint32_t gpume_bits_growth(uint64_t area, uint64_t area_analysed)
{
    const int64_t larger = (int64_t)gpume_fixed_log2(area) - gpume_fixed_log2(area_analysed);
    return gpume_fixed_exp2(AREA_EXPONENT * larger / ONE);
}

/* log2(1 + 2^(sharp x)) / sharp in 1/ONE, where x is in 1/ONE. */
static int64_t bend(int64_t x, int64_t sharp)
{
    const int64_t steep = sharp * x;
    if (steep > 16 * ONE) {
        return x;
    }
    const uint64_t power = gpume_fixed_exp2(steep);
    return (gpume_fixed_log2(power + ONE) - gpume_fixed_log2(ONE)) / sharp;
}

void gpume_bits_find_prices(struct gpume_bits_prices *prices, enum gpume_encoder encoder,
    enum gpume_frame_type type, int32_t qp)
{
    const struct coefficients *model = &models[encoder][type];
    const int64_t begin = model->threshold + model->step * qp / GPUME_QP_ONE;
    for (int32_t bin = 0; bin < (int32_t)GPUME_SPECTRUM_BINS; bin++) {
        const int64_t size = FIXED(GPUME_SPECTRUM_FIRST + 0.25) + bin * (ONE / 2);
        const int64_t details = bend(size - begin, SHARP_DETAILS);
        const int64_t means = bend(size - begin, SHARP_MEANS);
        prices->details[bin] = (uint32_t)(model->details * details / ONE);
        prices->means[bin] = (uint32_t)(model->means * means / ONE);
    }
    prices->vectors = (uint32_t)model->vectors;
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
