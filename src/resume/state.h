/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The saved state of a run, in a file beside its first output, from which --resume continues it:
 * what identifies the run, its sums so far, and the temporary files of its outputs with the number
 * of valid bytes in each. The file is replaced as a whole. One thread.
 */
#ifndef GPUME_RESUME_STATE_H
#define GPUME_RESUME_STATE_H

#include "base/log.h"
#include "files/out_set.h"
#include "resume/identity.h"
#include "sinks/summary.h"

#include <stdbool.h>
#include <stddef.h>

/* An output of the run. Their order is always the same. */
struct gpume_run_state_output {
    const char *name; /* "vectors" */
    const char *path;
    bool series; /* numbered files, one after the other */
    bool marked; /* it has a temporary file */
    bool moved;  /* which was renamed when the outputs were finished */
    struct gpume_out_mark mark;
};

struct gpume_run_state {
    const struct gpume_summary *summary; /* run, codec, and all sums so far */
    const struct gpume_run_input *input; /* as it was when the run opened it */
    uint64_t weights;                    /* checksum of the prefilter's kernel */
    struct gpume_run_state_output *outputs;
    size_t output_count;
    /* The outputs are being renamed, or have been: one without its temporary file is called
     * NAME.partial if partial, and has its own name if ending. */
    bool partial, ending;
    bool synced; /* the outputs are on the disk, so a restart of the machine loses nothing */
    uint64_t saved_s, saved_ns; /* when the state that was read was written */
};

/* `.NAME.gpume-state` beside the file that path stands for; for free(). NULL without memory. */
char *gpume_run_state_path(const char *path);

/* Failures have been logged, and leave the old file. */
int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log);

/* Reads the sums into *summary, and the marks and flags into *state, whose other members are given.
 * GPUME_EOF: there is no state, or none of its files is left. After one line GPUME_INVALID: it is
 * the state of another run, or cannot be continued; GPUME_AGAIN: that run is still under way;
 * GPUME_IO, GPUME_NOMEM: it cannot be read. */
int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log);

/* Removes, beside each output, the states of ended runs that had one of the same outputs, other
 * than `path`, this run's own. */
void gpume_run_state_supersede(const struct gpume_run_state *state, const char *path);

#endif
