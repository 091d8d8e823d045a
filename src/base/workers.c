/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread joins a step under the mutex, then takes items from atomic counters until there are
 * none; the last thread to leave ends the step. So a thread takes the mutex twice per step, not
 * once per item. Items come in sections. A thread begins with its own section, the same one in
 * every step, and then helps with the others: what it made of some rows in one step is then usually
 * still in its processor's cache in the next.
 */
#include "base/workers.h"

#include "base/clock.h"
#include "gpume/gpume.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 1024u
#define SPIN_NS                                                                                    \
    5000u /* before sleeping: steps end soon after they drain, and waking takes longer */

struct thread {
    pthread_t id;
    struct gpume_workers *workers;
    uint32_t number;
};

struct gpume_workers {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t sleepers;
    struct gpume_step *first; /* the queue */
    atomic_uint news;         /* rises with every change of the queue */
    bool stop;
    uint32_t thread_count;
    struct thread threads[];
};

static void wake(struct gpume_workers *workers)
{
    atomic_fetch_add_explicit(&workers->news, 1, memory_order_relaxed);
    if (workers->sleepers > 0) {
        pthread_cond_broadcast(&workers->changed);
    }
}

/* Called with the mutex held; releases it while waiting. */
static void wait_for_news(struct gpume_workers *workers)
{
    uint32_t seen = atomic_load_explicit(&workers->news, memory_order_relaxed);
    if (workers->first) {
        pthread_mutex_unlock(&workers->mutex);
        uint64_t end = gpume_clock_ns() + SPIN_NS;
        while (atomic_load_explicit(&workers->news, memory_order_relaxed) == seen &&
               gpume_clock_ns() < end) {
        }
        pthread_mutex_lock(&workers->mutex);
    }
    if (atomic_load_explicit(&workers->news, memory_order_relaxed) != seen) {
        return;
    }
    workers->sleepers++;
    pthread_cond_wait(&workers->changed, &workers->mutex);
    workers->sleepers--;
}

/* The first step up to `last` that can use a thread; NULL: none. */
static struct gpume_step *find_work(
    const struct gpume_workers *workers, const struct gpume_step *last)
{
    for (struct gpume_step *step = workers->first; step; step = step->next) {
        if (!step->after[0] && !step->after[1] && !step->drained) {
            return step;
        }
        if (step == last) {
            break;
        }
    }
    return NULL;
}

/* Removes the step from the queue and releases those that wait for it. */
static void end_step(struct gpume_workers *workers, struct gpume_step *ended)
{
    struct gpume_step **link = &workers->first;
    while (*link != ended) {
        link = &(*link)->next;
    }
    *link = ended->next;
    ended->queued = false;
    for (struct gpume_step *step = workers->first; step; step = step->next) {
        for (uint32_t i = 0; i < 2; i++) {
            step->after[i] = step->after[i] == ended ? NULL : step->after[i];
        }
    }
    wake(workers);
}

/* The first item of a section, or one past the last item. */
static uint32_t section_start(const struct gpume_step *step, uint32_t section)
{
    return (uint32_t)((uint64_t)step->count * section / GPUME_WORK_SECTIONS);
}

static void do_section(struct gpume_step *step, uint32_t section)
{
    uint32_t start = section_start(step, section), count = section_start(step, section + 1) - start;
    atomic_uint *items = &step->items[section];
    while (atomic_load_explicit(items, memory_order_relaxed) < count) {
        uint32_t item = atomic_fetch_add_explicit(items, 1, memory_order_relaxed);
        if (item < count) {
            step->fn(step->opaque, start + item);
        }
    }
}

/* Called with the mutex held; releases it while working. number: the thread's. */
static void take_part(struct gpume_workers *workers, struct gpume_step *step, uint32_t number)
{
    uint64_t threads = gpume_workers_count(workers);
    step->members++;
    pthread_mutex_unlock(&workers->mutex);
    uint64_t start = gpume_clock_ns();
    for (uint32_t i = 0; i < GPUME_WORK_SECTIONS; i++) {
        uint32_t section = (uint32_t)(number * GPUME_WORK_SECTIONS / threads) + i;
        do_section(step, section % GPUME_WORK_SECTIONS);
    }
    uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&workers->mutex);
    step->busy_ns += busy;
    step->drained = true;
    if (--step->members == 0) {
        end_step(workers, step);
    }
}

static void *thread_main(void *opaque)
{
    const struct thread *thread = opaque;
    struct gpume_workers *workers = thread->workers;
    pthread_mutex_lock(&workers->mutex);
    while (!workers->stop) {
        struct gpume_step *step = find_work(workers, NULL);
        if (step) {
            take_part(workers, step, thread->number);
        } else {
            wait_for_news(workers);
        }
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

uint32_t gpume_workers_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

int gpume_workers_create(struct gpume_workers **out, uint32_t threads)
{
    uint32_t wanted = threads ? threads : gpume_workers_processors();
    wanted = wanted > THREADS_MAX ? THREADS_MAX : wanted;
    struct gpume_workers *workers = calloc(1, sizeof(*workers) + wanted * sizeof(struct thread));
    if (!workers) {
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->changed, NULL);
    while (workers->thread_count + 1 < wanted) {
        struct thread *thread = &workers->threads[workers->thread_count];
        *thread = (struct thread){.workers = workers, .number = workers->thread_count + 1};
        if (pthread_create(&thread->id, NULL, thread_main, thread) != 0) {
            gpume_workers_destroy(&workers);
            return GPUME_AGAIN;
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

/* Inserts the step at the link. Needs the mutex. */
static void insert(struct gpume_step **link, struct gpume_step *step)
{
    for (uint32_t i = 0; i < 2; i++) {
        bool waits = step->after[i] && step->after[i]->queued;
        step->after[i] = waits ? step->after[i] : NULL;
    }
    for (uint32_t i = 0; i < GPUME_WORK_SECTIONS; i++) {
        atomic_store_explicit(&step->items[i], 0, memory_order_relaxed);
    }
    step->busy_ns = 0;
    step->members = 0;
    step->drained = false;
    step->queued = true;
    step->next = *link;
    *link = step;
}

/* After the steps that it waits for: whoever waits for a step looks no further than that step. */
static struct gpume_step **place_of(struct gpume_workers *workers, const struct gpume_step *step)
{
    struct gpume_step **place = NULL, **link = &workers->first;
    for (; *link; link = &(*link)->next) {
        if (*link == step->before) {
            place = link;
        }
        if (*link == step->after[0] || *link == step->after[1]) {
            place = NULL;
        }
    }
    return place ? place : link;
}

void gpume_workers_add(
    struct gpume_workers *workers, struct gpume_step *const *steps, uint32_t count)
{
    pthread_mutex_lock(&workers->mutex);
    for (uint32_t i = 0; i < count; i++) {
        insert(place_of(workers, steps[i]), steps[i]);
    }
    wake(workers);
    pthread_mutex_unlock(&workers->mutex);
}

void gpume_workers_wait(struct gpume_workers *workers, const struct gpume_step *wanted)
{
    pthread_mutex_lock(&workers->mutex);
    while (wanted->queued) {
        struct gpume_step *step = find_work(workers, wanted);
        if (step) {
            take_part(workers, step, 0);
        } else {
            wait_for_news(workers);
        }
    }
    pthread_mutex_unlock(&workers->mutex);
}

void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count)
{
    struct gpume_step step = {.fn = fn, .opaque = opaque, .count = count};
    struct gpume_step *steps[] = {&step};
    gpume_workers_add(workers, steps, 1);
    gpume_workers_wait(workers, &step);
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
    wake(workers);
    pthread_mutex_unlock(&workers->mutex);
    for (uint32_t i = 0; i < workers->thread_count; i++) {
        pthread_join(workers->threads[i].id, NULL);
    }
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}
