/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/bits.h"

#include "encode/fixed.h"

#define ONE 65536            /* 1 in the fixed-point numbers of this file */
#define LOG2_E 1.44269504089 /* binary logarithm of e */

/* A constant as a fixed-point number. */
#define FIXED(value) ((int64_t)((value)*ONE + ((value) < 0 ? -0.5 : 0.5)))

struct coefficients {
    int64_t a, b, g;
};
#define FITTED(a, b, g)                                                                            \
    {                                                                                              \
        FIXED((a)*LOG2_E), FIXED(b), FIXED((g)*LOG2_E)                                             \
    }

/* By type of frame, from tests/bench/firstpass/fit.py: 31 clips at 4 rates. Predicted sizes of 42
 * other clips are 0.63 to 2.01 of the true ones for x264 and 0.66 to 2.01 for x265, off by 17.6 and
 * 17.0 % in the mean. */
static const struct coefficients models[GPUME_ENCODERS][GPUME_FRAME_B + 1] =
    {
        [GPUME_ENCODER_X264] =
            {
                [GPUME_FRAME_IDR] = FITTED(0.230, 1.212, -0.1165),
                [GPUME_FRAME_I] = FITTED(0.230, 1.212, -0.1165),
                [GPUME_FRAME_P] = FITTED(0.928, 1.214, -0.1369),
                [GPUME_FRAME_B_REF] = FITTED(-0.845, 1.454, -0.1293),
                [GPUME_FRAME_B] = FITTED(-1.272, 1.515, -0.1241),
            },
        [GPUME_ENCODER_X265] =
            {
                [GPUME_FRAME_IDR] = FITTED(-0.278, 1.227, -0.1087),
                [GPUME_FRAME_I] = FITTED(-0.278, 1.227, -0.1087),
                [GPUME_FRAME_P] = FITTED(0.496, 1.325, -0.1487),
                [GPUME_FRAME_B_REF] = FITTED(-0.880, 1.553, -0.1526),
                [GPUME_FRAME_B] = FITTED(-1.535, 1.714, -0.1593),
            },
};
#define LEAST_OF_BLOCK FIXED(0.01) /* the model is a fit of the bits of a block plus this */
#define SATURATION FIXED(300)      /* S */
#define AREA_EXPONENT FIXED(0.7)

/* What the encoders count of a frame in which nothing is coded. Where a video begins with black,
 * these are all bits of the first seconds, and x264 scales its quantizer by how far they are off.
 */
static const uint32_t header_bits[GPUME_ENCODERS] = {
    [GPUME_ENCODER_X264] = 128, [GPUME_ENCODER_X265] = 24};

/* And of the first frame in addition: x264's parameter sets and its message about its options,
 * which are in front of it unless the container keeps them elsewhere. x265 does not count them. */
static const uint32_t stream_bits[GPUME_ENCODERS] = {[GPUME_ENCODER_X264] = 5880};

/* How bits shrink when the quantizer's step doubles, which takes 6 QP: the exponents by which
 * encoders scale the texture and the vectors of the first pass. */
#define STEP_QP 6
#define TEXTURE_EXPONENT FIXED(1.1)
#define VECTORS_EXPONENT FIXED(0.5)

void gpume_bits_frame_init(struct gpume_bits_frame *frame, enum gpume_encoder encoder,
    const struct gpume_decision *decision, uint64_t area, uint64_t area_analysed)
{
    const struct coefficients *model = &models[encoder][decision->type];
    const uint32_t blocks = decision->coded_blocks;
    const uint64_t mean = blocks > 0 ? decision->weighted_cost * (ONE / 256) / blocks : 0;
    /* log2(mean + 1), where mean is in 1/ONE */
    const int64_t log_of_cost = gpume_fixed_log2(mean + ONE) - gpume_fixed_log2(ONE);
    const int64_t larger = (int64_t)gpume_fixed_log2(area) - gpume_fixed_log2(area_analysed);
    *frame = (struct gpume_bits_frame){
        .type = decision->type,
        .blocks = blocks,
        .header = header_bits[encoder] + (decision->coded == 0 ? stream_bits[encoder] : 0),
        .level = model->a + model->b * log_of_cost / ONE + AREA_EXPONENT * larger / ONE,
        .saturation = (uint64_t)SATURATION * area / area_analysed,
    };
}

/* most * ln(1 + x / most) in 1/ONE; x < 2^32. Small numbers, for which the logarithm is not exact
 * enough, by the first terms of its series. */
static uint64_t saturated(uint64_t x, uint64_t most)
{
    if (x < most / 16) {
        return x - x * x / (2 * most);
    }
    const uint64_t log = (uint64_t)(gpume_fixed_log2(most + x) - gpume_fixed_log2(most));
    return most * log / (uint64_t)FIXED(LOG2_E);
}

uint64_t gpume_bits_at(const struct gpume_bits_frame *frame, enum gpume_encoder encoder, int32_t qp)
{
    const int64_t slope = models[encoder][frame->type].g;
    const int64_t block =
        (int64_t)gpume_fixed_exp2(frame->level + slope * qp / GPUME_QP_ONE) - LEAST_OF_BLOCK;
    const uint64_t bits =
        block > 0 ? saturated((uint64_t)block, frame->saturation) * frame->blocks / ONE : 0;
    return frame->header + bits;
}

uint32_t gpume_bits_texture(
    const struct gpume_bits_frame *frame, enum gpume_encoder encoder, int32_t qp)
{
    const uint64_t here = gpume_bits_at(frame, encoder, qp);
    const uint64_t less = gpume_bits_at(frame, encoder, qp + STEP_QP * GPUME_QP_ONE);
    const int64_t exponent = (int64_t)gpume_fixed_log2(here) - gpume_fixed_log2(less);
    const int64_t part =
        (exponent - VECTORS_EXPONENT) * 256 / (TEXTURE_EXPONENT - VECTORS_EXPONENT);
    return part < 0 ? 0 : part > 256 ? 256 : (uint32_t)part;
}
