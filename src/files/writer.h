/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that make what is written, one that writes it, and whether a write waits for a reader. */
#ifndef GPUME_FILES_WRITER_H
#define GPUME_FILES_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A thread that writes buffers to a descriptor while callers fill the next ones. Buffers are
 * numbered from 0, are claimed and committed once each, by any thread, and are written in order.
 */

struct gpume_writer;

/* Writes all bytes on the calling thread. Returns 0 or an errno. */
int gpume_write_all(int fd, const unsigned char *data, size_t bytes);

/* NULL without memory or a thread. The descriptor stays the caller's and must outlive the writer.
 * bytes: of each buffer. */
struct gpume_writer *gpume_writer_open(int fd, size_t bytes);

/* Waits for the memory of the buffer with that number; all earlier numbers must have been claimed.
 * Returns 0, or the errno of a failed write, after which nothing is written. */
int gpume_writer_claim(struct gpume_writer *writer, uint64_t number, unsigned char **buffer);

/* Hands the buffer, with that many bytes, to the writer. */
void gpume_writer_commit(struct gpume_writer *writer, uint64_t number, size_t bytes);

/* Waits until all buffers before number `end` are written. Returns as claim does. */
int gpume_writer_drain(struct gpume_writer *writer, uint64_t end);

/* Discards buffers that are not yet written. Sets *writer to NULL. */
void gpume_writer_close(struct gpume_writer **writer);

/*
 * Threads that make the items of jobs and hand them to a writer. Several jobs are under way at
 * once, so a job need not have work for all threads. Items are begun in the order of the jobs: the
 * oldest one under way always has a buffer of the writer, and nobody waits forever for one.
 *
 * One thread adds jobs and waits for them.
 */

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

/*
 * Writes to pipes and terminals, which wait for as long as their readers do not read. Who wants to
 * end the process asks here whether one of them waits. Any thread.
 */

/* Around each write that may wait. */
void gpume_stall_begin(void);
void gpume_stall_end(void);

/* Whether one is under way and none has ended since the last look. last: of this caller; starts as
 * 0. */
bool gpume_stall_look(uint64_t *last);

#endif
