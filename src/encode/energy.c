/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/energy.h"

#include "encode/half.h"

#include <stddef.h>

/* sum (s - mean)^2 = sum s^2 - (sum s)^2 / n. The sum of 256 squares is below 2^24. */
void gpume_energies(const uint8_t *band, uint32_t blocks_x, uint32_t *energies)
{
    const size_t stride = (size_t)blocks_x * GPUME_SQUARE;
    for (uint32_t i = 0; i < blocks_x; i++) {
        const uint8_t *at = band + i * GPUME_SQUARE;
        uint32_t sum = 0, squares = 0;
        for (uint32_t y = 0; y < GPUME_SQUARE; y++, at += stride) {
            for (uint32_t x = 0; x < GPUME_SQUARE; x++) {
                sum += at[x];
                squares += (uint32_t)at[x] * at[x];
            }
        }
        energies[i] = squares - (sum * sum >> 8);
    }
}
