/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the outputs of one run share: how they are opened, how they end, and how far they have come.
 * The caller fills it in before the first output is opened, and it outlives them all. One thread.
 */
#ifndef GPUME_FILES_OUT_SET_H
#define GPUME_FILES_OUT_SET_H

#include "base/log.h"
#include "files/temporary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_out;

/* A temporary file, and how much of it counts. */
struct gpume_out_mark {
    const char *path;  /* of the output, as the user named it */
    const char *other; /* behind its name, what it may be called by now: GPUME_OUT_PARTIAL, "" where
                          it may have its own, NULL: it has its temporary one */
    struct gpume_temporary id;
    uint64_t bytes;
    bool dated; /* what is called by `other` was last written at: */
    uint64_t changed_s, changed_ns;
};

struct gpume_out_set {
    bool overwrite; /* existing files are replaced */
    bool own;       /* names that the program makes up: a link there is replaced, not followed */
    bool alone;     /* outputs that another run is writing are refused */
    bool keep;      /* temporaries stay when they are closed unfinished, to be continued */
    bool together;  /* outputs that are finished wait for gpume_out_set_name */
    /* The output that stands only where all others are whole: an older one is removed before any
     * file gets its name. NULL: there is none. */
    const char *seal;
    bool broken; /* it is gone; files/out_name.c's own */
    /* Outputs that are finished are called NAME.partial, in place of one that is there. May change
     * while outputs are open, as may the next. */
    bool partial;
    bool sync; /* they are on the disk then */
    /* Outputs of these paths go on after their marks; others start. */
    const struct gpume_out_mark *marks;
    size_t mark_count;
    const char *label; /* for messages while outputs are opened; NULL: the name of each */
    struct gpume_out
        *first; /* of the open temporaries, in the order of opening; files/out*.c's own */
};

/* Outputs that wait together: all that are finished get their names, in the order in which they
 * were opened. GPUME_IO after one line: none has. */
int gpume_out_set_name(struct gpume_out_set *set, const struct gpume_log *log);

/* Has all that an open output was given so far written, and says how far that goes. mark->path is
 * given. GPUME_EOF: no such output is open, or it is no file. Failures have been logged. */
int gpume_out_set_mark(const struct gpume_out_set *set, struct gpume_out_mark *mark);

/* Notes when the file that has the mark's other name was last written, if that can be known. */
void gpume_out_set_date(struct gpume_out_mark *mark);

/* Can the output be continued at the mark: is its file there, long enough, nobody's, and, where it
 * is dated and has its other name, not written since? *moved: it
 * has its temporary name no more. Else *why is the reason. GPUME_EOF: the file is not there.
 * GPUME_AGAIN: another run is writing it. GPUME_INVALID: it cannot. GPUME_IO, GPUME_NOMEM: this
 * cannot be found out, another time perhaps. */
int gpume_out_set_look(const struct gpume_out_mark *mark, bool *moved, const char **why);

/* Before the output is opened again: what has the mark's other name gets its temporary one. And the
 * other way round: the output goes back to that name, as it is. GPUME_IO after one line. */
int gpume_out_set_take_back(const struct gpume_out_mark *mark, const struct gpume_log *log);
int gpume_out_set_give_back(const struct gpume_out_mark *mark, const struct gpume_log *log);

/* A number for a temporary of the path that no file has yet, as gpume_out_open will name it.
 * GPUME_NOMEM. */
int gpume_out_set_unused(const char *path, struct gpume_temporary *id);

/* Of files that come one by one, under a numbered name: keeps other runs away from all of them, by
 * an empty temporary of the name that stands for the series, which goes with the claim. */
struct gpume_out_claim {
    struct gpume_out_set set; /* of that file alone */
    struct gpume_out *out;    /* NULL: nothing is claimed */
};

/* For an output of the set; nothing where that has no need to be alone. The claim stays where it
 * is. GPUME_AGAIN after one line: another run is writing these files; others as gpume_out_open. */
int gpume_out_claim_open(struct gpume_out_claim *claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log);

/* A claim that is zero is fine. */
void gpume_out_claim_close(struct gpume_out_claim *claim);

/* For base/out: does nobody else write the file that has this temporary? GPUME_AGAIN after one
 * line: another run does. */
int gpume_out_set_check_alone(
    const char *label, const char *final, const char *temporary, const struct gpume_log *log);

#endif
