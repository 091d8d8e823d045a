/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Temporary files beside the files that they will become: `.NAME.gpume-PID-N.tmp`. The process that
 * writes one holds a lock (flock) on it, which ends with the process however that ends, so that a
 * lock that can be had means a file whose run is gone. Where the file system has no locks, files
 * are taken for live. Any thread; -1 is failure, with errno.
 */
#ifndef GPUME_FILES_TEMPORARY_H
#define GPUME_FILES_TEMPORARY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the final name in the temporary one, fitted as files/path.h does: far below any
 * NAME_MAX. */
#define GPUME_TEMPORARY_SHOWN 100

/* The two numbers of a temporary's name. */
struct gpume_temporary {
    uint64_t pid, number;
};

/* The name for free(), or NULL without memory. */
char *gpume_temporary_name(const char *final, struct gpume_temporary id);

/* Creates a new one, open for reading and writing, and locked. *name is for free(); NULL on
 * failure. */
int gpume_temporary_create(const char *final, struct gpume_temporary *id, char **name);

/* One that no file has yet; false: memory has run out. */
bool gpume_temporary_unused(const char *final, struct gpume_temporary *id);

/* Opens and locks what a run that is gone has left. EWOULDBLOCK: its run is alive. */
int gpume_temporary_adopt(const char *path);

/* Is the name, as it would be without ".gpume-PID-N.tmp", that of an output? */
typedef bool (*gpume_temporary_match_fn)(const void *opaque, const char *stem);

/* Removes those in the folder of `path` whose run is gone. match NULL: those of path itself. */
void gpume_temporary_clear(const char *path, gpume_temporary_match_fn match, const void *opaque);

/* Is another temporary of the final name than our own being written, by a run that is alive? Of two
 * that ask at once one at least hears of the other. */
bool gpume_temporary_has_rival(const char *final, const char *own);

#endif
