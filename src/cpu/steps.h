/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of one submission to the CPU engine, as steps for base/workers.h: at most one frame, of
 * which surfaces are made, and one task, whose layers are searched, ranked and measured.
 *
 *      source -> [filtered] -> [fractions]
 *                    '-------> [4x4 sums -> larger ones] -> search -> rank
 *                                                              '----> measure
 *
 * A general plan has the steps of general/general.h instead of those from the sums on, or, with
 * plan.fast_pixels, instead of rank and measure. Search, rank and measure exist once per layer. Box
 * sums are made only for searches with elimination. This file says what each step does;
 * submit.c queues them, so that the steps of neighbouring submissions overlap.
 */
#ifndef GPUME_CPU_STEPS_H
#define GPUME_CPU_STEPS_H

#include "base/workers.h"
#include "cpu/general/general.h"
#include "cpu/search/search.h"
#include "frame/frame.h"

/* How the block rows of a layer are divided into work items. */
struct gpume_division {
    uint32_t per_row; /* items of one block row */
    uint32_t blocks;  /* in each of them; the last of a row may have fewer */
    uint32_t items;   /* of the layer: one per block at most */
};

/* How long items of each kind of step take. */
struct gpume_paces {
    struct gpume_pace make[GPUME_SURFACE_COUNT], fractions, sum, boxes[GPUME_BOX_SIZES];
    struct gpume_pace search[GPUME_LAYERS_MAX], measure[GPUME_LAYERS_MAX];
    struct gpume_pace general[GPUME_GENERAL_STEPS];
};

/* What all submissions to an engine share. */
struct gpume_shared {
    struct gpume_plan plan;
    const struct gpume_search *search;
    struct gpume_division divisions[GPUME_LAYERS_MAX];
    struct gpume_paces paces;
    atomic_bool cancelled;
};

/* Memory for one task at a time, and the last steps queued that use it; NULL: none. */
struct gpume_scratch {
    struct gpume_boxes boxes;
    uint32_t *ranking; /* of one layer at a time */
    const struct gpume_step *search, *rank;
};

/* What a work item of a layer gives besides vectors and costs. */
struct gpume_item {
    struct gpume_sums sums;
    struct gpume_search_counts counts;
    uint64_t probe_ns; /* processor time of its search, while probing */
};

struct gpume_layer_steps {
    struct gpume_shared *shared;
    const struct gpume_division *division;
    const struct gpume_scratch *scratch;
    struct gpume_layer_boxes boxes; /* those of the scratch memory that this layer uses */
    struct gpume_search_field searched, measured; /* the surfaces that the plan names */
    struct gpume_policy_choice choice;
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    void *predicted; /* NULL: not wanted */
    struct gpume_item *items;
    struct gpume_step search, rank, measure;
};

/* The planes of fractions of a surface. */
struct gpume_fractions {
    struct gpume_steps *steps;
    enum gpume_surface surface;
    struct gpume_step step;
};

struct gpume_box_level {
    struct gpume_steps *steps;
    uint32_t level;
};

struct gpume_steps {
    struct gpume_shared *shared;
    struct gpume_scratch *scratch;
    /* The frame: where its surfaces lie, and the steps that make them. */
    const struct gpume_frame *frame;
    void *surfaces[GPUME_SURFACE_COUNT];
    struct gpume_step make[GPUME_SURFACE_COUNT];
    struct gpume_fractions fractions[GPUME_SURFACE_COUNT];
    void *sums[GPUME_RING_BOXES]; /* for the general search; NULL: not needed */
    struct gpume_step sum;
    /* The task, which the results belong to. */
    struct gpume_task task;
    uint64_t number;    /* of the task in the order of submission, from 1; 0: none yet */
    bool uses_boxes;    /* in at least one layer */
    bool probing;       /* in at least one layer */
    const void *summed; /* the reference that box sums are made of */
    uint64_t *box_ns;   /* per work item of the largest level, while probing */
    struct gpume_box_level levels[GPUME_BOX_SIZES];
    struct gpume_step boxes[GPUME_BOX_SIZES];
    const struct gpume_step *reader;  /* the last search that has the vectors as hints; or NULL */
    struct gpume_layer_steps *layers; /* plan.layer_count; NULL: without the fast search */
    struct gpume_vector *vectors;     /* of all layers, one after the other, as costs and ranks */
    uint32_t *costs;
    struct gpume_general *general; /* the task, where the plan is general, else NULL */
    /* Of the task, where the plan is not general. */
    uint32_t *ranks;
    void *predicted; /* by the first layer; NULL: not wanted */
};

/* Divides every layer, so that the threads have enough items. */
void gpume_shared_divide(struct gpume_shared *shared, uint32_t threads);

/* Allocates the results and defines the steps, once `shared` and `scratch` are complete.
 * GPUME_NOMEM: call finish then too. *bytes grows by what is allocated. */
int gpume_steps_init(struct gpume_steps *steps, struct gpume_shared *shared,
    struct gpume_scratch *scratch, uint64_t *bytes);

void gpume_steps_finish(struct gpume_steps *steps);

/* The sums of a layer's results, once its steps are complete. */
struct gpume_item gpume_layer_total(const struct gpume_layer_steps *layer);

/* The times of a layer that probed, once the submission is complete. Every layer is charged an
 * equal share of the box sums. */
struct gpume_probe gpume_steps_probe(const struct gpume_steps *steps, uint32_t layer);

#endif
