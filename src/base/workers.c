/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items are handed out by an atomic counter: block rows cost about the same, so nothing cleverer
 * pays. A run is announced by a rising generation number; the last thread to leave wakes the
 * caller.
 */
#include "base/workers.h"

#include "gpume/gpume.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 1024u

struct gpume_workers {
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    uint64_t generation; /* of the newest run */
    uint32_t busy;       /* threads still in it */
    bool stop;
    gpume_work_fn fn;
    void *opaque;
    uint32_t count;
    atomic_uint next; /* item to hand out */
    uint32_t thread_count;
    pthread_t threads[];
};

static void work(struct gpume_workers *workers)
{
    for (;;) {
        uint32_t item = atomic_fetch_add_explicit(&workers->next, 1, memory_order_relaxed);
        if (item >= workers->count) {
            return;
        }
        workers->fn(workers->opaque, item);
    }
}

static void *thread_main(void *opaque)
{
    struct gpume_workers *workers = opaque;
    uint64_t seen = 0;
    pthread_mutex_lock(&workers->mutex);
    for (;;) {
        while (!workers->stop && workers->generation == seen) {
            pthread_cond_wait(&workers->start, &workers->mutex);
        }
        if (workers->stop) {
            break;
        }
        seen = workers->generation;
        pthread_mutex_unlock(&workers->mutex);
        work(workers);
        pthread_mutex_lock(&workers->mutex);
        if (--workers->busy == 0) {
            pthread_cond_signal(&workers->done);
        }
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

static uint32_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

int gpume_workers_create(struct gpume_workers **out, uint32_t threads)
{
    uint32_t wanted = threads ? threads : processors();
    wanted = wanted > THREADS_MAX ? THREADS_MAX : wanted;
    struct gpume_workers *workers = calloc(1, sizeof(*workers) + wanted * sizeof(pthread_t));
    if (!workers) {
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->start, NULL);
    pthread_cond_init(&workers->done, NULL);
    while (workers->thread_count + 1 < wanted) {
        pthread_t *thread = &workers->threads[workers->thread_count];
        if (pthread_create(thread, NULL, thread_main, workers) != 0) {
            gpume_workers_destroy(&workers);
            return GPUME_NOMEM;
        }
        workers->thread_count++;
    }
    *out = workers;
    return GPUME_OK;
}

uint32_t gpume_workers_count(const struct gpume_workers *workers)
{
    return workers->thread_count + 1;
}

void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count)
{
    pthread_mutex_lock(&workers->mutex);
    workers->fn = fn;
    workers->opaque = opaque;
    workers->count = count;
    atomic_store_explicit(&workers->next, 0, memory_order_relaxed);
    workers->busy = workers->thread_count;
    workers->generation++;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->mutex);

    work(workers);

    pthread_mutex_lock(&workers->mutex);
    while (workers->busy > 0) {
        pthread_cond_wait(&workers->done, &workers->mutex);
    }
    pthread_mutex_unlock(&workers->mutex);
}

void gpume_workers_destroy(struct gpume_workers **out)
{
    struct gpume_workers *workers = *out;
    if (!workers) {
        return;
    }
    *out = NULL;
    pthread_mutex_lock(&workers->mutex);
    workers->stop = true;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->mutex);
    for (uint32_t i = 0; i < workers->thread_count; i++) {
        pthread_join(workers->threads[i], NULL);
    }
    pthread_cond_destroy(&workers->done);
    pthread_cond_destroy(&workers->start);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}
