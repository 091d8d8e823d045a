/* SPDX-License-Identifier: BSD-2-Clause */
/* All kernels, for the files that compile them, each for one instruction set. */
#ifndef GPUME_ENCODE_KERNELS_SET_H
#define GPUME_ENCODE_KERNELS_SET_H

#include "encode/kernels/band.h"
#include "encode/kernels/intra.h"
#include "encode/kernels/kernels.h"
#include "encode/kernels/refine.h"

#define GPUME_ENCODE_KERNELS(is_available)                                                         \
    {                                                                                              \
        .available = is_available, .halve = halve, .energies = energies, .weigh = weigh_row,       \
        .intra = intra_satds, .match = match_satds, .mean = mean_satds, .refine = refine           \
    }

#endif
