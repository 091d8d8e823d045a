/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames and tasks come in, motion fields go out. Lanes (lane.h) search the tasks; a queue puts
 * complete fields back into the order of their tasks (reorder.h). Only two things can block: the
 * sender waits when all frames of the pool are in use, and a lane waits when all its slots hold
 * fields that the receiver has not released. Every other queue is allocated at the start for the
 * worst case. The only signal that travels upstream is "stop".
 *
 *   acquire -> fill -> send --+                                          +-> [reorder] -> receive
 *      ^            request --+-> lane: submit ... collect --------------+
 *      +---- last reference to the frame dropped
 *
 * There is one lane. If its GPU fails and there is a standby engine, a second lane takes over.
 */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "frame/engine.h"
#include "run/request.h"

struct gpume_pipeline;
struct gpume_standby;

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

/* What a pipeline is made of. */
struct gpume_pipeline_parts {
    const struct gpume_engine_ops *ops;
    void *engine;                  /* owned by the pipeline, even if opening fails */
    struct gpume_standby *standby; /* may be NULL; owned in the same way */
    struct gpume_task_source source;
    const struct gpume_plan *plan;
    const struct gpume_log *log; /* outlives the pipeline */
};

/* With params.check, this also opens the reference search that checks every field. */
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
void gpume_pipeline_get_info(struct gpume_pipeline *pipeline, struct gpume_info *info);
void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats);
int gpume_pipeline_close(struct gpume_pipeline **pipeline);

#endif
