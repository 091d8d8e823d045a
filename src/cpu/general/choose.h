/* SPDX-License-Identifier: BSD-2-Clause */
/* What a task says about a block, once all of its frame pairs have been searched. */
#ifndef GPUME_CPU_GENERAL_CHOOSE_H
#define GPUME_CPU_GENERAL_CHOOSE_H

#include "cpu/general/general.h"
#include "cpu/general/matcher.h"

/* Fills in all results of block `index` of the layer, but for rank and partition: the pair of least
 * cost, or the mean of a past and a future match where that costs less. */
void gpume_choose_block(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index);

#endif
