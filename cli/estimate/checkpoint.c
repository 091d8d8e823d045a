/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/checkpoint.h"

#include "base/clock.h"
#include "console.h"
#include "files/out_set.h"
#include "files/path.h"
#include "files/text_file.h"
#include "resume/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most work that a killed run loses; saving takes a millisecond. */
#define INTERVAL_NS UINT64_C(1000000000)

enum gpume_exit gpume_checkpoint_init(struct gpume_checkpoint *checkpoint,
    struct gpume_cli_job *job, const struct gpume_summary *summary,
    const struct gpume_run_input *input)
{
    job->set.alone = job->set.together = true;
    *checkpoint = (struct gpume_checkpoint){
        .possible = input != NULL,
        .job = job,
        .state = {.summary = summary,
            .input = input,
            .outputs = checkpoint->outputs,
            .output_count = job->output_count},
    };
    for (size_t i = 0; i < job->output_count; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        checkpoint->outputs[i] = (struct gpume_run_state_output){
            .name = output->ops->name,
            .path = output->path,
            .series = gpume_job_is_series(output),
            .mark.path = output->path,
        };
        checkpoint->possible = checkpoint->possible && gpume_job_can_continue(output);
    }
    checkpoint->path = gpume_run_state_path(job->outputs[0].path);
    if (!checkpoint->path) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    checkpoint->next_ns = 0; /* after the first frame */
    return GPUME_EXIT_DONE;
}

/* Continues all outputs as temporary files. The state knows the new names of these files before the
 * files have them. */
static int take_marks(struct gpume_checkpoint *checkpoint)
{
    struct gpume_run_state *state = &checkpoint->state;
    size_t count = 0;
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_run_state_output *output = &state->outputs[i];
        if (output->marked) {
            if (output->moved && gpume_out_set_unused(output->path, &output->mark.id)) {
                return gpume_refuse(GPUME_NOMEM, "out of memory");
            }
            checkpoint->marks[count++] = output->mark;
        }
    }
    checkpoint->job->set.marks = checkpoint->marks;
    checkpoint->job->set.mark_count = count;
    checkpoint->job->set.keep = true;
    checkpoint->job->set.overwrite =
        checkpoint->job->set.overwrite || state->ending; /* its own files */
    return state->partial || state->ending
               ? gpume_run_state_write(state, checkpoint->path, &gpume_console)
               : GPUME_OK;
}

/* A partial result without a state belongs to an interrupted run with another first output, which
 * keeps its state beside that one. */
static bool has_partial(const struct gpume_job_output *output)
{
    struct stat info;
    char *partial = gpume_path_with_suffix(output->path, GPUME_OUT_PARTIAL);
    const bool found = partial && lstat(partial, &info) == 0;
    free(partial);
    return found;
}

/* No run can be resumed, so existing files are something else. */
static enum gpume_exit begin_anew(const struct gpume_checkpoint *checkpoint)
{
    const struct gpume_cli_job *job = checkpoint->job;
    for (size_t i = 0; i < job->output_count; i++) {
        if (has_partial(&job->outputs[i])) {
            return gpume_refuse(GPUME_EXIT_USAGE,
                "--resume: %s" GPUME_OUT_PARTIAL
                " belongs to an interrupted run with other outputs; "
                "name the same ones, or start anew without --resume",
                job->outputs[i].path);
        }
        if (job->outputs[i].exists && !job->set.overwrite) {
            return gpume_refuse(GPUME_EXIT_USAGE,
                "--resume: there is nothing to continue, and %s exists already; replace it with -y "
                "or choose another name",
                job->outputs[i].path);
        }
    }
    gpume_console_warning("--resume: there is nothing to continue; starting at the beginning");
    return GPUME_EXIT_DONE;
}

int gpume_checkpoint_take_back(const struct gpume_checkpoint *checkpoint)
{
    int status = GPUME_OK;
    for (size_t i = checkpoint->job->set.mark_count; i > 0 && status == GPUME_OK; i--) {
        status = gpume_out_set_take_back(&checkpoint->marks[i - 1], &gpume_console);
    }
    return status;
}

enum gpume_exit gpume_checkpoint_resume(
    struct gpume_checkpoint *checkpoint, struct gpume_summary *summary, uint64_t weights)
{
    struct gpume_run_state *state = &checkpoint->state;
    state->weights = weights;
    if (!checkpoint->job->resumes) {
        return GPUME_EXIT_DONE;
    }
    if (!state->input) {
        return gpume_refuse(GPUME_EXIT_INPUT, "--resume: the input changed while it was being "
                                              "opened; try again when nothing writes to it");
    }
    int status = gpume_run_state_read(state, summary, checkpoint->path, &gpume_console);
    if (status == GPUME_EOF) {
        return begin_anew(checkpoint);
    }
    if (status == GPUME_OK) {
        gpume_console_info("--resume: %" PRIu64
                           " frame pairs are done, the last for frame %" PRIu64,
            summary->all.fields, summary->last_field);
        if (!gpume_run_identity_is_certain(summary->run->request.input)) {
            gpume_console_warning(
                "--resume: standard input cannot be identified; it must be the same "
                "video, from its beginning");
        }
        status = take_marks(checkpoint);
    }
    const bool refused = status == GPUME_INVALID || status == GPUME_AGAIN;
    return status == GPUME_OK ? GPUME_EXIT_DONE : refused ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
}

void gpume_checkpoint_clear(const struct gpume_checkpoint *checkpoint)
{
    const struct gpume_cli_job *job = checkpoint->job;
    for (size_t i = 0; i < job->output_count; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        gpume_text_clear(output->path, gpume_job_is_series(output));
    }
    gpume_text_clear(checkpoint->path, false);
}

bool gpume_checkpoint_is_due(const struct gpume_checkpoint *checkpoint)
{
    return checkpoint->possible && gpume_clock_ns() >= checkpoint->next_ns;
}

/* Gives complete files of numbered series their names, so that the state can count on them. */
static int settle(struct gpume_checkpoint *checkpoint)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < checkpoint->state.output_count && status == GPUME_OK; i++) {
        struct gpume_sink *sink = checkpoint->job->sinks[i];
        status = sink && sink->ops->settle ? sink->ops->settle(sink) : GPUME_OK;
    }
    return status;
}

static int mark_all(struct gpume_checkpoint *checkpoint)
{
    struct gpume_run_state *state = &checkpoint->state;
    for (size_t i = 0; i < state->output_count; i++) {
        const int status = gpume_out_set_mark(&checkpoint->job->set, &state->outputs[i].mark);
        if (status != GPUME_OK && status != GPUME_EOF) {
            return status;
        }
        state->outputs[i].marked = status == GPUME_OK;
        state->outputs[i].mark.dated = false;
    }
    return GPUME_OK;
}

static int save(struct gpume_checkpoint *checkpoint, bool partial, bool ending)
{
    checkpoint->state.partial = partial;
    checkpoint->state.ending = ending;
    checkpoint->state.synced = false;
    int status = settle(checkpoint);
    status = status ? status : mark_all(checkpoint);
    return status ? status
                  : gpume_run_state_write(&checkpoint->state, checkpoint->path, &gpume_console);
}

int gpume_checkpoint_save(struct gpume_checkpoint *checkpoint)
{
    const int status = save(checkpoint, false, false);
    checkpoint->written = true;
    checkpoint->job->set.keep = checkpoint->job->resumes;
    checkpoint->next_ns = gpume_clock_ns() + INTERVAL_NS;
    return status;
}

int gpume_checkpoint_begin_end(struct gpume_checkpoint *checkpoint)
{
    if (!checkpoint->possible) {
        return GPUME_OK;
    }
    const int status = save(checkpoint, false, true);
    checkpoint->written = true;
    return status;
}

int gpume_checkpoint_begin_partial(struct gpume_checkpoint *checkpoint)
{
    const int status = checkpoint->possible ? save(checkpoint, true, false) : GPUME_OK;
    checkpoint->job->set.partial = checkpoint->job->set.sync = true;
    checkpoint->job->set.keep = checkpoint->possible; /* outputs that get no name can be resumed */
    return status;
}

/* The outputs are named NAME.partial and stored on the disk. */
static int save_partial(struct gpume_checkpoint *checkpoint)
{
    struct gpume_run_state *state = &checkpoint->state;
    for (size_t i = 0; i < state->output_count; i++) {
        if (state->outputs[i].marked) {
            state->outputs[i].mark.other = GPUME_OUT_PARTIAL;
            gpume_out_set_date(&state->outputs[i].mark);
        }
    }
    state->synced = true;
    return gpume_run_state_write(state, checkpoint->path, &gpume_console);
}

int gpume_checkpoint_end_partial(struct gpume_checkpoint *checkpoint)
{
    gpume_run_state_supersede(&checkpoint->state, checkpoint->path);
    checkpoint->written = false; /* it stays */
    return checkpoint->possible ? save_partial(checkpoint) : GPUME_OK;
}

int gpume_checkpoint_give_back(struct gpume_checkpoint *checkpoint)
{
    int status = GPUME_OK;
    if (!checkpoint->state.partial) {
        return GPUME_OK;
    }
    for (size_t i = 0; i < checkpoint->job->set.mark_count && status == GPUME_OK; i++) {
        status = gpume_out_set_give_back(&checkpoint->marks[i], &gpume_console);
    }
    return status ? status : save_partial(checkpoint);
}

void gpume_checkpoint_complete(struct gpume_checkpoint *checkpoint)
{
    for (size_t i = checkpoint->state.output_count; i > 0; i--) { /* that of summary.json first */
        gpume_text_remove_partial(checkpoint->outputs[i - 1].path);
    }
    gpume_run_state_supersede(&checkpoint->state, checkpoint->path);
    (void)unlink(checkpoint->path);
}

void gpume_checkpoint_finish(struct gpume_checkpoint *checkpoint)
{
    if (checkpoint->path && checkpoint->written && !checkpoint->job->set.keep) {
        (void)unlink(checkpoint->path); /* a failed run leaves nothing */
    }
    free(checkpoint->path);
    checkpoint->path = NULL;
}
