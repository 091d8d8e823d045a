/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The macroblock tree, which finds the QP offsets of the frames that others refer to: how much the
 * blocks of later frames owe to each block of this one, and the QP offsets that follow.
 * Garrett-Glaser, "A novel macroblock-tree algorithm for high-performance optimization of dependent
 * video coding in H.264/AVC" (2009).
 *
 * A block's information is its intra cost, scaled by adaptive quantization, plus what blocks that
 * refer to it have passed on. It passes on (information) * (1 - inter cost / intra cost) to the
 * four blocks that its match overlaps, in proportion to the areas; with two references, to each
 * side by its nearness in time with weightb, otherwise half to each. The offset is
 * -5 (1 - qcomp) log2(information / intra cost), on top of adaptive quantization. The encoders also
 * scale by the duration of frames, which matters with variable frame rates only, and is left out
 * here.
 *
 * Unlike the encoders, we smooth both parts of that ratio over neighbouring blocks, since vectors
 * err, and offsets that differ from block to block cost bits themselves; encoders differ in
 * strength, and in whether the B frames before a P frame count for it. What this gains is in
 * tests/bench/firstpass/FINDINGS.md.
 *
 * It walks back over the runs of a stretch, each an I or P frame with the B frames before it.
 * One walk serves all frames of several runs. An intra frame takes nothing over from other frames.
 * What is known of the frames is asked for first; the walk itself may then go on in another thread.
 */
#ifndef GPUME_ENCODE_QUALITY_H
#define GPUME_ENCODE_QUALITY_H

#include "encode/decision.h"
#include "encode/options.h"
#include "encode/types.h"

/* --- one frame */

struct gpume_tree_size {
    uint32_t blocks_x, blocks_y; /* 8x8 at half resolution */
};

/* The information that blocks have before others pass any on, in sixteenths of a cost; it stops at
 * UINT32_MAX. aq_offsets: 1/256. */
void gpume_tree_information(
    uint32_t count, const uint16_t *intra_costs, const int16_t *aq_offsets, uint32_t *information);

/* A frame of which information flows to its references. All arrays have one entry per block. */
struct gpume_tree_step {
    const uint16_t *intra_costs, *costs;
    const uint8_t *kinds;                     /* enum gpume_source_kind */
    const struct gpume_vector *past, *future; /* quarter pixels; NULL where no block needs them */
    const uint32_t *information;              /* gpume_tree_information */
    uint32_t past_share;                      /* of two references, of GPUME_SHARES */
    uint32_t intra_eighths;                   /* of intra_costs: what the encoder itself finds */
    const uint32_t *received;                 /* from later frames; NULL: none refers to it */
};

/* Adds what the frame passes on to past_sums and future_sums, which have one entry per block. */
void gpume_tree_propagate(const struct gpume_tree_size *size, const struct gpume_tree_step *step,
    uint32_t *past_sums, uint32_t *future_sums);

/* Offsets of one frame in 1/256, those of adaptive quantization included. strength: the
 * factor of the logarithm, in 1/65536. */
void gpume_tree_offsets(const struct gpume_tree_size *size, const uint32_t *information,
    const int16_t *aq_offsets, const uint32_t *received, int64_t strength, int16_t *offsets);

/* --- a stretch of frames */

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

/* Frames whose offsets one walk finds: runs are added to a group until it has this many, which the
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

#define GPUME_QUALITY_WALKS 3u /* that exist at a time */

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
