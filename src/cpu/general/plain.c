/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/bounds.h"
#include "cpu/general/distortion.h"
#include "cpu/general/fractions.h"

const struct gpume_general_kernels gpume_kernels_plain = {.bounds = GPUME_BOUNDS,
    .sum_rows = sum_rows,
    .distortions = GPUME_DISTORTIONS(sad8, satd8),
    .fraction_rows = fraction_rows};
