/* SPDX-License-Identifier: BSD-2-Clause */
/* The rank of every block: its place by falling cost, equal costs in raster order. */
#ifndef GPUME_CPU_RANK_H
#define GPUME_CPU_RANK_H

#include "model/shape.h"

#define GPUME_RANK_SCRATCH_WORDS 3u /* per block */

/* Costs fit cost_bits. scratch: GPUME_RANK_SCRATCH_WORDS * layer->blocks words. */
void gpume_rank_costs(const struct gpume_shape *layer, uint32_t cost_bits, const uint32_t *costs,
    uint32_t *ranks, uint32_t *scratch);

#endif
