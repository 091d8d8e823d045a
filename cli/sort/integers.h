/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes sorted integers to a file: one per line, or 32-bit little-endian words. Any thread. */
#ifndef GPUME_CLI_SORT_INTEGERS_H
#define GPUME_CLI_SORT_INTEGERS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* 32-bit words: one part holds negative numbers in two's complement, the rest unsigned ones. */
struct gpume_integers {
    const uint32_t *words;
    uint64_t count;
    uint64_t negative_first, negative_count;
};

struct gpume_integers_file;

/* Reserves the name, so that no other run takes it, and checks that it can be written; call it
 * before any work. A device or a pipe is opened when it is written. After one line in the log:
 * GPUME_INVALID: the file exists and must not be replaced; GPUME_AGAIN: another run is writing it;
 * GPUME_IO: a folder has that name, or no file can be made in its folder. */
int gpume_integers_open(struct gpume_integers_file **file, const char *path, bool overwrite,
    const struct gpume_log *log);

/* Is it a device or a pipe, from which nothing written can be removed? */
bool gpume_integers_is_in_place(const struct gpume_integers_file *file);

/* Writes the integers; the file gets its name only on GPUME_OK. stop is called regularly: true ends
 * the writing with GPUME_CANCELLED. Other failures are logged. */
int gpume_integers_write(struct gpume_integers_file *file, const struct gpume_integers *integers,
    bool binary, bool (*stop)(void));

/* Removes an incomplete file. Sets *file to NULL; NULL is fine. */
void gpume_integers_close(struct gpume_integers_file **file);

#endif
