/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine's filters: one row of the picture at a time, from one padded frame to another.
 */
#ifndef GPUME_CPU_PREFILTER_H
#define GPUME_CPU_PREFILTER_H

#include "model/plan.h"

/* Makes row y < height of the filtered frame, its ends repeated outwards; the first and the last
 * row also those above and below. padded: the frame as it was sent, whole. Rows may be made in
 * parallel. */
void gpume_prefilter_row(
    const struct gpume_plan *plan, const void *padded, void *filtered, uint32_t y);

#endif
