/* SPDX-License-Identifier: BSD-2-Clause */
/* What the Vulkan engine will be on a device: the plan, where everything lies, and the memory that
 * takes. Nothing is allocated. */
#ifndef GPUME_GPU_PLANNING_H
#define GPUME_GPU_PLANNING_H

#include "gpu/engine_gpu.h"
#include "gpu/memory.h"

struct gpume_planning {
    struct gpume_plan plan;
    struct gpume_layout layout;
    struct gpume_memory_needs needs;
};

/* With as many fields a submission as are of use, and as params->memory_max and the device's own
 * memory allow: one at the least, whatever that device says later. GPUME_INVALID, GPUME_AGAIN: see
 * gpume_plan_check_memory; GPUME_UNSUPPORTED: the device cannot see as much at once; logged. */
int gpume_planning_make(struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, struct gpume_planning *planning);

#endif
