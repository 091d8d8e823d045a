/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of a run: what all lanes take them from, which ones a sequence of frames brings, and
 * which lane takes the next ones. Not thread-safe: the monitor's mutex guards all of it. */
#ifndef GPUME_RUN_QUEUE_H
#define GPUME_RUN_QUEUE_H

#include "frame/frame.h"
#include "model/plan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * --- What all lanes take their work from: the frames that have been sent, and every task from its
 * request to the delivery of its field. Lanes take tasks in order and complete them in any order;
 * fields are delivered in order. The tasks of a lane that fails wait again, before all others.
 *
 *      add -> WAITS -> take -> [lane] -> complete -> COMPLETE -> deliver
 *               ^                 |                      |
 *               +-----------------+------ give back -----+
 *
 * Not thread-safe: the monitor's mutex guards it.
 */

/* A task on its way from the schedule to an engine. */
struct gpume_request {
    struct gpume_task task; /* frames by sequence number */
    /* Its field serves the next one alone and is not delivered: the task is the reverse of one of
     * that field's frame pairs (lane.h). */
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

/*
 * --- The tasks of a sequence of frames: by rising target; for one target by rising distance; at
 * one distance the past reference before the future one. With params.best_reference a target has
 * one task with all its references in that order. With several distances, all tasks of a target
 * come together, so that a run which ends early can tell which targets are complete. A task comes
 * as soon as its frames have been sent and all tasks before it have come. At distance d alone frame
 * m brings
 *
 *      past                  (m, m - d)
 *      future                (m - d, m)
 *      both                  (m - d, m), then (m - d + 1, m - 2d + 1)
 *      both, best reference  (m - d, m - 2d and m)
 *
 * as (target, reference), as far as these frames exist. Where later frames may still be a target's
 * references, its tasks wait until it is known that none follows.
 *
 * With plan.returns the reverse of every frame pair of a task comes just before the task, as hidden
 * tasks in the order of its references, unless it is itself a task near by. Without
 * params.best_reference
 *
 * - the reverse of a past pair is a future pair, which has come already if its target is in range;
 * - the reverse of a future pair is the past pair of a later target. At distance 1 alone
 *   (plan.mutual) it is the very next task, if that target is in range. Otherwise it comes twice,
 *   hidden and then for itself: else one of both fields would have to stay in its slot until the
 *   targets that lie between have been delivered, and there are not as many slots.
 *
 * With params.best_reference all of them are searched: a field has the best of its task's pairs,
 * not what each of them gives.
 *
 * The only file below the public API that knows directions.
 */

struct gpume_schedule {
    enum gpume_direction direction;
    bool joins;                                              /* one task per target */
    bool returns;                                            /* hidden tasks as well */
    bool mutual;                                             /* of the plan */
    uint32_t distances[GPUME_DISTANCES_MAX], distance_count; /* rising */
    uint64_t first, target, end; /* targets: the first; of the next task, at the earliest; one past
                                    the last */
    uint32_t turn;   /* of the target's possible references: past and future by rising distance */
    uint32_t hidden; /* hidden tasks of the next task that have come */
};

struct gpume_schedule gpume_schedule_make(const struct gpume_plan *plan);

/* As gpume_task_source.next; opaque: the schedule. */
bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_request *request);

/*
 * --- Which lane takes the next submission from the queue. One lane after the other has the turn.
 * It keeps it while it has a free slot, so that few frames go to more than one engine, and until it
 * has taken a task, so that its frames have not gone there for nothing. While it waits long for its
 * engine, any other one may take what comes. Where frames come slowly, the others rest.
 *
 * Fields are delivered in order, so that the others wait for a slow lane once their slots are full.
 * It takes only as many tasks as make the run faster even so, by the measured speed of all lanes,
 * and few until all have been measured. One lane alone takes as many as its engine can.
 *
 * Not thread-safe: the monitor's mutex guards it.
 */

#define GPUME_LANES_MAX 33u /* the devices of a list, and the standby engine */

/* What is known of a lane. */
struct gpume_turn {
    bool present;         /* it takes part */
    uint32_t room;        /* tasks that its slots hold */
    uint32_t batch;       /* tasks in a submission, at most */
    uint32_t free_slots;  /* that hold nothing */
    uint32_t in_flight;   /* tasks that the engine has */
    uint32_t submissions; /* that the engine has */
    uint64_t task_ns;     /* measured time per task; 0: not measured yet */
    uint64_t worked_ns;   /* in all */
    bool collecting;      /* its thread waits for the engine, and takes nothing meanwhile */
};

struct gpume_turns {
    struct gpume_turn lanes[GPUME_LANES_MAX];
    uint32_t count;
    uint32_t holder;
    bool took;    /* the holder has taken a task */
    bool blocked; /* the holder is still asking for predictors */
};

/* A new lane, not present yet. */
struct gpume_turn *gpume_turns_add(struct gpume_turns *turns, uint32_t slots, uint32_t batch);

/* How many of the tasks that wait, if `waiting` do, or of those that come with the next frames this
 * lane may take now; 0: it is not its turn. */
uint32_t gpume_turns_share(
    const struct gpume_turns *turns, const struct gpume_turn *turn, uint32_t waiting);

/* The lane takes a submission of `tasks` tasks, which uses up a free slot. */
void gpume_turns_take(struct gpume_turns *turns, struct gpume_turn *turn, uint32_t tasks);

/* A submission of `tasks` tasks is complete; the engine worked on it alone for `ns`. */
void gpume_turns_complete(struct gpume_turn *turn, uint32_t tasks, uint64_t ns);

/*
 * --- whether the lanes keep up with the source, and how many more devices would have work. Opening
 * a device takes time, during which it also keeps others waiting, so one is opened only when
 *
 * - while the engines were busy, the source has waited for free frames for at least a quarter of
 * the time that opening takes;
 * - by the measured speeds the source would keep another engine busy for a good part of its time;
 * - what is left to do, where that is known, takes several times as long as opening.
 *
 * Where a receiver is slow, the source waits too, but the engines are not at work.
 */

struct gpume_demand {
    uint64_t open_ns;          /* what opening a device takes */
    uint64_t since_ns;         /* when measuring began; 0: it has not */
    uint64_t waited_ns;        /* by the source since then, without the present wait */
    uint64_t waiting_since_ns; /* 0: it does not wait */
    /* What had been done when measuring began. */
    uint64_t worked_ns, fields;
};

/* What has been done since the run began, and is left to do. */
struct gpume_demand_facts {
    uint32_t lanes;     /* at work */
    uint64_t worked_ns; /* engine time of all lanes */
    uint64_t fields;    /* that have been delivered */
    uint64_t left;      /* fields yet to come; UINT64_MAX: unknown */
};

/* The source finds no free frame. */
void gpume_demand_wait(struct gpume_demand *demand, uint64_t now_ns);

/* The source has got a free frame. */
void gpume_demand_resume(struct gpume_demand *demand, uint64_t now_ns);

/* A device has been opened, or given up: what was measured before does not count any more. */
void gpume_demand_restart(struct gpume_demand *demand);

/* How many devices should be opened beyond those that are open. */
uint32_t gpume_demand_more(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts);

#endif
