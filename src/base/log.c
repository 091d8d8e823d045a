/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void gpume_log_write(
    const struct gpume_log *log, enum gpume_log_level level, const char *format, ...)
{
    if (!log || !log->fn) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    log->fn(log->opaque, level, line);
}

int gpume_log_nomem(const struct gpume_log *log, const char *what)
{
    return gpume_log_fail(log, GPUME_NOMEM, "out of memory for %s", what);
}

int gpume_log_no_thread(const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_NOMEM,
        "no more threads can be started: the limit on processes (ulimit -u) or on memory (ulimit "
        "-v) is reached; use fewer threads or raise the limit");
}
