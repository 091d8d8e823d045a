/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fields to come may want of frames that have gone to the engine: their times, and with
 * want_frames the frames themselves. The pipeline's thread.
 */
#ifndef GPUME_RUN_HISTORY_H
#define GPUME_RUN_HISTORY_H

#include "frame/field.h"
#include "model/plan.h"

struct gpume_history {
    uint32_t ring;               /* places; a frame's is its sequence number modulo this */
    int64_t *times_us;           /* by place */
    struct gpume_frame **frames; /* by place, referenced; NULL: not wanted */
    uint64_t first, end;         /* the oldest frame that is kept, and the one that comes next */
};

/* Of a zeroed one, for plan.ring frames. On failure finish it all the same. */
int gpume_history_init(struct gpume_history *history, const struct gpume_plan *plan);

/* Drops no references: frames have gone with their pool. */
void gpume_history_finish(struct gpume_history *history);

/* Every frame in its order. */
void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame);

/* Fills in the time of the field's target, and both frames where they are wanted. */
void gpume_history_attach(const struct gpume_history *history, struct gpume_field_box *box);

/* Lets go of frames in front of this one. */
void gpume_history_forget(struct gpume_history *history, uint64_t oldest);

#endif
