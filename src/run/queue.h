/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all lanes take their work from: the frames that have been sent, and every task from its
 * request to the delivery of its field. Lanes take tasks in order and complete them in any order;
 * fields are delivered in order. The tasks of a lane that fails wait again, before all others.
 *
 *      add -> WAITS -> take -> [lane] -> complete -> COMPLETE -> deliver
 *               ^                 |                      |
 *               +-----------------+------ give back -----+
 *
 * Not thread-safe: the monitor's mutex guards it.
 */
#ifndef GPUME_RUN_QUEUE_H
#define GPUME_RUN_QUEUE_H

#include "frame/field.h"

#include <stdint.h>

/* A task on its way from the schedule to an engine. */
struct gpume_request {
    struct gpume_task task; /* frames by sequence number */
    /* Its field serves the next one alone and is not delivered: the task is the reverse of one of
     * that field's frame pairs (derived.h). */
    bool hidden;
    uint64_t number; /* its place in the order of all tasks */
    uint64_t frames; /* how many were sent before it; the engine gets no later frame before it */
};

/*
 * The frames that have been sent: those that no lane has taken yet, and their times. Where tasks
 * may need a frame again, because fields carry frames or because work may move from lane to lane,
 * it also keeps the frames that later tasks may look at.
 */
struct gpume_history {
    uint32_t ring;               /* entries; a frame's is its sequence number modulo this */
    bool keeps;                  /* frames may be taken more than once */
    bool attaches;               /* fields carry their frames */
    int64_t *times_us;           /* by entry */
    struct gpume_frame **frames; /* by entry, referenced; NULL: not kept */
    uint64_t first;              /* the oldest frame that is kept */
    uint64_t next;               /* the first frame that no lane has taken */
    uint64_t end;                /* the frame that will be sent next */
};

/* Makes room, at first in a struct that is zeroed. pool: frames that can exist. GPUME_NOMEM: it is
 * as it was, but must be finished even so. */
int gpume_history_reserve(
    struct gpume_history *history, const struct gpume_plan *plan, uint32_t pool);

/* Drops no references, because the pool of frames is freed at the same time. */
void gpume_history_finish(struct gpume_history *history);

/* Every frame in order. Takes over the reference. */
void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame);

/* A reference to a frame for a lane: to the next one, or, where frames are kept, to any that has
 * not been forgotten. */
struct gpume_frame *gpume_history_take(struct gpume_history *history, uint64_t sequence);

/* A frame before this one, with the reference to it; NULL: none is kept. */
struct gpume_frame *gpume_history_forget(struct gpume_history *history, uint64_t oldest);

struct gpume_queue_entry {
    struct gpume_request request;
    bool waits;
    struct gpume_field_box *box; /* complete; else NULL */
};

struct gpume_queue {
    struct gpume_history history;
    uint32_t reach;
    struct gpume_queue_entry *entries; /* by number modulo capacity */
    uint32_t capacity;
    uint32_t waiting;   /* tasks that wait */
    uint64_t delivered; /* number of the first task that has not been delivered */
    uint64_t next;      /* of the first one that waits; if none does, `end` */
    uint64_t end;       /* of the task that will be requested next */
    bool finished;      /* nothing more will be added */
};

/* Makes room: at first in a struct that is zeroed, then for more, since a device has been opened.
 * pool: frames that can exist. in_slots: tasks that can be in the slots of all lanes together.
 * GPUME_NOMEM: it is as it was, but must be finished even so. */
int gpume_queue_reserve(
    struct gpume_queue *queue, const struct gpume_plan *plan, uint32_t pool, uint32_t in_slots);
void gpume_queue_finish(struct gpume_queue *queue);

/* Gives the request its number. */
void gpume_queue_add(struct gpume_queue *queue, const struct gpume_request *request);

/* A frame or a task waits. */
bool gpume_queue_has_work(const struct gpume_queue *queue);

/* Nothing more will be added, and all fields have been delivered. */
bool gpume_queue_is_over(const struct gpume_queue *queue);

/* The first task that waits, if every frame that was sent before it has been taken by some lane;
 * else NULL. */
const struct gpume_request *gpume_queue_due(const struct gpume_queue *queue);

/* Moves the first task that waits into the box. */
void gpume_queue_take(struct gpume_queue *queue, struct gpume_field_box *box);

/* The task waits again: it was taken, and its field has not been delivered. */
void gpume_queue_give_back(struct gpume_queue *queue, const struct gpume_field_box *box);

void gpume_queue_complete(struct gpume_queue *queue, struct gpume_field_box *box);

/* The next field in the order of the tasks; NULL: it is not complete. */
struct gpume_field_box *gpume_queue_deliver(struct gpume_queue *queue);

/* The oldest frame that a task may still look at, one that has not been delivered or one yet to
 * come. */
uint64_t gpume_queue_oldest_frame(const struct gpume_queue *queue);

/* --- a ring of pointers with a capacity fixed at the start. The owner sizes it for everything that
 * can exist, so pushing cannot fail. */

struct gpume_fifo {
    void **items;
    uint32_t capacity, head, count;
};

/* GPUME_NOMEM on failure. */
int gpume_fifo_init(struct gpume_fifo *fifo, uint32_t capacity);

void gpume_fifo_finish(struct gpume_fifo *fifo);

void gpume_fifo_push(struct gpume_fifo *fifo, void *item);

/* NULL when empty. */
void *gpume_fifo_pop(struct gpume_fifo *fifo);

/* The item that `index` calls of pop would come before; index < count. */
void *gpume_fifo_at(const struct gpume_fifo *fifo, uint32_t index);

#endif
