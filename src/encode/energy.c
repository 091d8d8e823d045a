/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/energy.h"

#include "encode/kernels/kernels.h"

void gpume_energies(const struct gpume_band *band, uint32_t blocks_x, uint32_t *energies)
{
    gpume_encode_kernels()->energies(band, blocks_x, energies);
}
