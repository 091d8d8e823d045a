/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from whole-pixel ones on the CPU: exactly what libgpume finds with
 * GPUME_SUBPEL_REFINE, GPUME_REFINE_BY_SATD and GPUME_INTERPOLATION_BILINEAR. libgpume keeps 16
 * planes of every frame for any interpolation; here samples are interpolated where they are needed,
 * in a sixteenth of the memory and half of the time. Any thread.
 */
#ifndef GPUME_ENCODE_REFINE_H
#define GPUME_ENCODE_REFINE_H

#include "encode/half.h"

/* Of a row of blocks. vectors: in whole pixels, become quarter pixels. costs: filled in, by
 * gpume_match_cost. */
void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, struct gpume_vector *vectors, uint16_t *costs);

#endif
