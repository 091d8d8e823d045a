/* SPDX-License-Identifier: BSD-2-Clause */
/* What the CPU engine keeps between calls, and its two directions of work: submitting (submit.c)
 * queues steps, collecting (collect.c) waits for them and adds up what they found. */
#ifndef GPUME_CPU_CPU_H
#define GPUME_CPU_CPU_H

#include "cpu/rings.h"
#include "cpu/steps.h"
#include "frame/engine.h"

/* The last step queued of each kind; NULL: none. */
struct gpume_latest {
    const struct gpume_step *surfaces[GPUME_SURFACE_COUNT];
    const struct gpume_step *fractions, *sums, *measure;
};

struct gpume_cpu {
    struct gpume_shared shared;
    struct gpume_workers *workers;
    void **frames; /* pool */
    struct gpume_rings rings;
    struct gpume_scratch scratches[GPUME_SLOTS_MAX]; /* of tasks that are searched side by side */
    uint32_t scratch_count;                          /* 1, or as many as slots */
    struct gpume_steps *slots;
    struct gpume_policy policies[GPUME_LAYERS_MAX];
    struct gpume_stats stats; /* times of all threads together */
    uint64_t bytes;           /* allocated */
    char device[64];
    uint64_t tasks; /* submitted so far */
    struct gpume_latest latest;
};

/* The last search of the task in a slot. */
static inline const struct gpume_step *gpume_cpu_last_search(
    const struct gpume_cpu *cpu, const struct gpume_steps *steps)
{
    return &steps->layers[cpu->shared.plan.layer_count - 1].search;
}

/* These implement the functions of gpume_engine_ops. */
int gpume_cpu_submit(void *engine, uint32_t slot, const struct gpume_batch *batch);
int gpume_cpu_collect(void *engine, uint32_t slot, const struct gpume_batch *batch);

#endif
