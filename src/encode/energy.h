/* SPDX-License-Identifier: BSD-2-Clause */
/* How much detail a picture has, which adaptive quantization goes by. Any thread. */
#ifndef GPUME_ENCODE_ENERGY_H
#define GPUME_ENCODE_ENERGY_H

#include "encode/half.h"

/* The variance of each 16x16 square of a band (half.h) times its 256 samples, rounded up. */
void gpume_energies(const struct gpume_band *band, uint32_t blocks_x, uint32_t *energies);

#endif
