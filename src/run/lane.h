/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: one engine, the thread that drives it, and its slots. It takes frames and tasks from the
 * queue that all lanes share, when it has a free slot and its turn has come (turns.h), and
 * completes fields through the client's `complete`. A slot becomes free when all of its fields have
 * been released.
 *
 *      queue -> slot: FREE -> submit -> IN_FLIGHT -> collect -> LENT
 *                      ^                                          | complete
 *                      +------- last field released --------------+
 *
 * Functions marked "locked" must be called with the monitor's mutex held. The lane's thread
 * acquires the mutex for itself and releases it while the engine works.
 */
#ifndef GPUME_RUN_LANE_H
#define GPUME_RUN_LANE_H

#include "frame/engine.h"
#include "run/derived.h"
#include "run/queue.h"
#include "run/turns.h"

#include <pthread.h>

struct gpume_checker;
struct gpume_lane;

/* One mutex guards everything that lanes and their pipeline share. Waking a thread costs more than
 * anything that is done under it, so receivers have their own condition variable: more work for
 * lanes does not wake them. */
struct gpume_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* for all others */
    pthread_cond_t fields;  /* for receivers that wait for a field, the end or a failure */
};

/* Something has changed that any waiting thread may want to know. */
static inline void gpume_monitor_tell(struct gpume_monitor *monitor)
{
    pthread_cond_broadcast(&monitor->changed);
    pthread_cond_broadcast(&monitor->fields);
}

/* How a lane reports to its pipeline. All functions are called locked. */
struct gpume_lane_client {
    void *opaque;
    /* The fields of a submission are in the queue. May release the mutex and acquire it again. */
    void (*complete)(void *opaque);
    /* The engine has failed as a GPU does, and the lane's thread is about to end; its tasks wait
     * again. May release the mutex and acquire it again. */
    void (*failed)(void *opaque, struct gpume_lane *lane, int status);
    /* Something has failed with which no other engine could go on, such as params.predict, and the
     * lane's thread is about to end. What it has under way stays there until it is stopped. */
    void (*ended)(void *opaque, struct gpume_lane *lane, int status);
};

struct gpume_lane_slot {
    struct gpume_submission batch;
    struct gpume_field_box *boxes; /* plan.batch of them */
    uint32_t lent;                 /* fields that have not been released */
    bool submitted;
    uint64_t submitted_ns;
    struct gpume_stats counted; /* what the engine counted when it was collected */
};

struct gpume_lane {
    const struct gpume_engine_ops *ops;
    void *engine;
    struct gpume_plan plan;
    struct gpume_checker *checker; /* NULL without params.check */
    struct gpume_parts parts;      /* with params.partition */
    struct gpume_monitor *monitor;
    struct gpume_queue *queue;
    struct gpume_turns *turns;
    struct gpume_turn *turn; /* this lane's */
    struct gpume_lane_client client;
    struct gpume_lane_slot slots[GPUME_SLOTS_MAX];
    struct gpume_field_box *boxes; /* of all slots */
    pthread_t thread;
    bool thread_started;
    bool not_of_engine; /* what has failed is a function of the caller's, or the check */

    /* Guarded by the monitor's mutex. */
    uint64_t *held; /* by place in the engine's ring: the frame's sequence number + 1, or 0 */
    uint64_t end;   /* one past the newest frame that the engine has been given */
    struct gpume_fifo free_slots, in_flight; /* struct gpume_lane_slot */
    uint64_t collected_ns;                   /* when the latest submission was collected */
    bool busy;                               /* the thread is not waiting */
    bool cancelled;                          /* stop at once */
    bool failed;                             /* its engine is not used any more */
    bool done;                               /* the thread is about to end */
    struct gpume_stats stats;                /* of the engine */
    struct gpume_stats again;                /* what of it is searched again; without times */
};

/* What a lane is made of. */
struct gpume_lane_parts {
    const struct gpume_engine_ops *ops;
    void *engine; /* owned by the lane, even if opening fails */
    const struct gpume_plan *plan;
    struct gpume_checker *checker; /* owned in the same way */
    struct gpume_monitor *monitor;
    struct gpume_queue *queue;
    struct gpume_turns *turns;
    struct gpume_lane_client client;
};

/* Opens a lane and starts its thread, which takes no work until turn->present is set. Returns
 * GPUME_NOMEM, or GPUME_AGAIN if no thread can be started; neither is logged. Unlocked. */
int gpume_lane_open(struct gpume_lane **lane, const struct gpume_lane_parts *parts);

/* Locked. True if the lane can do nothing until something is added to the queue or released, or the
 * lane has ended. */
bool gpume_lane_is_idle(const struct gpume_lane *lane);

/* Locked. Fields that are given back after they were complete do not count; their time does. */
void gpume_lane_get_stats(const struct gpume_lane *lane, struct gpume_stats *stats);

/* Makes the thread end soon, and cancels the engine call that it may be in. Can be called from any
 * thread. Unlocked. */
void gpume_lane_cancel(struct gpume_lane *lane);

/* Cancels and joins the thread, but keeps the engine and its memory. Unlocked. */
void gpume_lane_stop(struct gpume_lane *lane);

/* Closes the stopped lane and its engine. Sets *lane to NULL, which it may already be. Returns
 * GPUME_OK, or the failure that closing the engine revealed. */
int gpume_lane_close(struct gpume_lane **lane);

/* Locked. Releases a field that nobody has received. */
void gpume_lane_release(struct gpume_field_box *box);

#endif
