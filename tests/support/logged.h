/* SPDX-License-Identifier: BSD-2-Clause */
/* A log that counts its messages and keeps the last one. */
#ifndef GPUME_TESTS_LOGGED_H
#define GPUME_TESTS_LOGGED_H

#include "base/log.h"

#include <stdio.h>

static struct {
    unsigned lines; /* of any level */
    unsigned errors, warnings, debugs;
    char last[2048];
} logged;

static inline void logged_line(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    logged.lines++;
    logged.errors += level == GPUME_LOG_ERROR;
    logged.warnings += level == GPUME_LOG_WARNING;
    logged.debugs += level == GPUME_LOG_DEBUG;
    snprintf(logged.last, sizeof(logged.last), "%s", line);
}

static const struct gpume_log counting_log = {.fn = logged_line};

#endif
