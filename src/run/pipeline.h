/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames and tasks in, fields out. Frames come from a pool of fixed size, which is the only
 * throttle towards the sender; tasks are dealt to lanes (lane.h), whose slots are the only throttle
 * towards the receiver; complete fields are put back into the order of their tasks (reorder.h).
 * Everything is counted out at the start, so nothing else can block. The single thing that travels
 * upstream is "stop".
 *
 *   acquire -> fill -> send --+                                          +-> [reorder] -> receive
 *      ^            request --+-> lane: submit ... collect --------------+
 *      +---- frame's last reference dropped
 *
 * One lane today. When its GPU fails and a standby is there, a second lane takes over.
 */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "frame/engine.h"

struct gpume_pipeline;
struct gpume_standby;

/* Where tasks come from that frames bring with them: a schedule. Asked, under the pipeline's lock,
 * after every frame and at the end, until it has no more. */
struct gpume_task_source {
    /* The next task that the first `frames` frames allow; ended: there will be no more frames.
     * NULL: tasks come by gpume_pipeline_request alone. */
    bool (*next)(void *opaque, uint64_t frames, bool ended, struct gpume_task *task);
    void *opaque;
};

/* What a pipeline is made of. */
struct gpume_pipeline_parts {
    const struct gpume_engine_ops *ops;
    void *engine;                  /* taken over, on failure too */
    struct gpume_standby *standby; /* or NULL; taken over, on failure too */
    struct gpume_task_source source;
    const struct gpume_plan *plan;
    const struct gpume_log *log; /* outlives the pipeline */
};

/* params.check opens the reference search beside the engine. */
int gpume_pipeline_open(struct gpume_pipeline **pipeline, const struct gpume_pipeline_parts *parts);

/* Asks for one search. Both frames have been sent, plan.reach frames or fewer before the next one.
 * GPUME_AGAIN: too many tasks wait. GPUME_INVALID: after gpume_pipeline_finish. */
int gpume_pipeline_request(struct gpume_pipeline *pipeline, const struct gpume_task *task);

/* These do what the public functions of the same name promise. */
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
