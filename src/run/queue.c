/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/queue.h"

#include "base/grid.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert(sizeof(struct gpume_queue_entry) <= GPUME_QUEUED_BYTES, "as planned");

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
    gpume_history_attach(&queue->history, box);
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

static uint64_t oldest_of(const struct gpume_task *task)
{
    uint64_t oldest = gpume_min_u64(task->target, task->reference);
    for (uint32_t i = 0; i < task->more_count; i++) {
        oldest = gpume_min_u64(oldest, task->more[i]);
    }
    return oldest;
}

/* A task yet to come looks back `reach` frames from the newest one at most. */
uint64_t gpume_queue_oldest_frame(const struct gpume_queue *queue)
{
    const struct gpume_history *history = &queue->history;
    uint64_t oldest = history->next - gpume_min_u64(history->next, queue->reach);
    for (uint64_t i = queue->delivered; history->keeps && i < queue->end; i++) {
        oldest = gpume_min_u64(oldest, oldest_of(&entry_at(queue, i)->request.task));
    }
    return oldest;
}
