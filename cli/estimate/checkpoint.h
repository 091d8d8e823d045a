/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checkpoints for --resume: about once per second the run flushes all outputs and saves its state,
 * which says how far they are, beside the first one. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_CHECKPOINT_H
#define GPUME_CLI_ESTIMATE_CHECKPOINT_H

#include "job.h"
#include "resume/state.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_checkpoint {
    struct gpume_cli_job *job; /* its outputs, whose set is the run's; with --resume they stay if
                              the run fails */
    struct gpume_run_state state;
    struct gpume_run_state_output outputs[GPUME_JOB_OUTPUTS_MAX];
    struct gpume_out_mark marks[GPUME_JOB_OUTPUTS_MAX];
    char *path;       /* of the state */
    bool possible;    /* the run can be resumed */
    uint64_t next_ns; /* when the next checkpoint is due; 0: at once */
    bool written;     /* the state of this run has been saved */
};

/* Call it before the first output is opened; the arguments must outlive the checkpoint. input: its
 * identity when it was opened, or NULL if it changed meanwhile, since a later run could not know
 * what this one has read. */
enum gpume_exit gpume_checkpoint_init(struct gpume_checkpoint *checkpoint,
    struct gpume_cli_job *job, const struct gpume_summary *summary,
    const struct gpume_run_input *input);

/* --resume: reads the state of an earlier run, and its sums into *summary. weights: a checksum of
 * the prefilter's kernel. Call it once the run's input and parameters are known. */
enum gpume_exit gpume_checkpoint_resume(
    struct gpume_checkpoint *checkpoint, struct gpume_summary *summary, uint64_t weights);

/* Gives outputs that have their final names their temporary ones again, the last output first;
 * call it before they are opened. The second reverses that if the run has nothing to add. */
int gpume_checkpoint_take_back(const struct gpume_checkpoint *checkpoint);
int gpume_checkpoint_give_back(struct gpume_checkpoint *checkpoint);

/* Removes temporary files that killed runs have left. Call it once the outputs are open. */
void gpume_checkpoint_clear(const struct gpume_checkpoint *checkpoint);

/* True if it is time to update the summary and save a checkpoint. */
bool gpume_checkpoint_is_due(const struct gpume_checkpoint *checkpoint);

/* Saves a checkpoint after a frame: every output holds all that the summary counts. */
int gpume_checkpoint_save(struct gpume_checkpoint *checkpoint);

/* Call it after the last frame pair: all outputs are flushed before the first of them gets its
 * name, and the run can be resumed until the last one has. */
int gpume_checkpoint_begin_end(struct gpume_checkpoint *checkpoint);

/* Call it if the run ends early: outputs that are finished from now on are partial. */
int gpume_checkpoint_begin_partial(struct gpume_checkpoint *checkpoint);

/* Call it when all of them have their names. */
int gpume_checkpoint_end_partial(struct gpume_checkpoint *checkpoint);

/* Call it when the run is complete: removes its state, and states and partial results of earlier
 * runs. */
void gpume_checkpoint_complete(struct gpume_checkpoint *checkpoint);

void gpume_checkpoint_finish(struct gpume_checkpoint *checkpoint);

#endif
