/* SPDX-License-Identifier: BSD-2-Clause */
/* Prediction of a block along a direction from the samples around it: ITU-T H.265 8.4.4.2.6. */
#ifndef GPUME_ENCODE_ANGULAR_H
#define GPUME_ENCODE_ANGULAR_H

#include "encode/satd.h"

/* The least SATD of a block and its predictions by the angles -32, -13, 13 and 32 from vertical and
 * -13 and 13 from horizontal. `block`: what lies at `at`, whose neighbours are read too, 16 samples
 * from the corner. */
uint32_t gpume_angular_satd(const struct gpume_rows *block, const uint8_t *at, ptrdiff_t stride);

#endif
