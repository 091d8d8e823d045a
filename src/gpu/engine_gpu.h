/* SPDX-License-Identifier: BSD-2-Clause */
/* The Vulkan engine with a smaller window than the device's, so that tests can reach the split
 * paths. */
#ifndef GPUME_GPU_ENGINE_GPU_H
#define GPUME_GPU_ENGINE_GPU_H

#include "motion/engine.h"

/* As gpume_engine_gpu.open; kernels see at most window_bytes of a frame buffer at once. */
int gpume_engine_gpu_open_limited(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, uint64_t window_bytes, struct gpume_plan *plan);

#endif
