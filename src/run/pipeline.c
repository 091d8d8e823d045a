/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One mutex guards everything below "guarded"; one condition variable wakes whoever waits. There
 * are at most three threads (sender, engine, receiver) and a few thousand events a second, so
 * nothing finer pays.
 */
#include "run/pipeline.h"

#include "base/clock.h"
#include "base/fifo.h"
#include "base/status.h"
#include "run/checker.h"
#include "run/history.h"
#include "run/schedule.h"

#include <pthread.h>
#include <stdlib.h>

struct slot {
    struct gpume_batch batch;
    struct gpume_field_box boxes[GPUME_BATCH_MAX];
    uint32_t lent; /* fields that the receiver has not given back */
};

struct gpume_pipeline {
    const struct gpume_engine_ops *ops;
    void *engine;
    struct gpume_plan plan;
    const struct gpume_log *log;
    struct gpume_checker *checker; /* NULL without params.check */
    struct gpume_frame *frames;    /* the pool */
    struct gpume_history history;
    struct slot slots[GPUME_SLOTS_MAX];
    pthread_t thread;
    bool thread_started;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* guarded */
    struct gpume_fifo free_frames, sent;              /* struct gpume_frame */
    struct gpume_fifo ready;                          /* struct gpume_field_box */
    struct gpume_fifo free_slots, in_flight;          /* struct slot */
    struct gpume_schedule promised;                   /* fields that the frames sent so far give */
    struct gpume_schedule submitted;                  /* those that have gone to the engine */
    uint64_t sent_count, taken_count, received_count; /* frames; taken: for submissions; fields */
    bool busy;                                        /* the engine's thread is at work */
    bool finished;                                    /* no more frames */
    bool cancelled;                                   /* stop at once */
    bool done;                                        /* the engine's thread is leaving */
    int status;                                       /* the first failure */
    struct gpume_stats stats;
};

static void frame_recycle(void *owner, struct gpume_frame *frame)
{
    struct gpume_pipeline *pipeline = owner;
    pthread_mutex_lock(&pipeline->mutex);
    gpume_fifo_push(&pipeline->free_frames, frame);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
}

static void field_recycle(void *owner, struct gpume_field_box *box)
{
    struct gpume_pipeline *pipeline = owner;
    gpume_frame_unref(&box->target);
    gpume_frame_unref(&box->reference);
    struct slot *slot = &pipeline->slots[box->slot];
    pthread_mutex_lock(&pipeline->mutex);
    if (--slot->lent == 0) {
        gpume_fifo_push(&pipeline->free_slots, slot);
        pthread_cond_broadcast(&pipeline->changed);
    }
    pthread_mutex_unlock(&pipeline->mutex);
}

/* Fields that the frames sent so far will give and that have not been received. Needs the mutex. */
static uint64_t outstanding(const struct gpume_pipeline *pipeline)
{
    return pipeline->promised.count - pipeline->received_count;
}

/* What frames sent, or their end, make possible. Needs the mutex. */
static void promise(struct gpume_pipeline *pipeline)
{
    struct gpume_task pair;
    while (
        gpume_schedule_next(&pipeline->promised, pipeline->sent_count, pipeline->finished, &pair)) {
    }
}

/* Frames or fields that the engine does not have yet. Needs the mutex. */
static bool has_work(const struct gpume_pipeline *pipeline)
{
    return pipeline->sent.count > 0 || pipeline->promised.count > pipeline->submitted.count;
}

/* Needs the mutex. */
static int failure(const struct gpume_pipeline *pipeline)
{
    return pipeline->cancelled ? GPUME_CANCELLED : pipeline->status;
}

/* Does nothing more come of waiting, until the caller does something? Needs the mutex. */
static bool stuck(const struct gpume_pipeline *pipeline)
{
    bool can_submit = has_work(pipeline) && pipeline->free_slots.count > 0;
    bool ending = pipeline->finished && !has_work(pipeline);
    return pipeline->done ||
           (!pipeline->busy && !can_submit && pipeline->in_flight.count == 0 && !ending);
}

/* Moves waiting frames into the slot, each only when the fields of those before it are there, up to
 * plan.batch of either. Needs the mutex. */
static void fill_batch(struct gpume_pipeline *pipeline, struct slot *slot)
{
    uint32_t most = pipeline->plan.batch;
    struct gpume_batch *batch = &slot->batch;
    *batch = (struct gpume_batch){0};
    while (batch->field_count < most) {
        struct gpume_field_box *box = &slot->boxes[batch->field_count];
        bool ended = pipeline->finished && pipeline->sent.count == 0;
        if (gpume_schedule_next(&pipeline->submitted, pipeline->taken_count, ended, &box->task)) {
            batch->fields[batch->field_count++] = box;
        } else if (batch->frame_count < most && pipeline->sent.count > 0) {
            batch->frames[batch->frame_count++] = gpume_fifo_pop(&pipeline->sent);
            pipeline->taken_count++;
        } else {
            return;
        }
    }
}

/* Says of the slot's fields what the engine does not. The engine's thread, without the mutex. */
static void describe(struct gpume_pipeline *pipeline, const struct gpume_batch *batch)
{
    const struct gpume_plan *plan = &pipeline->plan;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_history_add(&pipeline->history, batch->frames[i]);
    }
    for (uint32_t i = 0; i < batch->field_count; i++) {
        struct gpume_field_box *box = batch->fields[i];
        box->field.frame = plan->params.first_frame + box->task.target;
        box->field.ref = plan->params.first_frame + box->task.reference;
        box->field.blocks_x = plan->layers[0].blocks_x;
        box->field.blocks_y = plan->layers[0].blocks_y;
        gpume_history_attach(&pipeline->history, box);
    }
    gpume_history_forget(&pipeline->history, gpume_schedule_oldest(&pipeline->submitted));
}

/* Completes the fields of a collected slot and lets its frames go; after a failure only the latter.
 * The engine's thread, without the mutex. */
static int complete(struct gpume_pipeline *pipeline, struct slot *slot, int status)
{
    struct gpume_batch *batch = &slot->batch;
    if (status == GPUME_OK && pipeline->checker) {
        status = gpume_checker_batch(pipeline->checker, batch);
    }
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_frame_unref(&batch->frames[i]);
    }
    return status;
}

static int submit_next(struct gpume_pipeline *pipeline)
{
    struct slot *slot = gpume_fifo_pop(&pipeline->free_slots);
    fill_batch(pipeline, slot);
    gpume_fifo_push(&pipeline->in_flight, slot);
    pthread_mutex_unlock(&pipeline->mutex);
    uint64_t start = gpume_clock_ns();
    describe(pipeline, &slot->batch);
    int status =
        pipeline->ops->submit(pipeline->engine, (uint32_t)(slot - pipeline->slots), &slot->batch);
    uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->stats.busy_ns += busy;
    return status;
}

static int collect_oldest(struct gpume_pipeline *pipeline)
{
    struct slot *slot = gpume_fifo_pop(&pipeline->in_flight);
    pthread_mutex_unlock(&pipeline->mutex);
    uint64_t start = gpume_clock_ns();
    int status =
        pipeline->ops->collect(pipeline->engine, (uint32_t)(slot - pipeline->slots), &slot->batch);
    struct gpume_stats stats;
    pipeline->ops->get_stats(pipeline->engine, &stats);
    status = complete(pipeline, slot, status);
    uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&pipeline->mutex);
    stats.busy_ns = pipeline->stats.busy_ns + busy;
    pipeline->stats = stats;
    if (status != GPUME_OK) {
        return status; /* nobody will receive these fields, and no slot is needed again */
    }
    slot->lent = slot->batch.field_count;
    if (slot->lent == 0) {
        gpume_fifo_push(&pipeline->free_slots, slot);
    }
    for (uint32_t i = 0; i < slot->lent; i++) {
        gpume_fifo_push(&pipeline->ready, slot->batch.fields[i]);
    }
    return status;
}

/* The engine's thread: submit while there is something to submit, else collect, else wait. */
static void *engine_main(void *opaque)
{
    struct gpume_pipeline *pipeline = opaque;
    pthread_mutex_lock(&pipeline->mutex);
    while (failure(pipeline) == GPUME_OK) {
        int status = GPUME_OK;
        pipeline->busy = true;
        if (has_work(pipeline) && pipeline->free_slots.count > 0) {
            status = submit_next(pipeline);
        } else if (pipeline->in_flight.count > 0) {
            status = collect_oldest(pipeline);
        } else if (pipeline->finished && !has_work(pipeline)) {
            break;
        } else {
            pipeline->busy = false;
            pthread_cond_broadcast(&pipeline->changed); /* whoever waits may be stuck now */
            pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
            continue;
        }
        if (status != GPUME_OK && status != GPUME_CANCELLED && pipeline->status == GPUME_OK) {
            pipeline->status = status;
        }
        pthread_cond_broadcast(&pipeline->changed);
    }
    pipeline->done = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
    return NULL;
}

static int init_pool(struct gpume_pipeline *pipeline)
{
    const struct gpume_plan *plan = &pipeline->plan;
    pipeline->frames = calloc(plan->pool, sizeof(*pipeline->frames));
    if (!pipeline->frames) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < plan->pool; i++) {
        struct gpume_frame *frame = &pipeline->frames[i];
        frame->plane =
            (struct gpume_plane){.data = pipeline->ops->frame_memory(pipeline->engine, i),
                .stride = plan->plane_stride,
                .width = plan->params.width,
                .height = plan->params.height,
                .bits = plan->params.bits};
        if (!frame->plane.data) {
            return GPUME_NOMEM;
        }
        frame->pool_index = i;
        frame->recycle = frame_recycle;
        frame->owner = pipeline;
        gpume_fifo_push(&pipeline->free_frames, frame);
    }
    return GPUME_OK;
}

static void init_slots(struct gpume_pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->plan.slots; i++) {
        for (uint32_t j = 0; j < GPUME_BATCH_MAX; j++) {
            struct gpume_field_box *box = &pipeline->slots[i].boxes[j];
            box->slot = i;
            box->recycle = field_recycle;
            box->owner = pipeline;
        }
        gpume_fifo_push(&pipeline->free_slots, &pipeline->slots[i]);
    }
}

static int init_all(struct gpume_pipeline *pipeline)
{
    const struct gpume_plan *plan = &pipeline->plan;
    int status;
    GPUME_TRY(gpume_fifo_init(&pipeline->free_frames, plan->pool));
    GPUME_TRY(gpume_fifo_init(&pipeline->sent, plan->pool));
    GPUME_TRY(gpume_fifo_init(&pipeline->ready, plan->slots * plan->batch));
    GPUME_TRY(gpume_fifo_init(&pipeline->free_slots, plan->slots));
    GPUME_TRY(gpume_fifo_init(&pipeline->in_flight, plan->slots));
    GPUME_TRY(init_pool(pipeline));
    init_slots(pipeline);
    pipeline->promised = pipeline->submitted = gpume_schedule_make(&plan->params);
    GPUME_TRY(gpume_history_init(&pipeline->history, plan));
    if (plan->params.check) {
        GPUME_TRY(gpume_checker_open(&pipeline->checker, &plan->params, pipeline->log));
    }
    if (pthread_create(&pipeline->thread, NULL, engine_main, pipeline) != 0) {
        return GPUME_AGAIN;
    }
    pipeline->thread_started = true;
fail:
    return status;
}

int gpume_pipeline_open(struct gpume_pipeline **out, const struct gpume_engine_ops *ops,
    void *engine, const struct gpume_plan *plan, const struct gpume_log *log)
{
    struct gpume_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (!pipeline) {
        ops->close(&engine);
        return gpume_log_nomem(log, "the pipeline");
    }
    pipeline->ops = ops;
    pipeline->engine = engine;
    pipeline->plan = *plan;
    pipeline->log = log;
    pthread_mutex_init(&pipeline->mutex, NULL);
    pthread_cond_init(&pipeline->changed, NULL);
    int status = init_all(pipeline);
    if (status != GPUME_OK) {
        if (status == GPUME_NOMEM) {
            gpume_log_write(log, GPUME_LOG_ERROR, "out of memory for %ux%u frames",
                plan->params.width, plan->params.height);
        } else if (status == GPUME_AGAIN) {
            status = gpume_log_no_thread(log);
        }
        gpume_pipeline_close(&pipeline);
        return status;
    }
    *out = pipeline;
    return GPUME_OK;
}

int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **out, uint32_t flags)
{
    struct gpume_frame *frame = NULL;
    pthread_mutex_lock(&pipeline->mutex);
    int status = failure(pipeline);
    while (status == GPUME_OK && !(frame = gpume_fifo_pop(&pipeline->free_frames))) {
        if (!(flags & GPUME_WAIT) && (outstanding(pipeline) > 0 || stuck(pipeline))) {
            status = GPUME_AGAIN;
            break;
        }
        pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
        status = failure(pipeline);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    if (status == GPUME_OK) {
        atomic_store_explicit(&frame->refs, 1, memory_order_relaxed);
        *out = frame;
    }
    return status;
}

int gpume_pipeline_send(struct gpume_pipeline *pipeline, struct gpume_frame **out, int64_t time_us)
{
    struct gpume_frame *frame = *out;
    *out = NULL;
    pthread_mutex_lock(&pipeline->mutex);
    int status = pipeline->finished ? GPUME_INVALID : failure(pipeline);
    if (status == GPUME_OK) {
        frame->sequence = pipeline->sent_count++;
        frame->time_us = time_us;
        gpume_fifo_push(&pipeline->sent, frame);
        promise(pipeline);
        pthread_cond_broadcast(&pipeline->changed);
    }
    pthread_mutex_unlock(&pipeline->mutex);
    if (status != GPUME_OK) {
        gpume_frame_unref(&frame);
    }
    return status;
}

int gpume_pipeline_finish(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->finished = true;
    promise(pipeline);
    pthread_cond_broadcast(&pipeline->changed);
    int status = failure(pipeline);
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}

/* What receiving comes to while no field is ready; GPUME_OK = wait. Needs the mutex. */
static int receive_verdict(const struct gpume_pipeline *pipeline, uint32_t flags)
{
    if (failure(pipeline) != GPUME_OK) {
        return failure(pipeline);
    }
    if (pipeline->done) {
        return GPUME_EOF;
    }
    bool starved = (outstanding(pipeline) == 0 && !pipeline->finished) || stuck(pipeline);
    return starved && !(flags & GPUME_WAIT) ? GPUME_AGAIN : GPUME_OK;
}

int gpume_pipeline_receive(
    struct gpume_pipeline *pipeline, const struct gpume_field **field, uint32_t flags)
{
    struct gpume_field_box *box = NULL;
    pthread_mutex_lock(&pipeline->mutex);
    int status = pipeline->cancelled ? GPUME_CANCELLED : GPUME_OK;
    while (status == GPUME_OK && !(box = gpume_fifo_pop(&pipeline->ready))) {
        status = receive_verdict(pipeline, flags);
        if (status == GPUME_OK) {
            pthread_cond_wait(&pipeline->changed, &pipeline->mutex);
        }
        status = pipeline->cancelled ? GPUME_CANCELLED : status;
    }
    if (status == GPUME_OK) {
        pipeline->received_count++;
        *field = &box->field;
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}

void gpume_pipeline_cancel(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->cancelled = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->mutex);
    if (pipeline->ops->cancel) {
        pipeline->ops->cancel(pipeline->engine);
    }
    if (pipeline->checker) {
        gpume_checker_cancel(pipeline->checker);
    }
}

void gpume_pipeline_get_info(const struct gpume_pipeline *pipeline, struct gpume_info *info)
{
    *info = (struct gpume_info){.blocks_x = pipeline->plan.layers[0].blocks_x,
        .blocks_y = pipeline->plan.layers[0].blocks_y,
        .candidates = pipeline->plan.candidates};
    pipeline->ops->get_info(pipeline->engine, info);
}

void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats)
{
    pthread_mutex_lock(&pipeline->mutex);
    *stats = pipeline->stats;
    pthread_mutex_unlock(&pipeline->mutex);
}

int gpume_pipeline_close(struct gpume_pipeline **out)
{
    struct gpume_pipeline *pipeline = *out;
    if (!pipeline) {
        return GPUME_OK;
    }
    *out = NULL;
    if (pipeline->thread_started) {
        gpume_pipeline_cancel(pipeline);
        pthread_join(pipeline->thread, NULL);
    }
    int status = pipeline->status;
    int closed = pipeline->ops->close(&pipeline->engine);
    gpume_checker_close(&pipeline->checker);
    gpume_fifo_finish(&pipeline->free_frames);
    gpume_fifo_finish(&pipeline->sent);
    gpume_fifo_finish(&pipeline->ready);
    gpume_fifo_finish(&pipeline->free_slots);
    gpume_fifo_finish(&pipeline->in_flight);
    gpume_history_finish(&pipeline->history);
    free(pipeline->frames);
    pthread_cond_destroy(&pipeline->changed);
    pthread_mutex_destroy(&pipeline->mutex);
    free(pipeline);
    return status == GPUME_OK ? closed : status;
}
