/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eight numbers of 16 bits as one vector, by the vector extensions of GCC and clang: registers that
 * every 64-bit processor has, and one source for all of them.
 */
#ifndef GPUME_ENCODE_LANES_H
#define GPUME_ENCODE_LANES_H

#include <stdint.h>
#include <string.h>

typedef int16_t gpume_eight __attribute__((vector_size(16)));
typedef uint8_t gpume_eight_samples __attribute__((vector_size(8)));

static inline gpume_eight gpume_load_eight(const uint8_t *at)
{
    gpume_eight_samples samples;
    memcpy(&samples, at, sizeof(samples));
    return __builtin_convertvector(samples, gpume_eight);
}

static inline void gpume_store_eight(uint8_t *at, gpume_eight v)
{
    const gpume_eight_samples samples = __builtin_convertvector(v, gpume_eight_samples);
    memcpy(at, &samples, sizeof(samples));
}

#endif
