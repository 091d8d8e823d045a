/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorted integers to a file: one a line, or as 32-bit little-endian words. Any thread. */
#ifndef GPUME_CLI_SORT_INTEGERS_H
#define GPUME_CLI_SORT_INTEGERS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* 32-bit words; those of one part are negative numbers in two's complement, all others unsigned. */
struct gpume_integers {
    const uint32_t *words;
    uint64_t count;
    uint64_t negative_first, negative_count;
};

struct gpume_integers_file;

/* Before any work: takes the name, so that no other run does until it is closed, and looks whether
 * it can be written; a device or a pipe is only opened when it is. One line in the log and
 * GPUME_INVALID: a file exists and is not to be replaced, GPUME_AGAIN: another run is writing it;
 * GPUME_IO: a folder has that name, or its folder takes none. */
int gpume_integers_open(struct gpume_integers_file **file, const char *path, bool overwrite,
    const struct gpume_log *log);

/* Is it a device or a pipe, where what has been written cannot be taken back? */
bool gpume_integers_is_in_place(const struct gpume_integers_file *file);

/* stop is asked now and then: true ends the writing with GPUME_CANCELLED. The file has its name on
 * GPUME_OK only. GPUME_IO and others: one line in the log. */
int gpume_integers_write(struct gpume_integers_file *file, const struct gpume_integers *integers,
    bool binary, bool (*stop)(void));

/* What is not complete is removed. Sets *file to NULL. NULL is fine. */
void gpume_integers_close(struct gpume_integers_file **file);

#endif
