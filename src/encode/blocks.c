/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/blocks.h"

#include "base/base.h"
#include "base/log.h"
#include "base/os.h"
#include "encode/costs.h"
#include "encode/device.h"
#include "encode/weights.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    struct gpume_block_job *first, **end; /* where the next one goes */
};

struct gpume_blocks {
    struct gpume_log log;
    struct gpume_split *split;
    uint32_t blocks_x, blocks_y, frames;
    uint8_t *planes, *own_planes; /* of the frames; own_planes: NULL if they are the device's */
    /* the thread's: */
    struct gpume_encode_device *device; /* NULL: none */
    bool failed;                        /* the device, which is not used any more */
    struct gpume_encode_work works[GPUME_ENCODE_FLIGHTS]; /* in turns */
    bool on_device[GPUME_ENCODE_FLIGHTS];
    uint64_t begun, ended, jobs;
    bool threaded;
    pthread_t thread;
    pthread_mutex_t mutex; /* for all below, and `ready` of what is queued */
    pthread_cond_t queued, done;
    struct queue queues[GPUME_JOB_KINDS];
    bool stop;
};

/* --- rows, on the processor */

static void predict_row(void *opaque, uint32_t y)
{
    const struct gpume_intra *intra = opaque;
    const size_t blocks_x = intra->half->width / GPUME_HALF_BLOCK;
    gpume_intra_costs(intra->half, y, intra->costs + y * blocks_x);
}

static void refine_row(void *opaque, uint32_t y)
{
    const struct gpume_match *match = opaque;
    const size_t first = (size_t)y * (match->target->width / GPUME_HALF_BLOCK);
    gpume_refine(match->target, match->reference, y, match->coarse, match->vectors + first,
        match->costs + first);
}

static void average_row(void *opaque, uint32_t y)
{
    const struct gpume_mean *mean = opaque;
    const struct gpume_half *target = mean->past->target;
    const size_t first = (size_t)y * (target->width / GPUME_HALF_BLOCK);
    const struct gpume_matches past = {mean->past->reference, mean->past->vectors + first};
    const struct gpume_matches future = {mean->future->reference, mean->future->vectors + first};
    gpume_both_mean_costs(
        target, y, &past, &future, mean->past_share, mean->both + first, mean->still + first);
}

static void apply_row(void *opaque, uint32_t y)
{
    struct gpume_weighing *weighing = opaque;
    gpume_weight_apply_row(&weighing->weight, weighing->plain->reference, &weighing->weighted, y);
}

/* When the reference has been weighted. */
static void weigh_row(void *opaque, uint32_t y)
{
    const struct gpume_weighing *weighing = opaque;
    const struct gpume_match *plain = weighing->plain;
    const size_t first = (size_t)y * (plain->target->width / GPUME_HALF_BLOCK);
    const struct gpume_matches still = {&weighing->weighted, NULL};
    const struct gpume_matches moved = {&weighing->weighted, plain->vectors + first};
    gpume_match_costs(plain->target, y, &still, weighing->still + first);
    gpume_match_costs(plain->target, y, &moved, weighing->moved + first);
}

/* What the processor does of a job. */
static const struct {
    gpume_work_fn fn; /* called with the job */
    enum gpume_split_kind kind;
} row_work[GPUME_JOB_KINDS] = {
    [GPUME_JOB_INTRA] = {predict_row, GPUME_SPLIT_INTRA},
    [GPUME_JOB_MATCH] = {refine_row, GPUME_SPLIT_MATCH},
    [GPUME_JOB_MEAN] = {average_row, GPUME_SPLIT_MEAN},
    [GPUME_JOB_WEIGHING] = {weigh_row, GPUME_SPLIT_COMPARE},
};

/* --- the thread */

static bool is_ready(const struct gpume_match *match)
{
    return match->job.ready;
}

static bool can_begin(enum gpume_block_job_kind kind, const struct gpume_block_job *job)
{
    if (kind == GPUME_JOB_MEAN) {
        const struct gpume_mean *mean = (const struct gpume_mean *)job;
        return is_ready(mean->past) && is_ready(mean->future);
    }
    return kind != GPUME_JOB_WEIGHING || is_ready(((const struct gpume_weighing *)job)->plain);
}

/* The oldest jobs that can begin. */
static uint32_t take_jobs(struct queue *queue, enum gpume_block_job_kind kind,
    struct gpume_block_job *jobs[GPUME_WORK_JOBS])
{
    uint32_t count = 0;
    struct gpume_block_job **link = &queue->first;
    while (*link) {
        struct gpume_block_job *job = *link;
        if (count < GPUME_WORK_JOBS && can_begin(kind, job)) {
            jobs[count++] = job;
            *link = job->next;
        } else {
            link = &job->next;
        }
    }
    queue->end = link;
    return count;
}

/* Collects jobs; matches only when all frames before them are on the device. Call with the mutex
 * held. */
static bool take_work(struct gpume_blocks *blocks, struct gpume_encode_work *work)
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        const bool waits = kind == GPUME_JOB_MATCH && blocks->queues[GPUME_JOB_INTRA].first;
        work->counts[kind] = waits ? 0
                                   : take_jobs(&blocks->queues[kind],
                                         (enum gpume_block_job_kind)kind, work->jobs[kind]);
        count += work->counts[kind];
    }
    return count > 0;
}

/* Does what the device would have done, except the weighing, which the lookahead does. */
static void work_on_processor(const struct gpume_split *split, const struct gpume_encode_work *work)
{
    for (uint32_t kind = 0; kind < GPUME_JOB_WEIGHING; kind++) {
        for (uint32_t i = 0; i < work->counts[kind]; i++) {
            for (uint32_t y = 0; y < split->rows; y++) {
                row_work[kind].fn(work->jobs[kind][i], y);
            }
        }
    }
}

/* Whether the device did what it was asked for. */
static bool check_device(struct gpume_blocks *blocks, int status)
{
    if (status != GPUME_OK) {
        gpume_log_write(&blocks->log, GPUME_LOG_WARNING,
            "the lookahead's device has failed; the processor does its work from here on");
        blocks->failed = true;
    }
    return status == GPUME_OK;
}

static void begin_work(struct gpume_blocks *blocks)
{
    const uint64_t turn = blocks->begun++ % GPUME_ENCODE_FLIGHTS;
    blocks->on_device[turn] =
        blocks->device && !blocks->failed &&
        check_device(blocks, gpume_encode_device_start(blocks->device, &blocks->works[turn]));
}

/* Waits for the oldest work. If the device fails, the processor repeats it. */
static void end_work(struct gpume_blocks *blocks)
{
    const uint64_t turn = blocks->ended % GPUME_ENCODE_FLIGHTS;
    const struct gpume_encode_work *work = &blocks->works[turn];
    if (!blocks->on_device[turn] || blocks->failed ||
        !check_device(blocks, gpume_encode_device_finish(blocks->device))) {
        work_on_processor(blocks->split, work);
    }
}

/* Call with the mutex held. */
static void mark_ready(struct gpume_blocks *blocks)
{
    const struct gpume_encode_work *work = &blocks->works[blocks->ended++ % GPUME_ENCODE_FLIGHTS];
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        for (uint32_t i = 0; i < work->counts[kind]; i++) {
            work->jobs[kind][i]->ready = true;
        }
        blocks->jobs += work->counts[kind];
    }
    pthread_cond_broadcast(&blocks->done);
}

static void *thread_main(void *opaque)
{
    struct gpume_blocks *blocks = opaque;
    pthread_mutex_lock(&blocks->mutex);
    while (true) {
        const bool room = blocks->begun - blocks->ended < GPUME_ENCODE_FLIGHTS;
        if (room && take_work(blocks, &blocks->works[blocks->begun % GPUME_ENCODE_FLIGHTS])) {
            pthread_mutex_unlock(&blocks->mutex);
            begin_work(blocks);
            pthread_mutex_lock(&blocks->mutex);
        } else if (blocks->begun > blocks->ended) {
            pthread_mutex_unlock(&blocks->mutex);
            end_work(blocks);
            pthread_mutex_lock(&blocks->mutex);
            mark_ready(blocks);
        } else if (!blocks->stop) {
            pthread_cond_wait(&blocks->queued, &blocks->mutex);
        } else {
            break;
        }
    }
    pthread_mutex_unlock(&blocks->mutex);
    gpume_log_write(&blocks->log, GPUME_LOG_DEBUG,
        "lookahead: its device was given %llu jobs in %llu submissions, %.3f s of processor time",
        (unsigned long long)blocks->jobs, (unsigned long long)blocks->begun,
        (double)gpume_clock_thread_ns() / 1e9);
    return NULL;
}

/* --- open, close */

static int open_planes(struct gpume_blocks *b)
{
    b->planes = b->device ? gpume_encode_device_planes(b->device) : NULL;
    if (!b->planes) {
        b->own_planes = calloc(b->frames, gpume_half_bytes(b->blocks_x, b->blocks_y));
        b->planes = b->own_planes;
    }
    return b->planes ? GPUME_OK : gpume_log_nomem(&b->log, "the frames of the lookahead");
}

int gpume_blocks_open(
    struct gpume_blocks **blocks, const struct gpume_blocks_params *params, bool on_gpu)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_blocks *b = calloc(1, sizeof(*b));
    if (!b) {
        return gpume_log_nomem(&log, "the lookahead");
    }
    b->log = log;
    b->split = params->split;
    b->blocks_x = params->blocks_x;
    b->blocks_y = params->blocks_y;
    b->frames = params->frames;
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        b->queues[kind].end = &b->queues[kind].first;
    }
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->queued, NULL);
    pthread_cond_init(&b->done, NULL);
    int status;
    if (on_gpu) {
        GPUME_TRY(gpume_encode_device_open(&b->device, params));
    }
    GPUME_TRY(open_planes(b));
    if (b->device) {
        b->threaded = pthread_create(&b->thread, NULL, thread_main, b) == 0;
        GPUME_TRY(b->threaded ? GPUME_OK : gpume_log_no_thread(&log));
    }
    *blocks = b;
    return GPUME_OK;
fail:
    gpume_blocks_close(&b);
    return status;
}

struct gpume_half gpume_blocks_half(const struct gpume_blocks *blocks, uint64_t frame)
{
    const size_t bytes = gpume_half_bytes(blocks->blocks_x, blocks->blocks_y);
    return gpume_half_at(blocks->planes + (size_t)(frame % blocks->frames) * bytes,
        blocks->blocks_x, blocks->blocks_y);
}

void gpume_blocks_close(struct gpume_blocks **blocks)
{
    struct gpume_blocks *b = *blocks;
    if (!b) {
        return;
    }
    if (b->threaded) {
        pthread_mutex_lock(&b->mutex);
        b->stop = true;
        pthread_cond_signal(&b->queued);
        pthread_mutex_unlock(&b->mutex);
        pthread_join(b->thread, NULL);
    }
    gpume_encode_device_close(&b->device);
    pthread_cond_destroy(&b->done);
    pthread_cond_destroy(&b->queued);
    pthread_mutex_destroy(&b->mutex);
    free(b->own_planes);
    free(b);
    *blocks = NULL;
}

/* --- work */

/* Appends it for the thread, or because it cannot begin yet. Call with the mutex held. */
static void append(
    struct gpume_blocks *blocks, enum gpume_block_job_kind kind, struct gpume_block_job *job)
{
    struct queue *queue = &blocks->queues[kind];
    *queue->end = job;
    queue->end = &job->next;
}

/* Gives it to the processor. The mutex is held, as by a thread that waits for the job. */
static void begin(
    struct gpume_blocks *blocks, enum gpume_block_job_kind kind, struct gpume_block_job *job)
{
    struct gpume_step *steps[2] = {&job->step};
    uint32_t count = 1;
    job->step = gpume_split_step(blocks->split, row_work[kind].kind, row_work[kind].fn, job);
    if (kind == GPUME_JOB_MEAN) {
        const struct gpume_mean *mean = (const struct gpume_mean *)job;
        job->step.after[0] = &mean->past->job.step;
        job->step.after[1] = &mean->future->job.step;
    } else if (kind == GPUME_JOB_WEIGHING) {
        struct gpume_weighing *weighing = (struct gpume_weighing *)job;
        weighing->apply = gpume_split_step(blocks->split, GPUME_SPLIT_WEIGH, apply_row, weighing);
        job->step.after[0] = &weighing->plain->job.step;
        job->step.after[1] = &weighing->apply;
        weighing->found = true;
        steps[0] = &weighing->apply;
        steps[count++] = &job->step;
    }
    gpume_workers_add(blocks->split->workers, steps, count);
    job->begun = true;
    pthread_cond_broadcast(&blocks->done);
}

/* Whether the matches that it needs are found or queued. */
static bool may_begin(enum gpume_block_job_kind kind, const struct gpume_block_job *job)
{
    if (kind == GPUME_JOB_MEAN) {
        const struct gpume_mean *mean = (const struct gpume_mean *)job;
        return mean->past->job.begun && mean->future->job.begun;
    }
    return kind != GPUME_JOB_WEIGHING || ((const struct gpume_weighing *)job)->plain->job.begun;
}

/* Begins those of a kind that may begin now. Call with the mutex held. */
static void begin_queued(struct gpume_blocks *blocks, enum gpume_block_job_kind kind)
{
    struct queue *queue = &blocks->queues[kind];
    struct gpume_block_job **link = &queue->first;
    while (*link) {
        struct gpume_block_job *job = *link;
        if (may_begin(kind, job)) {
            *link = job->next;
            begin(blocks, kind, job);
        } else {
            link = &job->next;
        }
    }
    queue->end = link;
}

static void enqueue(
    struct gpume_blocks *blocks, enum gpume_block_job_kind kind, struct gpume_block_job *job)
{
    pthread_mutex_lock(&blocks->mutex);
    *job = (struct gpume_block_job){.ready = false};
    if (blocks->threaded) {
        append(blocks, kind, job);
        pthread_cond_signal(&blocks->queued);
    } else if (!may_begin(kind, job)) {
        append(blocks, kind, job);
    } else {
        begin(blocks, kind, job);
        begin_queued(blocks, GPUME_JOB_MEAN);
        begin_queued(blocks, GPUME_JOB_WEIGHING);
    }
    pthread_mutex_unlock(&blocks->mutex);
}

void gpume_blocks_add(struct gpume_blocks *blocks, struct gpume_intra *intra)
{
    enqueue(blocks, GPUME_JOB_INTRA, &intra->job);
}

void gpume_blocks_refine(struct gpume_blocks *blocks, struct gpume_match *match)
{
    enqueue(blocks, GPUME_JOB_MATCH, &match->job);
}

bool gpume_blocks_on_gpu(const struct gpume_blocks *blocks)
{
    return blocks->threaded;
}

void gpume_blocks_mean(struct gpume_blocks *blocks, struct gpume_mean *mean)
{
    enqueue(blocks, GPUME_JOB_MEAN, &mean->job);
}

void gpume_blocks_weigh(struct gpume_blocks *blocks, struct gpume_weighing *weighing)
{
    weighing->found = false;
    enqueue(blocks, GPUME_JOB_WEIGHING, &weighing->job);
}

void gpume_blocks_wait(struct gpume_blocks *blocks, const struct gpume_block_job *job)
{
    pthread_mutex_lock(&blocks->mutex);
    while (blocks->threaded ? !job->ready : !job->begun) {
        pthread_cond_wait(&blocks->done, &blocks->mutex);
    }
    pthread_mutex_unlock(&blocks->mutex);
    if (!blocks->threaded) {
        gpume_workers_wait(blocks->split->workers, &job->step);
    }
}

/* --- searches */

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
