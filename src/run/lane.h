/* SPDX-License-Identifier: BSD-2-Clause */
/* A lane, and what it adds to the results of its engine (results.c). */
#ifndef GPUME_RUN_LANE_H
#define GPUME_RUN_LANE_H

#include "frame/frame.h"
#include "model/plan.h"
#include "run/queue.h"

#include <pthread.h>

/* --- What a field has besides the results of an engine, and which follows from these alone: the
 * blocks of a partition, and how far reverse vectors lead away. */

/* The list of the blocks that params.partition chose: the field's `parts`, from the flags that an
 * engine gives (gpume_results.chosen), with their ranks. */
struct gpume_parts {
    const struct gpume_plan *plan;
    struct gpume_partition partition;
    uint32_t *scratch;
};

/* For a plan with params.partition, which outlives the struct; the struct is zeroed before.
 * GPUME_NOMEM. Call finish after a failure too. */
int gpume_parts_init(struct gpume_parts *parts, const struct gpume_plan *plan);
void gpume_parts_finish(struct gpume_parts *parts);

/* Fills in box->parts, and part_count and parts of its field. */
void gpume_parts_list(const struct gpume_parts *parts, struct gpume_field_box *box);

/*
 * The last stage of a field with plan.returns. The vectors of a frame pair (t,r) lead from blocks
 * of t to their matches in r; those of the reverse pair (r,t) lead back. For each block of t the
 * field says how far the vector at its match misses the block (struct gpume_layer, returns).
 *
 * The schedule has a reverse pair searched as a hidden task just before the task that needs it, in
 * the order of that task's references, unless it has come as an earlier task or is the next one
 * (queue.h). The stage takes all fields in the order of their tasks: it copies the vectors of a
 * hidden one, so that its slot is free at once, and completes the others. Of a future pair it keeps
 * the vectors until the past pair that needs them. No field waits for another than the next one,
 * and what is found for a target depends neither on the targets around it nor on which of them are
 * wanted.
 */
#define GPUME_RETURNS_DONE 2u /* fields that are done at once, at most */

struct gpume_returns;

/* For a plan with `returns`. GPUME_NOMEM, not logged. */
int gpume_returns_open(struct gpume_returns **returns, const struct gpume_plan *plan);

/* The fields of all lanes in the order of their tasks, one at a time; the results of each are
 * complete. Gives those that are done, in their order, and returns how many: they have their
 * returns, unless they are hidden. */
uint32_t gpume_returns_take(struct gpume_returns *returns, struct gpume_field_box *box,
    struct gpume_field_box *done[GPUME_RETURNS_DONE]);

/* NULL is fine. Sets *returns to NULL. */
void gpume_returns_close(struct gpume_returns **returns);

/*
 * --- params.check: every task is searched a second time by the plain CPU search, on the same
 * frames, and the results are compared. In the lane's thread, one task at a time.
 */

struct gpume_checker;

int gpume_checker_open(
    struct gpume_checker **checker, const struct gpume_params *params, const struct gpume_log *log);

/* Takes every submission in order, as the engine has completed it, and sets `checked` and `matched`
 * of its fields: a block matches if its vector and cost are those of the plain search. */
int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_submission *batch);

/* Makes a check under way return GPUME_CANCELLED soon. From any thread. */
void gpume_checker_cancel(struct gpume_checker *checker);

/* NULL is fine. Sets *checker to NULL. */
void gpume_checker_close(struct gpume_checker **checker);

/*
 * --- A lane: one engine, the thread that drives it, and its slots. It takes frames and tasks from
 * the queue that all lanes share, when it has a free slot and its turn has come (queue.h), and
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
