/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/history.h"

#include "base/grid.h"

#include <assert.h>
#include <stdlib.h>

int gpume_history_reserve(
    struct gpume_history *history, const struct gpume_plan *plan, uint32_t pool)
{
    /* Frames that are kept or not yet taken are in the pool. Where none are kept, tasks look back
     * from the first one that is not taken, or from the one before it. */
    const uint32_t ring = pool + plan->reach + 2;
    int64_t *times_us = calloc(ring, sizeof(*times_us));
    struct gpume_frame **frames = calloc(ring, sizeof(struct gpume_frame *));
    if (!times_us || !frames) {
        free(times_us);
        free((void *)frames);
        return GPUME_NOMEM;
    }
    const uint64_t known = gpume_min_u64(history->end, history->ring);
    for (uint64_t i = history->end - known; i < history->end; i++) {
        times_us[i % ring] = history->times_us[i % history->ring];
        frames[i % ring] = history->frames[i % history->ring];
    }
    free(history->times_us);
    free((void *)history->frames);
    history->times_us = times_us;
    history->frames = frames;
    history->ring = ring;
    history->keeps = gpume_plan_keeps_frames(&plan->params);
    history->attaches = plan->params.want_frames;
    return GPUME_OK;
}

void gpume_history_finish(struct gpume_history *history)
{
    free(history->times_us);
    free((void *)history->frames);
    *history = (struct gpume_history){0};
}

void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame)
{
    const uint64_t entry = frame->sequence % history->ring;
    history->times_us[entry] = frame->time_us;
    history->frames[entry] = frame;
    history->end = frame->sequence + 1;
}

struct gpume_frame *gpume_history_take(struct gpume_history *history, uint64_t sequence)
{
    struct gpume_frame **entry = &history->frames[sequence % history->ring];
    struct gpume_frame *frame = *entry;
    assert(frame && frame->sequence == sequence);
    if (history->keeps) {
        gpume_frame_ref(frame);
    } else {
        *entry = NULL;
    }
    history->next = gpume_max_u64(history->next, sequence + 1);
    return frame;
}

void gpume_history_attach(const struct gpume_history *history, struct gpume_field_box *box)
{
    const uint64_t target = box->task.target % history->ring;
    box->field.time_us = history->times_us[target];
    if (history->attaches && !box->hidden) {
        box->target = history->frames[target];
        box->reference = history->frames[box->task.reference % history->ring];
        gpume_frame_ref(box->target);
        gpume_frame_ref(box->reference);
        box->field.target = box->target->plane;
        box->field.reference = box->reference->plane;
    }
}

struct gpume_frame *gpume_history_forget(struct gpume_history *history, uint64_t oldest)
{
    struct gpume_frame *frame = NULL;
    oldest = gpume_min_u64(oldest, history->next);
    /* Where none are kept, entries of frames that were taken long ago may hold new ones. */
    for (; history->keeps && !frame && history->first < oldest; history->first++) {
        frame = history->frames[history->first % history->ring];
        history->frames[history->first % history->ring] = NULL;
    }
    return frame;
}
