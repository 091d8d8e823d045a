/* SPDX-License-Identifier: BSD-2-Clause */
/* The Vulkan engine opened by other rules than its own, so that tests reach every path on any
 * device. */
#ifndef GPUME_GPU_ENGINE_GPU_H
#define GPUME_GPU_ENGINE_GPU_H

#include "frame/engine.h"
#include "gpu/tune/tile.h"

struct gpume_engine_gpu_rules {
    uint64_t
        window_bytes; /* kernels see at most this much of a frame buffer at once; 0 = as usual */
    bool force_sieve; /* drop candidates by box sums in two of three submissions, paying or not */
    bool as_hardware; /* take a software driver for a GPU: what is chosen, how work is shared out */
    struct gpume_tile tile; /* the shape of tiles, as far as gpume_tile_complete takes it; chunk 0 =
                               as usual */
};

/* As gpume_engine_gpu.open. */
int gpume_engine_gpu_open_with(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, const struct gpume_engine_gpu_rules *rules,
    struct gpume_plan *plan);

#endif
