/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of buffers: callers fill the newest, the thread writes the oldest. Copying rows into the
 * page cache takes as long as formatting them, so both run in parallel. More threads that write
 * would gain nothing: Linux lets one at a time write to a file (tests/bench/TRIED.md).
 */
#include "files/writer.h"

#include "files/stall.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Waits until so many buffers are written. */
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
