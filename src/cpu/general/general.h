/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The general search of one task on the CPU, as steps for base/workers.h. submit.c queues them
 * in this order, each after the one before:
 *
 *      for every pass: predict -> search      every frame pair of the task; or refine
 *      choose      the best reference, means of two, bits, texture
 *      partition   which blocks predict the picture
 *      rank, measure
 *
 * A plan has the steps that it needs. With plan.fast_pixels the search comes before them all, and
 * its only pair is refined.
 */
#ifndef GPUME_CPU_GENERAL_GENERAL_H
#define GPUME_CPU_GENERAL_GENERAL_H

#include "base/workers.h"
#include "cpu/rings.h"
#include "cpu/search/search.h"
#include "frame/field.h"

#define GPUME_GENERAL_STEPS (2 * GPUME_PASSES_MAX + 4)

/* A reference of the task. Arrays over the blocks of all layers, vectors and costs of plan.kept
 * candidates one after the other. */
struct gpume_pair {
    const void *searched, *measured;        /* surfaces of the reference */
    const void *box_sums[GPUME_RING_BOXES]; /* of the searched surface; NULL: none */
    struct gpume_vector *predictors, *vectors;
    uint32_t *costs, *ties;
    bool future; /* the reference comes after the target */
};

struct gpume_general {
    const struct gpume_plan *plan;
    const struct gpume_search *kernels;
    const atomic_bool *cancelled;
    uint32_t *scratch;                        /* for ranking one layer at a time */
    struct gpume_pace *paces;                 /* of each step, shared by all tasks */
    const struct gpume_vector *whole_vectors; /* with plan.fast_pixels: what is refined */
    const uint32_t *whole_costs;

    /* The task. */
    const void *searched, *measured; /* surfaces of the target */
    const void *box_sums[GPUME_RING_BOXES];
    atomic_uint_fast64_t tried, compared; /* candidates in all, and those not excluded by sums */
    const struct gpume_vector *given;     /* predictors; NULL: none */
    struct gpume_pair pairs[GPUME_REFERENCES_MAX];
    uint32_t pair_count;

    /* Its results; NULL: the plan does not want them. */
    struct gpume_vector *vectors, *vectors2;
    uint32_t *costs, *ranks, *bits, *refs, *refs2, *ties, *texture, *chosen;
    uint32_t *cells; /* by 4x4 pixels, the block that predicts them; NULL: the first layer's */
    void *predicted;
    struct gpume_sums *sums; /* by item of the last step */

    struct gpume_step steps[GPUME_GENERAL_STEPS];
    const char *stages[GPUME_GENERAL_STEPS]; /* in statistics, of each step */
    uint32_t step_count;
};

/* Allocates for one slot. GPUME_NOMEM: call finish then too. *bytes grows by what is allocated. */
int gpume_general_init(
    struct gpume_general *general, const struct gpume_plan *plan, uint64_t *bytes);
void gpume_general_finish(struct gpume_general *general);

/* Prepares the steps for a task whose frames are in the rings. */
void gpume_general_start(struct gpume_general *general, const struct gpume_rings *rings,
    const struct gpume_field_box *box);

/* When the last step is complete: fills in the box. */
void gpume_general_complete(struct gpume_general *general, struct gpume_field_box *box);

#endif
