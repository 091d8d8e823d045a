/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pruning from submission to submission: which of them are pruned, and how far their candidates
 * came. The pipeline's thread.
 */
#ifndef GPUME_GPU_TUNE_PRUNING_H
#define GPUME_GPU_TUNE_PRUNING_H

#include "gpu/tune/prune_shape.h"
#include "gpu/work.h"

struct gpume_pruning {
    bool possible;        /* some layer has block sums */
    bool forced;          /* in two of three submissions, whatever is measured: for tests */
    uint64_t submissions; /* while forced */
    struct gpume_prune_policy policy;
    bool pruned[GPUME_SLOTS_MAX]; /* the slot's submission is */
};

/* Decides about the slot's next submission. */
bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields);

/* The slot's search has taken so long. */
void gpume_pruning_measured(
    struct gpume_pruning *pruning, uint32_t slot, uint64_t ns, uint32_t fields);

/* Adds a field of the slot to the counts of stats. words: its task's counts, as read back. */
void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats);

#endif
