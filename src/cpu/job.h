/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One frame on its way through the CPU engine, and one field, as the steps (base/workers.h) that
 * their work consists of:
 *
 *      pad -> [filter] -> [boxes of 4x4 -> larger ones -> ...] -> search -> rank
 *                                                                     '---> measure
 *
 * Either may be missing, and most small windows need no boxes. Here is what a step does;
 * engine_cpu.c queues them, so that those of neighbouring jobs overlap.
 */
#ifndef GPUME_CPU_JOB_H
#define GPUME_CPU_JOB_H

#include "base/workers.h"
#include "cpu/search/chooser.h"
#include "cpu/search/search.h"
#include "frame/frame.h"
#include "frame/task.h"

/* What all jobs of an engine share. */
struct gpume_job_shared {
    struct gpume_plan plan;
    const struct gpume_search *search;
    struct gpume_boxes boxes; /* of the one field at a time that is searched with them */
    uint32_t spans;           /* work items of a block row */
    uint32_t span;            /* blocks in one of them, the last apart */
    uint32_t *scratch;        /* for ranking, one field at a time */
    atomic_bool cancelled;
};

/* What the work items of a span give besides vectors and costs. */
struct gpume_job_item {
    struct gpume_sums sums;
    struct gpume_search_counts counts;
    uint64_t probe_ns; /* processor time of the search, while probing */
};

struct gpume_job_level {
    struct gpume_job *job;
    uint32_t level;
};

struct gpume_job {
    struct gpume_job_shared *shared;
    const struct gpume_frame *frame;
    void *padded;                              /* where it goes */
    void *filtered;                            /* and what is searched of it; NULL: the same */
    struct gpume_search_field field, measured; /* as it is searched, and as it was sent */
    struct gpume_task task;                    /* whose results these are */
    uint64_t number; /* of the task in the order of submission, from 1; 0: none yet */
    struct gpume_choice choice;
    /* results */
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    void *predicted; /* NULL: not wanted */
    struct gpume_job_item *items;
    uint64_t *box_ns; /* of each work item of the widest level, while probing */

    struct gpume_job_level levels[GPUME_BOX_LEVELS];
    struct gpume_step pad, filter, boxes[GPUME_BOX_LEVELS], search, rank, measure;
};

/* Cuts block rows so that the threads have enough items. */
void gpume_job_cut(struct gpume_job_shared *shared, uint32_t threads);

/* Work items of searching, and of measuring. */
uint32_t gpume_job_items(const struct gpume_job_shared *shared);

/* Entries of box_ns. */
uint32_t gpume_job_box_items(const struct gpume_job_shared *shared);

/* Says what the steps do; once, when the shared part is complete. */
void gpume_job_init(struct gpume_job *job, struct gpume_job_shared *shared);

/* The results in sum, once all is over. */
struct gpume_job_item gpume_job_total(const struct gpume_job *job);

struct gpume_probe gpume_job_probe(const struct gpume_job *job);

#endif
