/* SPDX-License-Identifier: BSD-2-Clause */
#define GPUME_BLOCKS 2
#include "encode/kernels/kernels.h"

#include "encode/kernels/band.h"
#include "encode/kernels/intra.h"
#include "encode/kernels/refine.h"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct gpume_encode_kernels gpume_encode_kernels_avx2 = GPUME_ENCODE_KERNELS(has_avx2);
