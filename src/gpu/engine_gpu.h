/* SPDX-License-Identifier: BSD-2-Clause */
/* The Vulkan engine: rules by which tests open it, and its plan for a device. */
#ifndef GPUME_GPU_ENGINE_GPU_H
#define GPUME_GPU_ENGINE_GPU_H

#include "frame/frame.h"
#include "gpu/stages/stage.h"
#include "gpu/tune/choice.h"

/* --- The Vulkan engine, opened by other rules than its usual ones, so that tests
 * reach every path on any device. */

struct gpume_engine_gpu_rules {
    /* The largest part of a frame buffer that kernels see at once, in bytes; 0 = as usual. */
    uint64_t window_bytes;
    bool force_pruning; /* prune two of three submissions, whether it pays or not */
    bool
        as_hardware; /* treat a software driver as a GPU, in what is chosen and how work is split */
    struct gpume_tile tile; /* the shape of tiles, as far as gpume_tile_complete takes it; chunk 0 =
                               as usual */
};

/* As gpume_engine_gpu.open. */
int gpume_engine_gpu_open_with(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, const struct gpume_engine_gpu_rules *rules,
    struct gpume_plan *plan);

/*
 * --- The Vulkan engine's plan for a device: the table of its stages, where everything lies, and
 * the memory that it takes. Nothing is allocated.
 */

struct gpume_plan_gpu {
    struct gpume_plan plan;
    struct gpume_layout layout;
    struct gpume_memory_needs needs;
    struct gpume_memory_bytes bytes; /* of all needs */
};

/* Whether the plan has sums that bound candidates. */
static inline bool gpume_plan_gpu_prunes(const struct gpume_plan_gpu *planned)
{
    const struct gpume_memory_need *parts = planned->needs.parts;
    return parts[GPUME_MEMORY_BLOCK_SUMS].count > 0 || parts[GPUME_MEMORY_BOXES].count > 0;
}

/* Stages in the order in which a submission takes them; NULL ends them. */
extern const struct gpume_stage_ops *const gpume_stages[];
#define GPUME_STAGES_COUNT 20u

/* With as many fields per submission as are of use, and as params->memory_max and the device's own
 * memory allow: at least one, whatever that device says later. GPUME_INVALID, GPUME_AGAIN: see
 * gpume_plan_check_memory; GPUME_UNSUPPORTED: the device cannot see as much at once; logged. */
int gpume_plan_gpu_make(struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, struct gpume_plan_gpu *planned);

/* Fills in what follows from planned->plan, for that many slots. rules NULL: without pruning. */
void gpume_plan_gpu_needs(struct gpume_gpu *gpu, const struct gpume_engine_gpu_rules *rules,
    uint32_t slots, struct gpume_plan_gpu *planned);

#endif
