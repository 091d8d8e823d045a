/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread joins a step under the mutex, then takes items from atomic counters until there are
 * none; the last thread to leave ends the step. So a thread takes the mutex twice per step, not
 * once per item. Items come in sections. A thread begins with its own section, the same one in
 * every step, and then helps with the others: what it made of some rows in one step is then usually
 * still in its processor's cache in the next.
 *
 * A thread that looks for work takes the ready step with the fewest threads in it, so that steps
 * overlap rather than end one after the other. A step takes no more threads than can each work on
 * it for SHARE_NS. A sleeping worker has its own condition variable. Whoever queues work or joins a
 * step wakes up to two sleepers, if there is room for them in steps, and they do the same: the
 * number of threads doubles as long as there is work.
 */
#include "base/workers.h"

#include "base/base.h"
#include "base/os.h"
#include "gpume/gpume.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 1024u
#define SHARE_NS 300000u /* several times what it costs to wake a thread and to fill its cache */
#define TIMED_EVERY 7u   /* steps; a prime, so that steps of each kind have their turn */
#define CALLS 2u         /* sleepers that one thread wakes to find work */
#define CALLS_MAX 8u     /* with those that wait for a step; others wait for the next time */

/* A thread that has nothing to do. Condition variables stay as long as the workers: they are
 * signalled when the mutex has been released, since waking takes much longer than all that is done
 * under it. */
struct sleeper {
    pthread_cond_t *woken;           /* its own, or that of all threads that wait for a step */
    const struct gpume_step *wanted; /* it works up to this step, and then leaves; NULL: on any */
    bool sleeps, called;             /* called: to find work, and it has not come yet */
    struct sleeper *next;            /* in `sleepers` */
};

struct thread {
    pthread_t id;
    struct gpume_workers *workers;
    struct sleeper sleeper;
    pthread_cond_t woken;
    uint32_t number;
};

struct gpume_workers {
    pthread_mutex_t mutex;
    struct gpume_step *ready, *waiting; /* by place: those that threads may join, and that wait */
    struct sleeper *sleepers;           /* the last one that fell asleep first */
    pthread_cond_t waiters;
    uint64_t places; /* given to steps so far */
    uint32_t called; /* sleepers that have been called and have not come yet */
    bool stop, spares_waiters;
    uint32_t thread_count;
    struct thread threads[];
};

/* --- sleeping and waking; all need the mutex */

static bool may_take(const struct gpume_workers *workers, const struct sleeper *sleeper,
    const struct gpume_step *step)
{
    return !sleeper->wanted || step == sleeper->wanted ||
           (!workers->spares_waiters && step->place < sleeper->wanted->place);
}

/* Threads that are to be woken. */
struct calls {
    pthread_cond_t *of[CALLS_MAX];
    uint32_t count;
};

static void wake(struct calls *calls, struct sleeper **link)
{
    struct sleeper *sleeper = *link;
    *link = sleeper->next;
    sleeper->sleeps = false;
    if (calls->count < CALLS_MAX) {
        calls->of[calls->count++] = sleeper->woken;
    } else {
        pthread_cond_broadcast(sleeper->woken);
    }
}

/* Releases the mutex and wakes them. */
static void unlock(struct gpume_workers *workers, struct calls *calls)
{
    pthread_mutex_unlock(&workers->mutex);
    for (uint32_t i = 0; i < calls->count; i++) {
        pthread_cond_broadcast(calls->of[i]);
    }
    calls->count = 0;
}

/* Wakes sleepers if there is more to do than those can who have been called. */
static void call(struct gpume_workers *workers, struct calls *calls)
{
    struct sleeper **link = &workers->sleepers;
    if (!workers->ready || !*link) {
        return;
    }
    uint64_t room = 0; /* for threads, in ready steps */
    for (const struct gpume_step *step = workers->ready; step; step = step->next) {
        room += step->most - step->members;
    }
    const uint32_t most = gpume_min_u32(calls->count + CALLS, CALLS_MAX);
    while (calls->count < most && *link && room > workers->called) {
        if (may_take(workers, *link, workers->ready)) {
            (*link)->called = true;
            workers->called++;
            wake(calls, link);
        } else {
            link = &(*link)->next;
        }
    }
}

static void fall_asleep(struct gpume_workers *workers, struct sleeper *sleeper)
{
    struct sleeper **link = &workers->sleepers;
    while (sleeper->wanted && *link) { /* who may soon leave comes last */
        link = &(*link)->next;
    }
    sleeper->sleeps = true;
    sleeper->next = *link;
    *link = sleeper;
    while (sleeper->sleeps) {
        pthread_cond_wait(sleeper->woken, &workers->mutex);
    }
    if (sleeper->called) {
        sleeper->called = false;
        workers->called--;
    }
}

/* Those that wait for this step have nothing to do here any more. */
static void wake_waiters(
    struct gpume_workers *workers, const struct gpume_step *ended, struct calls *calls)
{
    struct sleeper **link = &workers->sleepers;
    while (*link) {
        if ((*link)->wanted == ended) {
            wake(calls, link);
        } else {
            link = &(*link)->next;
        }
    }
}

/* --- the queue; all need the mutex */

static void insert(struct gpume_step **list, struct gpume_step *step)
{
    while (*list && (*list)->place < step->place) {
        list = &(*list)->next;
    }
    step->next = *list;
    *list = step;
}

static void take_out(struct gpume_step **list, const struct gpume_step *step)
{
    while (*list != step) {
        list = &(*list)->next;
    }
    *list = step->next;
}

/* Is it worth asking how long its items take? */
static bool is_paced(const struct gpume_step *step)
{
    return step->pace && step->count > 1;
}

/* How many threads it is worth. */
static uint32_t most_of(const struct gpume_step *step)
{
    const uint64_t known =
        is_paced(step) ? atomic_load_explicit(&step->pace->item_ns, memory_order_relaxed) : 0;
    const uint64_t share = step->pace && step->pace->share_ns ? step->pace->share_ns : SHARE_NS;
    const uint64_t shares = known == 0 ? step->count : known * step->count / share;
    return (uint32_t)gpume_max_u64(1, gpume_min_u64(shares, step->count));
}

static bool waits(const struct gpume_step *step)
{
    bool any = false;
    for (uint32_t i = 0; i < GPUME_WORK_AFTER; i++) {
        any |= step->after[i] != NULL;
    }
    return any;
}

static void queue_step(struct gpume_workers *workers, struct gpume_step *step)
{
    assert(step->place == 0); /* it is not queued already */
    for (uint32_t i = 0; i < GPUME_WORK_AFTER; i++) {
        const bool queued = step->after[i] && step->after[i]->place > 0;
        step->after[i] = queued ? step->after[i] : NULL;
    }
    for (uint32_t i = 0; i < GPUME_WORK_SECTIONS; i++) {
        atomic_store_explicit(&step->items[i], 0, memory_order_relaxed);
    }
    step->busy_ns = step->work_ns = 0;
    step->members = 0;
    step->most = most_of(step);
    step->drained = false;
    step->place = ++workers->places;
    /* Asked until it is known, and then now and then, since the system's clock of a thread takes
     * longer to read than a short item. */
    step->timed = is_paced(step) &&
                  (step->place % TIMED_EVERY == 0 ||
                      atomic_load_explicit(&step->pace->item_ns, memory_order_relaxed) == 0);
    insert(waits(step) ? &workers->waiting : &workers->ready, step);
}

/* Those that wait for it may now be ready. */
static void end_step(struct gpume_workers *workers, struct gpume_step *ended, struct calls *calls)
{
    ended->place = 0;
    struct gpume_step **link = &workers->waiting;
    while (*link) {
        struct gpume_step *step = *link;
        for (uint32_t i = 0; i < GPUME_WORK_AFTER; i++) {
            step->after[i] = step->after[i] == ended ? NULL : step->after[i];
        }
        if (waits(step)) {
            link = &step->next;
        } else {
            *link = step->next;
            insert(&workers->ready, step);
        }
    }
    wake_waiters(workers, ended, calls);
}

/* Of those that the thread may take, the ready step that it waits for, or else the one with the
 * fewest threads; NULL: none. */
static struct gpume_step *find_work(
    const struct gpume_workers *workers, const struct sleeper *sleeper)
{
    struct gpume_step *found = NULL;
    for (struct gpume_step *step = workers->ready; step; step = step->next) {
        if (step == sleeper->wanted) {
            return step;
        }
        if (may_take(workers, sleeper, step) && (!found || step->members < found->members)) {
            found = step;
        }
    }
    return found;
}

/* --- work */

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
static void take_part(
    struct gpume_workers *workers, struct gpume_step *step, uint32_t number, struct calls *calls)
{
    uint64_t threads = gpume_workers_count(workers);
    if (++step->members == step->most) {
        take_out(&workers->ready, step);
    }
    call(workers, calls);
    unlock(workers, calls);
    const uint64_t start = gpume_clock_ns();
    const uint64_t work_start = step->timed ? gpume_clock_thread_ns() : 0;
    for (uint32_t i = 0; i < GPUME_WORK_SECTIONS; i++) {
        uint32_t section = (uint32_t)(number * GPUME_WORK_SECTIONS / threads) + i;
        do_section(step, section % GPUME_WORK_SECTIONS);
    }
    const uint64_t work = step->timed ? gpume_clock_thread_ns() - work_start : 0;
    const uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&workers->mutex);
    step->busy_ns += busy;
    step->work_ns += work;
    if (!step->drained && step->members < step->most) {
        take_out(&workers->ready, step);
    }
    step->drained = true;
    if (--step->members == 0) {
        if (step->timed) {
            atomic_store_explicit(
                &step->pace->item_ns, step->work_ns / step->count + 1, memory_order_relaxed);
        }
        end_step(workers, step, calls);
    }
}

/* Called with the mutex held; may release it. */
static void work_or_sleep(
    struct gpume_workers *workers, struct sleeper *sleeper, uint32_t number, struct calls *calls)
{
    struct gpume_step *step = find_work(workers, sleeper);
    if (step) {
        take_part(workers, step, number, calls);
    } else if (calls->count > 0) { /* somebody else may find some */
        unlock(workers, calls);
        pthread_mutex_lock(&workers->mutex);
    } else {
        fall_asleep(workers, sleeper);
    }
}

static void *thread_main(void *opaque)
{
    struct thread *thread = opaque;
    struct gpume_workers *workers = thread->workers;
    struct calls calls = {.count = 0};
    pthread_mutex_lock(&workers->mutex);
    while (!workers->stop) {
        work_or_sleep(workers, &thread->sleeper, thread->number, &calls);
    }
    unlock(workers, &calls);
    return NULL;
}

uint32_t gpume_workers_processors(void)
{
    return gpume_os_processors();
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
    pthread_cond_init(&workers->waiters, NULL);
    while (workers->thread_count + 1 < wanted) {
        struct thread *thread = &workers->threads[workers->thread_count];
        *thread = (struct thread){.workers = workers, .number = workers->thread_count + 1};
        pthread_cond_init(&thread->woken, NULL);
        thread->sleeper.woken = &thread->woken;
        if (pthread_create(&thread->id, NULL, thread_main, thread) != 0) {
            pthread_cond_destroy(&thread->woken);
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

void gpume_workers_spare_waiters(struct gpume_workers *workers)
{
    workers->spares_waiters = true;
}

void gpume_workers_add(
    struct gpume_workers *workers, struct gpume_step *const *steps, uint32_t count)
{
    struct calls calls = {.count = 0};
    pthread_mutex_lock(&workers->mutex);
    for (uint32_t i = 0; i < count; i++) {
        queue_step(workers, steps[i]);
    }
    call(workers, &calls);
    unlock(workers, &calls);
}

void gpume_workers_wait(struct gpume_workers *workers, const struct gpume_step *wanted)
{
    struct sleeper sleeper = {.woken = &workers->waiters, .wanted = wanted};
    struct calls calls = {.count = 0};
    pthread_mutex_lock(&workers->mutex);
    while (wanted->place > 0) {
        work_or_sleep(workers, &sleeper, 0, &calls);
    }
    call(workers, &calls);
    unlock(workers, &calls);
}

void gpume_workers_do(struct gpume_workers *workers, struct gpume_step *step)
{
    gpume_workers_add(workers, &step, 1);
    gpume_workers_wait(workers, step);
}

void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count)
{
    struct gpume_step step = {.fn = fn, .opaque = opaque, .count = count};
    gpume_workers_do(workers, &step);
}

void gpume_workers_destroy(struct gpume_workers **out)
{
    struct gpume_workers *workers = *out;
    if (!workers) {
        return;
    }
    struct calls calls = {.count = 0};
    *out = NULL;
    pthread_mutex_lock(&workers->mutex);
    workers->stop = true;
    while (workers->sleepers) {
        wake(&calls, &workers->sleepers);
    }
    unlock(workers, &calls);
    for (uint32_t i = 0; i < workers->thread_count; i++) {
        pthread_join(workers->threads[i].id, NULL);
        pthread_cond_destroy(&workers->threads[i].woken);
    }
    pthread_cond_destroy(&workers->waiters);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}

/* --- bands */

#define BAND_BYTES 65536u /* more are worth waking a thread for */
#define BANDS_MAX 32u
/* Less than usual: the caller has nothing else to do, and all that follows waits for it. */
#define BAND_SHARE_NS 100000u

struct run {
    gpume_band_fn fn;
    void *opaque;
    uint64_t rows, bands;
};

static void run_band(void *opaque, uint32_t band)
{
    const struct run *run = opaque;
    run->fn(run->opaque, (uint32_t)(run->rows * band / run->bands),
        (uint32_t)(run->rows * (band + 1) / run->bands));
}

/* If no threads can be started, the caller goes on alone. */
static bool has_workers(struct gpume_bands *bands)
{
    if (!bands->workers && bands->threads > 1 &&
        gpume_workers_create(&bands->workers, bands->threads) != GPUME_OK) {
        bands->threads = 1;
    }
    return bands->workers != NULL;
}

void gpume_bands_run(
    struct gpume_bands *bands, uint32_t rows, size_t row_bytes, gpume_band_fn fn, void *opaque)
{
    struct run run = {fn, opaque, rows, (uint64_t)rows * row_bytes / BAND_BYTES};
    if (run.bands > 1 && has_workers(bands)) {
        run.bands = gpume_min_u64(gpume_min_u64(run.bands, BANDS_MAX), rows);
        bands->pace.share_ns = BAND_SHARE_NS;
        struct gpume_step step = {
            .fn = run_band, .opaque = &run, .count = (uint32_t)run.bands, .pace = &bands->pace};
        gpume_workers_do(bands->workers, &step);
    } else {
        fn(opaque, 0, rows);
    }
}

void gpume_bands_finish(struct gpume_bands *bands)
{
    gpume_workers_destroy(&bands->workers);
}
