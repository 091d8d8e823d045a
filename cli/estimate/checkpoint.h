/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run leaves behind for --resume, and how it takes that up: about once a second all outputs
 * are written out and the run's state beside the first one says how far they are. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_CHECKPOINT_H
#define GPUME_CLI_ESTIMATE_CHECKPOINT_H

#include "estimate/estimate.h"
#include "estimate/outputs.h"
#include "resume/state.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_checkpoint {
    struct gpume_out_set set; /* of the run's outputs */
    struct gpume_run_state state;
    struct gpume_run_state_output outputs[GPUME_OUTPUTS_MAX];
    struct gpume_out_mark marks[GPUME_OUTPUTS_MAX];
    const struct gpume_outputs *planned;
    struct gpume_sink *const *sinks; /* by output; NULL where that has none */
    char *path;                      /* of the state */
    bool possible;                   /* the run can be continued */
    uint64_t next_ns;                /* when it is due; 0: at once */
    bool resume;                     /* --resume: what a failed run has made stays */
    bool written;                    /* there is a state of this run */
};

/* Before the first output is opened; all that is given here outlives it. input: as it was opened,
 * or NULL if it changed meanwhile, so that no later run could know what this one has read. */
enum gpume_exit gpume_checkpoint_init(struct gpume_checkpoint *checkpoint,
    const struct gpume_outputs *outputs, struct gpume_sink *const *sinks,
    const struct gpume_estimate_options *options, const struct gpume_summary *summary,
    const struct gpume_run_input *input);

/* --resume: takes up what an earlier run has left; *summary has its sums then. weights: a sum over
 * those of the prefilter's kernel. The run's input and parameters are known. */
enum gpume_exit gpume_checkpoint_resume(
    struct gpume_checkpoint *checkpoint, struct gpume_summary *summary, uint64_t weights);

/* Before the outputs are opened: those that have names by now get their temporary ones again, the
 * last one first. And the other way round, where the run finds nothing that it could add. */
int gpume_checkpoint_take_back(const struct gpume_checkpoint *checkpoint);
int gpume_checkpoint_give_back(struct gpume_checkpoint *checkpoint);

/* The outputs are open: removes what runs that are gone have left under temporary names. */
void gpume_checkpoint_clear(
    const struct gpume_checkpoint *checkpoint, const struct gpume_outputs *outputs);

/* Is it time to bring the summary up to date, and to save? */
bool gpume_checkpoint_is_due(const struct gpume_checkpoint *checkpoint);

/* After a whole field: what the summary says is in every output. */
int gpume_checkpoint_save(struct gpume_checkpoint *checkpoint);

/* No more fields come: whatever the outputs hold is written before the first of them gets its name,
 * and they can be continued until the last one has. */
int gpume_checkpoint_begin_end(struct gpume_checkpoint *checkpoint);

/* The run ends early: outputs that are finished from now on are partial. */
int gpume_checkpoint_begin_partial(struct gpume_checkpoint *checkpoint);

/* They all have their names. */
int gpume_checkpoint_end_partial(struct gpume_checkpoint *checkpoint);

/* The run is complete: removes the state, and states and partial results of earlier runs. */
void gpume_checkpoint_complete(struct gpume_checkpoint *checkpoint);

void gpume_checkpoint_finish(struct gpume_checkpoint *checkpoint);

#endif
