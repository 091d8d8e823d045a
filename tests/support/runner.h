/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a sequence through an engine and compares every field with the brute-force answer.
 */
#ifndef GPUME_TESTS_RUNNER_H
#define GPUME_TESTS_RUNNER_H

#include "gpu/tune/choice.h"
#include "model/plan.h"
#include "synth.h"

struct runner_case {
    uint32_t width, height, bits, block, window_x, window_y;
    enum gpume_edge edge;
    enum synth_content content;
    enum gpume_direction direction;
    uint32_t distance;      /* 0 = 1 */
    uint32_t frames;        /* 0 = distance + 3 */
    uint64_t window_bytes;  /* Vulkan: largest part of a frame that kernels see; 0 = as usual */
    bool hardware;          /* Vulkan: treat a software driver as a GPU */
    bool large;             /* block shapes that some searches do not support */
    bool prune;             /* Vulkan: prune by box sums, even if that does not save time */
    const char *search;     /* gpume_params.search */
    struct gpume_tile tile; /* Vulkan: the tile's shape; chunk 0 = default */
    uint32_t shape_count;   /* 0 = one square of `block` */
    struct gpume_block_size shapes[GPUME_SHAPES_MAX];
    struct gpume_prefilter filter; /* where `filtered` */
    bool filtered;
};

/* Returns the number of failed checks; each is printed with the case, the block and both answers.
 * backend: GPUME_BACKEND_VULKAN or GPUME_BACKEND_CPU. */
unsigned runner_run(const struct runner_case *run, enum gpume_backend backend, bool validate);

#endif
