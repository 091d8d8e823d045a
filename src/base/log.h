/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log target: the caller's callback. A message is one line. It is logged once, where the error is
 * detected, with the values needed to understand it; callers upstream only forward the status.
 */
#ifndef GPUME_BASE_LOG_H
#define GPUME_BASE_LOG_H

#include "gpume/gpume.h"

#include <pthread.h>

struct gpume_log {
    gpume_log_fn fn; /* NULL: silent */
    void *opaque;
};

#if defined(__MINGW32__) && !defined(__clang__)
#define GPUME_PRINTF(string, first) __attribute__((format(gnu_printf, string, first)))
#elif defined(__GNUC__)
#define GPUME_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define GPUME_PRINTF(string, first)
#endif

/* What follows a noun in a message: "1 frame", "2 frames". */
static inline const char *gpume_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Appends to a string of at most `bytes` bytes, after `between` unless it is empty. What does not
 * fit is left out. */
void gpume_text_join(char *text, size_t bytes, const char *between, const char *format, ...)
    GPUME_PRINTF(4, 5);

/* As thread-safe as the callback. Lines over 1 KiB are truncated. */
void gpume_log_write(const struct gpume_log *log, enum gpume_log_level level, const char *format,
    ...) GPUME_PRINTF(3, 4);

/* Logs an error. The value is the status, for a caller that returns it. */
#define gpume_log_fail(log, status, ...)                                                           \
    (gpume_log_write(log, GPUME_LOG_ERROR, __VA_ARGS__), (status))

/* Logs a line that names parameters, which programs find with gpume_log_message: message says
 * which, and `format` makes its text. Program words: "params.window_x 600: must be from 0 to 512".
 * Strings are needed during the call only. */
void gpume_log_tell(const struct gpume_log *log, enum gpume_log_level level,
    struct gpume_message message, const char *format, ...) GPUME_PRINTF(4, 5);

/* The value is the status, for a caller that returns it. */
#define gpume_log_refuse(log, status, message, ...)                                                \
    (gpume_log_tell(log, GPUME_LOG_ERROR, message, __VA_ARGS__), (status))

/* Messages about one parameter, or about one and another that it concerns; values may be NULL. */
static inline struct gpume_message gpume_about(const struct gpume_param *param, const char *value)
{
    return (struct gpume_message){.param = param, .value = value};
}

static inline struct gpume_message gpume_about_two(const struct gpume_param *param,
    const char *value, const struct gpume_param *other, const char *other_value)
{
    return (struct gpume_message){
        .param = param, .value = value, .other = other, .other_value = other_value};
}

/* The message whose line this thread is logging, as gpume_log_message gives it to programs. */
const struct gpume_message *gpume_log_current(void);

/* Logs the same line again, whose parts the message has. */
void gpume_log_repeat(const struct gpume_log *log, enum gpume_log_level level,
    const struct gpume_message *message, const char *line);

/* Logs "out of memory for WHAT". Returns GPUME_NOMEM. */
int gpume_log_nomem(const struct gpume_log *log, const char *what);

/* Logs that no thread can be started. Returns GPUME_NOMEM. */
int gpume_log_no_thread(const struct gpume_log *log);

/* --- a caller's log callback, wrapped so that it never runs in two threads at once */

struct gpume_locked_log {
    struct gpume_log log; /* what others write to; points into this */
    gpume_log_fn fn;
    void *opaque;
    pthread_mutex_t mutex;
};

/* It must stay where it is until finish. fn may be NULL. */
void gpume_locked_log_init(struct gpume_locked_log *locked, gpume_log_fn fn, void *opaque);
void gpume_locked_log_finish(struct gpume_locked_log *locked);

#endif
