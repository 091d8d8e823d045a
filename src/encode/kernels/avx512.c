/* SPDX-License-Identifier: BSD-2-Clause */
#define GPUME_BLOCKS 4
#include "encode/kernels/kernels.h"

#include "encode/kernels/band.h"
#include "encode/kernels/intra.h"
#include "encode/kernels/refine.h"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct gpume_encode_kernels gpume_encode_kernels_avx512 = GPUME_ENCODE_KERNELS(has_avx512);
