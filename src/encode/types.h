/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame types: scene cuts, key frames, and between them patterns of P and B frames.
 *
 * Patterns: where B frames pay, by the sum of what coding all frames takes: bits, which grow with
 * the logarithm of a block's cost (costs.h). With b-adapt 0 all runs of B frames have the full
 * length. Otherwise it is the cheapest of all patterns, by dynamic programming over the frame that
 * ends the last run (Viterbi's algorithm): for b-adapt 1, too, whose greedy choices in encoders do
 * not find where runs of the greatest length had better begin. With b-pyramid a run of two or more
 * B frames has one that the others refer to, near its middle. B frames get fewer bits than P frames
 * of equal cost: their costs count 100 / b_percent (encoder.h). Encoders of halves have runs of 2^n
 * frames, as long as possible, of which the middle one lies between the ends, the next two between
 * it and the ends, and so on.
 *
 * Scene cut: predicting the frame from the one before costs at least (1 - bias) times its intra
 * cost. The bias rises with the distance from the last key frame, since an intra frame is more
 * welcome the longer there was none. A flash is no cut. It lasts at most as many frames as there
 * may be B frames in a row; for some encoders, unless b-adapt is 2, at most one. Of several changes
 * as close to each other as that, an encoder cuts at the last one or at the first one.
 */
#ifndef GPUME_ENCODE_TYPES_H
#define GPUME_ENCODE_TYPES_H

#include "encode/decision.h"
#include "encode/options.h"

#define GPUME_PATTERN_MAX (GPUME_RC_LOOKAHEAD_MAX + 1) /* frames */

/* Gives the cost of a frame from its references; past == frame and future == frame mean that there
 * is none. A negative gpume_status ends the decision with that status. */
typedef int (*gpume_cost_fn)(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost);

struct gpume_types {
    struct gpume_encode_options options;
    gpume_cost_fn cost, coding_cost;
    void *opaque;
    uint64_t last_key;   /* display position of the last key frame */
    uint64_t calm_last;  /* no frame up to this one is a cut, as a flash ends there */
    uint64_t change;     /* if it cuts at the first one: the last change that was seen; 0: none */
    bool change_follows; /* another one too closely */
};

/* How many frames after the last I or P frame must be known for a decision, except at the end of
 * the video. At most GPUME_PATTERN_MAX. */
uint32_t gpume_types_window(const struct gpume_encode_options *options);

/* Frame 0 is an IDR frame. cost: of predicting a frame, for cuts; coding_cost: of coding it, for
 * patterns. */
void gpume_types_init(struct gpume_types *types, const struct gpume_encode_options *options,
    gpume_cost_fn cost, gpume_cost_fn coding_cost, void *opaque);

/* The cost of coding all frames after `past` up to `next`: a P frame with B frames before it. Stops
 * early once it reaches `enough`. */
int gpume_types_run_cost(
    const struct gpume_types *types, uint64_t past, uint64_t next, uint64_t enough, uint64_t *cost);

/* In an encoder of halves: the frame that is coded next between two others. */
uint64_t gpume_types_half(uint64_t past, uint64_t future);

/* The pattern of P and B frames of the `count` frames after `last`, without a look at cuts; the
 * last one is a P frame. 0 < count <= GPUME_PATTERN_MAX. */
int gpume_types_choose_pattern(const struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions);

/* Decides the types of the `count` frames after `last`, an I or P frame; count > 0. Those up to the
 * first I or P frame, `*decided` in all, are final, and the caller commits them; the others are
 * what would follow if the video ended there. */
int gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided);

/* The frame has got its final type. */
void gpume_types_commit(struct gpume_types *types, uint64_t frame, enum gpume_frame_type type);

#endif
