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
 * "Asymptotically efficient quantizing", 1968). s says how sharp the bend is: 3 for details, and 1
 * for means, since what changes slowly and is not coded in one frame adds up until it is coded.
 * Then come the bits of vectors, times a factor, and a header. The numbers, for each type of frame,
 * are fitted to encodes of many clips (bits.c). Fixed-point numbers, so that every machine writes
 * the same files.
 */
#ifndef GPUME_ENCODE_BITS_H
#define GPUME_ENCODE_BITS_H

#include "encode/decision.h"
#include "encode/options.h"
#include "encode/spectrum.h"

#define GPUME_QP_ONE 256 /* QPs are in 1/256 */

/* What the model keeps of a frame. */
struct gpume_bits_frame {
    enum gpume_frame_type type;
    uint32_t header; /* bits at any QP */
    struct gpume_spectrum spectrum;
};

void gpume_bits_frame_init(struct gpume_bits_frame *frame, enum gpume_encoder encoder,
    const struct gpume_decision *decision);

/* How many times as many bits, but for headers, a coded picture of one area takes as one of the
 * area that was analysed: in 1/65536. They grow with the 0.7th power of the area. */
uint32_t gpume_bits_growth(uint64_t area, uint64_t area_analysed);
#define GPUME_BITS_SAME 65536u /* of equal areas */

/* What a coefficient takes, by its bin, and a bit of vectors, at one QP: in 1/65536 bits. */
struct gpume_bits_prices {
    uint32_t means[GPUME_SPECTRUM_BINS], details[GPUME_SPECTRUM_BINS], vectors;
};

void gpume_bits_find_prices(struct gpume_bits_prices *prices, enum gpume_encoder encoder,
    enum gpume_frame_type type, int32_t qp);

/* Of a frame of that type, with the header. */
uint64_t gpume_bits_at(
    const struct gpume_bits_frame *frame, const struct gpume_bits_prices *prices, uint32_t growth);

#define GPUME_STEP_QP (6 * GPUME_QP_ONE) /* which double the quantizer's step */

/* The part of a frame's bits that encoders count as texture, in 1/256, from its bits and those at
 * a QP that is higher by GPUME_STEP_QP. Encoders assume that texture shrinks faster than vectors
 * when the QP rises; this part makes both together follow the model. A frame of hardly more than a
 * header has none. */
uint32_t gpume_bits_texture(uint64_t bits, uint64_t bits_less);

#endif
