/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/energy.h"

#include "encode/half.h"
#include "encode/lanes.h"

#include <stddef.h>

/* sum (s - mean)^2 = sum s^2 - (sum s)^2 / n. The sum of 256 squares is below 2^24, that of 32
 * samples in one lane below 2^16. */
static uint32_t energy_of(const uint8_t *at, size_t stride)
{
    gpume_eight_unsigned sums = {0};
    gpume_four squares = {0};
    for (uint32_t y = 0; y < GPUME_SQUARE; y++, at += stride) {
        for (uint32_t x = 0; x < GPUME_SQUARE; x += 8) {
            const gpume_eight_unsigned samples = (gpume_eight_unsigned)gpume_load_eight(at + x);
            sums += samples;
            squares += gpume_pair_sums(samples * samples);
        }
    }
    const uint32_t sum = gpume_sum_four(gpume_pair_sums(sums));
    return gpume_sum_four(squares) - (sum * sum >> 8);
}

void gpume_energies(const uint8_t *band, uint32_t blocks_x, uint32_t *energies)
{
    for (uint32_t i = 0; i < blocks_x; i++) {
        energies[i] = energy_of(band + i * GPUME_SQUARE, (size_t)blocks_x * GPUME_SQUARE);
    }
}
