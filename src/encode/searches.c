/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/searches.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct gpume_searches {
    struct gpume_log log;
    gpume *context;
    struct gpume_info info;
    struct gpume_blocks *blocks;
    pthread_mutex_t order; /* one thread at a time sends or requests */
    bool threaded;         /* a thread receives fields */
    pthread_t thread;
    pthread_mutex_t mutex; /* for all below, and `received` of what has been requested */
    pthread_cond_t changed;
    uint64_t requested, received; /* fields */
    uint32_t waiting;             /* threads */
    int status;                   /* of the run, once it has failed */
};

_Static_assert(GPUME_HALF_WINDOW % 2 == 0, "the window is halved");

static int open_context(struct gpume_searches *s, const struct gpume_blocks_params *params)
{
    struct gpume_params search;
    gpume_params_default(&search);
    search.width = params->blocks_x * GPUME_HALF_BLOCK / 2;
    search.height = params->blocks_y * GPUME_HALF_BLOCK / 2;
    search.block = GPUME_HALF_BLOCK;
    search.window_x = search.window_y = GPUME_HALF_WINDOW / 2;
    search.metric = GPUME_METRIC_SAD;
    search.direction = GPUME_DIRECTION_MANUAL;
    search.ref_distance = params->frames - 1;
    search.backend = params->backend;
    search.device = params->device;
    search.threads = params->threads;
    search.cache_dir = params->cache_dir;
    search.log = params->log;
    search.log_opaque = params->log_opaque;
    GPUME_CHECK(gpume_open(&s->context, &search));
    gpume_get_info(s->context, &s->info);
    return GPUME_OK;
}

static void *receive_all(void *opaque);

int gpume_searches_open(struct gpume_searches **searches, const struct gpume_blocks_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_searches *s = calloc(1, sizeof(*s));
    if (!s) {
        return gpume_log_nomem(&log, "the searches of the lookahead");
    }
    int status;
    s->log = log;
    pthread_mutex_init(&s->order, NULL);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    GPUME_TRY(open_context(s, params));
    GPUME_TRY(gpume_blocks_open(&s->blocks, params, gpume_searches_on_gpu(s)));
    s->threaded = pthread_create(&s->thread, NULL, receive_all, s) == 0;
    GPUME_TRY(s->threaded ? GPUME_OK : gpume_log_no_thread(&log));
    *searches = s;
    return GPUME_OK;
fail:
    gpume_searches_close(&s);
    return status;
}

struct gpume_blocks *gpume_searches_blocks(const struct gpume_searches *searches)
{
    return searches->blocks;
}

const char *gpume_searches_engine(const struct gpume_searches *searches)
{
    return searches->info.device;
}

bool gpume_searches_on_gpu(const struct gpume_searches *searches)
{
    return strcmp(searches->info.backend, "vulkan") == 0;
}

/* Takes a field into the match that its request named, and has it refined. */
static void take_field(struct gpume_searches *searches, const struct gpume_field *field)
{
    struct gpume_match *match = (struct gpume_match *)(uintptr_t)field->tag;
    const size_t blocks = (size_t)field->blocks_x * field->blocks_y;
    assert(blocks == gpume_coarse_count(match->target->width / GPUME_HALF_BLOCK,
                         match->target->height / GPUME_HALF_BLOCK));
    memcpy(match->coarse, field->vectors, blocks * sizeof(*match->coarse));
    gpume_field_release(&field);
    gpume_blocks_refine(searches->blocks, match);
    pthread_mutex_lock(&searches->mutex);
    match->received = true;
    searches->received++;
    const bool awaited = searches->waiting > 0;
    pthread_mutex_unlock(&searches->mutex);
    if (awaited) {
        pthread_cond_broadcast(&searches->changed);
    }
}

/* Ends the waits for fields that will not come. */
static int stop_searches(struct gpume_searches *searches, int status)
{
    pthread_mutex_lock(&searches->mutex);
    searches->status = status;
    pthread_cond_broadcast(&searches->changed);
    pthread_mutex_unlock(&searches->mutex);
    return status;
}

static void *receive_all(void *opaque)
{
    struct gpume_searches *searches = opaque;
    const struct gpume_field *field = NULL;
    int status;
    while ((status = gpume_receive(searches->context, &field, GPUME_WAIT)) == GPUME_OK) {
        take_field(searches, field);
    }
    (void)stop_searches(searches, status);
    gpume_log_write(&searches->log, GPUME_LOG_DEBUG,
        "lookahead: its vectors were received in %.3f s of processor time",
        (double)gpume_clock_thread_ns() / 1e9);
    return NULL;
}

/* Call with the mutex held. */
static void wait_for_change(struct gpume_searches *searches)
{
    searches->waiting++;
    pthread_cond_wait(&searches->changed, &searches->mutex);
    searches->waiting--;
}

/* Returns when more fields than `seen` have been received. */
static int await_fields(struct gpume_searches *searches, uint64_t seen)
{
    pthread_mutex_lock(&searches->mutex);
    while (searches->received == seen && searches->status == GPUME_OK) {
        wait_for_change(searches);
    }
    const int status = searches->status;
    pthread_mutex_unlock(&searches->mutex);
    return status;
}

int gpume_searches_send(struct gpume_searches *searches, const struct gpume_half *half)
{
    gpume_frame *frame = NULL;
    struct gpume_plane plane;
    pthread_mutex_lock(&searches->order);
    int status = gpume_frame_acquire(searches->context, &frame, &plane, GPUME_WAIT);
    if (status == GPUME_OK) {
        gpume_half_quarter(half, &plane);
        status = gpume_send(searches->context, &frame, 0);
    }
    pthread_mutex_unlock(&searches->order);
    return status == GPUME_OK ? GPUME_OK : stop_searches(searches, status);
}

/* How many requests wait for their field, and how many do not. */
static uint64_t pending_of(struct gpume_searches *searches, uint64_t *received)
{
    pthread_mutex_lock(&searches->mutex);
    *received = searches->received;
    const uint64_t pending = searches->requested - searches->received;
    pthread_mutex_unlock(&searches->mutex);
    return pending;
}

static int request_search(struct gpume_searches *searches, struct gpume_match *match)
{
    const struct gpume_task task = {.size = sizeof(task),
        .target = match->target_frame,
        .reference = match->reference_frame,
        .tag = (uint64_t)(uintptr_t)match};
    pthread_mutex_lock(&searches->mutex);
    uint64_t seen = searches->received;
    searches->requested++;
    pthread_mutex_unlock(&searches->mutex);
    int status;
    while ((status = gpume_search(searches->context, &task)) == GPUME_AGAIN) {
        GPUME_CHECK(await_fields(searches, seen));
        (void)pending_of(searches, &seen);
    }
    return status;
}

int gpume_searches_request(struct gpume_searches *searches, struct gpume_match *match)
{
    pthread_mutex_lock(&searches->order);
    const int status = request_search(searches, match);
    pthread_mutex_unlock(&searches->order);
    return status == GPUME_OK ? GPUME_OK : stop_searches(searches, status);
}

int gpume_searches_drain(struct gpume_searches *searches, uint64_t pending)
{
    uint64_t seen;
    while (pending_of(searches, &seen) > pending) {
        GPUME_CHECK(await_fields(searches, seen));
    }
    return GPUME_OK;
}

int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match)
{
    pthread_mutex_lock(&searches->mutex);
    while (!match->received && searches->status == GPUME_OK) {
        wait_for_change(searches);
    }
    const int status = match->received ? GPUME_OK : searches->status;
    pthread_mutex_unlock(&searches->mutex);
    GPUME_CHECK(status);
    gpume_blocks_wait(searches->blocks, &match->job);
    return GPUME_OK;
}

void gpume_searches_end(struct gpume_searches *searches)
{
    if (searches->threaded) {
        gpume_cancel(searches->context);
        pthread_join(searches->thread, NULL);
        searches->threaded = false;
    }
}

void gpume_searches_close(struct gpume_searches **searches)
{
    struct gpume_searches *s = *searches;
    if (!s) {
        return;
    }
    gpume_searches_end(s);
    (void)gpume_close(&s->context);
    gpume_blocks_close(&s->blocks);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    pthread_mutex_destroy(&s->order);
    free(s);
    *searches = NULL;
}
