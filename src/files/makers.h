/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that make the items of jobs and hand them to a writer. Several jobs are under way at
 * once, so a job need not have work for all threads. Items are begun in the order of the jobs: the
 * oldest one under way always has a buffer of the writer, and nobody waits forever for one.
 *
 * One thread adds jobs and waits for them.
 */
#ifndef GPUME_FILES_MAKERS_H
#define GPUME_FILES_MAKERS_H

#include "files/writer.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_makers;

/* Writes an item to `at` and returns its number of bytes. */
typedef size_t (*gpume_make_fn)(void *opaque, uint32_t item, char *at);

/* The memory is the caller's, who does not touch it until the job has been waited for. Zeroed at
 * first. */
struct gpume_job {
    gpume_make_fn make; /* called once for every item < count, from any thread */
    /* Called once when no call of make is left to come or under way, from any thread; NULL: none */
    void (*done)(void *opaque);
    void *opaque;
    uint32_t count; /* of items, 1 or more */

    /* the makers' own */
    struct gpume_writer *writer;
    uint64_t first; /* number of the first item's buffer */
    uint32_t begun; /* items */
    uint32_t left;  /* items that are not complete; 0: the job is none of theirs any more */
    struct gpume_job *next;
};

/* NULL without memory or threads. */
struct gpume_makers *gpume_makers_open(uint32_t threads);

uint32_t gpume_makers_count(const struct gpume_makers *makers);

/* Queues the job, whose items get the writer's buffers from number `first` on. After a failed write
 * its items are not made, but it ends all the same. */
void gpume_makers_add(struct gpume_makers *makers, struct gpume_job *job,
    struct gpume_writer *writer, uint64_t first);

/* Returns when the job has ended, or has never been added. No makers (NULL) have no jobs. */
void gpume_makers_wait(struct gpume_makers *makers, const struct gpume_job *job);

/* Returns when all jobs have ended. */
void gpume_makers_wait_all(struct gpume_makers *makers);

/* All jobs have ended. Sets *makers to NULL; NULL is fine. */
void gpume_makers_close(struct gpume_makers **makers);

#endif
