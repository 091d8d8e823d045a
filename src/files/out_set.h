/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the outputs of one run share: how they are opened and finished, and how far they have come.
 * The caller fills it in before the first output is opened, and it outlives them all. One thread.
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
#ifndef GPUME_FILES_OUT_SET_H
#define GPUME_FILES_OUT_SET_H

#include "base/log.h"
#include "files/temporary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_out;

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
