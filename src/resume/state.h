/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --resume needs to continue a run: what identifies the run, its sums so far, and the
 * temporary files of its outputs with the number of valid bytes in each.
 */
#ifndef GPUME_RESUME_STATE_H
#define GPUME_RESUME_STATE_H

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

#endif
