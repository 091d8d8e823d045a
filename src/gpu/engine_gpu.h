/* SPDX-License-Identifier: BSD-2-Clause */
/* The Vulkan engine, opened by other rules than its usual ones. */
#ifndef GPUME_GPU_ENGINE_GPU_H
#define GPUME_GPU_ENGINE_GPU_H

#include "frame/engine.h"
#include "gpu/rules.h"

/* As gpume_engine_gpu.open. */
int gpume_engine_gpu_open_with(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, const struct gpume_engine_gpu_rules *rules,
    struct gpume_plan *plan);

#endif
