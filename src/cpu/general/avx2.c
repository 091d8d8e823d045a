/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/distortion.h"
#include "cpu/general/fractions.h"

const struct gpume_general_kernels gpume_kernels_avx2 = {GPUME_DISTORTIONS, fraction_rows};
