/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of buffers: the caller fills the newest, the thread writes the oldest. Copying a gigabyte
 * a second into the page cache takes as long as making it; apart, each has a processor.
 */
#include "base/writer.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFERS 4 /* one is filled, one is written, two smooth over what takes longer */

struct gpume_writer {
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t filled, written; /* buffers so far */
    bool stop;
    int error;             /* errno; sticky */
    size_t bytes[BUFFERS]; /* in each */
    size_t capacity;
    unsigned char *memory;
};

int gpume_write_all(int fd, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        const size_t chunk = bytes < SSIZE_MAX ? bytes : SSIZE_MAX;
        const ssize_t done = write(fd, data, chunk);
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
    for (;;) {
        while (!writer->stop && writer->written == writer->filled) {
            pthread_cond_wait(&writer->changed, &writer->mutex);
        }
        if (writer->stop) {
            break;
        }
        const uint64_t number = writer->written;
        int error = writer->error;
        pthread_mutex_unlock(&writer->mutex);
        if (error == 0) {
            error = gpume_write_all(
                writer->fd, buffer_of(writer, number), writer->bytes[number % BUFFERS]);
        }
        pthread_mutex_lock(&writer->mutex);
        writer->error = error;
        writer->written++;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

struct gpume_writer *gpume_writer_open(int fd, size_t bytes, unsigned char **buffer)
{
    struct gpume_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return NULL;
    }
    writer->fd = fd;
    writer->capacity = bytes;
    writer->memory = malloc(BUFFERS * bytes);
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, NULL);
    if (!writer->memory || pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
        pthread_cond_destroy(&writer->changed);
        pthread_mutex_destroy(&writer->mutex);
        free(writer->memory);
        free(writer);
        return NULL;
    }
    *buffer = writer->memory;
    return writer;
}

int gpume_writer_swap(struct gpume_writer *writer, unsigned char **buffer, size_t bytes)
{
    pthread_mutex_lock(&writer->mutex);
    writer->bytes[writer->filled % BUFFERS] = bytes;
    writer->filled++;
    pthread_cond_broadcast(&writer->changed);
    while (writer->filled - writer->written == BUFFERS) {
        pthread_cond_wait(&writer->changed, &writer->mutex);
    }
    *buffer = buffer_of(writer, writer->filled);
    const int error = writer->error;
    pthread_mutex_unlock(&writer->mutex);
    return error;
}

int gpume_writer_drain(struct gpume_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->written < writer->filled) {
        pthread_cond_wait(&writer->changed, &writer->mutex);
    }
    const int error = writer->error;
    pthread_mutex_unlock(&writer->mutex);
    return error;
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
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
    free(writer->memory);
    free(writer);
}
