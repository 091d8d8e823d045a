/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output that appears under its name only when it is complete: bytes go to a temporary file in
 * the same folder, every write is checked, and finishing renames it. "-" is standard output;
 * devices and pipes are written directly. A file that this process reads (files/inputs.h) is
 * refused as an output, and so are two names of one file; what killed runs have left of an output
 * is removed when it is opened. One thread at a time.
 */
#ifndef GPUME_FILES_OUT_H
#define GPUME_FILES_OUT_H

#include "base/log.h"
#include "files/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_out;
struct gpume_out_set;

/* GPUME_IO after one line that names the file, the reason and a remedy. Without overwrite an
 * existing regular file is refused with GPUME_INVALID. GPUME_AGAIN: the name is taken, by an input.
 */
int gpume_out_open(
    struct gpume_out **out, const char *path, bool overwrite, const struct gpume_log *log);

/* Opens an output of a run (files/out_set.h). GPUME_AGAIN: the name is taken, by another run that
 * is writing it, by an input, or by another output of the set. */
int gpume_out_open_in(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* Opens a numbered file of a run. It gets its name as soon as it is finished, and replaces an older
 * file if the run replaces files or continues another run. */
int gpume_out_open_one(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* The same for a name that gpume chose: a link of that name is replaced, not followed. */
int gpume_out_open_own(struct gpume_out **out, struct gpume_out_set *set, const char *path,
    const struct gpume_log *log);

/* Numbered files are finished and named one by one. A claim, an empty temporary file that is named
 * after the whole series, reserves all of them for one run until it is closed. path: the numbered
 * name. *claim is NULL if the set's outputs may be shared. GPUME_AGAIN after one line: another run
 * writes these files. What killed runs have left of them is removed. */
int gpume_out_open_claim(struct gpume_out **claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log);

/* Whether it continues the output of an earlier run, so that its head has been written. */
bool gpume_out_is_continued(const struct gpume_out *out);

/* Bytes that the earlier run wrote. */
uint64_t gpume_out_continued_bytes(const struct gpume_out *out);

/* Buffered. Large outputs are written by another thread, so errors may be returned by a
 * later call. GPUME_IO is sticky and logged once. */
int gpume_out_write(struct gpume_out *out, const void *data, size_t bytes);

/* Bytes so far, by gpume_out_write and gpume_out_text. */
uint64_t gpume_out_bytes(const struct gpume_out *out);

/* Writes a string. */
int gpume_out_text(struct gpume_out *out, const char *text);

#define GPUME_OUT_ITEM_BYTES ((size_t)512 * 1024) /* the most of an item */

/* Threads for gpume_out_add on a machine with this number of processors (0: this machine), beside a
 * decoder and an engine. NULL: none. They are closed after the output. */
struct gpume_makers *gpume_out_makers(uint32_t processors);

/* Appends the items of a job, in their order, which the makers make in the output's memory while
 * the caller goes on and appends others. `make` may write to bytes_max bytes, at most
 * GPUME_OUT_ITEM_BYTES.
 * Without makers (NULL) they are made here. The job ends, and its `done` is called, in any case. An
 * output gets jobs from one set of makers only, and those makers none from another output. */
int gpume_out_add(
    struct gpume_out *out, struct gpume_makers *makers, struct gpume_job *job, size_t bytes_max);

/* Absolute position; GPUME_UNSUPPORTED on pipes (not logged). */
int gpume_out_seek(struct gpume_out *out, uint64_t position);

/* Writes all bytes, closes the file and renames it: it has its final name only on GPUME_OK. An
 * output of a set with `together` gets its name from gpume_out_set_name. */
int gpume_out_finish(struct gpume_out *out);

/* The name of the file that holds the bytes of a finished output: a temporary, until the output has
 * its name. NULL: it was written in place. */
const char *gpume_out_place(const struct gpume_out *out);

/* Closes it and removes an unfinished temporary file. Sets *out to NULL. */
void gpume_out_close(struct gpume_out **out);

#endif
