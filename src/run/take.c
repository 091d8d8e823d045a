/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/take.h"

#include "base/grid.h"

static uint64_t *place_of(const struct gpume_lane *lane, uint64_t sequence)
{
    return &lane->held[sequence % lane->plan.ring];
}

/* Frames of a submission come by rising sequence number. */
static void take_frame(struct gpume_lane *lane, struct gpume_submission *batch, uint64_t sequence)
{
    struct gpume_frame *frame = gpume_history_take(&lane->queue->history, sequence);
    uint32_t at = batch->frame_count++;
    for (; at > 0 && batch->frames[at - 1]->sequence > sequence; at--) {
        batch->frames[at] = batch->frames[at - 1];
    }
    batch->frames[at] = frame;
    *place_of(lane, sequence) = sequence + 1;
    lane->end = gpume_max_u64(lane->end, sequence + 1);
}

/* Takes the task's frames that the engine does not have; false: there is no room for all. */
static bool take_frames_of(
    struct gpume_lane *lane, struct gpume_submission *batch, const struct gpume_task *task)
{
    const uint32_t count = 2 + task->more_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t sequence = i == 0   ? task->target
                                  : i == 1 ? task->reference
                                           : task->more[i - 2];
        if (*place_of(lane, sequence) == sequence + 1) {
            continue;
        }
        if (batch->frame_count == lane->plan.batch) {
            return false;
        }
        take_frame(lane, batch, sequence);
    }
    return true;
}

/* Tasks from before the newest frame that the engine has: those of a lane that has failed. The
 * engine begins anew, so that frames come by rising sequence number between two beginnings. */
static void go_back(struct gpume_lane *lane, const struct gpume_request *due)
{
    if (due && due->frames < lane->end) {
        for (uint32_t i = 0; i < lane->plan.ring; i++) {
            lane->held[i] = 0;
        }
        lane->end = 0;
    }
}

/* Moves waiting frames and tasks into the slot in the order in which they came, as many as is the
 * lane's share of each, and successive tasks only. Each task comes with its frames that have gone
 * to other lanes alone. Tasks look back `reach` frames from the one that came before them, and
 * engines keep reach + batch frames, so the newest frame is less than `batch` frames after that of
 * the first task. */
void gpume_take_batch(struct gpume_lane *lane, struct gpume_lane_slot *slot)
{
    struct gpume_queue *queue = lane->queue;
    struct gpume_history *history = &queue->history;
    struct gpume_submission *batch = &slot->batch;
    const struct gpume_request *due = gpume_queue_due(queue);
    const uint32_t most = gpume_turns_share(lane->turns, lane->turn, queue->waiting);
    const uint64_t frames_end = (due ? due->frames - 1 : history->next) + most;
    uint64_t number = due ? due->number : UINT64_MAX;
    *batch = (struct gpume_submission){0};
    go_back(lane, due);
    while (batch->field_count < most) {
        due = gpume_queue_due(queue);
        if (due) {
            const bool follows = batch->field_count == 0 || due->number == number + 1;
            if (!follows || due->frames > frames_end || !take_frames_of(lane, batch, &due->task)) {
                return;
            }
            number = due->number;
            struct gpume_field_box *box = &slot->boxes[batch->field_count];
            gpume_queue_take(queue, box);
            batch->fields[batch->field_count++] = box;
        } else if (batch->frame_count < most && history->next < history->end &&
                   history->next < frames_end) {
            take_frame(lane, batch, history->next);
        } else {
            return;
        }
    }
}
