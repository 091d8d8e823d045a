/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/pipeline.h"

#include "base/fifo.h"
#include "base/status.h"
#include "frame/stats.h"
#include "run/checker.h"
#include "run/lane.h"
#include "run/reorder.h"
#include "run/returns.h"
#include "run/standby.h"

#include <stdlib.h>

#define LANES_MAX 2u /* the first one, and the one that takes over from it */

struct gpume_pipeline {
    struct gpume_plan plan; /* of the first lane */
    const struct gpume_log *log;
    struct gpume_standby *standby; /* NULL: if the engine fails, the run ends */
    struct gpume_checker *checker; /* NULL without params.check */
    struct gpume_returns *returns; /* NULL without plan.returns */
    struct gpume_task_source source;
    struct gpume_frame *frames; /* the pool; their samples are in the first engine's memory */
    struct gpume_monitor monitor;
    /* Guarded by the monitor's mutex. Functions marked "locked" require that it is held. */
    struct gpume_lane *lanes[LANES_MAX]; /* new work goes to the last one */
    uint32_t lane_count;
    struct gpume_fifo free_frames; /* struct gpume_frame */
    struct gpume_reorder ready;
    uint64_t sent_count;      /* frames */
    uint64_t requested_count; /* tasks that are not hidden */
    uint64_t received_count;  /* fields */
    uint64_t standby_frame;   /* the oldest target that the second lane searched again */
    bool finished;            /* no more frames or tasks */
    bool cancelled;           /* stop at once */
    int status;               /* the first failure */
};

static struct gpume_lane *last_lane(const struct gpume_pipeline *pipeline)
{
    return pipeline->lanes[pipeline->lane_count - 1];
}

/* The number of tasks whose fields have not been received. Locked. */
static uint64_t outstanding(const struct gpume_pipeline *pipeline)
{
    return pipeline->requested_count - pipeline->received_count;
}

/* Locked. */
static int failure(const struct gpume_pipeline *pipeline)
{
    return pipeline->cancelled ? GPUME_CANCELLED : pipeline->status;
}

/* True if no lane can make progress until the caller sends or releases something. Locked. */
static bool is_stuck(const struct gpume_pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        if (!gpume_lane_is_idle(pipeline->lanes[i])) {
            return false;
        }
    }
    return true;
}

static void recycle_frame(void *owner, struct gpume_frame *frame)
{
    struct gpume_pipeline *pipeline = owner;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    gpume_fifo_push(&pipeline->free_frames, frame);
    pthread_cond_broadcast(&pipeline->monitor.changed);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

/* --- lanes */

static void deliver(void *opaque, struct gpume_field_box *box)
{
    struct gpume_pipeline *pipeline = opaque;
    gpume_reorder_put(&pipeline->ready, box);
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status);

static int log_no_memory(const struct gpume_pipeline *pipeline)
{
    return gpume_log_fail(pipeline->log, GPUME_NOMEM, "out of memory for %ux%u frames",
        pipeline->plan.params.width, pipeline->plan.params.height);
}

static int open_lane(struct gpume_pipeline *pipeline, const struct gpume_engine_ops *ops,
    void *engine, const struct gpume_plan *plan, uint64_t first_frame, struct gpume_lane **lane)
{
    const struct gpume_lane_parts parts = {
        .ops = ops,
        .engine = engine,
        .plan = plan,
        .checker = pipeline->checker,
        .returns = pipeline->returns,
        .monitor = &pipeline->monitor,
        .client = {.opaque = pipeline, .deliver = deliver, .failed = on_failure},
        .frame_capacity = pipeline->plan.pool,
        .request_capacity = gpume_lane_requests_max(&pipeline->plan),
        .first_frame = first_frame,
    };
    const int status = gpume_lane_open(lane, &parts);
    return status == GPUME_AGAIN   ? gpume_log_no_thread(pipeline->log)
           : status == GPUME_NOMEM ? log_no_memory(pipeline)
                                   : status;
}

/* Opens the standby engine in a lane of its own, which searches all tasks whose fields the failed
 * lane has not delivered. Runs in the failed lane's thread, since no other may use that lane's
 * history. Locked, but releases the mutex while the engine is being opened. */
static int take_over(struct gpume_pipeline *pipeline, struct gpume_lane *failed)
{
    struct gpume_plan plan;
    struct gpume_lane *lane = NULL;
    void *engine = NULL;
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    int status = gpume_standby_open_engine(pipeline->standby, &engine, &plan);
    if (status == GPUME_OK) {
        status =
            open_lane(pipeline, &gpume_engine_cpu, engine, &plan, failed->history.first, &lane);
    }
    pthread_mutex_lock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        return status;
    }
    lane->cancelled = pipeline->cancelled;
    pipeline->standby_frame = pipeline->plan.params.first_frame + gpume_lane_next_target(failed);
    gpume_lane_hand_over(failed, lane);
    pipeline->lanes[pipeline->lane_count++] = lane;
    pthread_cond_broadcast(&pipeline->monitor.changed);
    gpume_standby_announce(pipeline->standby, pipeline->standby_frame);
    return GPUME_OK;
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status)
{
    struct gpume_pipeline *pipeline = opaque;
    if (pipeline->standby && pipeline->lane_count < LANES_MAX && gpume_status_is_of_gpu(status)) {
        status = take_over(pipeline, lane);
    }
    if (status != GPUME_OK && status != GPUME_CANCELLED && pipeline->status == GPUME_OK) {
        pipeline->status = status;
    }
}

/* --- opening */

static int init_pool(
    struct gpume_pipeline *pipeline, const struct gpume_engine_ops *ops, void *engine)
{
    const struct gpume_plan *plan = &pipeline->plan;
    pipeline->frames = calloc(plan->pool, sizeof(*pipeline->frames));
    if (!pipeline->frames) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < plan->pool; i++) {
        struct gpume_frame *frame = &pipeline->frames[i];
        frame->plane = gpume_plan_plane(plan, ops->frame_memory(engine, i));
        if (!frame->plane.data) {
            return GPUME_NOMEM;
        }
        frame->pool_index = i;
        frame->recycle = recycle_frame;
        frame->owner = pipeline;
        gpume_fifo_push(&pipeline->free_frames, frame);
    }
    return GPUME_OK;
}

/* The most fields of both lanes together that can be waiting, in flight or complete. */
static uint32_t fields_max(const struct gpume_plan *plan)
{
    return gpume_lane_requests_max(plan) + plan->slots * plan->batch + GPUME_SLOTS_MAX;
}

static int init_all(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    const struct gpume_plan *plan = &pipeline->plan;
    void *engine = parts->engine;
    int status;
    if (gpume_fifo_init(&pipeline->free_frames, plan->pool) != GPUME_OK ||
        gpume_reorder_init(&pipeline->ready, fields_max(plan)) != GPUME_OK ||
        init_pool(pipeline, parts->ops, engine) != GPUME_OK ||
        (plan->returns && gpume_returns_open(&pipeline->returns, plan) != GPUME_OK)) {
        status = log_no_memory(pipeline);
        goto fail;
    }
    if (plan->params.check) {
        GPUME_TRY(gpume_checker_open(&pipeline->checker, &plan->params, pipeline->log));
    }
    void *taken = engine;
    engine = NULL; /* owned by the lane from here on */
    GPUME_TRY(open_lane(pipeline, parts->ops, taken, plan, 0, &pipeline->lanes[0]));
    pipeline->lane_count = 1;
fail:
    if (engine) {
        parts->ops->close(&engine);
    }
    return status;
}

int gpume_pipeline_open(struct gpume_pipeline **out, const struct gpume_pipeline_parts *parts)
{
    struct gpume_standby *standby = parts->standby;
    void *engine = parts->engine;
    struct gpume_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (!pipeline) {
        parts->ops->close(&engine);
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(parts->log, "the pipeline");
    }
    pipeline->plan = *parts->plan;
    pipeline->log = parts->log;
    pipeline->source = parts->source;
    pipeline->standby = standby;
    pthread_mutex_init(&pipeline->monitor.mutex, NULL);
    pthread_cond_init(&pipeline->monitor.changed, NULL);
    const int status = init_all(pipeline, parts);
    if (status != GPUME_OK) {
        gpume_pipeline_close(&pipeline);
        return status;
    }
    *out = pipeline;
    return GPUME_OK;
}

/* --- the sender */

int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **out, uint32_t flags)
{
    struct gpume_frame *frame = NULL;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = failure(pipeline);
    while (status == GPUME_OK && !(frame = gpume_fifo_pop(&pipeline->free_frames))) {
        if (!(flags & GPUME_WAIT) && (outstanding(pipeline) > 0 || is_stuck(pipeline))) {
            status = GPUME_AGAIN;
            break;
        }
        pthread_cond_wait(&pipeline->monitor.changed, &pipeline->monitor.mutex);
        status = failure(pipeline);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    if (status == GPUME_OK) {
        atomic_store_explicit(&frame->refs, 1, memory_order_relaxed);
        *out = frame;
    }
    return status;
}

/* Locked. */
static void push_request(struct gpume_pipeline *pipeline, struct gpume_request *request)
{
    request->number = pipeline->requested_count;
    request->frames = pipeline->sent_count;
    pipeline->requested_count += !request->hidden;
    gpume_lane_push_task(last_lane(pipeline), request);
}

/* Pushes all tasks for which enough frames have been sent. Locked. */
static void push_due_tasks(struct gpume_pipeline *pipeline)
{
    const struct gpume_task_source *source = &pipeline->source;
    struct gpume_request request = {0};
    while (source->next &&
           source->next(source->opaque, pipeline->sent_count, pipeline->finished, &request)) {
        push_request(pipeline, &request);
    }
}

int gpume_pipeline_send(struct gpume_pipeline *pipeline, struct gpume_frame **out, int64_t time_us)
{
    struct gpume_frame *frame = *out;
    *out = NULL;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const int status = pipeline->finished ? GPUME_INVALID : failure(pipeline);
    if (status == GPUME_OK) {
        frame->sequence = pipeline->sent_count++;
        frame->time_us = time_us;
        gpume_lane_push_frame(last_lane(pipeline), frame);
        push_due_tasks(pipeline);
        pthread_cond_broadcast(&pipeline->monitor.changed);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        gpume_frame_unref(&frame);
    }
    return status;
}

/* Keeps room for the tasks in flight, which a lane that takes over must queue as well. Locked. */
static bool has_room(const struct gpume_pipeline *pipeline)
{
    const struct gpume_plan *plan = &pipeline->plan;
    return gpume_lane_request_count(last_lane(pipeline)) <
           gpume_lane_requests_max(plan) - plan->slots * plan->batch;
}

int gpume_pipeline_request(struct gpume_pipeline *pipeline, const struct gpume_task *task)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = failure(pipeline);
    if (status == GPUME_OK && pipeline->finished) {
        gpume_log_write(pipeline->log, GPUME_LOG_ERROR,
            "gpume_search: no more searches can be requested after gpume_finish");
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK && !has_room(pipeline)) {
        status = GPUME_AGAIN;
    }
    if (status == GPUME_OK) {
        struct gpume_request request = {.task = *task};
        push_request(pipeline, &request);
        pthread_cond_broadcast(&pipeline->monitor.changed);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return status;
}

int gpume_pipeline_finish(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const int status = failure(pipeline);
    pipeline->finished = true;
    push_due_tasks(pipeline);
    gpume_lane_finish(last_lane(pipeline));
    pthread_cond_broadcast(&pipeline->monitor.changed);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return status;
}

/* --- the receiver */

/* The result of receiving while the next field is not complete; GPUME_OK means: wait. Locked. */
static int receive_verdict(const struct gpume_pipeline *pipeline, uint32_t flags)
{
    if (failure(pipeline) != GPUME_OK) {
        return failure(pipeline);
    }
    if (pipeline->finished && outstanding(pipeline) == 0) {
        return GPUME_EOF;
    }
    const bool starved = outstanding(pipeline) == 0 || is_stuck(pipeline);
    return starved && !(flags & GPUME_WAIT) ? GPUME_AGAIN : GPUME_OK;
}

int gpume_pipeline_receive(
    struct gpume_pipeline *pipeline, const struct gpume_field **field, uint32_t flags)
{
    struct gpume_field_box *box = NULL;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = pipeline->cancelled ? GPUME_CANCELLED : GPUME_OK;
    while (status == GPUME_OK && !(box = gpume_reorder_take(&pipeline->ready))) {
        status = receive_verdict(pipeline, flags);
        if (status == GPUME_OK) {
            pthread_cond_wait(&pipeline->monitor.changed, &pipeline->monitor.mutex);
        }
        status = pipeline->cancelled ? GPUME_CANCELLED : status;
    }
    if (status == GPUME_OK) {
        pipeline->received_count++;
        *field = &box->field;
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return status;
}

/* --- either side */

void gpume_pipeline_cancel(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    pipeline->cancelled = true;
    pthread_cond_broadcast(&pipeline->monitor.changed);
    const uint32_t count = pipeline->lane_count;
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    for (uint32_t i = 0; i < count; i++) {
        gpume_lane_cancel(pipeline->lanes[i]);
    }
    if (pipeline->checker) {
        gpume_checker_cancel(pipeline->checker);
    }
}

void gpume_pipeline_get_info(struct gpume_pipeline *pipeline, struct gpume_info *info)
{
    info->blocks_x = pipeline->plan.layers[0].blocks_x;
    info->blocks_y = pipeline->plan.layers[0].blocks_y;
    info->candidates = pipeline->plan.candidates;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const struct gpume_lane *first = pipeline->lanes[0];
    first->ops->get_info(first->engine, info);
    info->host_bytes += pipeline->plan.run_bytes;
    if (pipeline->lane_count > 1) {
        const struct gpume_lane *second = pipeline->lanes[1];
        struct gpume_info of_second = {0};
        second->ops->get_info(second->engine, &of_second);
        info->standby = of_second.backend;
        info->standby_device = of_second.device;
        info->standby_frame = pipeline->standby_frame;
        info->host_bytes += of_second.host_bytes;
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        gpume_stats_add(stats, &pipeline->lanes[i]->stats);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

int gpume_pipeline_close(struct gpume_pipeline **out)
{
    struct gpume_pipeline *pipeline = *out;
    if (!pipeline) {
        return GPUME_OK;
    }
    *out = NULL;
    gpume_pipeline_cancel(pipeline);
    /* Until it has been stopped, the first lane's thread may still add the second lane. */
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        gpume_lane_stop(pipeline->lanes[i]);
    }
    int status = pipeline->status;
    /* Frames and fields are in the first engine's memory, so that engine is closed last. */
    for (uint32_t i = pipeline->lane_count; i > 0; i--) {
        const int closed = gpume_lane_close(&pipeline->lanes[i - 1]);
        status = status == GPUME_OK ? closed : status;
    }
    gpume_checker_close(&pipeline->checker);
    gpume_returns_close(&pipeline->returns);
    gpume_standby_destroy(&pipeline->standby);
    gpume_fifo_finish(&pipeline->free_frames);
    gpume_reorder_finish(&pipeline->ready);
    free(pipeline->frames);
    pthread_cond_destroy(&pipeline->monitor.changed);
    pthread_mutex_destroy(&pipeline->monitor.mutex);
    free(pipeline);
    return status;
}
