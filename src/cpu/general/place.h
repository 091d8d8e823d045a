/* SPDX-License-Identifier: BSD-2-Clause */
/* A place of a padded plane where fractions are made at a time, for fractions.h. */
#ifndef GPUME_CPU_GENERAL_PLACE_H
#define GPUME_CPU_GENERAL_PLACE_H

#include "base/grid.h"
#include "cpu/general/kernels.h"

#include <string.h>

#define ROWS GPUME_FRACTION_ROWS
#define COLUMNS 128u

struct place {
    uint32_t x, y;          /* of the first sample, in the padded plane */
    uint32_t columns, rows; /* that exist: at most COLUMNS and ROWS */
};

/* The padded plane repeats the picture's edge, so repeating its own edge goes on with that. Samples
 * before the padded row that lies `below` the place's first: */
static inline size_t row_offset(
    const struct gpume_plan *plan, const struct place *place, int32_t below)
{
    return (size_t)gpume_nearest((int64_t)place->y + below, plan->padded_rows) *
           plan->padded_stride;
}

/* And the column that lies `right` of the place's first. */
static inline size_t column_of(
    const struct gpume_plan *plan, const struct place *place, int32_t right)
{
    return (size_t)gpume_nearest((int64_t)place->x + right, plan->padded_stride);
}

static inline int32_t peak_of(const struct gpume_plan *plan)
{
    return (int32_t)(1u << plan->params.bits) - 1;
}

static inline int32_t clip(int32_t value, int32_t peak)
{
    return value < 0 ? 0 : value > peak ? peak : value;
}

#endif
