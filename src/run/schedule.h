/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks of a sequence of frames: by rising target and, for one target, the past reference
 * before the future one. A task comes as soon as both of its frames have been sent and all tasks
 * before it have come. At distance d frame m brings
 *
 *      past     (m, m - d)
 *      future   (m - d, m)
 *      both     (m - d, m), then (m - d + 1, m - 2d + 1)
 *
 * as (target, reference), as far as these frames exist. With both directions the last past tasks
 * come when it is known that no frame follows. The only file below the public API that knows
 * directions.
 */
#ifndef GPUME_RUN_SCHEDULE_H
#define GPUME_RUN_SCHEDULE_H

#include "gpume/gpume.h"

struct gpume_schedule {
    enum gpume_direction direction;
    uint64_t distance;
    uint64_t target, end; /* of the next task, at the earliest; one past the last */
    bool future;          /* the target's past task has come, if it has one */
};

/* Parameters that gpume_plan_make has accepted. */
struct gpume_schedule gpume_schedule_make(const struct gpume_params *params);

/* As gpume_task_source.next; opaque: the schedule. */
bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_task *task);

#endif
