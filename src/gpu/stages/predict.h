/* SPDX-License-Identifier: BSD-2-Clause */
/* How many partial sums predicting leaves, for those who add them. */
#ifndef GPUME_GPU_STAGES_PREDICT_H
#define GPUME_GPU_STAGES_PREDICT_H

#include "gpu/stages/stage.h"

/* Workgroups for one band of a layer: as many as have a quad of samples for each invocation. Each
 * leaves one set of partial sums for every task. */
uint32_t gpume_predict_groups(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Sets of partial sums of one task. */
static inline uint32_t gpume_predict_partials(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return layer->band_count * gpume_predict_groups(plan, layer);
}

#endif
