/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames and tasks come in, motion fields go out. Lanes (lane.h) take both from one queue (queue.h)
 * and complete fields, which leave the queue in the order of their tasks. Only two things can
 * block: the sender waits when all frames of the pool are in use, and a lane waits when all its
 * slots hold fields that the receiver has not released. Everything is allocated at the start for
 * the worst case. The only signal that travels upstream is "stop".
 *
 *   acquire -> fill -> send --+            +-> lane: submit ... collect --+
 *      ^            request --+-> [queue] -+-> lane                       +-> [queue] -> receive
 *      +---- last reference to the frame dropped
 *
 * A run of several devices begins with one. The others get lanes when those that are open do not
 * keep up with the sender (turns.h): a thread opens one after the other.
 *
 * The tasks of a lane whose GPU fails go back to the queue, for the other lanes. If there is none,
 * the next device gets a lane, and after the last one the standby engine.
 */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "run/engines.h"
#include "run/lane.h"
#include "run/turns.h"

/* A device that is not open yet, or was not to be opened. */
struct gpume_spare_state {
    struct gpume_lane *lane; /* NULL: it has none */
    bool failed;
};

/* The frames in an engine's memory. */
struct gpume_home {
    struct gpume_frame *frames; /* as many as its plan says */
    struct gpume_fifo free;     /* struct gpume_frame */
};

struct gpume_pipeline {
    struct gpume_plan plan; /* of the first lane; what is searched is the same in all of them */
    const struct gpume_log *log;
    struct gpume_standby *standby; /* NULL: if the last engine fails, the run ends */
    struct gpume_reason *reasons[GPUME_LANES_MAX]; /* by lane; NULL: it logs to `log` */
    struct gpume_returns *returns;                 /* NULL without plan.returns */
    struct gpume_task_source source;
    char devices[256];    /* the names of all, where there are several */
    uint32_t first_count; /* engines that were open at the beginning */
    struct gpume_spares spares;
    pthread_t opener; /* opens them */
    bool opener_started;
    pthread_cond_t wanted; /* for the opener: a device is wanted, or the run ends */
    struct gpume_monitor monitor;
    /* Guarded by the monitor's mutex. Functions marked "locked" require that it is held. */
    struct gpume_lane *lanes[GPUME_LANES_MAX];
    uint32_t lane_count;
    struct gpume_lane *standby_lane; /* NULL: the standby engine has not taken over */
    struct gpume_turns turns;
    struct gpume_queue queue;
    struct gpume_home homes[GPUME_DEVICES_MAX]; /* the pool */
    uint32_t home_count;
    uint32_t pool, in_slots; /* frames; tasks that all slots hold */
    uint64_t run_bytes;      /* of all plans */
    struct gpume_demand demand;
    uint64_t expected_frames; /* that will be sent; 0: unknown */
    struct gpume_spare_state spare_states[GPUME_DEVICES_MAX];
    uint32_t spares_tried;  /* of the spares, in their order */
    uint32_t spares_wanted; /* to be tried */
    /* Of the last lane that has failed, while another device is to go on. */
    const struct gpume_reason *failed_reason;
    int failed_status;
    bool replacing; /* no lane is left, and the next device is to go on, which is being opened */
    struct gpume_fifo ready;  /* fields to receive, struct gpume_field_box */
    uint64_t sent_count;      /* frames */
    uint64_t requested_count; /* tasks that are not hidden */
    uint64_t received_count;  /* fields */
    uint64_t standby_frame;   /* the oldest target that the standby engine searched */
    bool taking_over;         /* the standby engine is being opened, or open */
    bool delivering;          /* a lane's thread moves fields from the queue to `ready` */
    bool cancelled;           /* stop at once */
    int status;               /* the first failure */
};

/* With params.check, this also opens the reference searches that check every field. */
int gpume_pipeline_open(struct gpume_pipeline **pipeline, const struct gpume_pipeline_parts *parts);

/* Requests one search. Both frames must be among the last plan.reach frames sent. Returns
 * GPUME_AGAIN if too many tasks are waiting, and GPUME_INVALID after gpume_pipeline_finish. */
int gpume_pipeline_request(struct gpume_pipeline *pipeline, const struct gpume_task *task);

/* These implement the public functions of the same name. */
int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, uint32_t flags);
int gpume_pipeline_send(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, int64_t time_us);
int gpume_pipeline_finish(struct gpume_pipeline *pipeline);
int gpume_pipeline_receive(
    struct gpume_pipeline *pipeline, const struct gpume_field **field, uint32_t flags);
void gpume_pipeline_cancel(struct gpume_pipeline *pipeline);
void gpume_pipeline_expect(struct gpume_pipeline *pipeline, uint64_t frames);
int gpume_pipeline_open_devices(struct gpume_pipeline *pipeline);
void gpume_pipeline_get_info(struct gpume_pipeline *pipeline, struct gpume_info *info);
void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats);
uint32_t gpume_pipeline_lane_count(struct gpume_pipeline *pipeline);
void gpume_pipeline_get_lane(
    struct gpume_pipeline *pipeline, uint32_t index, struct gpume_lane_info *info);
int gpume_pipeline_close(struct gpume_pipeline **pipeline);

#endif
