/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/schedule.h"

#include <string.h>

struct gpume_schedule gpume_schedule_make(const struct gpume_plan *plan)
{
    const struct gpume_params *params = &plan->params;
    struct gpume_schedule schedule = {.direction = params->direction,
        .joins = params->best_reference,
        .returns = plan->returns,
        .mutual = plan->mutual,
        .distance_count = plan->distance_count,
        .end = UINT64_MAX};
    memcpy(schedule.distances, plan->distances, sizeof(schedule.distances));
    if (params->direction == GPUME_DIRECTION_MANUAL) {
        schedule.end = 0;
        return schedule;
    }
    if (params->first_target > params->first_frame) {
        schedule.first = schedule.target = params->first_target - params->first_frame;
    }
    if (params->target_count > 0) {
        uint64_t end = params->first_target + params->target_count;
        end = end < params->target_count ? UINT64_MAX : end;
        schedule.end = end > params->first_frame ? end - params->first_frame : 0;
    }
    return schedule;
}

enum answer { NONE, EXISTS, UNKNOWN };

/* Does the target have a reference in this turn? UNKNOWN: that depends on frames yet to come. */
static enum answer find_reference(const struct gpume_schedule *schedule, uint32_t turn,
    uint64_t frames, bool ended, uint64_t *reference)
{
    const uint64_t distance = schedule->distances[turn / 2], target = schedule->target;
    const bool future = turn % 2 == 1;
    const enum gpume_direction other = future ? GPUME_DIRECTION_PAST : GPUME_DIRECTION_FUTURE;
    if (schedule->direction == other || (!future && target < distance)) {
        return NONE;
    }
    if (future && frames - target <= distance) {
        return ended ? NONE : UNKNOWN;
    }
    *reference = future ? target + distance : target - distance;
    return EXISTS;
}

/* Adds the references of the turns from `turn` to `end` to the target's task. */
static enum answer find_references(const struct gpume_schedule *schedule, uint32_t end,
    uint64_t frames, bool ended, struct gpume_task *task)
{
    uint32_t count = 0;
    for (uint32_t turn = schedule->turn; turn < end; turn++) {
        uint64_t reference = 0;
        switch (find_reference(schedule, turn, frames, ended, &reference)) {
        case NONE:
            break;
        case EXISTS:
            *(count == 0 ? &task->reference : &task->more[count - 1]) = reference;
            count++;
            break;
        case UNKNOWN:
            return UNKNOWN;
        }
    }
    task->more_count = count > 0 ? count - 1 : 0;
    return count > 0 ? EXISTS : NONE;
}

/* Whether the reverse of the task's only pair has come as the task of an earlier target, or is the
 * next task. */
static bool reverse_is_near(const struct gpume_schedule *schedule, const struct gpume_task *task)
{
    return task->reference < task->target ? !schedule->joins && task->reference >= schedule->first
                                          : schedule->mutual && task->reference < schedule->end;
}

bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_request *request)
{
    struct gpume_schedule *schedule = opaque;
    const uint32_t turns = 2 * schedule->distance_count;
    while (schedule->target < schedule->end && schedule->target < frames) {
        const uint32_t end = schedule->joins ? turns : schedule->turn + 1;
        struct gpume_task *task = &request->task;
        *task = (struct gpume_task){.target = schedule->target};
        if (schedule->turn == 0 && schedule->distance_count > 1 &&
            find_references(schedule, turns, frames, ended, task) == UNKNOWN) {
            return false;
        }
        const enum answer answer = find_references(schedule, end, frames, ended, task);
        if (answer == UNKNOWN) {
            return false;
        }
        request->hidden = schedule->returns && answer == EXISTS &&
                          schedule->hidden <= task->more_count && !reverse_is_near(schedule, task);
        if (request->hidden) {
            const uint32_t pair = schedule->hidden++;
            const uint64_t reference = pair == 0 ? task->reference : task->more[pair - 1];
            *task = (struct gpume_task){.target = reference, .reference = task->target};
            return true;
        }
        schedule->hidden = 0;
        schedule->turn = end % turns;
        schedule->target += schedule->turn == 0;
        if (answer == EXISTS) {
            return true;
        }
    }
    return false;
}
