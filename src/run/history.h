/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames that have been sent: those that no lane has taken yet, and their times. Where tasks
 * may need a frame again, because fields carry frames or because work may move from lane to lane,
 * it also keeps the frames that later tasks may look at. Not thread-safe: the monitor's mutex
 * guards it.
 */
#ifndef GPUME_RUN_HISTORY_H
#define GPUME_RUN_HISTORY_H

#include "frame/field.h"

struct gpume_history {
    uint32_t ring;               /* entries; a frame's is its sequence number modulo this */
    bool keeps;                  /* frames may be taken more than once */
    bool attaches;               /* fields carry their frames */
    int64_t *times_us;           /* by entry */
    struct gpume_frame **frames; /* by entry, referenced; NULL: not kept */
    uint64_t first;              /* the oldest frame that is kept */
    uint64_t next;               /* the first frame that no lane has taken */
    uint64_t end;                /* the frame that will be sent next */
};

/* Makes room, at first in a struct that is zeroed. pool: frames that can exist. GPUME_NOMEM: it is
 * as it was, but must be finished even so. */
int gpume_history_reserve(
    struct gpume_history *history, const struct gpume_plan *plan, uint32_t pool);

/* Drops no references, because the pool of frames is freed at the same time. */
void gpume_history_finish(struct gpume_history *history);

/* Every frame in order. Takes over the reference. */
void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame);

/* A reference to a frame for a lane: to the next one, or, where frames are kept, to any that has
 * not been forgotten. */
struct gpume_frame *gpume_history_take(struct gpume_history *history, uint64_t sequence);

/* Fills in the time of the field's target, and the target and the first reference where fields
 * carry them. */
void gpume_history_attach(const struct gpume_history *history, struct gpume_field_box *box);

/* A frame before this one, with the reference to it; NULL: none is kept. */
struct gpume_frame *gpume_history_forget(struct gpume_history *history, uint64_t oldest);

#endif
