/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/distortion.h"
#include "cpu/general/fractions.h"

const struct gpume_general_kernels gpume_kernels_plain = {GPUME_DISTORTIONS, fraction_rows};
