/* SPDX-License-Identifier: BSD-2-Clause */
/* Engines whose failure need not end the run: the log of one, the parameters of one that is opened
 * later, and the CPU engine, which stands by for them. */
#ifndef GPUME_RUN_STANDBY_H
#define GPUME_RUN_STANDBY_H

#include "base/log.h"
#include "gpume/gpume.h"
#include "model/plan.h"

#include <stdbool.h>

#define GPUME_REASON_BYTES 512u
#define GPUME_OWN_TEXTS 4u /* search, cache_dir, device, devices */

/*
 * The log of an engine whose failures need not end the run: its errors are passed on as
 * information, and one is kept as the reason why the engine failed. The engine's thread.
 */
struct gpume_reason {
    struct gpume_log log; /* for the engine; points into this */
    const struct gpume_log *to;
    bool armed; /* the engine is open: keep the last error, not the first one */
    char text[GPUME_REASON_BYTES];
    struct gpume_message message; /* its parts, in `strings`, if it names parameters */
    bool has_message;
    char strings[GPUME_REASON_BYTES];
};

/* `to` outlives it. It must stay where it is. */
void gpume_reason_init(struct gpume_reason *reason, const struct gpume_log *to);

/* The engine is open: from here on, the reason why its last call failed. */
void gpume_reason_arm(struct gpume_reason *reason);

/* Logs the reason as an error after all. NULL is fine. */
void gpume_reason_report(const struct gpume_reason *reason);

/* The reason, up to its first semicolon: without advice. Copied. */
void gpume_reason_copy(const struct gpume_reason *reason, char text[GPUME_REASON_BYTES]);

/* Parameters for an engine that is opened later: a copy in which nothing is the caller's but the
 * functions and what they are given. */
struct gpume_own_params {
    struct gpume_params params; /* points into the others: it must stay where it is */
    struct gpume_prefilter prefilter;
    double *weights;
    char *texts[GPUME_OWN_TEXTS];
};

/* The struct is zeroed before. GPUME_NOMEM, not logged. Call finish after a failure too. */
int gpume_own_params_init(struct gpume_own_params *own, const struct gpume_params *params);
void gpume_own_params_finish(struct gpume_own_params *own);

/*
 * The CPU engine standing by: what is needed to open it when a GPU fails during a run. Both engines
 * give the same bits, so nobody downstream notices, except for one warning and gpume_get_info.
 *
 * Frames' samples and results that the receiver holds lie in the failed engine's memory, which the
 * host alone writes to, and which stays until that engine is closed, at the very end.
 */
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
