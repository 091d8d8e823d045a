/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine's memory and its work: rings of surfaces, the general search of a task, and the
 * steps of a submission.
 */
#ifndef GPUME_CPU_CPU_H
#define GPUME_CPU_CPU_H

#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "cpu/search/search.h"
#include "frame/frame.h"
#include "model/plan.h"

#include <stdint.h>
#include <stdlib.h>

/* All memory of an engine, which is freed together. Once memory has run out, nothing more is
 * allocated. */
struct gpume_allocations {
    void **blocks;
    size_t count, room;
    uint64_t bytes; /* in all, with those that could not be had */
    bool failed;
};

/* Zeroed memory, or NULL after a failure. */
static inline void *gpume_allocate(struct gpume_allocations *memory, uint64_t count, uint64_t size)
{
    if (memory->failed) {
        return NULL;
    }
    memory->failed = true;                     /* until all is well */
    if (size > 0 && count > SIZE_MAX / size) { /* 32-bit hosts */
        return NULL;
    }
    memory->bytes += count * size;
    void **blocks = gpume_grow(memory->blocks, memory->count, &memory->room, sizeof(*blocks));
    if (!blocks) {
        return NULL;
    }
    memory->blocks = blocks;
    void *block = calloc((size_t)count, (size_t)size);
    gpume_os_prefer_large_pages(block, (size_t)(count * size));
    memory->blocks[memory->count++] = block;
    memory->failed = !block;
    return block;
}

/* --- rings: the surfaces of the last frames, a ring for each surface that the plan has. A frame
 * has the same place in all of them. */

#define GPUME_RING_BOXES 2u

struct gpume_rings {
    uint32_t frames;                    /* in each ring */
    void **planes[GPUME_SURFACE_COUNT]; /* NULL: not in the plan */
    /* Of the general search: by box (4x4, 8x8) and place, sums of the searched surface for every
     * plane (general/plain.h); NULL: not needed. */
    void **sums[GPUME_RING_BOXES];
    const struct gpume_step **readers; /* by place: the last step that reads there; or NULL */
};

/* The plane of a frame, by sequence number. */
static inline void *gpume_rings_at(
    const struct gpume_rings *rings, enum gpume_surface surface, uint64_t sequence)
{
    return rings->planes[surface][sequence % rings->frames];
}

/* The sums of a frame over boxes of 4 << index; NULL: there are none. */
static inline void *gpume_rings_sums(
    const struct gpume_rings *rings, uint32_t index, uint64_t sequence)
{
    return rings->sums[index] ? rings->sums[index][sequence % rings->frames] : NULL;
}

static inline const struct gpume_step **gpume_rings_reader(
    const struct gpume_rings *rings, uint64_t sequence)
{
    return &rings->readers[sequence % rings->frames];
}

/* Whether the engine was cancelled: what is left of its work is skipped. */
static inline bool gpume_is_cancelled(const atomic_bool *cancelled)
{
    return atomic_load_explicit(cancelled, memory_order_relaxed);
}

/* --- the general search of one task, as steps for base/workers.h
 *
 * engine_cpu.c queues them
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
    const unsigned char *wanted;          /* by block of all layers; NULL: all */
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

/* Allocates for one slot. */
void gpume_general_init(
    struct gpume_general *general, const struct gpume_plan *plan, struct gpume_allocations *memory);

/* Prepares the steps for a task whose frames are in the rings. */
void gpume_general_start(struct gpume_general *general, const struct gpume_rings *rings,
    const struct gpume_field_box *box);

/* When the last step is complete: fills in the box. */
void gpume_general_complete(struct gpume_general *general, struct gpume_field_box *box);

/* --- the work of one submission, as steps for base/workers.h
 *
 * At most one frame, of which surfaces are made, and one task, whose layers are searched, ranked
 * and measured.
 *
 *      source -> [filtered] -> [fractions]
 *                    '-------> [4x4 sums -> larger ones] -> search -> rank
 *                                                              '----> measure
 *
 * A general plan has the steps of the general search instead of those from the sums on, or, with
 * plan.fast_pixels, instead of rank and measure. Search, rank and measure exist once per layer. Box
 * sums are made only for searches with elimination. steps.c says what each step does;
 * engine_cpu.c queues them, so that the steps of neighbouring submissions overlap.
 */

/* How the block rows of a layer are divided into work items. */
struct gpume_layer_division {
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
    struct gpume_layer_division divisions[GPUME_LAYERS_MAX];
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
    const struct gpume_layer_division *division;
    const struct gpume_scratch *scratch;
    struct gpume_layer_boxes boxes; /* those of the scratch memory that this layer uses */
    struct gpume_search_field searched, measured; /* the surfaces that the plan names */
    struct gpume_policy_choice choice;
    const unsigned char *wanted; /* by block of the layer; NULL: all */
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

/* Allocates the results and defines the steps, once `shared` and `scratch` are complete. */
void gpume_steps_init(struct gpume_steps *steps, struct gpume_shared *shared,
    struct gpume_scratch *scratch, struct gpume_allocations *memory);

/* The sums of a layer's results, once its steps are complete. */
struct gpume_item gpume_layer_total(const struct gpume_layer_steps *layer);

/* The times of a layer that probed, once the submission is complete. Every layer is charged an
 * equal share of the box sums. */
struct gpume_probe gpume_steps_probe(const struct gpume_steps *steps, uint32_t layer);

/* The CPU engine with a given search, for --check and for tests: as gpume_engine_cpu.open. The
 * search must be available on this processor. */
int gpume_engine_cpu_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan, const struct gpume_search *search);

/* --- the surfaces of the CPU engine, row by row: padded frames (model/plan.h), rows of the picture
 * with their edge samples repeated outwards, and the filtered surface that is made of one */

/* Fills one row of a padded frame from a plane; rows above and below the picture repeat its first
 * and last row. Rows may be filled in parallel. */
void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row);

#endif
