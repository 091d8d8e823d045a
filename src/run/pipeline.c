/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/pipeline.h"

#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "base/workers.h"
#include "frame/frame.h"
#include "run/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (pipeline->replacing) {
        return false;
    }
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        if (!gpume_lane_is_idle(pipeline->lanes[i])) {
            return false;
        }
    }
    return true;
}

/* --- the sender */

/* Preferably one in the memory of the engine whose turn it is, which need not copy it. NULL: none
 * is free. Locked. */
static struct gpume_frame *take_free_frame(struct gpume_pipeline *pipeline)
{
    struct gpume_frame *frame = NULL;
    for (uint32_t i = 0; i < GPUME_DEVICES_MAX && !frame; i++) {
        const uint32_t home = (pipeline->turns.holder + i) % GPUME_DEVICES_MAX;
        frame = gpume_fifo_pop(&pipeline->homes[home].free);
    }
    return frame;
}

/* goes_on: the sender has got what it needs. Locked. */
static void note_demand(struct gpume_pipeline *pipeline, bool goes_on)
{
    if (pipeline->spares_tried < pipeline->spares.count) {
        (goes_on ? gpume_demand_resume : gpume_demand_wait)(&pipeline->demand, gpume_clock_ns());
    }
}

int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **out, uint32_t flags)
{
    struct gpume_frame *frame = NULL;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = failure(pipeline);
    while (status == GPUME_OK && !(frame = take_free_frame(pipeline))) {
        note_demand(pipeline, false);
        if (!(flags & GPUME_WAIT) && (outstanding(pipeline) > 0 || is_stuck(pipeline))) {
            status = GPUME_AGAIN;
            break;
        }
        pthread_cond_wait(&pipeline->monitor.changed, &pipeline->monitor.mutex);
        status = failure(pipeline);
    }
    if (frame) {
        note_demand(pipeline, true);
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
    request->frames = pipeline->sent_count;
    pipeline->requested_count += !request->hidden;
    gpume_queue_add(&pipeline->queue, request);
}

/* Pushes all tasks for which enough frames have been sent. Locked. */
static void push_due_tasks(struct gpume_pipeline *pipeline)
{
    const struct gpume_task_source *source = &pipeline->source;
    struct gpume_request request = {0};
    while (source->next &&
           source->next(source->opaque, pipeline->sent_count, pipeline->queue.finished, &request)) {
        push_request(pipeline, &request);
    }
}

int gpume_pipeline_send(struct gpume_pipeline *pipeline, struct gpume_frame **out, int64_t time_us)
{
    struct gpume_frame *frame = *out;
    *out = NULL;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = failure(pipeline);
    if (status == GPUME_OK && pipeline->queue.finished) {
        status = gpume_log_fail(
            pipeline->log, GPUME_INVALID, "no more frames can be sent after gpume_finish");
    }
    if (status == GPUME_OK) {
        frame->sequence = pipeline->sent_count++;
        frame->time_us = time_us;
        gpume_history_add(&pipeline->queue.history, frame);
        push_due_tasks(pipeline);
        pthread_cond_broadcast(&pipeline->monitor.changed);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        gpume_frame_unref(&frame);
    }
    return status;
}

int gpume_pipeline_request(struct gpume_pipeline *pipeline, const struct gpume_task *task)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    int status = failure(pipeline);
    if (status == GPUME_OK && pipeline->queue.finished) {
        gpume_log_write(pipeline->log, GPUME_LOG_ERROR,
            "gpume_search: no more searches can be requested after gpume_finish");
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK &&
        pipeline->queue.waiting >= gpume_plan_waiting_max(&pipeline->plan, pipeline->pool)) {
        note_demand(pipeline, false);
        status = GPUME_AGAIN;
    }
    if (status == GPUME_OK) {
        struct gpume_request request = {.task = *task};
        note_demand(pipeline, true);
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
    pipeline->queue.finished = true;
    push_due_tasks(pipeline);
    gpume_monitor_tell(&pipeline->monitor);
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
    if (pipeline->queue.finished && outstanding(pipeline) == 0) {
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
    while (status == GPUME_OK && !(box = gpume_fifo_pop(&pipeline->ready))) {
        status = receive_verdict(pipeline, flags);
        if (status == GPUME_OK) {
            pthread_cond_wait(
                flags & GPUME_WAIT ? &pipeline->monitor.fields : &pipeline->monitor.changed,
                &pipeline->monitor.mutex);
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

/* More devices are opened if those that are open do not keep up. Locked. */
static void consider_spares(struct gpume_pipeline *pipeline)
{
    const uint64_t expected = pipeline->expected_frames, sent = pipeline->sent_count;
    struct gpume_demand_facts facts = {.fields = pipeline->queue.delivered, .left = UINT64_MAX};
    if (pipeline->spares_tried < pipeline->spares_wanted ||
        pipeline->spares_wanted == pipeline->spares.count) {
        return; /* one after the other, or all have been tried */
    }
    for (uint32_t i = 0; i < pipeline->turns.count; i++) {
        facts.lanes += pipeline->turns.lanes[i].present;
        facts.worked_ns += pipeline->turns.lanes[i].worked_ns;
    }
    if (pipeline->queue.finished) {
        facts.left = pipeline->queue.waiting;
    } else if (expected > sent) { /* as many fields per frame as until now */
        facts.left =
            pipeline->queue.waiting +
            (uint64_t)((double)(expected - sent) * (double)pipeline->queue.end / (double)sent);
    }
    const uint32_t more = gpume_demand_more(&pipeline->demand, gpume_clock_ns(), &facts);
    const uint32_t untried = pipeline->spares.count - pipeline->spares_tried;
    pipeline->spares_wanted = pipeline->spares_tried + (more < untried ? more : untried);
    if (more > 0) {
        pthread_cond_signal(&pipeline->wanted);
    }
}

/* Moves complete fields to the receiver in the order of their tasks. One thread at a time, which
 * sees what others complete meanwhile. */
static void deliver(void *opaque)
{
    struct gpume_pipeline *pipeline = opaque;
    struct gpume_field_box *box;
    consider_spares(pipeline);
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

static void close_engine(const struct gpume_pipeline_engine *engine)
{
    void *opaque = engine->opaque;
    engine->ops->close(&opaque);
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status);
static void on_end(void *opaque, struct gpume_lane *lane, int status);

static int log_no_memory(const struct gpume_pipeline *pipeline, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_NOMEM, "out of memory for %ux%u frames",
        pipeline->plan.params.width, pipeline->plan.params.height);
}

/* Takes the engine over, even if it fails. */
static int open_lane(struct gpume_pipeline *pipeline, const struct gpume_pipeline_engine *engine,
    const struct gpume_log *log, struct gpume_lane **lane)
{
    struct gpume_checker *checker = NULL;
    void *opaque = engine->opaque;
    /* Those of the engine's own plan: the caller's filter may be gone when a standby opens. */
    const struct gpume_params *params = &engine->plan->params;
    if (params->check) {
        const int status = gpume_checker_open(&checker, params, log);
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
    return status == GPUME_AGAIN   ? gpume_log_no_thread(log)
           : status == GPUME_NOMEM ? log_no_memory(pipeline, log)
                                   : status;
}

/* The lane begins to work. Takes the reason over. Locked. */
static void add_lane(
    struct gpume_pipeline *pipeline, struct gpume_lane *lane, struct gpume_reason *reason)
{
    pipeline->reasons[pipeline->lane_count] = reason;
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

/* Opens the standby engine in a new lane, which takes the tasks that wait. Locked, but
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
        status = open_lane(pipeline, &engine, pipeline->log, &lane);
    }
    pthread_mutex_lock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        return status;
    }
    pipeline->standby_lane = lane;
    add_lane(pipeline, lane, NULL);
    gpume_standby_announce(pipeline->standby, reason, pipeline->standby_frame);
    return GPUME_OK;
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

/* No lane is left: the standby engine goes on if there is one. reason: of the last failure. Locked,
 * but may release the mutex meanwhile. */
static void go_on_without(
    struct gpume_pipeline *pipeline, const struct gpume_reason *reason, int status)
{
    if (!pipeline->standby) {
        gpume_reason_report(reason);
        pipeline->status = status;
    } else if (!gpume_queue_is_over(&pipeline->queue) && !pipeline->taking_over) {
        /* Something is left to do, and the lane before this one is not at it. */
        status = take_over(pipeline, reason);
        pipeline->status = pipeline->status == GPUME_OK ? status : pipeline->status;
    }
}

static void on_failure(void *opaque, struct gpume_lane *lane, int status)
{
    struct gpume_pipeline *pipeline = opaque;
    const struct gpume_reason *reason = reason_of(pipeline, lane);
    if (pipeline->status != GPUME_OK) {
        return;
    }
    bool others = false;
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        others |= !pipeline->lanes[i]->failed;
    }
    if (others || pipeline->spares_tried < pipeline->spares.count) {
        announce_loss(pipeline, lane, reason);
    }
    if (others) {
        return;
    }
    pipeline->failed_status = status;
    pipeline->failed_reason = reason;
    if (lane == pipeline->standby_lane) {
        on_end(pipeline, lane, status);
    } else if (pipeline->spares_tried < pipeline->spares.count) {
        pipeline->replacing = !gpume_queue_is_over(&pipeline->queue);
        pthread_cond_signal(&pipeline->wanted);
    } else {
        go_on_without(pipeline, reason, status);
    }
}

/* --- opening */

static void recycle_frame(void *owner, struct gpume_frame *frame)
{
    struct gpume_pipeline *pipeline = owner;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    gpume_fifo_push(&pipeline->homes[frame->home_index].free, frame);
    gpume_monitor_tell(&pipeline->monitor);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

/* The frames in the engine's memory, as many as its plan says. To be finished after a failure, too.
 */
static int init_home(struct gpume_pipeline *pipeline, const struct gpume_pipeline_engine *engine,
    uint32_t index, struct gpume_home *home)
{
    const uint32_t count = engine->plan->pool;
    home->frames = calloc(count, sizeof(*home->frames));
    if (!home->frames || gpume_fifo_init(&home->free, count) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_frame *frame = &home->frames[i];
        void *memory = engine->ops->frame_memory(engine->opaque, i);
        if (!memory) {
            return GPUME_NOMEM;
        }
        frame->plane = gpume_plan_plane(engine->plan, memory);
        frame->home = engine->opaque;
        frame->home_index = index;
        frame->pool_index = i;
        frame->recycle = recycle_frame;
        frame->owner = pipeline;
        gpume_fifo_push(&home->free, frame);
    }
    return GPUME_OK;
}

static void finish_home(struct gpume_home *home)
{
    gpume_fifo_finish(&home->free);
    free(home->frames);
    *home = (struct gpume_home){0};
}

/* Makes room for what one more engine may have under way. Locked. */
static int make_room(struct gpume_pipeline *pipeline, const struct gpume_plan *plan)
{
    const uint32_t pool = pipeline->pool + plan->pool;
    const uint32_t in_slots = pipeline->in_slots + plan->slots * plan->batch;
    const uint32_t fields = in_slots + GPUME_SLOTS_MAX; /* those of the standby engine on top */
    struct gpume_fifo ready;
    if (gpume_fifo_init(&ready, fields) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    if (gpume_queue_reserve(&pipeline->queue, &pipeline->plan, pool, fields) != GPUME_OK) {
        gpume_fifo_finish(&ready);
        return GPUME_NOMEM;
    }
    while (pipeline->ready.count > 0) {
        gpume_fifo_push(&ready, gpume_fifo_pop(&pipeline->ready));
    }
    gpume_fifo_finish(&pipeline->ready);
    pipeline->ready = ready;
    pipeline->pool = pool;
    pipeline->in_slots = in_slots;
    pipeline->run_bytes += plan->run_bytes;
    return GPUME_OK;
}

/* Gives the engine a lane, which begins to work. spare: of its device, which is then no spare any
 * more; NULL: it was none. Takes the engine and its reason over, even if it fails. Unlocked. */
static int add_engine(struct gpume_pipeline *pipeline, const struct gpume_pipeline_engine *engine,
    struct gpume_spare_state *spare)
{
    struct gpume_reason *reason = engine->reason;
    /* The run may go on without a spare. */
    const struct gpume_log *log = spare && reason ? &reason->log : pipeline->log;
    struct gpume_home home = {0};
    struct gpume_lane *lane = NULL;
    int status = init_home(pipeline, engine, pipeline->home_count, &home);
    if (status == GPUME_OK) {
        status = open_lane(pipeline, engine, log, &lane);
    } else {
        (void)log_no_memory(pipeline, log);
        close_engine(engine);
    }
    pthread_mutex_lock(&pipeline->monitor.mutex);
    status = status == GPUME_OK ? make_room(pipeline, engine->plan) : status;
    if (status == GPUME_OK) {
        pipeline->homes[pipeline->home_count++] = home;
        add_lane(pipeline, lane, reason);
        if (spare) { /* now, since the lane may fail as soon as the mutex is free */
            spare->lane = lane;
            pipeline->spares_tried++;
            pipeline->replacing = false;
        }
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    if (status != GPUME_OK) {
        if (lane) {
            (void)log_no_memory(pipeline, log);
            gpume_lane_stop(lane);
            (void)gpume_lane_close(&lane);
        }
        finish_home(&home);
        if (spare && !gpume_status_is_of_gpu(status)) {
            gpume_reason_report(reason);
        }
        free(reason);
    }
    return status;
}

/* The names of all devices, each run of equal ones once. */
static void name_devices(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    const uint32_t open = parts->engine_count, count = open + pipeline->spares.count;
    const char *names[GPUME_DEVICES_MAX];
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        struct gpume_info info = {0};
        if (i < open) {
            parts->engines[i].ops->get_info(parts->engines[i].opaque, &info);
        }
        names[i] = i < open ? info.device : pipeline->spares.devices[i - open].device;
    }
    for (uint32_t i = 0, end; count > 1 && i < count; i = end) {
        for (end = i + 1; end < count && strcmp(names[i], names[end]) == 0; end++) {
        }
        char times[16] = "";
        if (end - i > 1) {
            snprintf(times, sizeof(times), "%u x ", end - i);
        }
        gpume_text_join(
            pipeline->devices, sizeof(pipeline->devices), " + ", "%s%s", times, names[i]);
    }
}

/* Opens the next spare device. If it fails as a GPU does, the run goes on without it. Locked, but
 * releases the mutex while it is being opened. */
static int open_next_spare(struct gpume_pipeline *pipeline)
{
    const uint32_t index = pipeline->spares_tried;
    const struct gpume_spares *spares = &pipeline->spares;
    struct gpume_plan plan;
    struct gpume_pipeline_engine engine = {0};
    struct gpume_spare_state *state = &pipeline->spare_states[index];
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    int status = spares->open(spares->opaque, index, &engine, &plan);
    if (status == GPUME_OK) {
        status = add_engine(pipeline, &engine, state);
    }
    if (gpume_status_is_of_gpu(status)) {
        gpume_log_tell(pipeline->log, GPUME_LOG_WARNING,
            gpume_about(GPUME_PARAM(devices), spares->devices[index].device),
            GPUME_PIPELINE_UNUSABLE);
    }
    pthread_mutex_lock(&pipeline->monitor.mutex);
    state->failed = status != GPUME_OK;
    pipeline->spares_tried += state->failed;
    gpume_demand_restart(&pipeline->demand);
    return gpume_status_is_of_gpu(status) ? GPUME_OK : status;
}

/* Opens devices, one after the other, when they are wanted. */
static void *opener_main(void *opaque)
{
    struct gpume_pipeline *pipeline = opaque;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    while (!pipeline->cancelled && pipeline->status == GPUME_OK &&
           pipeline->spares_tried < pipeline->spares.count) {
        if (pipeline->spares_tried >= pipeline->spares_wanted && !pipeline->replacing) {
            pthread_cond_wait(&pipeline->wanted, &pipeline->monitor.mutex);
            continue;
        }
        const int status = open_next_spare(pipeline);
        const bool replacing = pipeline->replacing;
        pipeline->status = pipeline->status == GPUME_OK ? status : pipeline->status;
        if (replacing && pipeline->spares_tried == pipeline->spares.count) { /* all have failed */
            if (pipeline->status == GPUME_OK && !pipeline->cancelled) {
                go_on_without(pipeline, pipeline->failed_reason, pipeline->failed_status);
            }
            pipeline->replacing = false;
        }
        gpume_monitor_tell(&pipeline->monitor);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return NULL;
}

static int init_pipeline(struct gpume_pipeline *pipeline, const struct gpume_pipeline_parts *parts)
{
    const struct gpume_plan *plan = &pipeline->plan;
    uint32_t taken = 0;
    int status = plan->returns && gpume_returns_open(&pipeline->returns, plan) != GPUME_OK
                     ? log_no_memory(pipeline, pipeline->log)
                     : GPUME_OK;
    while (status == GPUME_OK && taken < parts->engine_count) {
        status = add_engine(pipeline, &parts->engines[taken++], NULL);
    }
    for (; taken < parts->engine_count; taken++) {
        close_engine(&parts->engines[taken]);
        free(parts->engines[taken].reason);
    }
    if (status == GPUME_OK && pipeline->spares.count > 0) {
        pipeline->opener_started =
            pthread_create(&pipeline->opener, NULL, opener_main, pipeline) == 0;
        status = pipeline->opener_started ? GPUME_OK : gpume_log_no_thread(pipeline->log);
    }
    return status;
}

static void close_spares(const struct gpume_spares *spares)
{
    if (spares->close) {
        spares->close(spares->opaque);
    }
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
        close_spares(&parts->spares);
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(parts->log, "the pipeline");
    }
    pipeline->plan = *parts->engines[0].plan;
    pipeline->log = parts->log;
    pipeline->source = parts->source;
    pipeline->standby = standby;
    pipeline->spares = parts->spares;
    pipeline->demand.open_ns = parts->spares.open_ns;
    pipeline->first_count = parts->engine_count;
    name_devices(pipeline, parts);
    pthread_mutex_init(&pipeline->monitor.mutex, NULL);
    pthread_cond_init(&pipeline->monitor.changed, NULL);
    pthread_cond_init(&pipeline->monitor.fields, NULL);
    pthread_cond_init(&pipeline->wanted, NULL);
    const int status = init_pipeline(pipeline, parts);
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

static void close_lane(void *opaque, uint32_t index)
{
    struct closing *closing = opaque;
    closing->statuses[index] = gpume_lane_close(&closing->pipeline->lanes[index]);
}

static uint32_t count_open(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const uint32_t count = pipeline->lane_count;
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return count;
}

int gpume_pipeline_close(struct gpume_pipeline **out)
{
    struct gpume_pipeline *pipeline = *out;
    if (!pipeline) {
        return GPUME_OK;
    }
    *out = NULL;
    gpume_pipeline_cancel(pipeline);
    /* The opener and, until they have been stopped, lanes' threads may still add lanes. */
    if (pipeline->opener_started) {
        pthread_join(pipeline->opener, NULL);
    }
    for (uint32_t i = 0; i < count_open(pipeline); i++) {
        gpume_lane_stop(pipeline->lanes[i]);
    }
    int status = pipeline->status;
    /* Frames and fields are in the engines' memory. */
    struct closing closing = {.pipeline = pipeline};
    struct gpume_workers *workers = NULL;
    if (pipeline->lane_count > 1) { /* without these, one lane closes after the other */
        (void)gpume_workers_create(&workers, pipeline->lane_count);
    }
    if (workers) {
        gpume_workers_run(workers, close_lane, &closing, pipeline->lane_count);
    }
    for (uint32_t i = 0; !workers && i < pipeline->lane_count; i++) {
        close_lane(&closing, i);
    }
    gpume_workers_destroy(&workers);
    for (uint32_t i = pipeline->lane_count; i > 0; i--) {
        status = status == GPUME_OK ? closing.statuses[i - 1] : status;
    }
    for (uint32_t i = 0; i < GPUME_LANES_MAX; i++) {
        free(pipeline->reasons[i]);
    }
    gpume_returns_close(&pipeline->returns);
    gpume_standby_destroy(&pipeline->standby);
    for (uint32_t i = 0; i < GPUME_DEVICES_MAX; i++) {
        finish_home(&pipeline->homes[i]);
    }
    close_spares(&pipeline->spares);
    gpume_fifo_finish(&pipeline->ready);
    gpume_queue_finish(&pipeline->queue);
    pthread_cond_destroy(&pipeline->wanted);
    pthread_cond_destroy(&pipeline->monitor.fields);
    pthread_cond_destroy(&pipeline->monitor.changed);
    pthread_mutex_destroy(&pipeline->monitor.mutex);
    free(pipeline);
    return status;
}

/* --- either side */

void gpume_pipeline_cancel(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    pipeline->cancelled = true;
    gpume_monitor_tell(&pipeline->monitor);
    pthread_cond_signal(&pipeline->wanted);
    const uint32_t count = pipeline->lane_count;
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    for (uint32_t i = 0; i < count; i++) {
        gpume_lane_cancel(pipeline->lanes[i]);
    }
}

void gpume_pipeline_expect(struct gpume_pipeline *pipeline, uint64_t frames)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    pipeline->expected_frames = frames;
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

int gpume_pipeline_open_devices(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    pipeline->spares_wanted = pipeline->spares.count;
    pthread_cond_signal(&pipeline->wanted);
    while (failure(pipeline) == GPUME_OK && pipeline->spares_tried < pipeline->spares.count) {
        pthread_cond_wait(&pipeline->monitor.changed, &pipeline->monitor.mutex);
    }
    const int status = failure(pipeline);
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return status;
}

void gpume_pipeline_get_info(struct gpume_pipeline *pipeline, struct gpume_info *info)
{
    info->blocks_x = pipeline->plan.layers[0].blocks_x;
    info->blocks_y = pipeline->plan.layers[0].blocks_y;
    info->candidates = pipeline->plan.candidates;
    pthread_mutex_lock(&pipeline->monitor.mutex);
    for (uint32_t i = pipeline->lane_count; i > 0; i--) { /* the first one's names stay */
        const struct gpume_lane *lane = pipeline->lanes[i - 1];
        const uint64_t host_bytes = info->host_bytes, device_bytes = info->device_bytes;
        lane->ops->get_info(lane->engine, info);
        info->host_bytes += host_bytes;
        info->device_bytes += device_bytes;
        if (lane == pipeline->standby_lane) {
            info->standby = info->backend;
            info->standby_device = info->device;
            info->standby_frame = pipeline->standby_frame;
        }
    }
    info->host_bytes += pipeline->run_bytes;
    if (pipeline->devices[0]) {
        info->device = pipeline->devices;
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    for (uint32_t i = 0; i < pipeline->lane_count; i++) {
        struct gpume_stats of_lane;
        gpume_lane_get_stats(pipeline->lanes[i], &of_lane);
        gpume_stats_add(stats, &of_lane);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}

uint32_t gpume_pipeline_lane_count(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    uint32_t count = pipeline->lane_count; /* of devices and the standby engine */
    for (uint32_t i = 0; i < pipeline->spares.count; i++) {
        count += pipeline->spare_states[i].lane == NULL;
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
    return count;
}

/* Locked. */
static void describe_lane(const struct gpume_lane *lane, struct gpume_lane_info *out)
{
    struct gpume_info info = {0};
    struct gpume_stats stats;
    lane->ops->get_info(lane->engine, &info);
    gpume_lane_get_stats(lane, &stats);
    *out = (struct gpume_lane_info){.backend = info.backend,
        .device = info.device,
        .driver = info.driver,
        .search = info.search,
        .host_bytes = info.host_bytes + lane->plan.run_bytes,
        .device_bytes = info.device_bytes,
        .fields = stats.fields,
        .busy_ns = stats.busy_ns,
        .failed = lane->failed};
}

void gpume_pipeline_get_lane(
    struct gpume_pipeline *pipeline, uint32_t index, struct gpume_lane_info *out)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const uint32_t first = pipeline->first_count, spares = pipeline->spares.count;
    if (index >= first && index - first < spares && !pipeline->spare_states[index - first].lane) {
        const struct gpume_spare *spare = &pipeline->spares.devices[index - first];
        *out = (struct gpume_lane_info){.backend = spare->backend,
            .device = spare->device,
            .driver = "",
            .search = "",
            .failed = pipeline->spare_states[index - first].failed,
            .unopened = true};
    } else if (index >= first && index - first < spares) {
        describe_lane(pipeline->spare_states[index - first].lane, out);
    } else {
        describe_lane(index < first ? pipeline->lanes[index] : pipeline->standby_lane, out);
    }
    pthread_mutex_unlock(&pipeline->monitor.mutex);
}
