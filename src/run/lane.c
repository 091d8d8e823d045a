/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/lane.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "run/checker.h"
#include "run/returns.h"

#include <stdlib.h>

uint32_t gpume_lane_requests_max(const struct gpume_plan *plan)
{
    /* Each frame brings up to plan.requests tasks, and so does, at the end of the input, each
     * target that waits for later references: `reach` targets at most. The tasks of a submission's
     * frames may have to wait for the next submission. A lane that takes over also queues the tasks
     * that were in flight. */
    return plan->requests * (plan->pool + plan->batch + plan->reach) + plan->slots * plan->batch;
}

/* --- waiting tasks. Locked */

static struct gpume_request *request_at(const struct gpume_lane *lane, uint64_t index)
{
    return &lane->requests[index % lane->request_capacity];
}

uint32_t gpume_lane_request_count(const struct gpume_lane *lane)
{
    return (uint32_t)(lane->request_end - lane->request_first);
}

static bool has_work(const struct gpume_lane *lane)
{
    return lane->frames.count > 0 || gpume_lane_request_count(lane) > 0;
}

static bool can_submit(const struct gpume_lane *lane)
{
    return has_work(lane) && lane->free_slots.count > 0;
}

/* True if the engine has been given every frame that was sent before the next task. */
static bool task_is_due(const struct gpume_lane *lane)
{
    return gpume_lane_request_count(lane) > 0 &&
           request_at(lane, lane->request_first)->frames <= lane->next_frame;
}

static void take_request(struct gpume_lane *lane, struct gpume_field_box *box)
{
    const struct gpume_request *request = request_at(lane, lane->request_first++);
    box->task = request->task;
    box->hidden = request->hidden;
    box->number = request->number;
    box->frames = request->frames;
}

/* Moves waiting frames and tasks into the slot in the order in which they came, up to plan.batch of
 * each. A batch that begins with tasks of the last frame before it takes a frame less: those tasks
 * look back `reach` frames from there, and engines keep reach + batch frames. */
static void fill_batch(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    const uint32_t most = lane->plan.batch, frames = most - task_is_due(lane);
    struct gpume_batch *batch = &slot->batch;
    *batch = (struct gpume_batch){0};
    while (batch->field_count < most) {
        if (task_is_due(lane)) {
            struct gpume_field_box *box = &slot->boxes[batch->field_count];
            take_request(lane, box);
            batch->fields[batch->field_count++] = box;
        } else if (batch->frame_count < frames && lane->frames.count > 0) {
            batch->frames[batch->frame_count++] = gpume_fifo_pop(&lane->frames);
            lane->next_frame++;
        } else {
            return;
        }
    }
}

static uint64_t oldest_of(const struct gpume_task *task)
{
    uint64_t oldest = gpume_min_u64(task->target, task->reference);
    for (uint32_t i = 0; i < task->more_count; i++) {
        oldest = gpume_min_u64(oldest, task->more[i]);
    }
    return oldest;
}

/* The oldest frame that is still needed: because it is in flight itself, or because a task that is
 * in flight, waiting or yet to come may refer to it. */
static uint64_t oldest_wanted(const struct gpume_lane *lane)
{
    uint64_t oldest = lane->next_frame - gpume_min_u64(lane->next_frame, lane->plan.reach);
    for (uint64_t i = lane->request_first; i < lane->request_end; i++) {
        oldest = gpume_min_u64(oldest, oldest_of(&request_at(lane, i)->task));
    }
    for (uint32_t i = 0; i < lane->in_flight.count; i++) {
        const struct gpume_lane_slot *slot = gpume_fifo_at(&lane->in_flight, i);
        if (slot->batch.frame_count > 0) {
            oldest = gpume_min_u64(oldest, slot->batch.frames[0]->sequence);
        }
        for (uint32_t j = 0; j < slot->batch.field_count; j++) {
            oldest = gpume_min_u64(oldest, oldest_of(&slot->batch.fields[j]->task));
        }
    }
    return oldest;
}

/* --- the thread */

/* Asks the caller for the predictors of every frame pair. */
static int fill_predictors(const struct gpume_plan *plan, struct gpume_field_box *box)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < box->field.ref_count; i++) {
        status = plan->params.predict(plan->params.predict_opaque, box->field.frame,
            box->references[i], box->predictors + (size_t)i * plan->blocks);
    }
    return status;
}

/* Fills in what the fields' frames determine, before the engine does the rest. Unlocked. */
static int describe(struct gpume_lane *lane, const struct gpume_batch *batch)
{
    const struct gpume_plan *plan = &lane->plan;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_history_add(&lane->history, batch->frames[i]);
    }
    for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
        struct gpume_field_box *box = batch->fields[i];
        gpume_field_box_describe(box, plan->params.first_frame);
        gpume_history_attach(&lane->history, box);
        if (box->predictors) {
            status = fill_predictors(plan, box);
        }
    }
    return status;
}

static int submit_next(struct gpume_lane *lane)
{
    struct gpume_lane_slot *slot = gpume_fifo_pop(&lane->free_slots);
    fill_batch(lane, slot);
    gpume_fifo_push(&lane->in_flight, slot);
    pthread_mutex_unlock(&lane->monitor->mutex);
    const uint64_t start = gpume_clock_ns();
    int status = describe(lane, &slot->batch);
    if (status == GPUME_OK) {
        status = lane->ops->submit(lane->engine, (uint32_t)(slot - lane->slots), &slot->batch);
    }
    const uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&lane->monitor->mutex);
    lane->stats.busy_ns += busy;
    return status;
}

/* Hands the fields of a collected slot to the receiver. Locked. */
static void deliver(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    slot->lent = 0;
    for (uint32_t i = 0; i < slot->batch.field_count; i++) {
        struct gpume_field_box *box = slot->batch.fields[i];
        if (!box->hidden) {
            slot->lent++;
            atomic_store_explicit(&box->refs, 1, memory_order_relaxed);
            lane->client.deliver(lane->client.opaque, box);
        }
    }
    if (slot->lent == 0) {
        gpume_fifo_push(&lane->free_slots, slot);
    }
}

/* Adds what run/ makes of an engine's results. */
static void complete_fields(struct gpume_lane *lane, const struct gpume_batch *batch)
{
    for (uint32_t i = 0; i < batch->field_count; i++) {
        struct gpume_field_box *box = batch->fields[i];
        if (box->parts && !box->hidden) {
            gpume_parts_list(&lane->parts, box);
        }
        if (lane->returns) {
            gpume_returns_take(lane->returns, box);
        }
    }
}

/* Collects the oldest slot in flight, which stays in flight if that fails, so that its tasks can be
 * handed over. Locked, but releases the mutex meanwhile. */
static int collect_oldest(struct gpume_lane *lane)
{
    struct gpume_lane_slot *slot = gpume_fifo_at(&lane->in_flight, 0);
    struct gpume_batch *batch = &slot->batch;
    pthread_mutex_unlock(&lane->monitor->mutex);
    const uint64_t start = gpume_clock_ns();
    int status = lane->ops->collect(lane->engine, (uint32_t)(slot - lane->slots), batch);
    struct gpume_stats stats = {0};
    lane->ops->get_stats(lane->engine, &stats);
    if (status == GPUME_OK) {
        for (uint32_t i = 0; i < batch->field_count; i++) {
            gpume_field_box_complete(batch->fields[i], &lane->plan);
        }
        status = lane->checker ? gpume_checker_batch(lane->checker, batch) : GPUME_OK;
    }
    if (status == GPUME_OK) {
        complete_fields(lane, batch);
    }
    const uint64_t busy = gpume_clock_ns() - start;
    pthread_mutex_lock(&lane->monitor->mutex);
    stats.busy_ns = lane->stats.busy_ns + busy;
    lane->stats = stats;
    if (status != GPUME_OK) {
        return status;
    }
    gpume_fifo_pop(&lane->in_flight);
    const uint64_t oldest = oldest_wanted(lane);
    pthread_mutex_unlock(&lane->monitor->mutex);
    gpume_history_forget(&lane->history, oldest);
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_frame_unref(&batch->frames[i]);
    }
    pthread_mutex_lock(&lane->monitor->mutex);
    deliver(lane, slot);
    return GPUME_OK;
}

/* Until the lane ends: submits if it can, otherwise collects, otherwise waits. Locked. */
static int work(struct gpume_lane *lane)
{
    int status = GPUME_OK;
    while (status == GPUME_OK && !lane->cancelled) {
        lane->busy = true;
        if (can_submit(lane)) {
            status = submit_next(lane);
        } else if (lane->in_flight.count > 0) {
            status = collect_oldest(lane);
        } else if (lane->finished && !has_work(lane)) {
            break;
        } else {
            lane->busy = false;
            pthread_cond_broadcast(&lane->monitor->changed); /* waiting callers may be stuck now */
            pthread_cond_wait(&lane->monitor->changed, &lane->monitor->mutex);
            continue;
        }
        pthread_cond_broadcast(&lane->monitor->changed);
    }
    return status;
}

static void *thread_main(void *opaque)
{
    struct gpume_lane *lane = opaque;
    pthread_mutex_lock(&lane->monitor->mutex);
    const int status = work(lane);
    if (status != GPUME_OK && !lane->cancelled) {
        lane->client.failed(lane->client.opaque, lane, status);
    }
    lane->busy = false;
    lane->done = true;
    pthread_cond_broadcast(&lane->monitor->changed);
    pthread_mutex_unlock(&lane->monitor->mutex);
    return NULL;
}

/* --- what the pipeline calls */

void gpume_lane_push_frame(struct gpume_lane *lane, struct gpume_frame *frame)
{
    gpume_fifo_push(&lane->frames, frame);
}

void gpume_lane_push_task(struct gpume_lane *lane, const struct gpume_request *request)
{
    *request_at(lane, lane->request_end++) = *request;
}

/* The target of the task's field, or of the field that it serves. */
static uint64_t wanted_target(const struct gpume_task *task, bool hidden)
{
    return hidden ? task->reference : task->target;
}

uint64_t gpume_lane_next_target(const struct gpume_lane *lane)
{
    for (uint32_t i = 0; i < lane->in_flight.count; i++) {
        const struct gpume_lane_slot *slot = gpume_fifo_at(&lane->in_flight, i);
        if (slot->batch.field_count > 0) {
            return wanted_target(&slot->batch.fields[0]->task, slot->batch.fields[0]->hidden);
        }
        if (slot->batch.frame_count > 0) {
            return slot->batch.frames[0]->sequence;
        }
    }
    if (gpume_lane_request_count(lane) > 0) {
        const struct gpume_request *request = request_at(lane, lane->request_first);
        return wanted_target(&request->task, request->hidden);
    }
    return lane->next_frame;
}

void gpume_lane_finish(struct gpume_lane *lane)
{
    lane->finished = true;
}

bool gpume_lane_is_idle(const struct gpume_lane *lane)
{
    const bool ending = lane->finished && !has_work(lane);
    return lane->done ||
           (!lane->busy && !can_submit(lane) && lane->in_flight.count == 0 && !ending);
}

/* Drops the references that a submission and its fields hold. The other lane has its own. */
static void drop_batch(struct gpume_batch *batch)
{
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_frame_unref(&batch->frames[i]);
    }
    for (uint32_t i = 0; i < batch->field_count; i++) {
        gpume_frame_unref(&batch->fields[i]->target);
        gpume_frame_unref(&batch->fields[i]->reference);
    }
}

void gpume_lane_hand_over(struct gpume_lane *from, struct gpume_lane *to)
{
    struct gpume_lane_slot *slot;
    struct gpume_frame *frame;
    while ((frame = gpume_history_take(&from->history))) {
        gpume_lane_push_frame(to, frame);
    }
    while ((slot = gpume_fifo_pop(&from->in_flight))) {
        for (uint32_t i = 0; i < slot->batch.field_count; i++) {
            const struct gpume_field_box *box = slot->batch.fields[i];
            const struct gpume_request request = {box->task, box->hidden, box->number, box->frames};
            gpume_lane_push_task(to, &request);
        }
        drop_batch(&slot->batch);
    }
    while ((frame = gpume_fifo_pop(&from->frames))) {
        gpume_lane_push_frame(to, frame);
    }
    for (; from->request_first < from->request_end; from->request_first++) {
        gpume_lane_push_task(to, request_at(from, from->request_first));
    }
    to->finished = from->finished;
}

/* --- opening and closing */

/* Called when the last reference to a field has been dropped. */
static void recycle_field(void *owner, struct gpume_field_box *box)
{
    struct gpume_lane *lane = owner;
    gpume_frame_unref(&box->target);
    gpume_frame_unref(&box->reference);
    struct gpume_lane_slot *slot = &lane->slots[box->slot];
    pthread_mutex_lock(&lane->monitor->mutex);
    if (--slot->lent == 0) {
        gpume_fifo_push(&lane->free_slots, slot);
        pthread_cond_broadcast(&lane->monitor->changed);
    }
    pthread_mutex_unlock(&lane->monitor->mutex);
}

static int init_slots(struct gpume_lane *lane)
{
    const struct gpume_plan *plan = &lane->plan;
    const uint32_t count = plan->slots * plan->batch;
    lane->boxes = calloc(count, sizeof(*lane->boxes));
    if (!lane->boxes) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_field_box *box = &lane->boxes[i];
        box->slot = i / plan->batch;
        box->recycle = recycle_field;
        box->owner = lane;
        const int status = gpume_field_box_init(box, plan);
        if (status != GPUME_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < plan->slots; i++) {
        lane->slots[i].boxes = lane->boxes + (size_t)i * plan->batch;
        gpume_fifo_push(&lane->free_slots, &lane->slots[i]);
    }
    return GPUME_OK;
}

static int init_all(struct gpume_lane *lane, uint32_t frame_capacity)
{
    const struct gpume_plan *plan = &lane->plan;
    int status;
    lane->requests = calloc(lane->request_capacity, sizeof(*lane->requests));
    if (!lane->requests) {
        return GPUME_NOMEM;
    }
    GPUME_TRY(gpume_fifo_init(&lane->frames, frame_capacity));
    GPUME_TRY(gpume_fifo_init(&lane->free_slots, plan->slots));
    GPUME_TRY(gpume_fifo_init(&lane->in_flight, plan->slots));
    GPUME_TRY(init_slots(lane));
    GPUME_TRY(gpume_history_init(&lane->history, plan, lane->next_frame));
    if (plan->params.partition) {
        GPUME_TRY(gpume_parts_init(&lane->parts, plan));
    }
    if (pthread_create(&lane->thread, NULL, thread_main, lane) != 0) {
        return GPUME_AGAIN;
    }
    lane->thread_started = true;
fail:
    return status;
}

int gpume_lane_open(struct gpume_lane **out, const struct gpume_lane_parts *parts)
{
    void *engine = parts->engine;
    struct gpume_lane *lane = calloc(1, sizeof(*lane));
    if (!lane) {
        parts->ops->close(&engine);
        return GPUME_NOMEM;
    }
    lane->ops = parts->ops;
    lane->engine = engine;
    lane->plan = *parts->plan;
    lane->checker = parts->checker;
    lane->returns = parts->returns;
    lane->monitor = parts->monitor;
    lane->client = parts->client;
    lane->request_capacity = parts->request_capacity;
    lane->next_frame = parts->first_frame;
    const int status = init_all(lane, parts->frame_capacity);
    if (status != GPUME_OK) {
        gpume_lane_close(&lane);
        return status;
    }
    *out = lane;
    return GPUME_OK;
}

void gpume_lane_cancel(struct gpume_lane *lane)
{
    pthread_mutex_lock(&lane->monitor->mutex);
    lane->cancelled = true;
    pthread_cond_broadcast(&lane->monitor->changed);
    pthread_mutex_unlock(&lane->monitor->mutex);
    if (lane->ops->cancel) {
        lane->ops->cancel(lane->engine);
    }
}

void gpume_lane_stop(struct gpume_lane *lane)
{
    if (lane->thread_started) {
        gpume_lane_cancel(lane);
        pthread_join(lane->thread, NULL);
        lane->thread_started = false;
    }
}

int gpume_lane_close(struct gpume_lane **out)
{
    struct gpume_lane *lane = *out;
    if (!lane) {
        return GPUME_OK;
    }
    *out = NULL;
    const int status = lane->ops->close(&lane->engine);
    for (uint32_t i = 0; lane->boxes && i < lane->plan.slots * lane->plan.batch; i++) {
        gpume_field_box_finish(&lane->boxes[i]);
    }
    free(lane->boxes);
    free(lane->requests);
    gpume_fifo_finish(&lane->frames);
    gpume_fifo_finish(&lane->free_slots);
    gpume_fifo_finish(&lane->in_flight);
    gpume_history_finish(&lane->history);
    gpume_parts_finish(&lane->parts);
    free(lane);
    return status;
}
