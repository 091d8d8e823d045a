/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bits model: how large a frame becomes at a QP. A coefficient of the residual (spectrum.h) of
 * size u, in octaves, lies
 *
 *     x = u - threshold - step * qp
 *
 * octaves above the one where the quantizer begins to keep it, and takes
 *
 *     slope / s * log2(1 + 2^(s x))
 *
 * bits: nearly none below, and above `slope` more for each octave. In theory that is one bit for
 * each of the four coefficients at full resolution for which it stands (Gish and Pierce,
 * "Asymptotically efficient quantizing", 1968). s says how sharp the bend is: 3 for details, and 2
 * for means, since what changes slowly and is not coded in one frame adds up until it is coded.
 *
 * An encoder spends bits on a vector if they save enough SATD (spectrum.h), and what is enough
 * doubles with the quantizer's step. A bit that saves 2^v is spent at this rate:
 *
 *     1 / (1 + 2^(-1.5 (v - saving - qp / 6)))
 *
 * Then come bits for each block that differs from what predicts it, which shrink as the step grows,
 * and a header. The numbers, for each type of frame, are fitted to encodes of many clips, and are
 * in each encoder's file. Fixed-point numbers, so that every machine writes the same files.
 */
#ifndef GPUME_ENCODE_BITS_H
#define GPUME_ENCODE_BITS_H

#include "encode/decision.h"
#include "encode/spectrum.h"

#include <stdbool.h>
#include <stddef.h>

#define GPUME_QP_ONE 256 /* QPs are in 1/256 */

/* An encoder's numbers, by type of frame: fitted by the formula of tests/bench/firstpass/fit.py to
 * clips at 4 rates. x264: 41 clips; sizes of 11 others are off by 14 % in the mean with psy, and by
 * 18 % without. x265 with psy: 26 clips; sizes of 4 others are off by 14 %. */
struct gpume_bits_model {
    struct gpume_bits_coefficients {
        int64_t threshold, step; /* octaves; octaves per QP: these and all below in 1/65536 */
        int64_t details, means;  /* slopes: bits per octave */
        int64_t vectors, saving; /* bits per bit of spectrum.h that is spent; octaves */
        int64_t block;           /* bits at QP 32 */
    } of[2][GPUME_FRAME_B + 1];  /* the second ones with psy */

    /* What the encoder counts of a frame in which nothing is coded, and of the first frame in
     * addition. Where a video begins with black, these are all bits of the first seconds, and x264
     * scales its quantizer by how far they are off. */
    uint32_t header, stream;
};

/* A constant as a fixed-point number. */
#define GPUME_BITS_FIXED(value) ((int64_t)((value)*65536 + ((value) < 0 ? -0.5 : 0.5)))
#define GPUME_FITTED(threshold, step, details, means, vectors, saving, block)                      \
    {                                                                                              \
        GPUME_BITS_FIXED(threshold), GPUME_BITS_FIXED(step), GPUME_BITS_FIXED(details),            \
            GPUME_BITS_FIXED(means), GPUME_BITS_FIXED(vectors), GPUME_BITS_FIXED(saving),          \
            GPUME_BITS_FIXED(block)                                                                \
    }

/* What the model keeps of a frame. */
struct gpume_bits_frame {
    enum gpume_frame_type type;
    uint32_t header; /* bits at any QP */
    struct gpume_spectrum spectrum;
};

void gpume_bits_frame_init(struct gpume_bits_frame *frame, const struct gpume_bits_model *model,
    const struct gpume_decision *decision);

/* How many times as many bits, but for headers, a coded picture of one area takes as one of the
 * area that was analysed: in 1/65536. They grow with the 0.7th power of the area. */
uint32_t gpume_bits_growth(uint64_t area, uint64_t area_analysed);
#define GPUME_BITS_SAME 65536u /* of equal areas */

/* What a coefficient takes, by its bin, a bit of vectors, and a block, at one QP: in 1/65536 bits.
 */
struct gpume_bits_prices {
    uint32_t means[GPUME_SPECTRUM_BINS], details[GPUME_SPECTRUM_BINS];
    uint32_t vectors[GPUME_SPECTRUM_BINS], block;
};

void gpume_bits_find_prices(
    struct gpume_bits_prices *prices, const struct gpume_bits_coefficients *of, int32_t qp);

/* Of a frame of that type, with the header. */
uint64_t gpume_bits_at(
    const struct gpume_bits_frame *frame, const struct gpume_bits_prices *prices, uint32_t growth);

#define GPUME_STEP_QP (6 * GPUME_QP_ONE) /* which double the quantizer's step */

/* The part of a frame's bits that encoders count as texture, in 1/256, from its bits and those at
 * a QP that is higher by GPUME_STEP_QP. Encoders assume that texture shrinks faster than vectors
 * when the QP rises; this part makes both together follow the model. A frame of hardly more than a
 * header has none. */
uint32_t gpume_bits_texture(uint64_t bits, uint64_t bits_less);

/* The QPs by which a ratio of quantizer steps differs, 6 log2(ratio), in 1/256. */
int32_t gpume_qp_of_ratio(double ratio);

/* --- the decoder's buffer */

/* Plans how coarsely frames are quantized so that the decoder's buffer keeps to its limits. It
 * fills at the highest rate, and each frame leaves it at once when its time has come. Encoders
 * plan the same in a second pass, from sizes that hold near the QP for which they are given: these
 * should be QPs of a plan that already keeps to the buffer, as those of their own first pass are.
 */
struct gpume_bits_buffer {
    size_t frames;       /* at least 1, in coded order */
    uint64_t size, rate; /* bits that it holds, and that arrive during a frame: below 2^63 */
    /* The bits of a frame: the higher its level, the fewer. They may also depend on the levels of
     * frames before it. */
    uint64_t (*bits)(const void *user, size_t frame, const uint8_t *levels);
    const void *user;
    uint8_t highest;     /* level */
    bool (*ended)(void); /* asked at each frame: whether to give up. NULL: never */
};

struct gpume_bits_plan {
    uint8_t *levels;        /* of all frames */
    uint64_t bits;          /* of all frames */
    size_t broken;          /* the first frame too large even at the highest levels; or `frames` */
    uint64_t *sizes, *left; /* for the plan itself: bits of frames, and what they leave behind */
};

/* false: no memory. Either way, it is to be freed. */
bool gpume_bits_plan_init(struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer);
void gpume_bits_plan_free(struct gpume_bits_plan *plan);

/* Plans anew, with no level below `lowest`. false: it gave up. */
bool gpume_bits_plan_at(
    struct gpume_bits_plan *plan, const struct gpume_bits_buffer *buffer, uint8_t lowest);

#endif
