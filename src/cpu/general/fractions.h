/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planes between the samples of a surface (model/surface.h), made of plane 0, a few rows at a
 * time.
 */
#ifndef GPUME_CPU_GENERAL_FRACTIONS_H
#define GPUME_CPU_GENERAL_FRACTIONS_H

#include "model/plan.h"

#define GPUME_FRACTION_ROWS 8u /* that one call makes */

/* Makes padded rows `row` to row + GPUME_FRACTION_ROWS - 1 of all planes but the first. surface:
 * the frame's planes, of which plane 0 is complete. Rows may be made in parallel. */
void gpume_fraction_rows(const struct gpume_plan *plan, void *surface, uint32_t row);

#endif
