/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: one engine, the thread that drives it, and its slots. Frames and tasks come in, complete
 * fields go out through the client's `deliver`. Everything is counted out at the start, so nothing
 * in a lane blocks but the slots: a slot is free again when the receiver has released its fields.
 *
 *      push_frame, push_task ->[waiting]-> slot: FREE -> submit -> IN_FLIGHT -> collect -> LENT
 *                                            ^                                      | deliver
 *                                            +------- last field released ----------+
 *
 * Functions marked "locked" are called with the monitor's mutex held; the thread takes it itself
 * and lets go of it while the engine works.
 */
#ifndef GPUME_RUN_LANE_H
#define GPUME_RUN_LANE_H

#include "base/fifo.h"
#include "frame/engine.h"
#include "run/history.h"

#include <pthread.h>

struct gpume_checker;
struct gpume_lane;

/* One mutex guards all that lanes and their pipeline share, one condition wakes whoever waits:
 * there are a few threads and a few thousand events per second, so nothing finer pays. */
struct gpume_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

/* A task on its way to an engine. */
struct gpume_request {
    struct gpume_task task;
    uint64_t number; /* its place in the order in which fields are received */
    uint64_t frames; /* how many had been sent before it: no later frame goes to the engine first */
};

/* What a lane tells its pipeline. All locked. */
struct gpume_lane_client {
    void *opaque;
    /* A field is complete; boxes of one lane come in the order of their numbers. */
    void (*deliver)(void *opaque, struct gpume_field_box *box);
    /* The engine has failed and the lane's thread is about to end. May unlock meanwhile. */
    void (*failed)(void *opaque, struct gpume_lane *lane, int status);
};

struct gpume_lane_slot {
    struct gpume_batch batch;
    struct gpume_field_box *boxes; /* plan.batch */
    uint32_t lent;                 /* fields that the receiver has not released */
};

struct gpume_lane {
    const struct gpume_engine_ops *ops;
    void *engine;
    struct gpume_plan plan;
    struct gpume_checker *checker; /* params.check, else NULL; shared with other lanes */
    struct gpume_monitor *monitor;
    struct gpume_lane_client client;
    struct gpume_history history; /* the thread's */
    struct gpume_lane_slot slots[GPUME_SLOTS_MAX];
    struct gpume_field_box *boxes;
    struct gpume_request *requests; /* ring of waiting tasks */
    uint32_t request_capacity;
    pthread_t thread;
    bool thread_started;

    /* guarded */
    struct gpume_fifo frames;                /* waiting; struct gpume_frame */
    uint64_t request_first, request_end;     /* waiting tasks, modulo capacity */
    struct gpume_fifo free_slots, in_flight; /* struct gpume_lane_slot */
    uint64_t next_frame;                     /* sequence number of the next frame to submit */
    bool busy;                               /* the thread is at work */
    bool finished;                           /* nothing more will be pushed */
    bool cancelled;                          /* stop at once */
    bool done;                               /* the thread is leaving */
    struct gpume_stats stats;
};

/* What a lane is made of. */
struct gpume_lane_parts {
    const struct gpume_engine_ops *ops;
    void *engine; /* taken over, on failure too */
    const struct gpume_plan *plan;
    struct gpume_checker *checker;
    struct gpume_monitor *monitor;
    struct gpume_lane_client client;
    uint32_t frame_capacity, request_capacity; /* that may wait */
    uint64_t first_frame;                      /* sequence number of the first frame it gets */
};

/* Tasks that may wait at a time in the pipeline of this plan. */
uint32_t gpume_lane_requests_max(const struct gpume_plan *plan);

/* Starts the thread. GPUME_NOMEM, and GPUME_AGAIN when no thread can be started: not logged. */
int gpume_lane_open(struct gpume_lane **lane, const struct gpume_lane_parts *parts);

/* Locked. Takes over the caller's reference. Frames come in order. Whoever has pushed or finished
 * wakes the lane's thread through the monitor. */
void gpume_lane_push_frame(struct gpume_lane *lane, struct gpume_frame *frame);

/* Locked. */
void gpume_lane_push_task(struct gpume_lane *lane, const struct gpume_request *request);

/* Locked. Waiting tasks. */
uint32_t gpume_lane_request_count(const struct gpume_lane *lane);

/* Locked. Target of the first task that has not been delivered, by sequence number; without any
 * task the first frame that has not been collected. */
uint64_t gpume_lane_next_target(const struct gpume_lane *lane);

/* Locked. Nothing more will be pushed: the thread ends when all is done. */
void gpume_lane_finish(struct gpume_lane *lane);

/* Locked. True if nothing happens in the lane until something is pushed, released or finished. */
bool gpume_lane_is_idle(const struct gpume_lane *lane);

/* Locked, while the lane's thread is in client.failed: moves every task that has not been delivered
 * to the other lane, with the frames that those tasks look at. */
void gpume_lane_hand_over(struct gpume_lane *from, struct gpume_lane *to);

/* Makes the thread end soon and whatever it waits for in the engine. Any thread, unlocked. */
void gpume_lane_cancel(struct gpume_lane *lane);

/* Cancels and joins the thread; the engine and its memory stay. Unlocked. */
void gpume_lane_stop(struct gpume_lane *lane);

/* Closes the stopped lane and its engine. Sets *lane to NULL; NULL is fine. Returns GPUME_OK or the
 * failure that closing the engine brought to light. */
int gpume_lane_close(struct gpume_lane **lane);

#endif
