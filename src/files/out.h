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
#include "files/temporary.h"
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

/* Opens an output of a run. GPUME_AGAIN: the name is taken, by another run that
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

/*
 * --- what the outputs of one run share: how they are opened and finished, and how far they have
 * come. The caller fills it in before the first output is opened, and it outlives them all. One
 * thread.
 *
 * Outputs are written to temporary files and get their names together, in the order of a list, when
 * all are complete. So a disk that fills leaves no output, and if a rename fails, those before it
 * are undone. At every moment, also when the run is killed (tests/cli/test_kills.sh kills it at
 * each rename, link and unlink):
 *
 * - A file under its final name is complete.
 * - Where the seal of the set stands (summary.json or summary.json.partial), all other files are
 *   complete and of its run. It comes last in the list. An older one is removed before any other
 *   file of the set gets its name, and with --resume it is the first to lose its name.
 * - Numbered files get their names one by one, as frames are completed. The first of them that
 * could replace an older one breaks the seal as well.
 */

/* Suffix of the names that an interrupted run gives its outputs. */
#define GPUME_OUT_PARTIAL ".partial"

/* A temporary file and the number of its valid bytes, from which a later run continues it. */
struct gpume_out_mark {
    const char *path;  /* of the output, as the user named it */
    const char *other; /* suffix of the name that the file may have been given: GPUME_OUT_PARTIAL,
                          "" for its own, NULL: it has its temporary name */
    struct gpume_temporary id;
    uint64_t bytes;
    bool dated; /* under its other name it was last modified at: */
    uint64_t changed_s, changed_ns;
};

struct gpume_out_set {
    bool overwrite;  /* existing files are replaced */
    bool own;        /* gpume chose the names: links are replaced, not followed */
    bool alone;      /* outputs that another run is writing are refused */
    bool keep;       /* temporaries that are closed unfinished stay, to be continued */
    bool together;   /* finished outputs wait for gpume_out_set_name */
    bool over_input; /* an output may replace an input (files/inputs.h), which has been read */
    bool leaves;     /* what killed runs have left of an output stays: it is one of many */
    /* The output whose presence means that all others are complete. An older one is removed before
     * any file gets its name. NULL: there is none. */
    const char *seal;
    bool broken; /* an older seal has been removed; internal */
    /* Finished outputs are called NAME.partial and replace an older file of that name. May change
     * while outputs are open, as may sync. */
    bool partial;
    bool sync; /* they are on the disk before they get their names, and then their folder is */
    /* Outputs of these paths continue from their marks. */
    const struct gpume_out_mark *marks;
    size_t mark_count;
    const char *label;       /* for messages while outputs are opened; NULL: the name of each */
    struct gpume_out *first; /* of the open temporaries, in the order of opening; internal */
};

/* Gives all finished outputs their names, in the order in which they were opened. GPUME_IO after
 * one line: none has its name. */
int gpume_out_set_name(struct gpume_out_set *set, const struct gpume_log *log);

/* Writes all bytes of the open output mark->path and marks their end. GPUME_EOF: no such output is
 * open, or it is not a file. Failures have been logged. */
int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark);

/* Records when the file under the mark's other name was last modified, if it exists. */
void gpume_out_set_date(struct gpume_out_mark *mark);

/* Checks that the output can be continued from the mark: its file exists, is long enough, is not
 * being written, and has not been modified since it got its other name. *moved: it has that name.
 * Otherwise *why is the reason. GPUME_EOF: the file is missing. GPUME_AGAIN: another run is writing
 * it. GPUME_INVALID: it cannot be continued. GPUME_IO, GPUME_NOMEM: the check failed. */
int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why);

/* Before the output is opened again: a file with the mark's other name gets its temporary one; and
 * the reverse, for a run that adds nothing. GPUME_IO after one line. */
int gpume_out_set_take_back(const struct gpume_out_mark *mark, const struct gpume_log *log);
int gpume_out_set_give_back(const struct gpume_out_mark *mark, const struct gpume_log *log);

/* Numbers of a temporary of the path that does not exist yet. GPUME_NOMEM. */
int gpume_out_set_unused(const char *path, struct gpume_temporary *id);

#endif
