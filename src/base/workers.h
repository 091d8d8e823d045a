/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed set of threads that runs parallel loops, called steps, in the order of a queue. Steps
 * that do not depend on each other overlap. How many threads take part in a step follows from how
 * long such steps took before: a thread that sleeps is only woken for more work than waking it
 * costs. Any thread queues and waits; it works too while it waits, so one worker means no extra
 * thread.
 */
#ifndef GPUME_BASE_WORKERS_H
#define GPUME_BASE_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_workers;

#define GPUME_WORK_SECTIONS 16u /* of a step's items, in which different threads begin */
#define GPUME_WORK_AFTER 3u     /* steps that a step waits for, at most */

typedef void (*gpume_work_fn)(void *opaque, uint32_t item);

/* How long an item takes in steps of one kind. Zeroed at first; it lives as long as they do. */
struct gpume_pace {
    uint32_t share_ns;            /* of work, that is worth a thread; 0: the usual one */
    atomic_uint_fast64_t item_ns; /* processor time of one, in the last steps; 0: not known yet */
};

/* Zeroed at first. The memory is the caller's, who does not touch it from queueing to completion.
 */
struct gpume_step {
    gpume_work_fn fn; /* called once for every item < count, in any order, from any thread */
    void *opaque;
    uint32_t count;
    struct gpume_pace *pace; /* NULL: an item is worth a thread */
    /* Starts when these are complete; NULL: none. Cleared. */
    const struct gpume_step *after[GPUME_WORK_AFTER];
    uint64_t busy_ns; /* wall time of all its threads, set on completion */

    /* the workers' own */
    struct gpume_step *next;                /* in the list of those that are ready, or that wait */
    uint64_t place;                         /* in the order of queueing, from 1; 0: not queued */
    atomic_uint items[GPUME_WORK_SECTIONS]; /* handed out from each section */
    uint64_t work_ns;                       /* processor time of all its threads */
    uint32_t members, most;                 /* threads in it, and how many may be */
    bool drained;                           /* every item has been handed out */
    bool timed;                             /* work_ns is measured */
};

/* Of this machine, at least 1. */
uint32_t gpume_workers_processors(void);

/* threads 0 = one per processor. GPUME_NOMEM. GPUME_AGAIN: no more threads can be started. */
int gpume_workers_create(struct gpume_workers **workers, uint32_t threads);

uint32_t gpume_workers_count(const struct gpume_workers *workers);

/* Threads that wait for a step are to take part in that step alone: they have other things to do
 * when it is complete. Before the first step; then one worker more is worth creating. */
void gpume_workers_spare_waiters(struct gpume_workers *workers);

/* Queues steps. Those that they wait for are complete or already queued. */
void gpume_workers_add(
    struct gpume_workers *workers, struct gpume_step *const *steps, uint32_t count);

/* Takes part in the work up to this step, or in this step, and returns when it is complete. */
void gpume_workers_wait(struct gpume_workers *workers, const struct gpume_step *step);

/* Queues a step and waits for it. */
void gpume_workers_do(struct gpume_workers *workers, struct gpume_step *step);

/* The same, of items that are each worth a thread. */
void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count);

/* Completes the items under way and drops the steps that are queued. Nobody else uses the workers
 * any more. Sets *workers to NULL; NULL is fine. */
void gpume_workers_destroy(struct gpume_workers **workers);

/* --- work on the rows of a picture that several threads share: one thread alone copies at a
 * fraction of what memory and a GPU's bus can take. One thread calls. */

struct gpume_bands {
    uint32_t threads;              /* at most, with the caller's; 0 or 1: the caller works alone */
    struct gpume_workers *workers; /* from the first large picture on */
    struct gpume_pace pace;        /* of a band */
};

/* Works on the rows from `begin` up to `end`. */
typedef void (*gpume_band_fn)(void *opaque, uint32_t begin, uint32_t end);

/* Calls fn from any threads, for every row once. row_bytes: that it moves. */
void gpume_bands_run(
    struct gpume_bands *bands, uint32_t rows, size_t row_bytes, gpume_band_fn fn, void *opaque);

void gpume_bands_finish(struct gpume_bands *bands);

#endif
