/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames that have gone to a lane's engine and that later tasks may look at: their times, and
 * the frames themselves where fields carry them or another lane may have to take over. The lane's
 * thread.
 */
#ifndef GPUME_RUN_HISTORY_H
#define GPUME_RUN_HISTORY_H

#include "frame/field.h"

struct gpume_history {
    uint32_t ring;               /* entries; a frame's is its sequence number modulo this */
    bool attaches;               /* fields carry their frames */
    int64_t *times_us;           /* by entry */
    struct gpume_frame **frames; /* by entry, referenced; NULL: not kept */
    uint64_t first, end;         /* the oldest frame that is kept, and the one that comes next */
};

/* Makes room for everything that a lane of this plan may have in flight; the struct is zeroed
 * before. first: the sequence number of the lane's first frame. Call finish after a failure too. */
int gpume_history_init(
    struct gpume_history *history, const struct gpume_plan *plan, uint64_t first);

/* Drops no references, because the pool of frames is freed at the same time. */
void gpume_history_finish(struct gpume_history *history);

/* Every frame in order. */
void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame);

/* Fills in the time of the field's target, and the target and the first reference where fields
 * carry them. */
void gpume_history_attach(const struct gpume_history *history, struct gpume_field_box *box);

/* Drops the frames before this one. */
void gpume_history_forget(struct gpume_history *history, uint64_t oldest);

/* The oldest frame that is kept, with the reference to it; NULL: there is none left. */
struct gpume_frame *gpume_history_take(struct gpume_history *history);

#endif
