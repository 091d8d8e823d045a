/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive quantization: QP offsets by which flat blocks get more bits than textured ones. The
 * formulas are those of the encoders' options aq-mode and aq-strength:
 *
 *     mode 1: strength * 1.0397 * (log2(energy) - 14.427)
 *     mode 2: strength * m * (q - m + (s - c) / 2m), where q = (energy + 1)^p, m is the mean of q
 *             over the frame, and s the mean of q^2
 *     mode 3: mode 2, plus strength * (1 - c / q^2), which favours flat, dark blocks
 *
 * p and c are the encoder's: encoder.h. The encoders add the energy of both chroma planes;
 * here it is that of luma alone.
 */
#ifndef GPUME_ENCODE_AQ_H
#define GPUME_ENCODE_AQ_H

#include "encode/options.h"

/* Whether these options give offsets other than 0. */
bool gpume_aq_is_on(const struct gpume_encode_options *options);

/* Offsets of all blocks of a frame in 1/256, from energies of 8-bit samples. count > 0, and AQ is
 * on. scratch: memory for as many numbers. */
void gpume_aq_offsets(const struct gpume_encode_options *options, const uint32_t *energies,
    uint32_t count, uint32_t *scratch, int16_t *offsets);

#endif
