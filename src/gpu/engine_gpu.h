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

/* --- Its plan for a device. Nothing is allocated. */

/* With as many fields per submission as are of use, and as params->memory_max and the device's own
 * memory allow: at least one, whatever that device says later. GPUME_INVALID, GPUME_AGAIN: see
 * gpume_plan_check_memory; GPUME_UNSUPPORTED: the device cannot see as much at once; logged. */
int gpume_plan_gpu_make(struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, struct gpume_plan_gpu *planned);

#endif
