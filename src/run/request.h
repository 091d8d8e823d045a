/* SPDX-License-Identifier: BSD-2-Clause */
/* A task on its way from the schedule to an engine. */
#ifndef GPUME_RUN_REQUEST_H
#define GPUME_RUN_REQUEST_H

#include "gpume/gpume.h"

struct gpume_request {
    struct gpume_task task; /* frames by sequence number */
    /* Its field serves the next one alone and is not delivered: the task is the reverse of one of
     * that field's frame pairs (derived.h). */
    bool hidden;
    uint64_t number; /* its place in the order of all tasks */
    uint64_t frames; /* how many were sent before it; the engine gets no later frame before it */
};

#endif
