/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filters of the CPU engine, which make the filtered surface from the source, row by row.
 */
#ifndef GPUME_CPU_PREFILTER_H
#define GPUME_CPU_PREFILTER_H

#include "model/plan.h"

/* Makes row y < height of the filtered surface with its ends repeated outwards, and with the first
 * and last rows those above and below the picture. padded: the complete source surface. Rows may be
 * made in parallel. */
void gpume_prefilter_row(
    const struct gpume_plan *plan, const void *padded, void *filtered, uint32_t y);

#endif
