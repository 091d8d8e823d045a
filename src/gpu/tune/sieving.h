/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sieve in the run of submissions: which of them are sieved, which frames have their sums, and
 * how far the candidates came. The pipeline's thread.
 */
#ifndef GPUME_GPU_TUNE_SIEVING_H
#define GPUME_GPU_TUNE_SIEVING_H

#include "gpu/stages/stages.h"
#include "gpu/tune/sieve_shape.h"

struct gpume_sieving {
    bool possible;
    bool forced;          /* in two of three submissions, whatever is measured: for tests */
    uint64_t submissions; /* while forced */
    struct gpume_sieve_switch decide;
    uint64_t *boxed; /* by place in the ring: 1 + the frame whose sums are there, 0 = none */
    bool sieved[GPUME_SLOTS_MAX]; /* what the slot is doing */
};

/* Of a zeroed one. possible: there is memory for sums. On failure destroy it all the same. */
int gpume_sieving_create(const struct gpume_gpu *gpu, const struct gpume_plan *plan, bool possible,
    struct gpume_sieving *sieving);
void gpume_sieving_destroy(struct gpume_sieving *sieving);

/* Records the search of a submission: sums and sieve if it pays, then the full search of all blocks
 * or of those left over. */
void gpume_sieving_record(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work, uint32_t slot);

/* The slot's search has taken so long. */
void gpume_sieving_measured(
    struct gpume_sieving *sieving, uint32_t slot, uint64_t ns, uint32_t fields);

/* Adds a field of the slot to the counts of stats. words: its slots of counts, as read back. */
void gpume_sieving_count(const struct gpume_sieving *sieving, uint32_t slot, const uint32_t *words,
    uint64_t candidates, struct gpume_stats *stats);

#endif
