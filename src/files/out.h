/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output that appears under its name only when it is complete: bytes go to a temporary file
 * beside it, every write is checked, and finishing renames it. "-" is standard output; devices and
 * pipes are written directly. One thread at a time.
 */
#ifndef GPUME_FILES_OUT_H
#define GPUME_FILES_OUT_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_out;
struct gpume_out_set;
struct gpume_workers;

/* Behind the name of what an interrupted run leaves. */
#define GPUME_OUT_PARTIAL ".partial"

/* GPUME_IO with one line in the log names the file, the reason and the way out. Without overwrite
 * an existing regular file is refused with GPUME_INVALID. */
int gpume_out_open(
    struct gpume_out **out, const char *path, bool overwrite, const struct gpume_log *log);

/* The same for an output of a run (files/out_set.h). GPUME_AGAIN: another run is writing it. */
int gpume_out_open_in(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* One of the numbered files of a run's output: it has its name as soon as it is finished, in place
 * of one that is there if the run replaces files, or continues another run. */
int gpume_out_open_one(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* Does it go on where an earlier run was broken off, so that its head is written already? */
bool gpume_out_is_continued(const struct gpume_out *out);

/* How much of it that run has written. */
uint64_t gpume_out_continued_bytes(const struct gpume_out *out);

/* Buffered, large outputs by a thread of their own. GPUME_IO is sticky and logged once. */
int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes);

/* Makes an item at `at` and returns its bytes. */
typedef size_t (*gpume_out_make_fn)(void *opaque, uint32_t item, char *at);

#define GPUME_OUT_ITEM_BYTES ((size_t)512 * 1024)

/* Appends items 0 to count - 1, in this order, made in the output's own memory, several of them at
 * once where it is large and there are workers (NULL: none). make may touch bytes_max, at most
 * GPUME_OUT_ITEM_BYTES, from `at`. All calls of it are over on return; as above otherwise. */
int gpume_out_make(struct gpume_out *out, struct gpume_workers *workers, gpume_out_make_fn make,
    void *opaque, uint32_t count, size_t bytes_max);

/* Absolute position; GPUME_UNSUPPORTED on pipes (not logged). */
int gpume_out_seek(struct gpume_out *out, uint64_t position);

/* Flushes, syncs nothing, closes, renames: the file has its final name on GPUME_OK only. One of a
 * set that waits has all its bytes then, and gets its name from gpume_out_set_name. */
int gpume_out_finish(struct gpume_out *out);

/* Closes; an unfinished temporary file is removed. Sets *out to NULL. */
void gpume_out_close(struct gpume_out **out);

#endif
