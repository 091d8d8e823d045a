/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: one engine, the thread that drives it, and its slots. Frames and tasks come in, complete
 * fields go out through the client's `deliver`. All queues are allocated at the start for the worst
 * case, so a lane waits only for work and for slots. A slot becomes free when the receiver has
 * released its fields; fields of hidden tasks (request.h) are not delivered.
 *
 *      push_frame, push_task ->[waiting]-> slot: FREE -> submit -> IN_FLIGHT -> collect -> LENT
 *                                            ^                                      | deliver
 *                                            +------- last field released ----------+
 *
 * Functions marked "locked" must be called with the monitor's mutex held. The lane's thread
 * acquires the mutex for itself and releases it while the engine works.
 */
#ifndef GPUME_RUN_LANE_H
#define GPUME_RUN_LANE_H

#include "base/fifo.h"
#include "frame/engine.h"
#include "run/history.h"
#include "run/parts.h"
#include "run/request.h"

#include <pthread.h>

struct gpume_checker;
struct gpume_returns;
struct gpume_lane;

/* One mutex guards everything that lanes and their pipeline share, and one condition variable wakes
 * every waiting thread. With a few threads and a few thousand events per second, finer locking
 * would gain nothing. */
struct gpume_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

/* How a lane reports to its pipeline. All functions are called locked. */
struct gpume_lane_client {
    void *opaque;
    /* A field that is not hidden is complete. A lane delivers its boxes in the order of their
     * numbers. */
    void (*deliver)(void *opaque, struct gpume_field_box *box);
    /* The engine has failed and the lane's thread is about to end. May release the mutex and
     * acquire it again. */
    void (*failed)(void *opaque, struct gpume_lane *lane, int status);
};

struct gpume_lane_slot {
    struct gpume_batch batch;
    struct gpume_field_box *boxes; /* plan.batch of them */
    uint32_t lent;                 /* fields that the receiver has not released */
};

struct gpume_lane {
    const struct gpume_engine_ops *ops;
    void *engine;
    struct gpume_plan plan;
    struct gpume_checker *checker; /* NULL without params.check; shared with other lanes */
    struct gpume_returns *returns; /* NULL without plan.returns; shared in the same way */
    struct gpume_parts parts;      /* with params.partition */
    struct gpume_monitor *monitor;
    struct gpume_lane_client client;
    struct gpume_history history; /* used by the lane's thread only */
    struct gpume_lane_slot slots[GPUME_SLOTS_MAX];
    struct gpume_field_box *boxes;  /* of all slots */
    struct gpume_request *requests; /* ring of waiting tasks */
    uint32_t request_capacity;
    pthread_t thread;
    bool thread_started;

    /* Guarded by the monitor's mutex. */
    struct gpume_fifo frames;                /* struct gpume_frame that wait */
    uint64_t request_first, request_end;     /* waiting tasks, modulo capacity */
    struct gpume_fifo free_slots, in_flight; /* struct gpume_lane_slot */
    uint64_t next_frame;                     /* sequence number of the next frame to submit */
    bool busy;                               /* the thread is not waiting */
    bool finished;                           /* nothing more will be pushed */
    bool cancelled;                          /* stop at once */
    bool done;                               /* the thread is about to end */
    struct gpume_stats stats;
};

/* What a lane is made of. */
struct gpume_lane_parts {
    const struct gpume_engine_ops *ops;
    void *engine; /* owned by the lane, even if opening fails */
    const struct gpume_plan *plan;
    struct gpume_checker *checker;
    struct gpume_returns *returns;
    struct gpume_monitor *monitor;
    struct gpume_lane_client client;
    uint32_t frame_capacity, request_capacity; /* how many may wait */
    uint64_t first_frame;                      /* sequence number of the first frame */
};

/* The most tasks that can wait at the same time in a pipeline with this plan. */
uint32_t gpume_lane_requests_max(const struct gpume_plan *plan);

/* Opens a lane and starts its thread. Returns GPUME_NOMEM, or GPUME_AGAIN if no thread can be
 * started; neither is logged. */
int gpume_lane_open(struct gpume_lane **lane, const struct gpume_lane_parts *parts);

/* Locked. Takes over the caller's reference. Frames must be pushed in order. After pushing a frame
 * or a task, or finishing, the caller must broadcast monitor.changed to wake the thread. */
void gpume_lane_push_frame(struct gpume_lane *lane, struct gpume_frame *frame);

/* Locked. */
void gpume_lane_push_task(struct gpume_lane *lane, const struct gpume_request *request);

/* Locked. The number of waiting tasks. */
uint32_t gpume_lane_request_count(const struct gpume_lane *lane);

/* Locked. The sequence number of the target of the next field to deliver; if no task has been
 * pushed for it, of the first frame that has not been collected. */
uint64_t gpume_lane_next_target(const struct gpume_lane *lane);

/* Locked. Declares that nothing more will be pushed: the thread ends when all tasks are done. */
void gpume_lane_finish(struct gpume_lane *lane);

/* Locked. True if the lane can do nothing until something is pushed or released, or the lane is
 * finished. */
bool gpume_lane_is_idle(const struct gpume_lane *lane);

/* Locked, and only while the thread of `from` is in client.failed. Moves every task whose field has
 * not been delivered to the other lane, with the frames that those tasks need. */
void gpume_lane_hand_over(struct gpume_lane *from, struct gpume_lane *to);

/* Makes the thread end soon, and cancels the engine call that it may be in. Can be called from any
 * thread. Unlocked. */
void gpume_lane_cancel(struct gpume_lane *lane);

/* Cancels and joins the thread, but keeps the engine and its memory. Unlocked. */
void gpume_lane_stop(struct gpume_lane *lane);

/* Closes the stopped lane and its engine. Sets *lane to NULL, which it may already be. Returns
 * GPUME_OK, or the failure that closing the engine revealed. */
int gpume_lane_close(struct gpume_lane **lane);

#endif
