/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of buffers: callers fill the newest, the thread writes the oldest. Copying rows into the
 * page cache takes as long as formatting them, so both run in parallel. More threads that write
 * would gain nothing: Linux lets one at a time write to a file (tests/bench/TRIED.md).
 */
#include "files/out.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- writes that wait for a reader */

static struct {
    atomic_uint under_way;
    atomic_uint_least64_t ended;
} writes;

void gpume_stall_begin(void)
{
    atomic_fetch_add(&writes.under_way, 1);
}

void gpume_stall_end(void)
{
    atomic_fetch_add(&writes.ended, 1);
    atomic_fetch_sub(&writes.under_way, 1);
}

bool gpume_stall_look(uint64_t *last)
{
    const uint64_t before = *last;
    *last = atomic_load(&writes.ended);
    return *last == before && atomic_load(&writes.under_way) > 0;
}

/* --- the writer */

/* Eight callers fill one each, one is written, and the others absorb delays. */
#define BUFFERS 16

/* A pipe's usual capacity: a reader who takes less than this in a second counts as stalled. */
#define PIPE_BYTES ((size_t)64 * 1024)

struct gpume_writer {
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    pthread_cond_t emptied[BUFFERS]; /* one per buffer, to wake only its waiter */
    uint64_t written;                /* buffers so far */
    bool stop;
    int error;             /* errno; sticky: nothing is written after it */
    bool full[BUFFERS];    /* committed, not yet written */
    size_t bytes[BUFFERS]; /* of a committed buffer */
    size_t capacity;
    unsigned char *memory;
};

/* waits: for a reader, who may not read. */
static ssize_t write_some(int fd, const unsigned char *data, size_t bytes, bool waits)
{
    if (!waits) {
        return write(fd, data, bytes < SSIZE_MAX ? bytes : SSIZE_MAX);
    }
    gpume_stall_begin();
    const ssize_t done = write(fd, data, bytes < PIPE_BYTES ? bytes : PIPE_BYTES);
    const int error = errno;
    gpume_stall_end();
    errno = error;
    return done;
}

int gpume_write_all(int fd, const unsigned char *data, size_t bytes)
{
    struct stat info;
    const bool waits = fstat(fd, &info) != 0 || !S_ISREG(info.st_mode);
    while (bytes > 0) {
        const ssize_t done = write_some(fd, data, bytes, waits);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : ENOSPC;
        }
        data += done;
        bytes -= (size_t)done;
    }
    return 0;
}

static unsigned char *buffer_of(const struct gpume_writer *writer, uint64_t number)
{
    return writer->memory + number % BUFFERS * writer->capacity;
}

static void *writer_main(void *opaque)
{
    struct gpume_writer *writer = opaque;
    pthread_mutex_lock(&writer->mutex);
    while (!writer->stop && writer->error == 0) {
        const uint64_t number = writer->written;
        const size_t slot = number % BUFFERS;
        if (!writer->full[slot]) {
            pthread_cond_wait(&writer->filled, &writer->mutex);
            continue;
        }
        pthread_mutex_unlock(&writer->mutex);
        const int error =
            gpume_write_all(writer->fd, buffer_of(writer, number), writer->bytes[slot]);
        pthread_mutex_lock(&writer->mutex);
        writer->error = error;
        writer->full[slot] = false;
        writer->written++;
        pthread_cond_broadcast(&writer->emptied[slot]);
    }
    for (size_t i = 0; i < BUFFERS; i++) { /* after an error, waiting is pointless */
        pthread_cond_broadcast(&writer->emptied[i]);
    }
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

static void free_all(struct gpume_writer *writer)
{
    for (size_t i = 0; i < BUFFERS; i++) {
        pthread_cond_destroy(&writer->emptied[i]);
    }
    pthread_cond_destroy(&writer->filled);
    pthread_mutex_destroy(&writer->mutex);
    free(writer->memory);
    free(writer);
}

struct gpume_writer *gpume_writer_open(int fd, size_t bytes)
{
    struct gpume_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return NULL;
    }
    writer->fd = fd;
    writer->capacity = bytes;
    writer->memory = malloc(BUFFERS * bytes);
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->filled, NULL);
    for (size_t i = 0; i < BUFFERS; i++) {
        pthread_cond_init(&writer->emptied[i], NULL);
    }
    if (!writer->memory || pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
        free_all(writer);
        return NULL;
    }
    return writer;
}

/* Waits until all buffers before number `end` are written. */
static int wait_written(struct gpume_writer *writer, uint64_t end)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->error == 0 && writer->written < end) {
        pthread_cond_wait(&writer->emptied[(end - 1) % BUFFERS], &writer->mutex);
    }
    const int error = writer->error;
    pthread_mutex_unlock(&writer->mutex);
    return error;
}

int gpume_writer_claim(struct gpume_writer *writer, uint64_t number, unsigned char **buffer)
{
    const int error = wait_written(writer, number < BUFFERS ? 0 : number - BUFFERS + 1);
    if (error == 0) {
        *buffer = buffer_of(writer, number);
    }
    return error;
}

void gpume_writer_commit(struct gpume_writer *writer, uint64_t number, size_t bytes)
{
    pthread_mutex_lock(&writer->mutex);
    writer->bytes[number % BUFFERS] = bytes;
    writer->full[number % BUFFERS] = true;
    if (number == writer->written) {
        pthread_cond_signal(&writer->filled);
    }
    pthread_mutex_unlock(&writer->mutex);
}

int gpume_writer_drain(struct gpume_writer *writer, uint64_t end)
{
    return wait_written(writer, end);
}

void gpume_writer_close(struct gpume_writer **pointer)
{
    struct gpume_writer *writer = *pointer;
    if (!writer) {
        return;
    }
    *pointer = NULL;
    pthread_mutex_lock(&writer->mutex);
    writer->stop = true;
    pthread_cond_signal(&writer->filled);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    free_all(writer);
}

/* --- makers */

struct gpume_makers {
    pthread_mutex_t mutex;
    pthread_cond_t added, ended;
    uint32_t idle;           /* threads that wait for items */
    struct gpume_job *first; /* with items that have not been begun */
    struct gpume_job **last; /* the link after the last of them */
    uint32_t under_way;      /* jobs */
    bool stop;
    uint32_t count;
    pthread_t threads[];
};

/* Makes the next item of all jobs. Called with the mutex held; releases it meanwhile. */
static void make_next(struct gpume_makers *makers)
{
    struct gpume_job *job = makers->first;
    const uint32_t item = job->begun++;
    if (job->begun == job->count) {
        makers->first = job->next;
        makers->last = makers->first ? makers->last : &makers->first;
    }
    pthread_mutex_unlock(&makers->mutex);
    unsigned char *at = NULL;
    if (gpume_writer_claim(job->writer, job->first + item, &at) == 0) {
        const size_t bytes = job->make(job->opaque, item, (char *)at);
        gpume_writer_commit(job->writer, job->first + item, bytes);
    }
    pthread_mutex_lock(&makers->mutex);
    if (job->left == 1 && job->done) {
        pthread_mutex_unlock(&makers->mutex);
        job->done(job->opaque);
        pthread_mutex_lock(&makers->mutex);
    }
    if (--job->left == 0) {
        makers->under_way--;
        pthread_cond_signal(&makers->ended);
    }
}

static void *makers_main(void *opaque)
{
    struct gpume_makers *makers = opaque;
    pthread_mutex_lock(&makers->mutex);
    while (!makers->stop) {
        if (makers->first) {
            make_next(makers);
        } else {
            makers->idle++;
            pthread_cond_wait(&makers->added, &makers->mutex);
            makers->idle--;
        }
    }
    pthread_mutex_unlock(&makers->mutex);
    return NULL;
}

struct gpume_makers *gpume_makers_open(uint32_t threads)
{
    struct gpume_makers *makers = calloc(1, sizeof(*makers) + threads * sizeof(pthread_t));
    if (!makers) {
        return NULL;
    }
    makers->last = &makers->first;
    pthread_mutex_init(&makers->mutex, NULL);
    pthread_cond_init(&makers->added, NULL);
    pthread_cond_init(&makers->ended, NULL);
    while (makers->count < threads &&
           pthread_create(&makers->threads[makers->count], NULL, makers_main, makers) == 0) {
        makers->count++;
    }
    if (makers->count == 0) {
        gpume_makers_close(&makers);
    }
    return makers;
}

uint32_t gpume_makers_count(const struct gpume_makers *makers)
{
    return makers->count;
}

void gpume_makers_add(
    struct gpume_makers *makers, struct gpume_job *job, struct gpume_writer *writer, uint64_t first)
{
    pthread_mutex_lock(&makers->mutex);
    job->writer = writer;
    job->first = first;
    job->begun = 0;
    job->left = job->count;
    job->next = NULL;
    *makers->last = job;
    makers->last = &job->next;
    makers->under_way++;
    for (uint32_t i = 0; i < job->count && i < makers->idle; i++) {
        pthread_cond_signal(&makers->added);
    }
    pthread_mutex_unlock(&makers->mutex);
}

void gpume_makers_wait(struct gpume_makers *makers, const struct gpume_job *job)
{
    if (!makers) {
        return;
    }
    pthread_mutex_lock(&makers->mutex);
    while (job->left > 0) {
        pthread_cond_wait(&makers->ended, &makers->mutex);
    }
    pthread_mutex_unlock(&makers->mutex);
}

void gpume_makers_wait_all(struct gpume_makers *makers)
{
    pthread_mutex_lock(&makers->mutex);
    while (makers->under_way > 0) {
        pthread_cond_wait(&makers->ended, &makers->mutex);
    }
    pthread_mutex_unlock(&makers->mutex);
}

void gpume_makers_close(struct gpume_makers **pointer)
{
    struct gpume_makers *makers = *pointer;
    if (!makers) {
        return;
    }
    *pointer = NULL;
    pthread_mutex_lock(&makers->mutex);
    makers->stop = true;
    pthread_cond_broadcast(&makers->added);
    pthread_mutex_unlock(&makers->mutex);
    for (uint32_t i = 0; i < makers->count; i++) {
        pthread_join(makers->threads[i], NULL);
    }
    pthread_cond_destroy(&makers->added);
    pthread_cond_destroy(&makers->ended);
    pthread_mutex_destroy(&makers->mutex);
    free(makers);
}
