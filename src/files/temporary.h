/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Temporary files beside the files that they will become: `.NAME.gpume-PID-N.tmp`. The process that
 * writes one holds a lock (flock) on it, which ends with the process. A file that can be locked is
 * therefore abandoned. Without locks in the file system, all files count as live. Any thread; -1 is
 * failure, with errno.
 */
#ifndef GPUME_FILES_TEMPORARY_H
#define GPUME_FILES_TEMPORARY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the final name in the temporary one (gpume_path_fit): far below any NAME_MAX. */
#define GPUME_TEMPORARY_SHOWN 100

/* The numbers in a temporary's name. */
struct gpume_temporary {
    uint64_t pid, number;
};

/* The name for free(), or NULL without memory. */
char *gpume_temporary_name(const char *final, struct gpume_temporary id);

/* Creates a new one, open for reading and writing, and locked. *name is for free(); NULL on
 * failure. */
int gpume_temporary_create(const char *final, struct gpume_temporary *id, char **name);

/* Numbers that no file has yet; false: out of memory. */
bool gpume_temporary_unused(const char *final, struct gpume_temporary *id);

/* Opens and locks an abandoned one. EWOULDBLOCK: its run is still under way. */
int gpume_temporary_adopt(const char *path);

/* Does the name, without ".gpume-PID-N.tmp", belong to an output? */
typedef bool (*gpume_temporary_match_fn)(const void *opaque, const char *stem);

/* Removes the abandoned ones in the folder of `path` that match; NULL: those of path itself. One
 * that is an input (files/inputs.h) stays. */
void gpume_temporary_clear(const char *path, gpume_temporary_match_fn match, const void *opaque);

/* Whether a live run is writing another temporary of the final name than `own`. If two runs ask at
 * the same time, at least one of them learns of the other. */
bool gpume_temporary_has_rival(const char *final, const char *own);

/* Removes abandoned temporaries of the files of a numbered series, and of the series itself. */
void gpume_temporary_clear_series(const char *path);

#endif
