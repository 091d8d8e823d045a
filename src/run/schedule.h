/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which fields a run of frames has, and in which order: by rising target, of one target the past
 * reference before the future one. A field comes as soon as its frames are there and all fields
 * before it have come. At distance d frame m brings
 *
 *      past     (m, m - d)
 *      future   (m - d, m)
 *      both     (m - d, m), then (m - d + 1, m - 2d + 1)
 *
 * as target and reference, as far as these frames exist; with both, the last past fields come when
 * it is known that no frame follows.
 */
#ifndef GPUME_RUN_SCHEDULE_H
#define GPUME_RUN_SCHEDULE_H

#include "gpume/gpume.h"

struct gpume_schedule {
    enum gpume_direction direction;
    uint64_t distance;
    uint64_t target, end; /* of the next field, at the earliest; behind the last one */
    bool future;          /* the target's past field has come, if it has one */
};

/* Parameters that gpume_plan_make has accepted. */
struct gpume_schedule gpume_schedule_make(const struct gpume_params *params);

/* As gpume_task_source.next; opaque: the schedule. */
bool gpume_schedule_next(void *opaque, uint64_t frames, bool ended, struct gpume_task *task);

#endif
