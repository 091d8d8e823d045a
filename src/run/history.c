/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/history.h"

#include "base/grid.h"

#include <stdlib.h>

int gpume_history_init(struct gpume_history *history, const struct gpume_plan *plan)
{
    bool frames = plan->params.want_frames;
    history->ring = plan->ring;
    history->times_us = calloc(plan->ring, sizeof(*history->times_us));
    history->frames = frames ? calloc(plan->ring, sizeof(*history->frames)) : NULL;
    return history->times_us && (history->frames || !frames) ? GPUME_OK : GPUME_NOMEM;
}

void gpume_history_finish(struct gpume_history *history)
{
    free(history->times_us);
    free(history->frames);
    *history = (struct gpume_history){0};
}

void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame)
{
    history->times_us[frame->sequence % history->ring] = frame->time_us;
    if (history->frames) {
        gpume_frame_ref(frame);
        history->frames[frame->sequence % history->ring] = frame;
    }
    history->end = frame->sequence + 1;
}

void gpume_history_attach(const struct gpume_history *history, struct gpume_field_box *box)
{
    uint64_t target = box->task.target % history->ring;
    box->field.time_us = history->times_us[target];
    if (history->frames) {
        box->target = history->frames[target];
        box->reference = history->frames[box->task.reference % history->ring];
        gpume_frame_ref(box->target);
        gpume_frame_ref(box->reference);
        box->field.target = box->target->plane;
        box->field.reference = box->reference->plane;
    }
}

void gpume_history_forget(struct gpume_history *history, uint64_t oldest)
{
    oldest = gpume_min_u64(oldest, history->end);
    for (; history->frames && history->first < oldest; history->first++) {
        gpume_frame_unref(&history->frames[history->first % history->ring]);
    }
}
