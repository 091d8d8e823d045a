/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/makers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

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

static void make_item(const struct gpume_job *job, uint32_t item)
{
    unsigned char *at = NULL;
    if (gpume_writer_claim(job->writer, job->first + item, &at) == 0) {
        const size_t bytes = job->make(job->opaque, item, (char *)at);
        gpume_writer_commit(job->writer, job->first + item, bytes);
    }
}

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
    make_item(job, item);
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
