/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules for the Vulkan engine other than its usual ones, so that tests reach every path on any
 * device. */
#ifndef GPUME_GPU_RULES_H
#define GPUME_GPU_RULES_H

#include "gpu/tune/tile.h"

struct gpume_engine_gpu_rules {
    /* The largest part of a frame buffer that kernels see at once, in bytes; 0 = as usual. */
    uint64_t window_bytes;
    bool force_pruning; /* prune two of three submissions, whether it pays or not */
    bool
        as_hardware; /* treat a software driver as a GPU, in what is chosen and how work is split */
    struct gpume_tile tile; /* the shape of tiles, as far as gpume_tile_complete takes it; chunk 0 =
                               as usual */
};

#endif
