/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task: one search, of a target frame in a reference frame. Its result is a field. Engines take
 * any tasks whose frames they hold, in any order; only schedule.h knows directions.
 */
#ifndef GPUME_FRAME_TASK_H
#define GPUME_FRAME_TASK_H

#include <stdint.h>

struct gpume_task {
    uint64_t target, reference; /* frames, by sequence number: 0 is the first one sent */
    uint64_t tag;               /* the caller's; handed through to the field */
};

#endif
