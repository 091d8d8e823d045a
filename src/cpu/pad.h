/* SPDX-License-Identifier: BSD-2-Clause */
/* Padded rows (model/plan.h): a row of the picture with its edge samples repeated outwards. */
#ifndef GPUME_CPU_PAD_H
#define GPUME_CPU_PAD_H

#include "model/plan.h"

/* Fills one row of a padded frame from a plane; rows above and below the picture repeat its first
 * and last row. Rows may be filled in parallel. */
void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row);

/* Repeats the first and the last sample of the picture outwards. row: the start of a padded row
 * that holds its picture samples already. */
void gpume_extend_row(const struct gpume_plan *plan, void *row);

#endif
