/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QP offsets of the frames that others refer to, from the window of frames that follow them: the
 * tree (tree.h) walks back over the runs of the window, each an I or P frame with the B frames
 * before it. An intra frame inside the window counts as a P frame: where nothing can be predicted
 * across it, nothing is passed on. What is known of the frames is asked for first; the walk itself
 * may then go on in another thread.
 */
#ifndef GPUME_ENCODE_QUALITY_H
#define GPUME_ENCODE_QUALITY_H

#include "encode/options.h"
#include "encode/tree.h"

struct gpume_quality;

struct gpume_quality_step {
    struct gpume_tree_step tree;
    const int16_t *aq_offsets; /* 1/256 */
};

/* Fills all of `step` but past_share and received. past == frame and future == frame: no such
 * reference. Its arrays must not change until the walk ends. Negative gpume_status: failed. */
typedef int (*gpume_step_fn)(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step);

/* Status GPUME_NOMEM: not logged. */
int gpume_quality_open(struct gpume_quality **quality, const struct gpume_tree_size *size,
    const struct gpume_encode_options *options, gpume_step_fn step, void *opaque);

/* A stretch of frames in display order. It begins with an I or P frame and ends with one. */
struct gpume_stretch {
    uint64_t first;
    uint32_t count;
    const enum gpume_frame_type *types;
};

#define GPUME_QUALITY_WALKS 5u /* that exist at a time */

/* A walk over a stretch. */
struct gpume_quality_walk;

/* Asks for all steps of the walk that finds the offsets of frame `target` of the stretch, an I or P
 * frame, and of the reference B frame in the run that it ends, if there is one, from all frames of
 * the stretch. Those after the target pass on to it, and so do the B frames before it. *walk is
 * valid until GPUME_QUALITY_WALKS more have been prepared. */
int gpume_quality_prepare(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t target, struct gpume_quality_walk **walk);

/* QP offsets in 1/256, valid as long as the walk. */
struct gpume_quality_offsets {
    const int16_t *target, *b_ref; /* b_ref: NULL without such a frame */
};

/* Any thread; several walks at a time. */
struct gpume_quality_offsets gpume_quality_follow(
    const struct gpume_quality *quality, struct gpume_quality_walk *walk);

void gpume_quality_close(struct gpume_quality **quality);

#endif
