/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How hard the frames of a scene are to code: means of their facts, and what the bits model expects
 * of x264 at some QPs. Any thread.
 */
#ifndef GPUME_ENCODE_COMPLEXITY_H
#define GPUME_ENCODE_COMPLEXITY_H

#include "encode/scenes.h"

#include <stdbool.h>

#define GPUME_COMPLEXITY_QPS 4u
extern const uint32_t gpume_complexity_qps[GPUME_COMPLEXITY_QPS];

/* Starts as zero. */
struct gpume_complexity {
    uint64_t frames;
    /* Means over the frames, as in struct gpume_scene_frame; costs and intra_share per block. */
    double luma, spatial, temporal;
    double intra_cost, inter_cost;
    double intra_share; /* blocks that are cheapest from their own frame */
    /* Sums over the frames. Each frame but the first is predicted only from the one before. */
    uint64_t bits[GPUME_COMPLEXITY_QPS];
};

/* Adds a frame. first: it begins a scene, so it is coded without prediction. */
void gpume_complexity_add(
    struct gpume_complexity *sum, const struct gpume_scene_frame *frame, bool first);

#endif
