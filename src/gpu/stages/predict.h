/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial sums: how many there are, and how they are added. */
#ifndef GPUME_GPU_STAGES_PREDICT_H
#define GPUME_GPU_STAGES_PREDICT_H

#include "gpu/stages/stage.h"

/* Workgroups for so many rows of the picture: as many as have a quad of samples for each
 * invocation. Each leaves one set of partial sums for every task. */
uint32_t gpume_predict_groups(const struct gpume_plan *plan, uint64_t rows);

/* Sets of partial sums of one task. */
uint32_t gpume_predict_partials(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* The kernel that adds a task's partial sums. */
int gpume_reduce_create(const struct gpume_stage_setup *setup, struct gpume_kernel *kernel);
/* layer: that of the partial sums. */
void gpume_reduce_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint32_t layer, const struct gpume_reduce_push *push);

#endif
