/* SPDX-License-Identifier: BSD-2-Clause */
/* A log that counts what it is told and keeps the last line. */
#ifndef GPUME_TESTS_TOLD_H
#define GPUME_TESTS_TOLD_H

#include "base/log.h"

#include <stdio.h>

static struct {
    unsigned lines; /* of any level */
    unsigned errors, warnings, debugs;
    char last[2048];
} told;

static inline void told_line(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    told.lines++;
    told.errors += level == GPUME_LOG_ERROR;
    told.warnings += level == GPUME_LOG_WARNING;
    told.debugs += level == GPUME_LOG_DEBUG;
    snprintf(told.last, sizeof(told.last), "%s", line);
}

static const struct gpume_log told_log = {.fn = told_line};

#endif
