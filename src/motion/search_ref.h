/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference search: plain loops that define the right answer. Works on padded frames (plan.h)
 * and on one row of blocks at a time, so that rows can be spread over threads.
 */
#ifndef GPUME_MOTION_SEARCH_REF_H
#define GPUME_MOTION_SEARCH_REF_H

#include "motion/plan.h"

/* target, reference: whole padded frames. Writes blocks_x vectors and costs of block row `row`. */
void gpume_search_ref_row(const struct gpume_plan *plan, const void *target, const void *reference,
    uint32_t row, struct gpume_vector *vectors, uint32_t *costs);

#endif
