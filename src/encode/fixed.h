/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binary logarithms and powers of two in fixed point, from integers alone, so that every machine
 * and compiler gets the same decisions. Exact at whole powers of two.
 */
#ifndef GPUME_ENCODE_FIXED_H
#define GPUME_ENCODE_FIXED_H

#include <stdint.h>

/* log2(value) in 1/65536, within 2/65536; value > 0. */
int32_t gpume_fixed_log2(uint64_t value);

/* 2^(exponent / 65536) in 1/65536, within 2^-20 of it or 1/65536, whichever is more; at most
 * UINT32_MAX. */
uint32_t gpume_fixed_exp2(int64_t exponent);

/* floor(sqrt(value)) */
uint64_t gpume_fixed_root(uint64_t value);

/* value in 1/65536, rounded; |value| < 2^31. */
int64_t gpume_fixed_from_double(double value);

/* value / 2^bits, rounded to the nearest; halves go up. */
static inline int64_t gpume_fixed_shift(int64_t value, uint32_t bits)
{
    return (value + (INT64_C(1) << (bits - 1))) >> bits;
}

/* The factor that a QP offset, in 1/256, means for bits: 2^(-offset / 6), in 1/65536. */
static inline uint32_t gpume_fixed_scale_of_offset(int32_t offset)
{
    return gpume_fixed_exp2(-(int64_t)offset * 128 / 3);
}

#endif
