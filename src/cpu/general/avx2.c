/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/distortion_avx2.h"
#include "cpu/general/plain.h"

const struct gpume_general_kernels gpume_kernels_avx2 = {.bounds = GPUME_BOUNDS,
    .sum_rows = sum_rows,
    .distortions = GPUME_DISTORTIONS(fast_sad8, fast_satd8),
    .several_satd8 = several_satd8,
    .fraction_rows = fraction_rows};
