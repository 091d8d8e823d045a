/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/history.h"

#include "base/grid.h"

#include <stdlib.h>

int gpume_history_init(struct gpume_history *history, const struct gpume_plan *plan, uint64_t first)
{
    const bool keeps = plan->params.want_frames || gpume_plan_stands_by(&plan->params);
    /* The oldest task under way looks at most reach + 1 frames behind the oldest frame under way.
     */
    history->ring = plan->reach + 2 + plan->slots * plan->batch;
    history->attaches = plan->params.want_frames;
    history->first = history->end = first;
    history->times_us = calloc(history->ring, sizeof(*history->times_us));
    history->frames = keeps ? calloc(history->ring, sizeof(struct gpume_frame *)) : NULL;
    return history->times_us && (history->frames || !keeps) ? GPUME_OK : GPUME_NOMEM;
}

void gpume_history_finish(struct gpume_history *history)
{
    free(history->times_us);
    free(history->frames);
    *history = (struct gpume_history){0};
}

void gpume_history_add(struct gpume_history *history, struct gpume_frame *frame)
{
    const uint64_t entry = frame->sequence % history->ring;
    history->times_us[entry] = frame->time_us;
    if (history->frames) {
        gpume_frame_ref(frame);
        history->frames[entry] = frame;
    }
    history->end = frame->sequence + 1;
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

void gpume_history_forget(struct gpume_history *history, uint64_t oldest)
{
    oldest = gpume_min_u64(oldest, history->end);
    for (; history->first < oldest; history->first++) {
        if (history->frames) {
            gpume_frame_unref(&history->frames[history->first % history->ring]);
        }
    }
}

struct gpume_frame *gpume_history_take(struct gpume_history *history)
{
    if (!history->frames || history->first == history->end) {
        return NULL;
    }
    return history->frames[history->first++ % history->ring];
}
