/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where B frames pay: the pattern of P and B frames after a given frame, by the sum of the costs of
 * coding them. With b-adapt 0 all runs of B frames have the full length. Otherwise it is the
 * cheapest of all patterns, by dynamic programming over the frame that ends the last run (Viterbi's
 * algorithm): for b-adapt 1, too, whose greedy choices in x264 do not find where runs of the
 * greatest length had better begin.
 *
 * With b-pyramid a run of two or more B frames has one that the others refer to, near its middle.
 * B frames get fewer bits than P frames of equal cost: their costs count 100/120 (x265: 100/150).
 */
#ifndef GPUME_ENCODE_PATTERNS_H
#define GPUME_ENCODE_PATTERNS_H

#include "encode/options.h"

#define GPUME_PATTERN_MAX (GPUME_RC_LOOKAHEAD_MAX + 1) /* frames */

/* Gives the cost of a frame from its references; past == frame and future == frame mean that there
 * is none. A negative gpume_status ends the decision with that status. */
typedef int (*gpume_cost_fn)(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost);

struct gpume_patterns {
    const struct gpume_encode_options *options;
    gpume_cost_fn cost;
    void *opaque;
};

/* Which frame of a run of B frames is a reference, counted from 0; UINT32_MAX: none. */
uint32_t gpume_patterns_middle(const struct gpume_encode_options *options, uint32_t b_frames);

/* The cost of all frames after `past` up to `next`: a P frame with B frames before it. Stops early
 * once it reaches `enough`. */
int gpume_patterns_run_cost(const struct gpume_patterns *patterns, uint64_t past, uint64_t next,
    uint64_t enough, uint64_t *cost);

/* Chooses for each of the `count` frames after `last` whether it is a B frame. The last one never
 * is. 0 < count <= GPUME_PATTERN_MAX. */
int gpume_patterns_choose(
    const struct gpume_patterns *patterns, uint64_t last, uint32_t count, bool *is_b);

#endif
