/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorted integers to a file: one a line, or as 32-bit little-endian words. Any thread. */
#ifndef GPUME_REPORT_INTEGERS_H
#define GPUME_REPORT_INTEGERS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* 32-bit words; those of one part are negative numbers in two's complement, all others unsigned. */
struct gpume_integers {
    const uint32_t *words;
    uint64_t count;
    uint64_t negative_first, negative_count;
};

/* Could path be written? What is known before any work: GPUME_INVALID for a file that exists and
 * is not to be replaced, GPUME_IO for a folder or for a file in a folder that takes none. One line
 * in the log. */
int gpume_integers_check(const char *path, bool overwrite, const struct gpume_log *log);

/* stop is asked now and then: true ends the writing with GPUME_CANCELLED, and nothing of a regular
 * file is left. GPUME_IO and others: one line in the log. */
int gpume_integers_write(const struct gpume_integers *integers, bool binary, const char *path,
    bool overwrite, bool (*stop)(void), const struct gpume_log *log);

#endif
