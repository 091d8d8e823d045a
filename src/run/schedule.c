/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/schedule.h"

struct gpume_schedule gpume_schedule_make(const struct gpume_params *params)
{
    struct gpume_schedule schedule = {
        .direction = params->direction, .distance = params->ref_distance, .end = UINT64_MAX};
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

/* Does the target look that way at all? */
static bool looks(const struct gpume_schedule *schedule)
{
    return schedule->future ? schedule->direction != GPUME_DIRECTION_PAST
                            : schedule->direction != GPUME_DIRECTION_FUTURE &&
                                  schedule->target >= schedule->distance;
}

bool gpume_schedule_next(
    struct gpume_schedule *schedule, uint64_t frames, bool ended, struct gpume_task *pair)
{
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
            pair->target = schedule->target;
            pair->reference = future ? pair->target + distance : pair->target - distance;
            schedule->count++;
        }
        schedule->target += future;
        schedule->future = !future;
        if (found) {
            return true;
        }
    }
    return false;
}

uint64_t gpume_schedule_oldest(const struct gpume_schedule *schedule)
{
    if (schedule->target >= schedule->end) {
        return UINT64_MAX;
    }
    if (schedule->direction == GPUME_DIRECTION_FUTURE) {
        return schedule->target;
    }
    uint64_t first = schedule->target + schedule->future; /* to look back */
    return first > schedule->distance ? first - schedule->distance : 0;
}
