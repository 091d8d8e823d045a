/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a pipeline, what its lanes report, and closing it. */
#include "base/parallel.h"
#include "base/status.h"
#include "run/checker.h"
#include "run/pipeline_state.h"
#include "run/returns.h"
#include "run/standby.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void recycle_frame(void *owner, struct gpume_frame *frame)
{
    struct gpume_pipeline *pipeline = owner;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    gpume_fifo_push(&pipeline->free_frames[frame->home_index], frame);
    gpume_monitor_tell(&pipeline->monitor);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

/* --- lanes */

/* Locked. */
static void hand_over(struct gpume_pipeline *pipeline, struct gpume_field_box *box)
{
    if (box->hidden) {
        gpume_lane_release(box);
    } else {
        gpume_fifo_push(&pipeline->ready, box);
        gpume_monitor_tell(&pipeline->monitor);
    }
}

/* Moves complete fields to the receiver in the order of their tasks. One thread at a time, which
 * sees what others complete meanwhile. */
static void deliver(void *opaque)
{
    struct gpume_pipeline *pipeline = opaque;
    struct gpume_field_box *box;
    if (pipeline->delivering) {
        return;
    }
    pipeline->delivering = true;
    while ((box = gpume_queue_deliver(&pipeline->queue))) {
        struct gpume_field_box *done[GPUME_RETURNS_DONE] = {box};
        uint32_t count = 1;
        if (pipeline->returns) {
            pthread_mutex_unlock(&pipeline->monitor.mutex);
            count = gpume_returns_take(pipeline->returns, box, done);
            pthread_mutex_lock(&pipeline->monitor.mutex);
        }
        for (uint32_t i = 0; i < count; i++) {
            hand_over(pipeline, done[i]);
        }
    }
    pipeline->delivering = false;
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status);
static void on_end(void *opaque, struct gpume_lane *lane, int status);

static int log_no_memory(const struct gpume_pipeline *pipeline)
{
    return gpume_log_fail(pipeline->log, GPUME_NOMEM, "out of memory for %ux%u frames",
        pipeline->plan.params.width, pipeline->plan.params.height);
}

/* Takes the engine over, even if it fails. */
static int open_lane(struct gpume_pipeline *pipeline, const struct gpume_pipeline_engine *engine,
    struct gpume_lane **lane)
{
    struct gpume_checker *checker = NULL;
    void *opaque = engine->opaque;
    /* Those of the engine's own plan: the caller's filter may be gone when a standby opens. */
    const struct gpume_params *params = &engine->plan->params;
    if (params->check) {
        const int status = gpume_checker_open(&checker, params, pipeline->log);
        if (status != GPUME_OK) {
            engine->ops->close(&opaque);
            return status;
        }
    }
    const struct gpume_lane_parts parts = {
        .ops = engine->ops,
        .engine = opaque,
        .plan = engine->plan,
        .checker = checker,
        .monitor = &pipeline->monitor,
        .queue = &pipeline->queue,
        .turns = &pipeline->turns,
        .client = {pipeline, .complete = deliver, .failed = on_failure, .ended = on_end},
    };
    const int status = gpume_lane_open(lane, &parts);
    return status == GPUME_AGAIN   ? gpume_log_no_thread(pipeline->log)
           : status == GPUME_NOMEM ? log_no_memory(pipeline)
                                   : status;
}

/* The lane begins to work. Locked. */
static void add_lane(struct gpume_pipeline *pipeline, struct gpume_lane *lane)
{
    pipeline->lanes[pipeline->lane_count++] = lane;
    lane->cancelled = pipeline->cancelled;
    lane->turn->present = true;
    gpume_monitor_tell(&pipeline->monitor);
}

/* The target of the next field that is searched again. Locked. */
static uint64_t next_target(const struct gpume_pipeline *pipeline)
{
    const struct gpume_request *due = gpume_queue_due(&pipeline->queue);
    const uint64_t next = pipeline->queue.history.next;
    const uint64_t target = !due ? next : due->hidden ? due->task.reference : due->task.target;
    return pipeline->plan.params.first_frame + target;
}

/* Opens the standby engine in a lane of its own, which takes the tasks that wait. Locked, but
 * releases the mutex while the engine is being opened. */
static int take_over(struct gpume_pipeline *pipeline, const struct gpume_reason *reason)
{
    struct gpume_plan plan;
    struct gpume_pipeline_engine engine = {.ops = &gpume_engine_cpu, .plan = &plan};
    struct gpume_lane *lane = NULL;
    pipeline->taking_over = true;
    pipeline->standby_frame = next_target(pipeline);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    int status = gpume_standby_open_engine(pipeline->standby, &engine.opaque, &plan);
    if (status == GPUME_OK) {
        status = open_lane(pipeline, &engine, &lane);
    }
    pthread_mutex_lock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        return status;
    }
    pipeline->standby_lane = lane;
    add_lane(pipeline, lane);
    gpume_standby_announce(pipeline->standby, reason, pipeline->standby_frame);
    return GPUME_OK;
}

/* Locked. */
static bool has_other_lanes(const struct gpume_pipeline *pipeline)
{
    bool found = false;
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        found |= !pipeline->lanes[i]->failed;
    }
    return found;
}

static void announce_loss(const struct gpume_pipeline *pipeline, const struct gpume_lane *lane,
    const struct gpume_reason *reason)
{
    char text[GPUME_REASON_BYTES];
    struct gpume_info info = {0};
    lane->ops->get_info(lane->engine, &info);
    gpume_reason_copy(reason, text);
    gpume_log_write(pipeline->log, GPUME_LOG_WARNING,
        "%s; going on without one of the devices, %s, from frame %llu", text, info.device,
        (unsigned long long)next_target(pipeline));
}

static const struct gpume_reason *reason_of(
    const struct gpume_pipeline *pipeline, const struct gpume_lane *lane)
{
    uint32_t index = 0;
    while (index + 1 < pipeline->lane_count && pipeline->lanes[index] != lane) {
        index++;
    }
    return pipeline->reasons[index];
}

/* The run ends with its first failure. */
static void on_end(void *opaque, struct gpume_lane *lane, int status)
{
    struct gpume_pipeline *pipeline = opaque;
    if (pipeline->status == GPUME_OK) {
        gpume_reason_report(reason_of(pipeline, lane));
        pipeline->status = status;
    }
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status)
{
    struct gpume_pipeline *pipeline = opaque;
    const struct gpume_reason *reason = reason_of(pipeline, lane);
    if (pipeline->status != GPUME_OK) {
        return;
    }
    if (has_other_lanes(pipeline)) {
        announce_loss(pipeline, lane, reason);
    } else if (!pipeline->standby || lane == pipeline->standby_lane) {
        on_end(pipeline, lane, status);
    } else if (!gpume_queue_is_over(&pipeline->queue) && !pipeline->taking_over) {
        /* Something is left to do, and the lane before this one is not at it. */
        status = take_over(pipeline, reason);
        pipeline->status = pipeline->status == GPUME_OK ? status : pipeline->status;
    }
}

/* --- opening */

/* Each engine gives the frames that its plan says. */
static int init_pool(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    for (uint32_t i = 0; i < parts->engine_count; i++) {
        const uint32_t pool = parts->engines[i].plan->pool;
        if (gpume_fifo_init(&pipeline->free_frames[i], pool) != GPUME_OK) {
            return GPUME_NOMEM;
        }
    }
    struct gpume_frame *frame = pipeline->frames = calloc(pipeline->pool, sizeof(*frame));
    if (!frame) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < parts->engine_count; i++) {
        const struct gpume_pipeline_engine *engine = &parts->engines[i];
        for (uint32_t j = 0; j < engine->plan->pool; j++, frame++) {
            void *memory = engine->ops->frame_memory(engine->opaque, j);
            if (!memory) {
                return GPUME_NOMEM;
            }
            frame->plane = gpume_plan_plane(engine->plan, memory);
            frame->home = engine->opaque;
            frame->home_index = i;
            frame->pool_index = j;
            frame->recycle = recycle_frame;
            frame->owner = pipeline;
            gpume_fifo_push(&pipeline->free_frames[frame->home_index], frame);
        }
    }
    return GPUME_OK;
}

static void add_up(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    for (uint32_t i = 0; i < parts->engine_count; i++) {
        const struct gpume_plan *plan = parts->engines[i].plan;
        pipeline->pool += plan->pool;
        pipeline->in_slots += plan->slots * plan->batch;
        pipeline->run_bytes += plan->run_bytes;
        pipeline->reasons[i] = parts->engines[i].reason;
    }
}

static int init_queues(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    const struct gpume_plan *plan = &pipeline->plan;
    /* The fields of the standby engine come on top. */
    const uint32_t fields = pipeline->in_slots + GPUME_SLOTS_MAX;
    if (gpume_fifo_init(&pipeline->ready, fields) != GPUME_OK ||
        gpume_queue_init(&pipeline->queue, plan, pipeline->pool, fields) != GPUME_OK ||
        init_pool(pipeline, parts) != GPUME_OK ||
        (plan->returns && gpume_returns_open(&pipeline->returns, plan) != GPUME_OK)) {
        return log_no_memory(pipeline);
    }
    return GPUME_OK;
}

/* The names of all engines' devices, each run of equal ones once. */
static void name_devices(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    const uint32_t count = parts->engine_count;
    const char *names[GPUME_DEVICES_MAX];
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        struct gpume_info info = {0};
        parts->engines[i].ops->get_info(parts->engines[i].opaque, &info);
        names[i] = info.device;
    }
    for (uint32_t i = 0, end; count > 1 && i < count; i = end) {
        for (end = i + 1; end < count && strcmp(names[i], names[end]) == 0; end++) {
        }
        const size_t used = strlen(pipeline->devices), left = sizeof(pipeline->devices) - used;
        const char *plus = i > 0 ? " + " : "";
        if (end - i > 1) {
            snprintf(pipeline->devices + used, left, "%s%u x %s", plus, end - i, names[i]);
        } else {
            snprintf(pipeline->devices + used, left, "%s%s", plus, names[i]);
        }
    }
}

static void close_engine(const struct gpume_pipeline_engine *engine)
{
    void *opaque = engine->opaque;
    engine->ops->close(&opaque);
}

static int init_all(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    uint32_t taken = 0;
    int status = init_queues(pipeline, parts);
    while (status == GPUME_OK && taken < parts->engine_count) {
        struct gpume_lane *lane = NULL;
        status = open_lane(pipeline, &parts->engines[taken], &lane);
        if (status == GPUME_OK) {
            pthread_mutex_lock(&pipeline->monitor.mutex);
            add_lane(pipeline, lane);
            pthread_mutex_unlock(&pipeline->monitor.mutex);
        }
        taken++;
    }
    for (; taken < parts->engine_count; taken++) {
        close_engine(&parts->engines[taken]);
    }
    return status;
}

int gpume_pipeline_open(struct gpume_pipeline **out, const struct gpume_pipeline_parts *parts)
{
    struct gpume_standby *standby = parts->standby;
    struct gpume_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (!pipeline) {
        for (uint32_t i = 0; i < parts->engine_count; i++) {
            close_engine(&parts->engines[i]);
            free(parts->engines[i].reason);
        }
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(parts->log, "the pipeline");
    }
    pipeline->plan = *parts->engines[0].plan;
    pipeline->log = parts->log;
    pipeline->source = parts->source;
    pipeline->standby = standby;
    add_up(pipeline, parts);
    name_devices(pipeline, parts);
    pthread_mutex_init(&pipeline->monitor.mutex, NULL);
    pthread_cond_init(&pipeline->monitor.changed, NULL);
    pthread_cond_init(&pipeline->monitor.fields, NULL);
    const int status = init_all(pipeline, parts);
    if (status != GPUME_OK) {
        gpume_pipeline_close(&pipeline);
        return status;
    }
    *out = pipeline;
    return GPUME_OK;
}

/* --- closing */

/* The lanes that are closed side by side, and what that reveals. */
struct closing {
    struct gpume_pipeline *pipeline;
    int statuses[GPUME_LANES_MAX];
};

static void close_one(void *opaque, uint32_t index)
{
    struct closing *closing = opaque;
    closing->statuses[index] = gpume_lane_close(&closing->pipeline->lanes[index]);
}

int gpume_pipeline_close(struct gpume_pipeline **out)
{
    struct gpume_pipeline *pipeline = *out;
    if (!pipeline) {
        return GPUME_OK;
    }
    *out = NULL;
    gpume_pipeline_cancel(pipeline);
    /* Until they have been stopped, a lane's thread may still add the standby engine's. */
    for (uint32_t i = 0; i < gpume_pipeline_lane_count(pipeline); i++) {
        gpume_lane_stop(pipeline->lanes[i]);
    }
    int status = pipeline->status;
    /* Frames and fields are in the engines' memory. */
    struct closing closing = {.pipeline = pipeline};
    gpume_parallel(close_one, &closing, pipeline->lane_count);
    for (uint32_t i = pipeline->lane_count; i > 0; i--) {
        status = status == GPUME_OK ? closing.statuses[i - 1] : status;
    }
    for (uint32_t i = 0; i < GPUME_LANES_MAX; i++) {
        free(pipeline->reasons[i]);
    }
    gpume_returns_close(&pipeline->returns);
    gpume_standby_destroy(&pipeline->standby);
    for (uint32_t i = 0; i < GPUME_DEVICES_MAX; i++) {
        gpume_fifo_finish(&pipeline->free_frames[i]);
    }
    gpume_fifo_finish(&pipeline->ready);
    gpume_queue_finish(&pipeline->queue);
    free(pipeline->frames);
    pthread_cond_destroy(&pipeline->monitor.fields);
    pthread_cond_destroy(&pipeline->monitor.changed);
    pthread_mutex_destroy(&pipeline->monitor.mutex);
    free(pipeline);
    return status;
}
