/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed set of threads that runs parallel loops, called steps, in the order of a queue. While the
 * last items of one step are under way, idle threads start the next step that does not depend on
 * it. One thread queues and waits; it works too while it waits, so one worker means no extra
 * thread.
 */
#ifndef GPUME_BASE_WORKERS_H
#define GPUME_BASE_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gpume_workers;

#define GPUME_WORK_SECTIONS 16u /* of a step's items, in which different threads begin */

typedef void (*gpume_work_fn)(void *opaque, uint32_t item);

/* Zeroed at first. The memory is the caller's, who does not touch it from queueing to completion.
 */
struct gpume_step {
    gpume_work_fn fn; /* called once for every item < count, in any order, from any thread */
    void *opaque;
    uint32_t count;
    const struct gpume_step *after[2]; /* starts when these are complete; NULL: none. Cleared. */
    const struct gpume_step
        *before;      /* queued before this one if that is still queued; NULL: last */
    uint64_t busy_ns; /* wall time of all its threads, set on completion */

    /* the workers' own */
    struct gpume_step *next;                /* in the queue */
    atomic_uint items[GPUME_WORK_SECTIONS]; /* handed out from each section */
    uint32_t members;                       /* threads in it */
    bool drained;                           /* every item has been handed out */
    bool queued;                            /* and not complete */
};

/* Of this machine, at least 1. */
uint32_t gpume_workers_processors(void);

/* threads 0 = one per processor. GPUME_NOMEM. GPUME_AGAIN: no more threads can be started. */
int gpume_workers_create(struct gpume_workers **workers, uint32_t threads);

uint32_t gpume_workers_count(const struct gpume_workers *workers);

/* Queues steps last, or where `before` puts them. The steps that they wait for are complete or
 * already queued. */
void gpume_workers_add(
    struct gpume_workers *workers, struct gpume_step *const *steps, uint32_t count);

/* Takes part in the work up to this step and returns when the step is complete. */
void gpume_workers_wait(struct gpume_workers *workers, const struct gpume_step *step);

/* Queues one step and waits for it. */
void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count);

/* Completes the items under way and drops the steps that are queued. Sets *workers to NULL; NULL is
 * fine. */
void gpume_workers_destroy(struct gpume_workers **workers);

#endif
