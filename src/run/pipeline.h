/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames in, fields out, through one engine in one thread of its own.
 *
 * Everything is counted out at the start: the pool's frames are the only throttle towards the
 * sender, the slots the only one towards the receiver, and both queues can hold all there is, so
 * nothing else can block. The single thing that travels upstream is "stop".
 *
 *   acquire -> fill -> send ->[sent]-> slot: FREE -> submit -> IN_FLIGHT -> collect -> LENT
 *      ^                                      ^                               | [ready] -> receive
 *      +---- frame's last reference dropped   +------- last field released ---+
 */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "frame/engine.h"

struct gpume_pipeline;

/* Takes over the engine, also on failure. params.check opens the reference beside it. The log must
 * outlive the pipeline. */
int gpume_pipeline_open(struct gpume_pipeline **pipeline, const struct gpume_engine_ops *ops,
    void *engine, const struct gpume_plan *plan, const struct gpume_log *log);

/* These do what the public functions of the same name promise. */
int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, uint32_t flags);
int gpume_pipeline_send(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, int64_t time_us);
int gpume_pipeline_finish(struct gpume_pipeline *pipeline);
int gpume_pipeline_receive(
    struct gpume_pipeline *pipeline, const struct gpume_field **field, uint32_t flags);
void gpume_pipeline_cancel(struct gpume_pipeline *pipeline);
void gpume_pipeline_get_info(const struct gpume_pipeline *pipeline, struct gpume_info *info);
void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats);
int gpume_pipeline_close(struct gpume_pipeline **pipeline);

#endif
