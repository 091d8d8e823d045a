/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bits model: how large a frame becomes at a QP. A fit on encodes of many clips (the table in
 * bits.c) gives
 *
 *     x = exp(a + b * ln(A / blocks + 1) + g * qp) - 0.01
 *     bits = header + blocks * S * ln(1 + x / S)
 *
 * with coefficients for each type of frame; A is the weighted cost of all blocks (decision.h), and
 * `blocks` are those of which something is coded. Where few samples are coded, bits grow in
 * proportion to x; where all are, each takes about one bit more when the quantizer's step is halved
 * (Gish and Pierce, "Asymptotically efficient quantizing", 1968), so that S should be the samples
 * of a block divided by ln 2, 369 with luma alone; 300 does better
 * (tests/bench/firstpass/FINDINGS.md). Fixed-point numbers, so that every machine writes the same
 * files.
 */
#ifndef GPUME_ENCODE_BITS_H
#define GPUME_ENCODE_BITS_H

#include "encode/decision.h"
#include "encode/options.h"

#define GPUME_QP_ONE 256 /* QPs are in 1/256 */

/* What the model keeps of a frame. */
struct gpume_bits_frame {
    enum gpume_frame_type type;
    uint32_t blocks;     /* of which something is coded */
    uint32_t header;     /* bits at any QP */
    int64_t level;       /* binary logarithm, in 1/65536, of x of a block at QP 0 */
    uint64_t saturation; /* S of a block, in 1/65536 */
};

/* area: of the coded picture; area_analysed: of the frame that was analysed. Bits grow with the
 * 0.7th power of the area. */
void gpume_bits_frame_init(struct gpume_bits_frame *frame, enum gpume_encoder encoder,
    const struct gpume_decision *decision, uint64_t area, uint64_t area_analysed);

/* With the header. */
uint64_t gpume_bits_at(
    const struct gpume_bits_frame *frame, enum gpume_encoder encoder, int32_t qp);

/* The part of a frame's bits at a QP that encoders count as texture, in 1/256. They assume that
 * texture shrinks faster than vectors when the QP rises; this part makes both together follow the
 * model. A frame of hardly more than a header has none. */
uint32_t gpume_bits_texture(
    const struct gpume_bits_frame *frame, enum gpume_encoder encoder, int32_t qp);

#endif
