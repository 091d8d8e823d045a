/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from whole-pixel ones: the best of the vector and its eight neighbours half
 * a pixel away, then of that and its eight neighbours a quarter away, by SATD; among equal ones
 * (0,0), then the upper, then the left one. Any thread.
 */
#ifndef GPUME_ENCODE_REFINE_H
#define GPUME_ENCODE_REFINE_H

#include "encode/half.h"

/* Of a row of blocks. vectors: in whole pixels, become quarter pixels. costs: filled in, by
 * gpume_match_cost. */
void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, struct gpume_vector *vectors, uint16_t *costs);

#endif
