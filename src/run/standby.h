/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine standing by: what is needed to open it when a GPU fails during a run. Both engines
 * give the same bits, so nobody downstream notices, except for one warning and gpume_get_info.
 *
 * Frames' samples and results that the receiver holds lie in the failed engine's memory, which the
 * host alone writes to, and which stays until that engine is closed, at the very end.
 */
#ifndef GPUME_RUN_STANDBY_H
#define GPUME_RUN_STANDBY_H

#include "model/plan.h"
#include "run/reason.h"

struct gpume_standby;

/* Copies the parameters: nothing in the copy is the caller's. The log outlives the standby.
 * GPUME_NOMEM, logged. */
int gpume_standby_create(
    struct gpume_standby **standby, const struct gpume_params *params, const struct gpume_log *log);

/* Sets *standby to NULL; NULL is fine. */
void gpume_standby_destroy(struct gpume_standby **standby);

int gpume_standby_open_engine(
    struct gpume_standby *standby, void **engine, struct gpume_plan *plan);

/* Warns that the run goes on with the CPU engine, from the field of this target frame on. */
void gpume_standby_announce(
    const struct gpume_standby *standby, const struct gpume_reason *reason, uint64_t frame);

#endif
