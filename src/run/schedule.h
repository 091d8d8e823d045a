/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks of a sequence of frames: by rising target; for one target by rising distance; at one
 * distance the past reference before the future one. With params.best_reference a target has one
 * task with all its references in that order. With several distances, all tasks of a target come
 * together, so that a run which ends early can tell which targets are complete. A task comes as
 * soon as its frames have been sent and all tasks before it have come. At distance d alone frame m
 * brings
 *
 *      past                  (m, m - d)
 *      future                (m - d, m)
 *      both                  (m - d, m), then (m - d + 1, m - 2d + 1)
 *      both, best reference  (m - d, m - 2d and m)
 *
 * as (target, reference), as far as these frames exist. Where later frames may still be a target's
 * references, its tasks wait until it is known that none follows.
 *
 * With plan.returns the reverse of every frame pair of a task comes just before the task, as hidden
 * tasks in the order of its references, unless it is itself a task near by. Without
 * params.best_reference
 *
 * - the reverse of a past pair is a future pair, which has come already if its target is in range;
 * - the reverse of a future pair is the past pair of a later target. At distance 1 alone
 *   (plan.mutual) it is the very next task, if that target is in range. Otherwise it comes twice,
 *   hidden and then for itself: else one of both fields would have to stay in its slot until the
 *   targets that lie between have been delivered, and there are not as many slots.
 *
 * With params.best_reference all of them are searched: a field has the best of its task's pairs,
 * not what each of them gives.
 *
 * The only file below the public API that knows directions.
 */
#ifndef GPUME_RUN_SCHEDULE_H
#define GPUME_RUN_SCHEDULE_H

#include "model/plan.h"
#include "run/queue.h"

struct gpume_schedule {
    enum gpume_direction direction;
    bool joins;                                              /* one task per target */
    bool returns;                                            /* hidden tasks as well */
    bool mutual;                                             /* of the plan */
    uint32_t distances[GPUME_DISTANCES_MAX], distance_count; /* rising */
    uint64_t first, target, end; /* targets: the first; of the next task, at the earliest; one past
                                    the last */
    uint32_t turn;   /* of the target's possible references: past and future by rising distance */
    uint32_t hidden; /* hidden tasks of the next task that have come */
};

struct gpume_schedule gpume_schedule_make(const struct gpume_plan *plan);

/* As gpume_task_source.next; opaque: the schedule. */
bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_request *request);

#endif
