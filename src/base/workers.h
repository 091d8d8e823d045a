/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed set of threads that runs parallel loops, called steps, in the order of a queue as far as
 * they do not wait for each other: while the last items of one step are under way,
 * threads without work go on with the next one that may run. One thread queues and waits; it is one
 * of the workers while it waits, so one worker means no extra thread.
 */
#ifndef GPUME_BASE_WORKERS_H
#define GPUME_BASE_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gpume_workers;

#define GPUME_WORK_SECTIONS 16u /* of a step's items, in which different threads begin */

typedef void (*gpume_work_fn)(void *opaque, uint32_t item);

/* Zeroed at first. Memory of the caller's, untouched by him from queueing it until it is over. */
struct gpume_step {
    gpume_work_fn fn; /* called once for every item < count, in no order, from any thread */
    void *opaque;
    uint32_t count;
    const struct gpume_step *after[2]; /* begins when these are over; NULL: none. Cleared. */
    const struct gpume_step *before;   /* queued in front of this one if it can be; NULL: of none */
    uint64_t busy_ns;                  /* wall time of all threads in it, set when it is over */

    /* the workers' own */
    struct gpume_step *next;                /* in the queue */
    atomic_uint items[GPUME_WORK_SECTIONS]; /* handed out of each section */
    uint32_t members;                       /* threads in it */
    bool drained;                           /* no item left to hand out */
    bool queued;                            /* and not over */
};

/* threads 0 = one per processor. GPUME_NOMEM; GPUME_AGAIN: the system lets no more threads start.
 */
int gpume_workers_create(struct gpume_workers **workers, uint32_t threads);

uint32_t gpume_workers_count(const struct gpume_workers *workers);

/* Queues steps behind all others, or where `before` puts them. Those that they wait for are over or
 * queued already. */
void gpume_workers_add(
    struct gpume_workers *workers, struct gpume_step *const *steps, uint32_t count);

/* Takes part in the work up to this step, and returns when that is over. */
void gpume_workers_wait(struct gpume_workers *workers, const struct gpume_step *step);

/* One step, from queueing it to its end. */
void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count);

/* Items under way are finished, steps still queued are dropped. NULL is fine. Sets *workers to
 * NULL. */
void gpume_workers_destroy(struct gpume_workers **workers);

#endif
