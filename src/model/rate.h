/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The price of a vector, once: C and GLSL both read this file. The signed Exp-Golomb code of H.264
 * (9.1) and HEVC (9.2), of the difference between a vector and its predictor, and Lagrange's
 * multiplier lambda in 1/256.
 */
#ifndef GPUME_MODEL_RATE_H
#define GPUME_MODEL_RATE_H

#ifdef GL_core_profile
#define GPUME_RATE_FUNCTION uint
#define GPUME_RATE_TYPE uint
#define GPUME_RATE_LOG2(value) uint(findMSB(value))
#define GPUME_RATE_NUMBER(value) uint(value)
#else
#include <stdint.h>
#define GPUME_RATE_FUNCTION static inline uint32_t
#define GPUME_RATE_TYPE uint32_t
#define GPUME_RATE_LOG2(value) (31u - (uint32_t)__builtin_clz(value))
#define GPUME_RATE_NUMBER(value) ((uint32_t)(value))
#endif

/* Bits of one component: at most 37, since differences of 16-bit components are below 2^17. */
GPUME_RATE_FUNCTION gpume_rate_component(int value)
{
    GPUME_RATE_TYPE code =
        value > 0 ? GPUME_RATE_NUMBER(2 * value - 1) : GPUME_RATE_NUMBER(-2 * value);
    return 2u * GPUME_RATE_LOG2(code + 1u) + 1u;
}

/* Bits of the vector (dx,dy) with the predictor (px,py). */
GPUME_RATE_FUNCTION gpume_rate_bits(int dx, int dy, int px, int py)
{
    return gpume_rate_component(dx - px) + gpume_rate_component(dy - py);
}

/* What that many bits add to a cost. lambda: at most GPUME_LAMBDA_MAX < 2^18, and bits at most 148,
 * of two vectors: the product is below 2^26. */
GPUME_RATE_FUNCTION gpume_rate_cost(GPUME_RATE_TYPE lambda, GPUME_RATE_TYPE bits)
{
    return (lambda * bits + 128u) >> 8;
}

#endif
