/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/pipeline.h"

#include "base/clock.h"
#include "base/status.h"
#include "frame/stats.h"
#include "run/pipeline_state.h"

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

/* Locked. */
static bool has_room(const struct gpume_pipeline *pipeline)
{
    return pipeline->queue.waiting < gpume_plan_waiting_max(&pipeline->plan, pipeline->pool);
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
    if (status == GPUME_OK && !has_room(pipeline)) {
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

/* Devices and the standby engine: those of the spares that have no lane, too. Locked. */
static uint32_t count_lanes(const struct gpume_pipeline *pipeline)
{
    uint32_t count = pipeline->lane_count;
    for (uint32_t i = 0; i < pipeline->spares.count; i++) {
        count += pipeline->spare_states[i].lane == NULL;
    }
    return count;
}

uint32_t gpume_pipeline_lane_count(struct gpume_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->monitor.mutex);
    const uint32_t count = count_lanes(pipeline);
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
