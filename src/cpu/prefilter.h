/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The surfaces of the CPU engine, row by row: padded frames (model/plan.h), rows of the picture
 * with their edge samples repeated outwards, and the filtered surface that is made of one.
 */
#ifndef GPUME_CPU_PREFILTER_H
#define GPUME_CPU_PREFILTER_H

#include "model/plan.h"

/* Fills one row of a padded frame from a plane; rows above and below the picture repeat its first
 * and last row. Rows may be filled in parallel. */
void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row);

/* Makes row y < height of the filtered surface with its ends repeated outwards, and with the first
 * and last rows those above and below the picture. padded: the complete source surface. Rows may be
 * made in parallel. */
void gpume_prefilter_row(
    const struct gpume_plan *plan, const void *padded, void *filtered, uint32_t y);

#endif
