/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/kernels/band.h"
#include "encode/kernels/intra.h"
#include "encode/kernels/kernels.h"
#include "encode/kernels/refine.h"

static bool available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct gpume_encode_kernels gpume_encode_kernels_avx512 = {.name = "avx512",
    .available = available,
    .halve = halve,
    .energies = energies,
    .intra = intra_satds,
    .match = match_satds,
    .mean = mean_satds,
    .refine = refine};
