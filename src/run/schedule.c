/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/schedule.h"

struct gpume_schedule gpume_schedule_make(const struct gpume_params *params)
{
    struct gpume_schedule schedule = {
        .direction = params->direction, .distance = params->ref_distance, .end = UINT64_MAX};
    if (params->direction == GPUME_DIRECTION_MANUAL) {
        schedule.end = 0;
        return schedule;
    }
    if (params->first_target > params->first_frame) {
        schedule.target = params->first_target - params->first_frame;
    }
    if (params->target_count > 0) {
        uint64_t end = params->first_target + params->target_count;
        end = end < params->target_count ? UINT64_MAX : end;
        schedule.end = end > params->first_frame ? end - params->first_frame : 0;
    }
    return schedule;
}

/* True if the target may have a reference on the side in turn. */
static bool looks(const struct gpume_schedule *schedule)
{
    return schedule->future ? schedule->direction != GPUME_DIRECTION_PAST
                            : schedule->direction != GPUME_DIRECTION_FUTURE &&
                                  schedule->target >= schedule->distance;
}

bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_task *task)
{
    struct gpume_schedule *schedule = opaque;
    uint64_t distance = schedule->distance;
    while (schedule->target < schedule->end && schedule->target < frames) {
        bool future = schedule->future, found = looks(schedule);
        if (found && future && frames - schedule->target <= distance) {
            if (!ended) {
                return false;
            }
            found = false;
        }
        if (found) {
            task->target = schedule->target;
            task->reference = future ? task->target + distance : task->target - distance;
        }
        schedule->target += future;
        schedule->future = !future;
        if (found) {
            return true;
        }
    }
    return false;
}
