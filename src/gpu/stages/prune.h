/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape of pruning (successive elimination) for a layer, and the policy that decides which
 * submissions are pruned. Pure arithmetic; results are the same whatever it decides.
 */
#ifndef GPUME_GPU_STAGES_PRUNE_H
#define GPUME_GPU_STAGES_PRUNE_H

#include "gpu/stages/stage.h"
#include "model/plan.h"

enum gpume_prune_kind {
    GPUME_PRUNE_NONE,   /* no kernel suits the layer */
    GPUME_PRUNE_WIDE,   /* prune_wide.comp */
    GPUME_PRUNE_SMALL,  /* prune_small.comp */
    GPUME_PRUNE_STRIPS, /* prune_strips.comp */
};

struct gpume_prune_shape {
    enum gpume_prune_kind kind;
    uint32_t local; /* invocations of a workgroup */
    uint32_t team;  /* of them for one block; wide: 0 */
    uint32_t seeds; /* candidates that are compared first; strips alone */
    uint32_t part;  /* rows of groups of candidates that are taken at a time; strips: of a strip */
    uint32_t
        list; /* quads of candidates that can wait; short, as it is shared memory; wide alone */
    uint32_t give_up; /* candidates of a block to compare, or to list, before it falls back */
    uint32_t quarter_shift, sixteenth_shift; /* low bits cut off sums: 11 are kept */
};

/* Workgroups along an axis that every device takes; and a block's place in 16 bits in
 * prune_small.comp and prune_strips.comp. */
#define GPUME_PRUNE_BLOCKS_MAX 65535u

/* The kernel for the layer. Sides of whole eights suit prune_wide.comp: sixteenths begin with a
 * pair of samples, quarters with a quad. */
enum gpume_prune_kind gpume_prune_kind_of(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Whether the kernel reads the sums of quarters alone, row by row. */
static inline bool gpume_prune_in_rows(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_prune_kind_of(plan, layer) > GPUME_PRUNE_WIDE;
}

static inline bool gpume_prune_supports(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_prune_kind_of(plan, layer) != GPUME_PRUNE_NONE &&
           layer->blocks_x <= GPUME_PRUNE_BLOCKS_MAX && layer->blocks_y <= GPUME_PRUNE_BLOCKS_MAX;
}

struct gpume_prune_shape gpume_prune_shape_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

/*
 * With or without pruning, submission by submission. The way in use is measured all the time, the
 * other one every GPUME_PRUNE_PROBE submissions or, where it is much slower, as much less often.
 * The time of the full search does not depend on the pictures, only on the device's clock: it is
 * probed every GPUME_PRUNE_PROBE_FULL. Both are known for submissions of about the same size, since
 * fields share the fixed cost of a submission, which is larger with pruning; where frames come
 * slowly, submissions are small. The first submission is pruned, and until both times are known the
 * full search is used: pruning can take eight times as long, and several submissions are under way.
 * A device without timestamps always prunes.
 */
#define GPUME_PRUNE_PROBE 16u
#define GPUME_PRUNE_PROBE_FULL 128u
#define GPUME_PRUNE_SIZES 8u /* by the bits of the number of fields */
_Static_assert(GPUME_BATCH_MAX < 1u << (GPUME_PRUNE_SIZES - 1), "a size for every submission");

struct gpume_prune_size {
    bool pruning;         /* the way in use */
    bool tried;           /* a submission was pruned */
    uint64_t field_ns[2]; /* per field without and with pruning, as measured last; 0: never */
    uint32_t since_probe; /* submissions of this size */
};

struct gpume_prune_policy {
    struct gpume_prune_size sizes[GPUME_PRUNE_SIZES];
};

/* Whether the next submission, of that many fields (at most GPUME_BATCH_MAX), is pruned. */
bool gpume_prune_policy_next(struct gpume_prune_policy *policy, uint32_t fields);

/* A submission of that many fields has taken ns; 0: its time is not known. */
void gpume_prune_policy_measured(
    struct gpume_prune_policy *policy, bool pruned, uint64_t ns, uint32_t fields);

/* --- from submission to submission: which of them are pruned, and how far their candidates came.
 * The pipeline's thread. */

struct gpume_pruning {
    bool possible;        /* some layer has block sums */
    bool forced;          /* in two of three submissions, whatever is measured: for tests */
    uint64_t submissions; /* while forced */
    struct gpume_prune_policy policy;
    bool pruned[GPUME_SLOTS_MAX]; /* the slot's submission is */
};

/* Decides about the slot's next submission. */
bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields);

/* Adds a field of the slot to the counts of stats. words: its task's counts, as read back. */
void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats);

#endif
