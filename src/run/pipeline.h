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
 * keep up with the sender (demand.h): a thread opens one after the other.
 *
 * The tasks of a lane whose GPU fails go back to the queue, for the other lanes. If there is none,
 * the next device gets a lane, and after the last one the standby engine.
 */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "frame/engine.h"
#include "run/request.h"
#include "run/standby.h"

#define GPUME_DEVICES_MAX 32u /* in params.devices */

struct gpume_pipeline;

/* A schedule that derives tasks from the frames sent. The pipeline asks it for tasks after every
 * frame and at the end, each time until it has no more, and holds its lock meanwhile. */
struct gpume_task_source {
    /* Sets request->task and request->hidden to the next task that needs no more than the first
     * `frames` frames; false if there is none. A hidden task comes together with the one that it
     * serves. ended: no more frames will come. If next is NULL, all tasks come from
     * gpume_pipeline_request. */
    bool (*next)(void *opaque, uint64_t frames, bool ended, struct gpume_request *request);
    void *opaque;
};

/* An engine that is open. */
struct gpume_pipeline_engine {
    const struct gpume_engine_ops *ops;
    void *opaque;
    const struct gpume_plan *plan;
    struct gpume_reason *reason; /* what it logs to; NULL: to the pipeline's log */
};

#define GPUME_PIPELINE_UNUSABLE "cannot be used; going on without it" /* one of params.devices */

/* Devices of a list that are opened in the background, in their order, when the work needs them, or
 * when those before them have failed. */
struct gpume_spares {
    uint32_t count;
    struct gpume_spare {
        const char *backend;
        char device[256];
    } devices[GPUME_DEVICES_MAX];
    uint64_t open_ns; /* what opening the first device took */
    /* Opens the device of this index. Failures are logged: those of a GPU as warnings. */
    int (*open)(void *opaque, uint32_t index, struct gpume_pipeline_engine *engine,
        struct gpume_plan *plan);
    void (*close)(void *opaque); /* what open is given; NULL: nothing is to be closed */
    void *opaque;
};

/* What a pipeline is made of. Engines, reasons, spares and standby are owned by the pipeline, even
 * if opening fails. */
struct gpume_pipeline_parts {
    struct gpume_pipeline_engine engines[GPUME_DEVICES_MAX];
    uint32_t engine_count; /* 1 or more */
    struct gpume_spares spares;
    struct gpume_standby *standby; /* may be NULL */
    struct gpume_task_source source;
    const struct gpume_log *log; /* outlives the pipeline */
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
