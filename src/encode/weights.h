/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Weights of a reference for fades: a scale and an offset that give its samples the mean and the
 * variance of the target's (H.264 8.4.2.3, explicit weighted prediction). Any thread.
 */
#ifndef GPUME_ENCODE_WEIGHTS_H
#define GPUME_ENCODE_WEIGHTS_H

#include "encode/decision.h"
#include "encode/half.h"
#include "encode/split.h"

/* Sums of the samples of a half plane. */
struct gpume_luma_stats {
    uint64_t sum;
    uint64_t energy; /* sum of squared deviations from the mean, rounded up */
};

/* Sums over some of the samples, which can be added up. */
struct gpume_luma_sums {
    uint64_t samples, squares;
};

/* Adds the rows from `begin` to before `end`. */
void gpume_luma_add(
    struct gpume_luma_sums *sums, const struct gpume_half *half, uint32_t begin, uint32_t end);

/* The statistics of the half plane, from the sums over all of its rows. */
struct gpume_luma_stats gpume_luma_stats(
    const struct gpume_luma_sums *sums, const struct gpume_half *half);

/* The weight that gives the reference the target's mean and variance, as near as a scale of 7 bits
 * and a whole offset come, in lowest terms; none where both hardly change, or where the scale would
 * be 0, which predicts nothing from the reference. `samples`: in a plane. */
struct gpume_weight gpume_weight_guess(const struct gpume_luma_stats *target,
    const struct gpume_luma_stats *reference, uint64_t samples);

/* The cost of coding what is predicted with this weight from a reference `distance` frames before:
 * 5/4 of the cost of prediction where the weight brightens by more than 1/128 per frame. What was
 * too dark to be coded in the reference must be coded then. */
uint64_t gpume_weight_coding_cost(
    const struct gpume_weight *weight, uint64_t distance, uint64_t cost);

/* Writes the weighted samples to a plane of the same size, and its margin: of a row of blocks, or
 * all. */
void gpume_weight_apply_row(const struct gpume_weight *weight, const struct gpume_half *from,
    struct gpume_half *to, uint32_t block_y);
void gpume_weight_apply(struct gpume_split *split, const struct gpume_weight *weight,
    const struct gpume_half *from, struct gpume_half *to);

/* What it costs to predict all blocks from the plain reference. */
struct gpume_plain_costs {
    const uint16_t *intra, *matches;
    const struct gpume_vector *vectors; /* of the matches */
};

/* Whether the weighted reference predicts the target clearly better than the plain one: by 2
 * percent or more of the sum of all blocks' costs, each at most its intra cost. What the weighted
 * reference costs is not known before it is searched, but is no more than without motion or at the
 * vectors of the plain one. `costs`: memory for those of two frames. */
bool gpume_weight_pays(struct gpume_split *split, const struct gpume_half *target,
    const struct gpume_plain_costs *plain, const struct gpume_half *weighted, uint16_t *costs);

/* As gpume_weight_pays, if the costs of the weighted reference are known: without motion, and at
 * the vectors of the plain one. */
bool gpume_weight_pays_at(const struct gpume_half *target, const struct gpume_plain_costs *plain,
    const uint16_t *still, const uint16_t *moved);

#endif
