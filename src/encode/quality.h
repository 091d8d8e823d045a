/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QP offsets of the frames that others refer to, from the frames that follow them: the tree
 * (tree.h) walks back over the runs of a stretch, each an I or P frame with the B frames before it.
 * One walk serves all frames of several runs. An intra frame takes nothing over from other frames.
 * What is known of the frames is asked for first; the walk itself may then go on in another thread.
 */
#ifndef GPUME_ENCODE_QUALITY_H
#define GPUME_ENCODE_QUALITY_H

#include "encode/options.h"
#include "encode/tree.h"
#include "encode/types.h"

struct gpume_quality;

struct gpume_quality_step {
    struct gpume_tree_step tree;
    const int16_t *aq_offsets; /* 1/256 */
};

/* Fills all of `step` but past_share, intra_eighths and received. past == frame and future ==
 * frame: no such reference. Its arrays must not change until the walk ends. Negative gpume_status:
 * failed. */
typedef int (*gpume_step_fn)(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step);

/* Status GPUME_NOMEM: not logged. */
int gpume_quality_open(struct gpume_quality **quality, const struct gpume_tree_size *size,
    const struct gpume_encode_options *options, gpume_step_fn step, void *opaque);

/* Frames whose offsets one walk finds: runs are added to a group until it has so many, which the
 * last of them may exceed. A walk costs as much for many frames as for one. */
#define GPUME_GROUP_FRAMES 24u
#define GPUME_GROUP_FRAMES_MAX (GPUME_GROUP_FRAMES + GPUME_BFRAMES_MAX)
#define GPUME_STRETCH_MAX (GPUME_GROUP_FRAMES_MAX + GPUME_PATTERN_MAX + 1)

/* A stretch of frames in display order, at most GPUME_STRETCH_MAX. It begins with an I or P
 * frame. */
struct gpume_stretch {
    uint64_t first;
    uint32_t count;
    const enum gpume_frame_type *types;
};

#define GPUME_QUALITY_WALKS 2u /* that exist at a time */

/* A walk over a stretch. */
struct gpume_quality_walk;

/* Asks for all steps of the walk that finds the offsets of the first frame of the stretch and of
 * the `decided` frames after it, of which the last one is an I or P frame: from all frames of the
 * stretch up to its last I or P frame. *walk is valid until GPUME_QUALITY_WALKS more have been
 * prepared. */
int gpume_quality_prepare(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t decided, struct gpume_quality_walk **walk);

/* Any thread; several walks at a time. */
void gpume_quality_follow(const struct gpume_quality *quality, struct gpume_quality_walk *walk);

/* The QP offsets of one of these frames in 1/256, when the walk has been followed, and valid as
 * long as it; NULL for a B frame that is no reference. */
const int16_t *gpume_quality_offsets(const struct gpume_quality_walk *walk, uint64_t frame);

void gpume_quality_close(struct gpume_quality **quality);

#endif
