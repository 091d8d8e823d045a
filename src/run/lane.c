/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/lane.h"

#include "base/base.h"
#include "base/os.h"
#include "frame/frame.h"

#include <stdlib.h>

/* Locked. */
static bool can_submit(const struct gpume_lane *lane)
{
    return lane->free_slots.count > 0 && gpume_queue_has_work(lane->queue) &&
           gpume_turns_share(lane->turns, lane->turn, lane->queue->waiting) > 0;
}

/* --- what it takes from the queue */

static uint64_t *lane_place(const struct gpume_lane *lane, uint64_t sequence)
{
    return &lane->held[sequence % lane->plan.ring];
}

/* Frames of a submission come by rising sequence number. */
static void lane_take_frame(
    struct gpume_lane *lane, struct gpume_submission *batch, uint64_t sequence)
{
    struct gpume_frame *frame = gpume_history_take(&lane->queue->history, sequence);
    uint32_t at = batch->frame_count++;
    for (; at > 0 && batch->frames[at - 1]->sequence > sequence; at--) {
        batch->frames[at] = batch->frames[at - 1];
    }
    batch->frames[at] = frame;
    *lane_place(lane, sequence) = sequence + 1;
    lane->end = gpume_max_u64(lane->end, sequence + 1);
}

/* Takes the task's frames that the engine does not have; false: there is no room for all. */
static bool lane_take_task_frames(
    struct gpume_lane *lane, struct gpume_submission *batch, const struct gpume_task *task)
{
    const uint32_t count = 2 + task->more_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t sequence = i == 0   ? task->target
                                  : i == 1 ? task->reference
                                           : task->more[i - 2];
        if (*lane_place(lane, sequence) == sequence + 1) {
            continue;
        }
        if (batch->frame_count == lane->plan.batch) {
            return false;
        }
        lane_take_frame(lane, batch, sequence);
    }
    return true;
}

/* Tasks from before the newest frame that the engine has: those of a lane that has failed. The
 * engine begins anew, so that frames come by rising sequence number between two beginnings. */
static void lane_begin_anew(struct gpume_lane *lane, const struct gpume_request *due)
{
    if (due && due->frames < lane->end) {
        for (uint32_t i = 0; i < lane->plan.ring; i++) {
            lane->held[i] = 0;
        }
        lane->end = 0;
    }
}

/* Locked. Moves waiting frames and tasks, of which there are some, into the slot in the order in
 * which they came, as many as is the lane's share of each, and successive tasks only. Each task
 * comes with its frames that have gone to other lanes alone. Tasks look back `reach` frames from
 * the one that came before them, and engines keep reach + batch frames, so the newest frame is less
 * than `batch` frames after that of the first task. */
static void lane_fill_slot(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    struct gpume_queue *queue = lane->queue;
    struct gpume_history *history = &queue->history;
    struct gpume_submission *batch = &slot->batch;
    const struct gpume_request *due = gpume_queue_due(queue);
    const uint32_t most = gpume_turns_share(lane->turns, lane->turn, queue->waiting);
    const uint64_t frames_end = (due ? due->frames - 1 : history->next) + most;
    uint64_t number = due ? due->number : UINT64_MAX;
    *batch = (struct gpume_submission){0};
    lane_begin_anew(lane, due);
    while (batch->field_count < most) {
        due = gpume_queue_due(queue);
        if (due) {
            const bool follows = batch->field_count == 0 || due->number == number + 1;
            if (!follows || due->frames > frames_end ||
                !lane_take_task_frames(lane, batch, &due->task)) {
                return;
            }
            number = due->number;
            struct gpume_field_box *box = &slot->boxes[batch->field_count];
            gpume_queue_take(queue, box);
            batch->fields[batch->field_count++] = box;
        } else if (batch->frame_count < most && history->next < history->end &&
                   history->next < frames_end) {
            lane_take_frame(lane, batch, history->next);
        } else {
            return;
        }
    }
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

/* Fills in what the fields' frames determine, before the engine does the rest. Predictors are asked
 * for in the order of the tasks, so nobody takes any meanwhile. Locked, but releases the mutex. */
static int describe(struct gpume_lane *lane, const struct gpume_submission *batch)
{
    const struct gpume_plan *plan = &lane->plan;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < batch->field_count; i++) {
        gpume_field_box_describe(batch->fields[i], plan->params.first_frame);
    }
    if (plan->params.predictor == GPUME_PREDICTOR_GIVEN) {
        lane->turns->blocked = true;
        pthread_mutex_unlock(&lane->monitor->mutex);
        for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
            status = fill_predictors(plan, batch->fields[i]);
        }
        pthread_mutex_lock(&lane->monitor->mutex);
        lane->turns->blocked = false;
        gpume_monitor_tell(lane->monitor);
    }
    return status;
}

static int submit_next(struct gpume_lane *lane)
{
    struct gpume_lane_slot *slot = gpume_fifo_pop(&lane->free_slots);
    const uint64_t start = gpume_clock_ns();
    lane_fill_slot(lane, slot);
    gpume_fifo_push(&lane->in_flight, slot);
    gpume_turns_take(lane->turns, lane->turn, slot->batch.field_count);
    slot->submitted = false;
    slot->counted = (struct gpume_stats){0};
    int status = describe(lane, &slot->batch);
    lane->not_of_engine = status != GPUME_OK;
    pthread_mutex_unlock(&lane->monitor->mutex);
    if (status == GPUME_OK) {
        status = lane->ops->submit(lane->engine, (uint32_t)(slot - lane->slots), &slot->batch);
        slot->submitted = status == GPUME_OK;
    }
    const uint64_t end = gpume_clock_ns();
    pthread_mutex_lock(&lane->monitor->mutex);
    slot->submitted_ns = end; /* copying frames to an engine is not part of its speed */
    lane->stats.busy_ns += end - start;
    return status;
}

static void free_slot(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    gpume_fifo_push(&lane->free_slots, slot);
    lane->turn->free_slots++;
}

/* Hands the fields of a collected slot over. Locked, but may release the mutex meanwhile. */
static void complete_fields(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    slot->lent = slot->batch.field_count;
    for (uint32_t i = 0; i < slot->batch.field_count; i++) {
        struct gpume_field_box *box = slot->batch.fields[i];
        atomic_store_explicit(&box->refs, 1, memory_order_relaxed);
        gpume_queue_complete(lane->queue, box);
    }
    if (slot->lent == 0) {
        free_slot(lane, slot);
    } else {
        lane->client.complete(lane->client.opaque);
    }
}

/* Waits for a submission and adds what run/ makes of an engine's results. Unlocked. */
static int collect(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    struct gpume_submission *batch = &slot->batch;
    int status = lane->ops->collect(lane->engine, (uint32_t)(slot - lane->slots), batch);
    for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
        gpume_field_box_complete(batch->fields[i], &lane->plan);
    }
    if (status == GPUME_OK && lane->checker) {
        status = gpume_checker_batch(lane->checker, batch);
        lane->not_of_engine = status != GPUME_OK;
    }
    for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
        if (batch->fields[i]->parts && !batch->fields[i]->hidden) {
            gpume_parts_list(&lane->parts, batch->fields[i]);
        }
    }
    return status;
}

static void drop_frames(struct gpume_submission *batch)
{
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_frame_unref(&batch->frames[i]);
    }
    batch->frame_count = 0;
}

/* Drops frames that no task can look at any more. Locked, but releases the mutex meanwhile, since
 * they go back to the pool. */
static void forget_frames(struct gpume_lane *lane)
{
    const uint64_t oldest = gpume_queue_oldest_frame(lane->queue);
    struct gpume_frame *frame;
    while ((frame = gpume_history_forget(&lane->queue->history, oldest))) {
        pthread_mutex_unlock(&lane->monitor->mutex);
        gpume_frame_unref(&frame);
        pthread_mutex_lock(&lane->monitor->mutex);
    }
}

/* Collects the oldest slot in flight, which stays in flight if that fails, so that its tasks can be
 * given back. Locked, but releases the mutex meanwhile. */
static int collect_oldest(struct gpume_lane *lane)
{
    struct gpume_lane_slot *slot = gpume_fifo_at(&lane->in_flight, 0);
    lane->turn->collecting = true;
    pthread_mutex_unlock(&lane->monitor->mutex);
    const uint64_t start = gpume_clock_ns();
    const int status = collect(lane, slot);
    struct gpume_stats stats = {0};
    lane->ops->get_stats(lane->engine, &stats);
    const uint64_t now = gpume_clock_ns();
    if (status == GPUME_OK) {
        drop_frames(&slot->batch);
    }
    pthread_mutex_lock(&lane->monitor->mutex);
    lane->turn->collecting = false;
    slot->counted = stats;
    gpume_stats_uncount(&slot->counted, &lane->stats);
    stats.busy_ns = lane->stats.busy_ns + (now - start);
    lane->stats = stats;
    if (status != GPUME_OK) {
        return status;
    }
    gpume_fifo_pop(&lane->in_flight);
    gpume_turns_complete(lane->turn, slot->batch.field_count,
        now - gpume_max_u64(slot->submitted_ns, lane->collected_ns));
    lane->collected_ns = now;
    complete_fields(lane, slot);
    forget_frames(lane);
    return GPUME_OK;
}

/* The slot's tasks wait again, for whichever lane takes them. The history has their frames too. */
static void give_back(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    for (uint32_t i = 0; i < slot->batch.field_count; i++) {
        struct gpume_field_box *box = slot->batch.fields[i];
        gpume_queue_give_back(lane->queue, box);
        gpume_frame_unref(&box->target);
        gpume_frame_unref(&box->reference);
    }
    slot->lent = 0;
    gpume_stats_add(&lane->again, &slot->counted);
}

/* Where all slots hold fields that come after tasks which another lane has given back, those tasks
 * could wait forever. The slot with the newest fields; plan.slots: it is not so. Locked. */
static uint32_t slot_in_the_way(const struct gpume_lane *lane)
{
    const struct gpume_queue *queue = lane->queue;
    const bool full = lane->free_slots.count == 0 && lane->in_flight.count == 0;
    uint32_t found = lane->plan.slots;
    uint64_t newest = queue->next;
    for (uint32_t i = 0; full && queue->waiting > 0 && i < lane->plan.slots; i++) {
        const uint64_t number = lane->slots[i].batch.fields[0]->number;
        if (number > newest) {
            newest = number;
            found = i;
        }
    }
    return found;
}

/* Until the lane ends: submits if it can, otherwise collects, otherwise waits. Locked. */
static int work(struct gpume_lane *lane)
{
    int status = GPUME_OK;
    while (status == GPUME_OK && !lane->cancelled) {
        const uint32_t in_the_way = slot_in_the_way(lane);
        lane->busy = true;
        if (in_the_way < lane->plan.slots) {
            give_back(lane, &lane->slots[in_the_way]);
            free_slot(lane, &lane->slots[in_the_way]);
        } else if (can_submit(lane)) {
            status = submit_next(lane);
            pthread_cond_broadcast(&lane->monitor->changed);
            continue;
        } else if (lane->in_flight.count > 0) {
            status = collect_oldest(lane);
        } else if (gpume_queue_is_over(lane->queue)) {
            break;
        } else {
            lane->busy = false;
            pthread_cond_broadcast(&lane->monitor->changed); /* waiting callers may be stuck now */
            pthread_cond_wait(&lane->monitor->changed, &lane->monitor->mutex);
            continue;
        }
        gpume_monitor_tell(lane->monitor);
    }
    return status;
}

/* Gives back all that the engine has. Locked, but releases the mutex meanwhile. */
static void give_back_all(struct gpume_lane *lane)
{
    struct gpume_lane_slot *slot;
    for (uint32_t i = 0; i < lane->in_flight.count; i++) {
        give_back(lane, gpume_fifo_at(&lane->in_flight, i));
    }
    pthread_mutex_unlock(&lane->monitor->mutex);
    while ((slot = gpume_fifo_pop(&lane->in_flight))) {
        drop_frames(&slot->batch);
    }
    pthread_mutex_lock(&lane->monitor->mutex);
}

/* Locked, but may release the mutex meanwhile. */
static void fail(struct gpume_lane *lane, int status)
{
    lane->failed = true;
    lane->turn->present = false;
    if (lane->not_of_engine || !gpume_status_is_of_gpu(status)) {
        lane->client.ended(lane->client.opaque, lane, status);
    } else {
        give_back_all(lane);
        lane->client.failed(lane->client.opaque, lane, status);
    }
}

static void *thread_main(void *opaque)
{
    struct gpume_lane *lane = opaque;
    pthread_mutex_lock(&lane->monitor->mutex);
    const int status = work(lane);
    if (status != GPUME_OK && !lane->cancelled) {
        fail(lane, status);
    }
    lane->busy = false;
    lane->done = true;
    gpume_monitor_tell(lane->monitor);
    pthread_mutex_unlock(&lane->monitor->mutex);
    return NULL;
}

bool gpume_lane_is_idle(const struct gpume_lane *lane)
{
    return lane->done ||
           (!lane->busy && !can_submit(lane) && slot_in_the_way(lane) == lane->plan.slots &&
               lane->in_flight.count == 0 && !gpume_queue_is_over(lane->queue));
}

void gpume_lane_get_stats(const struct gpume_lane *lane, struct gpume_stats *stats)
{
    *stats = lane->stats;
    gpume_stats_uncount(stats, &lane->again);
}

/* --- opening and closing */

void gpume_lane_release(struct gpume_field_box *box)
{
    struct gpume_lane *lane = box->owner;
    struct gpume_lane_slot *slot = &lane->slots[box->slot];
    if (--slot->lent == 0) {
        free_slot(lane, slot);
        gpume_monitor_tell(lane->monitor);
    }
}

/* Called when the last reference to a field has been dropped. */
static void recycle_field(void *owner, struct gpume_field_box *box)
{
    struct gpume_lane *lane = owner;
    gpume_frame_unref(&box->target);
    gpume_frame_unref(&box->reference);
    pthread_mutex_lock(&lane->monitor->mutex);
    gpume_lane_release(box);
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

/* The thread begins to work as soon as the mutex is free. */
static int start(struct gpume_lane *lane)
{
    pthread_mutex_lock(&lane->monitor->mutex);
    const int failed = pthread_create(&lane->thread, NULL, thread_main, lane);
    if (!failed) {
        lane->thread_started = true;
        lane->turn = gpume_turns_add(lane->turns, lane->plan.slots, lane->plan.batch);
    }
    pthread_mutex_unlock(&lane->monitor->mutex);
    return failed ? GPUME_AGAIN : GPUME_OK;
}

static int init_lane(struct gpume_lane *lane)
{
    const struct gpume_plan *plan = &lane->plan;
    int status;
    lane->held = calloc(plan->ring, sizeof(*lane->held));
    if (!lane->held) {
        return GPUME_NOMEM;
    }
    GPUME_TRY(gpume_fifo_init(&lane->free_slots, plan->slots));
    GPUME_TRY(gpume_fifo_init(&lane->in_flight, plan->slots));
    GPUME_TRY(init_slots(lane));
    if (plan->params.partition) {
        GPUME_TRY(gpume_parts_init(&lane->parts, plan));
    }
    status = start(lane);
fail:
    return status;
}

int gpume_lane_open(struct gpume_lane **out, const struct gpume_lane_parts *parts)
{
    void *engine = parts->engine;
    struct gpume_checker *checker = parts->checker;
    struct gpume_lane *lane = calloc(1, sizeof(*lane));
    if (!lane) {
        parts->ops->close(&engine);
        gpume_checker_close(&checker);
        return GPUME_NOMEM;
    }
    lane->ops = parts->ops;
    lane->engine = engine;
    lane->plan = *parts->plan;
    lane->checker = checker;
    lane->monitor = parts->monitor;
    lane->queue = parts->queue;
    lane->turns = parts->turns;
    lane->client = parts->client;
    const int status = init_lane(lane);
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
    gpume_monitor_tell(lane->monitor);
    pthread_mutex_unlock(&lane->monitor->mutex);
    if (lane->ops->cancel) {
        lane->ops->cancel(lane->engine);
    }
    if (lane->checker) {
        gpume_checker_cancel(lane->checker);
    }
}

/* Waits until the engine reads none of the frames that it has. */
static void drain(struct gpume_lane *lane)
{
    for (uint32_t i = 0; i < lane->in_flight.count; i++) {
        struct gpume_lane_slot *slot = gpume_fifo_at(&lane->in_flight, i);
        if (slot->submitted) {
            (void)lane->ops->collect(lane->engine, (uint32_t)(slot - lane->slots), &slot->batch);
        }
    }
}

void gpume_lane_stop(struct gpume_lane *lane)
{
    if (lane->thread_started) {
        gpume_lane_cancel(lane);
        pthread_join(lane->thread, NULL);
        lane->thread_started = false;
        drain(lane); /* of frames in other engines' memory, which is about to be freed */
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
    gpume_checker_close(&lane->checker);
    for (uint32_t i = 0; lane->boxes && i < lane->plan.slots * lane->plan.batch; i++) {
        gpume_field_box_finish(&lane->boxes[i]);
    }
    free(lane->boxes);
    free(lane->held);
    gpume_fifo_finish(&lane->free_slots);
    gpume_fifo_finish(&lane->in_flight);
    gpume_parts_finish(&lane->parts);
    free(lane);
    return status;
}
