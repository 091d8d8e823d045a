/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The prediction by the blocks of the first layer, or by the chosen ones, and its sums, some rows
 * of the picture at a time.
 */
#ifndef GPUME_CPU_GENERAL_MEASURE_H
#define GPUME_CPU_GENERAL_MEASURE_H

#include "cpu/general/general.h"

uint32_t gpume_measure_items(const struct gpume_plan *plan);

/* Cells of 4x4 pixels that cover the picture. */
uint64_t gpume_measure_cells(const struct gpume_plan *plan);

/* Notes for the cells of each chosen block among these of a layer that the block predicts them. */
void gpume_measure_map(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t first, uint32_t end);

/* The sums of an item's rows, but for `zero`; writes the prediction if it is wanted. */
struct gpume_sums gpume_measure_rows(struct gpume_general *general, uint32_t item);

/* How many blocks that predict have vectors of zero alone. */
uint64_t gpume_measure_zero(const struct gpume_general *general);

#endif
