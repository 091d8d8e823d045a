/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log of an engine whose failures need not end the run: its errors are passed on as
 * information, and one is kept as the reason why the engine failed. The engine's thread.
 */
#ifndef GPUME_RUN_REASON_H
#define GPUME_RUN_REASON_H

#include "base/log.h"

#include <stdbool.h>

#define GPUME_REASON_BYTES 512u

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

#endif
