/* SPDX-License-Identifier: BSD-2-Clause */
/* Weighted samples (weights.h). */
#ifndef GPUME_ENCODE_KERNELS_WEIGH_H
#define GPUME_ENCODE_KERNELS_WEIGH_H

#include "encode/decision.h"
#include "encode/kernels/band.h"

/* Products of samples and scales are at most 255 * 127 in magnitude, so 16 bits hold them with the
 * rounding. What is above 255 or below 0 with the offset is clipped. */
static inline gpume_lanes gpume_weigh(const struct gpume_weight *weight, gpume_lanes samples)
{
    const int32_t half = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
    gpume_lanes v = samples * (int16_t)weight->scale + (int16_t)half;
    v = (v >> weight->denominator) + (int16_t)weight->offset;
    v &= ~(v >> 15);
    const gpume_lanes above = v > 255;
    return (v & ~above) | (above & 255);
}

static inline void weigh_row(
    uint8_t *to, const uint8_t *from, uint32_t count, const struct gpume_weight *weight)
{
    for (uint32_t x = 0; x < count; x += OUTPUTS) {
        gpume_outputs samples;
        memcpy(&samples, from + x, sizeof(samples));
        const gpume_lanes weighted =
            gpume_weigh(weight, __builtin_convertvector(samples, gpume_lanes));
        samples = __builtin_convertvector(weighted, gpume_outputs);
        memcpy(to + x, &samples, sizeof(samples));
    }
}

#endif
