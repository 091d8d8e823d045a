/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SATD of blocks of 8x8 samples as gpume.h defines it: the sum of absolute coefficients of the
 * Hadamard transform of the differences, rounded by (s + 2) >> 2. Any thread.
 */
#ifndef GPUME_ENCODE_SATD_H
#define GPUME_ENCODE_SATD_H

#include <stddef.h>
#include <stdint.h>

/* At most 32640: by Cauchy and Schwarz the sum of the 64 absolute coefficients is at most
 * 64 * sqrt(64 * 255^2). */
uint32_t gpume_satd(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride);

#endif
