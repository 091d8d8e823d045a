/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/queue.h"

#include "base/base.h"

#include "gpume/gpume.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- items in the order in which they came */

int gpume_fifo_init(struct gpume_fifo *fifo, uint32_t capacity)
{
    void **items = calloc(capacity, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    *fifo = (struct gpume_fifo){.items = items, .capacity = capacity};
    return GPUME_OK;
}

void gpume_fifo_finish(struct gpume_fifo *fifo)
{
    free(fifo->items);
    *fifo = (struct gpume_fifo){0};
}

void gpume_fifo_push(struct gpume_fifo *fifo, void *item)
{
    assert(fifo->count < fifo->capacity);
    fifo->items[(fifo->head + fifo->count) % fifo->capacity] = item;
    fifo->count++;
}

void *gpume_fifo_pop(struct gpume_fifo *fifo)
{
    if (fifo->count == 0) {
        return NULL;
    }
    void *item = fifo->items[fifo->head];
    fifo->head = (fifo->head + 1) % fifo->capacity;
    fifo->count--;
    return item;
}

void *gpume_fifo_at(const struct gpume_fifo *fifo, uint32_t index)
{
    assert(index < fifo->count);
    return fifo->items[(fifo->head + index) % fifo->capacity];
}

_Static_assert(sizeof(struct gpume_queue_entry) <= GPUME_QUEUED_BYTES, "as planned");

/* --- the history */

int gpume_history_reserve(
    struct gpume_history *history, const struct gpume_plan *plan, uint32_t pool)
{
    /* Frames that are kept or not yet taken are in the pool. Where none are kept, tasks look back
     * from the first one that is not taken, or from the one before it. */
    const uint32_t ring = pool + plan->reach + 2;
    int64_t *times_us = calloc(ring, sizeof(*times_us));
    struct gpume_frame **frames = calloc(ring, sizeof(struct gpume_frame *));
    if (!times_us || !frames) {
        free(times_us);
        free((void *)frames);
        return GPUME_NOMEM;
    }
    const uint64_t known = gpume_min_u64(history->end, history->ring);
    for (uint64_t i = history->end - known; i < history->end; i++) {
        times_us[i % ring] = history->times_us[i % history->ring];
        frames[i % ring] = history->frames[i % history->ring];
    }
    free(history->times_us);
    free((void *)history->frames);
    history->times_us = times_us;
    history->frames = frames;
    history->ring = ring;
    history->keeps = gpume_plan_keeps_frames(&plan->params);
    history->attaches = plan->params.want_frames;
    return GPUME_OK;
}

void gpume_history_finish(struct gpume_history *history)
{
    free(history->times_us);
    free((void *)history->frames);
    *history = (struct gpume_history){0};
}

void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame)
{
    const uint64_t entry = frame->sequence % history->ring;
    history->times_us[entry] = frame->time_us;
    history->frames[entry] = frame;
    history->end = frame->sequence + 1;
}

struct gpume_frame *gpume_history_take(struct gpume_history *history, uint64_t sequence)
{
    struct gpume_frame **entry = &history->frames[sequence % history->ring];
    struct gpume_frame *frame = *entry;
    assert(frame && frame->sequence == sequence);
    if (history->keeps) {
        gpume_frame_ref(frame);
    } else {
        *entry = NULL;
    }
    history->next = gpume_max_u64(history->next, sequence + 1);
    return frame;
}

/* Fills in the time of the field's target, and the target and the first reference where fields
 * carry them. */
static void history_attach(const struct gpume_history *history, struct gpume_field_box *box)
{
    const uint64_t target = box->task.target % history->ring;
    box->field.time_us = history->times_us[target];
    if (history->attaches && !box->hidden) {
        box->target = history->frames[target];
        box->reference = history->frames[box->task.reference % history->ring];
        gpume_frame_ref(box->target);
        gpume_frame_ref(box->reference);
        box->field.target = box->target->plane;
        box->field.reference = box->reference->plane;
    }
}

struct gpume_frame *gpume_history_forget(struct gpume_history *history, uint64_t oldest)
{
    struct gpume_frame *frame = NULL;
    oldest = gpume_min_u64(oldest, history->next);
    /* Where none are kept, entries of frames that were taken long ago may hold new ones. */
    for (; history->keeps && !frame && history->first < oldest; history->first++) {
        frame = history->frames[history->first % history->ring];
        history->frames[history->first % history->ring] = NULL;
    }
    return frame;
}

/* --- the tasks */

int gpume_queue_reserve(
    struct gpume_queue *queue, const struct gpume_plan *plan, uint32_t pool, uint32_t in_slots)
{
    const uint32_t capacity = gpume_plan_waiting_max(plan, pool) + in_slots;
    struct gpume_queue_entry *entries = calloc(capacity, sizeof(*entries));
    if (!entries || gpume_history_reserve(&queue->history, plan, pool) != GPUME_OK) {
        free(entries);
        return GPUME_NOMEM;
    }
    for (uint64_t i = queue->delivered; i < queue->end; i++) {
        entries[i % capacity] = queue->entries[i % queue->capacity];
    }
    free(queue->entries);
    queue->entries = entries;
    queue->capacity = capacity;
    queue->reach = plan->reach;
    return GPUME_OK;
}

void gpume_queue_finish(struct gpume_queue *queue)
{
    gpume_history_finish(&queue->history);
    free(queue->entries);
    *queue = (struct gpume_queue){0};
}

static struct gpume_queue_entry *entry_at(const struct gpume_queue *queue, uint64_t number)
{
    return &queue->entries[number % queue->capacity];
}

void gpume_queue_add(struct gpume_queue *queue, const struct gpume_request *request)
{
    struct gpume_queue_entry *entry = entry_at(queue, queue->end);
    assert(queue->end - queue->delivered < queue->capacity);
    *entry = (struct gpume_queue_entry){.request = *request, .waits = true};
    entry->request.number = queue->end++;
    queue->waiting++;
}

bool gpume_queue_has_work(const struct gpume_queue *queue)
{
    return queue->waiting > 0 || queue->history.next < queue->history.end;
}

bool gpume_queue_is_over(const struct gpume_queue *queue)
{
    return queue->finished && !gpume_queue_has_work(queue) && queue->delivered == queue->end;
}

const struct gpume_request *gpume_queue_due(const struct gpume_queue *queue)
{
    const struct gpume_request *request = &entry_at(queue, queue->next)->request;
    return queue->waiting > 0 && request->frames <= queue->history.next ? request : NULL;
}

void gpume_queue_take(struct gpume_queue *queue, struct gpume_field_box *box)
{
    struct gpume_queue_entry *entry = entry_at(queue, queue->next);
    box->task = entry->request.task;
    box->hidden = entry->request.hidden;
    box->number = entry->request.number;
    history_attach(&queue->history, box);
    entry->waits = false;
    queue->waiting--;
    while (queue->next < queue->end && !entry_at(queue, queue->next)->waits) {
        queue->next++;
    }
}

void gpume_queue_give_back(struct gpume_queue *queue, const struct gpume_field_box *box)
{
    struct gpume_queue_entry *entry = entry_at(queue, box->number);
    assert(!entry->waits && box->number >= queue->delivered);
    entry->waits = true;
    entry->box = NULL;
    queue->waiting++;
    queue->next = gpume_min_u64(queue->next, box->number);
}

void gpume_queue_complete(struct gpume_queue *queue, struct gpume_field_box *box)
{
    entry_at(queue, box->number)->box = box;
}

struct gpume_field_box *gpume_queue_deliver(struct gpume_queue *queue)
{
    struct gpume_field_box *box =
        queue->delivered < queue->end ? entry_at(queue, queue->delivered)->box : NULL;
    queue->delivered += box != NULL;
    return box;
}

/* A task yet to come looks back `reach` frames from the newest one at most. */
uint64_t gpume_queue_oldest_frame(const struct gpume_queue *queue)
{
    const struct gpume_history *history = &queue->history;
    uint64_t oldest = history->next - gpume_min_u64(history->next, queue->reach);
    for (uint64_t i = queue->delivered; history->keeps && i < queue->end; i++) {
        const struct gpume_task *task = &entry_at(queue, i)->request.task;
        oldest = gpume_min_u64(oldest, gpume_min_u64(task->target, task->reference));
        for (uint32_t k = 0; k < task->more_count; k++) {
            oldest = gpume_min_u64(oldest, task->more[k]);
        }
    }
    return oldest;
}

/* --- the schedule */

struct gpume_schedule gpume_schedule_make(const struct gpume_plan *plan)
{
    const struct gpume_params *params = &plan->params;
    struct gpume_schedule schedule = {.direction = params->direction,
        .joins = params->best_reference,
        .returns = plan->returns,
        .mutual = plan->mutual,
        .distance_count = plan->distance_count,
        .end = UINT64_MAX};
    memcpy(schedule.distances, plan->distances, sizeof(schedule.distances));
    if (params->direction == GPUME_DIRECTION_MANUAL) {
        schedule.end = 0;
        return schedule;
    }
    if (params->first_target > params->first_frame) {
        schedule.first = schedule.target = params->first_target - params->first_frame;
    }
    if (params->target_count > 0) {
        uint64_t end = params->first_target + params->target_count;
        end = end < params->target_count ? UINT64_MAX : end;
        schedule.end = end > params->first_frame ? end - params->first_frame : 0;
    }
    return schedule;
}

enum answer { NONE, EXISTS, UNKNOWN };

/* Does the target have a reference in this turn? UNKNOWN: that depends on frames yet to come. */
static enum answer find_reference(const struct gpume_schedule *schedule, uint32_t turn,
    uint64_t frames, bool ended, uint64_t *reference)
{
    const uint64_t distance = schedule->distances[turn / 2], target = schedule->target;
    const bool future = turn % 2 == 1;
    const enum gpume_direction other = future ? GPUME_DIRECTION_PAST : GPUME_DIRECTION_FUTURE;
    if (schedule->direction == other || (!future && target < distance)) {
        return NONE;
    }
    if (future && frames - target <= distance) {
        return ended ? NONE : UNKNOWN;
    }
    *reference = future ? target + distance : target - distance;
    return EXISTS;
}

/* Adds the references of the turns from `turn` to `end` to the target's task. */
static enum answer find_references(const struct gpume_schedule *schedule, uint32_t end,
    uint64_t frames, bool ended, struct gpume_task *task)
{
    uint32_t count = 0;
    for (uint32_t turn = schedule->turn; turn < end; turn++) {
        uint64_t reference = 0;
        switch (find_reference(schedule, turn, frames, ended, &reference)) {
        case NONE:
            break;
        case EXISTS:
            *(count == 0 ? &task->reference : &task->more[count - 1]) = reference;
            count++;
            break;
        case UNKNOWN:
            return UNKNOWN;
        }
    }
    task->more_count = count > 0 ? count - 1 : 0;
    return count > 0 ? EXISTS : NONE;
}

/* Whether the reverse of the task's only pair has come as the task of an earlier target, or is the
 * next task. */
static bool reverse_is_near(const struct gpume_schedule *schedule, const struct gpume_task *task)
{
    return task->reference < task->target ? !schedule->joins && task->reference >= schedule->first
                                          : schedule->mutual && task->reference < schedule->end;
}

bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_request *request)
{
    struct gpume_schedule *schedule = opaque;
    const uint32_t turns = 2 * schedule->distance_count;
    while (schedule->target < schedule->end && schedule->target < frames) {
        const uint32_t end = schedule->joins ? turns : schedule->turn + 1;
        struct gpume_task *task = &request->task;
        *task = (struct gpume_task){.target = schedule->target};
        if (schedule->turn == 0 && schedule->distance_count > 1 &&
            find_references(schedule, turns, frames, ended, task) == UNKNOWN) {
            return false;
        }
        const enum answer answer = find_references(schedule, end, frames, ended, task);
        if (answer == UNKNOWN) {
            return false;
        }
        request->hidden = schedule->returns && answer == EXISTS &&
                          schedule->hidden <= task->more_count && !reverse_is_near(schedule, task);
        if (request->hidden) {
            const uint32_t pair = schedule->hidden++;
            const uint64_t reference = pair == 0 ? task->reference : task->more[pair - 1];
            *task = (struct gpume_task){.target = reference, .reference = task->target};
            return true;
        }
        schedule->hidden = 0;
        schedule->turn = end % turns;
        schedule->target += schedule->turn == 0;
        if (answer == EXISTS) {
            return true;
        }
    }
    return false;
}

/* --- whose turn it is */

#define TRIAL 8u /* the part of a submission that a lane takes before it has been measured */
#define MOVE_NS 1000000u /* about two large frames into another engine's memory */
#define REST_NS 5000000u /* for which tasks may wait that one engine takes at once */
#define WORK_NS 5000000u /* under way: more would only be missing elsewhere when tasks run out */

struct gpume_turn *gpume_turns_add(struct gpume_turns *turns, uint32_t slots, uint32_t batch)
{
    struct gpume_turn *turn = &turns->lanes[turns->count++];
    *turn = (struct gpume_turn){.room = slots * batch, .batch = batch, .free_slots = slots};
    return turn;
}

/* How many tasks it may have under way without keeping the others waiting: they wait when their own
 * slots are full. A tenth more, since lanes that are alike never measure quite the same. */
static double most_in_time(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    double most = (double)UINT32_MAX;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            const double tasks = 1.1 * other->room * (double)other->task_ns / (double)turn->task_ns;
            most = tasks < most ? tasks : most;
        }
    }
    return most;
}

/* Whether the others, even if they wait, are faster by one task than without this lane. */
static bool helps(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    double lost = 0;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            const double could = (double)turn->task_ns / (double)other->task_ns;
            lost += could > other->room ? could - other->room : 0;
        }
    }
    return lost < 1;
}

/* Of the other lanes. */
static bool are_measured(
    const struct gpume_turns *turns, const struct gpume_turn *turn, bool *exist)
{
    bool measured = true;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            *exist = true;
            measured = measured && other->task_ns > 0;
        }
    }
    return measured;
}

/* How many tasks it could take: half of what it may have under way, so that it need not pause in
 * between. The fastest lane, if it has nothing in flight, can always take some. */
static uint32_t tasks_in_time(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    bool exist = false;
    const bool measured = are_measured(turns, turn, &exist);
    if (!turn->present || turn->free_slots == 0) {
        return 0;
    }
    if (!exist) {
        return turn->batch;
    }
    if (turn->task_ns == 0 || !measured) {
        const bool first = turn->submissions == 0;
        return turn->task_ns > 0 || first ? (turn->batch + TRIAL - 1) / TRIAL : 0;
    }
    if (turn->submissions >= 2 && turn->in_flight * turn->task_ns > WORK_NS) { /* enough */
        return 0;
    }
    const double most = most_in_time(turns, turn), left = most - turn->in_flight;
    double tasks = most / 2 < left ? most / 2 : left;
    tasks = tasks < 1 && left >= 1 ? 1 : tasks;
    if (tasks >= 1) {
        return tasks < turn->batch ? (uint32_t)tasks : turn->batch;
    }
    return turn->submissions == 0 && helps(turns, turn);
}

/* Whether lanes other than the holder may take tasks. */
static bool passes(const struct gpume_turns *turns, uint32_t waiting)
{
    const struct gpume_turn *holder = &turns->lanes[turns->holder];
    const uint64_t under_way_ns = holder->in_flight * holder->task_ns;
    const bool frames_alone = holder->present && !turns->took && holder->submissions > 0;
    /* The holder has work, but soon none, and can take all that waits at once: frames come more
     * slowly than it searches them. */
    if (holder->present && under_way_ns > 0 && under_way_ns <= REST_NS &&
        waiting <= holder->batch / 2) {
        return false;
    }
    /* Busy: its thread waits for longer than it takes to give frames to another engine. */
    const bool is_busy = holder->collecting && under_way_ns > MOVE_NS;
    return is_busy || (!frames_alone && tasks_in_time(turns, holder) == 0);
}

uint32_t gpume_turns_share(
    const struct gpume_turns *turns, const struct gpume_turn *turn, uint32_t waiting)
{
    const bool is_holder = turn == &turns->lanes[turns->holder];
    return !turns->blocked && (is_holder || passes(turns, waiting)) ? tasks_in_time(turns, turn)
                                                                    : 0;
}

void gpume_turns_take(struct gpume_turns *turns, struct gpume_turn *turn, uint32_t tasks)
{
    const uint32_t index = (uint32_t)(turn - turns->lanes);
    turns->took = tasks > 0 || (turns->took && index == turns->holder);
    turns->holder = index;
    turn->free_slots--;
    turn->submissions++;
    turn->in_flight += tasks;
}

void gpume_turns_complete(struct gpume_turn *turn, uint32_t tasks, uint64_t ns)
{
    turn->submissions--;
    turn->in_flight -= tasks;
    turn->worked_ns += ns;
    if (tasks > 0) {
        const uint64_t task_ns = ns / tasks + 1;
        turn->task_ns = turn->task_ns == 0 ? task_ns : (3 * turn->task_ns + task_ns) / 4;
    }
}

/* --- whether more devices would have work */

/* Of the time that opening takes: what the source has waited, at least, and how long is measured at
 * most, since a run may have easier and harder parts. */
#define WAITED 0.25
#define MEASURED 8
#define BUSY 0.75  /* of the engines' time: with less, something else is slow too */
#define WORTH 0.25 /* of an engine's time, which the next one would have to do */
/* Times the opening, for each device: it is missing meanwhile, and is closed again at the end. */
#define PAYS_AFTER 3u

void gpume_demand_wait(struct gpume_demand *demand, uint64_t now_ns)
{
    if (demand->waiting_since_ns == 0) {
        demand->waiting_since_ns = now_ns;
    }
}

void gpume_demand_resume(struct gpume_demand *demand, uint64_t now_ns)
{
    if (demand->waiting_since_ns > 0) {
        demand->waited_ns += now_ns - demand->waiting_since_ns;
        demand->waiting_since_ns = 0;
    }
}

void gpume_demand_restart(struct gpume_demand *demand)
{
    *demand = (struct gpume_demand){
        .open_ns = demand->open_ns, .waiting_since_ns = demand->waiting_since_ns};
}

static void begin(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts)
{
    demand->since_ns = now_ns;
    demand->waited_ns = 0;
    demand->waiting_since_ns = now_ns;
    demand->worked_ns = facts->worked_ns;
    demand->fields = facts->fields;
}

/* Devices that pay by the time which is left. */
static double most_that_pay(
    const struct gpume_demand *demand, double measured_ns, const struct gpume_demand_facts *facts)
{
    const double fields = (double)(facts->fields - demand->fields);
    const double left_ns = fields > 0 ? (double)facts->left * measured_ns / fields : measured_ns;
    return left_ns / (PAYS_AFTER * (double)(demand->open_ns + 1));
}

/* Measuring begins when the source waits, so that it does not include the beginning of the run. */
uint32_t gpume_demand_more(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts)
{
    if (demand->since_ns == 0) {
        if (demand->waiting_since_ns > 0) {
            begin(demand, now_ns, facts);
        }
        return 0;
    }
    const double measured = (double)(now_ns - demand->since_ns);
    const double waits =
        demand->waiting_since_ns > 0 ? (double)(now_ns - demand->waiting_since_ns) : 0;
    const double waited = (double)demand->waited_ns + waits, open = (double)demand->open_ns;
    const double worked = (double)(facts->worked_ns - demand->worked_ns);
    if (waited < WAITED * open || measured <= 0) {
        if (measured > MEASURED * open) {
            gpume_demand_restart(demand);
        }
        return 0;
    }
    const double lanes = facts->lanes;
    const double busy = worked < lanes * measured ? worked : lanes * measured;
    const double wanted = busy / (measured - waited + measured / 64); /* 64 engines at most */
    double more = wanted - lanes + 1 - WORTH;
    const double most = facts->left < UINT64_MAX ? most_that_pay(demand, measured, facts) : more;
    gpume_demand_restart(demand);
    if (busy < BUSY * lanes * measured || more < 1) {
        return 0;
    }
    more = more < most ? more : most;
    return (uint32_t)more;
}
