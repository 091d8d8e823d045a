/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log target: the caller's callback. Messages are one line, said once, where the trouble is
 * found, with the values needed to understand it; callers upstream only forward the status.
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

/* Thread-safe as far as the callback is. Lines over 1 KiB are cut. */
void gpume_log_write(const struct gpume_log *log, enum gpume_log_level level, const char *format,
    ...) GPUME_PRINTF(3, 4);

/* Says that memory has run out for what was to be kept in it. Returns GPUME_NOMEM. */
int gpume_log_nomem(const struct gpume_log *log, const char *what);

/* Says that pthread_create has failed. Returns GPUME_NOMEM. */
int gpume_log_no_thread(const struct gpume_log *log);

#endif
