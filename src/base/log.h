/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log target: the caller's callback. A message is one line. It is logged once, where the error is
 * detected, with the values needed to understand it; callers upstream only forward the status.
 */
#ifndef GPUME_BASE_LOG_H
#define GPUME_BASE_LOG_H

#include "gpume/gpume.h"

struct gpume_log {
    gpume_log_fn fn; /* NULL: silent */
    void *opaque;
};

#if defined(__GNUC__)
#define GPUME_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define GPUME_PRINTF(string, first)
#endif

/* As thread-safe as the callback. Lines over 1 KiB are truncated. */
void gpume_log_write(const struct gpume_log *log, enum gpume_log_level level, const char *format,
    ...) GPUME_PRINTF(3, 4);

/* Logs an error. The value is the status, for a caller that returns it. */
#define gpume_log_fail(log, status, ...)                                                           \
    (gpume_log_write(log, GPUME_LOG_ERROR, __VA_ARGS__), (status))

/* Logs "out of memory for WHAT". Returns GPUME_NOMEM. */
int gpume_log_nomem(const struct gpume_log *log, const char *what);

/* Logs that no thread can be started. Returns GPUME_NOMEM. */
int gpume_log_no_thread(const struct gpume_log *log);

#endif
