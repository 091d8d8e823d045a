/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/queue.h"

#include "base/base.h"
#include "gpume/gpume.h"

#include <assert.h>
#include <stdlib.h>

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
