/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a run has come, in a file beside its first output, for a run that is to go on after it:
 * what makes the run that one and no other, the sums so far, and where the outputs' temporary files
 * are and how much of them counts. The file is replaced as a whole. One thread.
 */
#ifndef GPUME_RESUME_STATE_H
#define GPUME_RESUME_STATE_H

#include "base/log.h"
#include "files/out_set.h"
#include "resume/identity.h"
#include "sinks/summary.h"

#include <stdbool.h>
#include <stddef.h>

/* An output of the run, in an order that is always the same. */
struct gpume_run_state_output {
    const char *name; /* "vectors" */
    const char *path;
    bool series; /* files by number, one after the other */
    bool marked; /* it has a temporary file */
    bool moved;  /* which has got another name, as the outputs were finished */
    struct gpume_out_mark mark;
};

struct gpume_run_state {
    const struct gpume_summary *summary; /* run, codec, and all sums so far */
    const struct gpume_run_input *input; /* as the run opened it: every save says this again */
    uint64_t weights;                    /* of the prefilter's kernel: a sum over them */
    struct gpume_run_state_output *outputs;
    size_t output_count;
    /* The outputs have been finished, or are about to be: one whose temporary file is gone is
     * called NAME.partial. */
    bool partial;
    bool ending; /* likewise, for ever: it may have its own name */
    bool synced; /* the outputs are on the disk: a restart of the machine loses nothing */
    uint64_t saved_s, saved_ns; /* when the state that was read was written */
};

/* `.NAME.gpume-state` beside the file that path stands for; for free(). NULL without memory. */
char *gpume_run_state_path(const char *path);

/* Failures have been logged; the file is the old one then. */
int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log);

/* Fills in the sums of *summary, the outputs' marks and the truths above from the file. GPUME_EOF:
 * there is none, or nothing of what it tells of is left. After one line GPUME_INVALID: it is of
 * another run, or cannot be continued; GPUME_AGAIN: that run is still under way; GPUME_IO,
 * GPUME_NOMEM: that cannot be found out. state->summary, input, outputs, names and paths are given.
 */
int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log);

/* Removes what other runs, which are gone, have left of their states beside any of the outputs, if
 * one of these is theirs too: path is this run's state, which stays. */
void gpume_run_state_supersede(const struct gpume_run_state *state, const char *path);

#endif
