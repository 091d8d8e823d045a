/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The outputs of a run: which the options name, and the checkpoints that say how far they are. If
 * no output is named, the three standard files are written to the default folder; otherwise only
 * named outputs are, and the standard files with -o.
 */
#include "estimate/estimate.h"

#include "base/base.h"
#include "base/os.h"
#include "console.h"
#include "files/out.h"
#include "files/path.h"
#include "job.h"
#include "report/report.h"
#include "resume/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS(name) &gpume_sink_##name,
const struct gpume_sink_ops *const gpume_named_sinks[GPUME_SINK_COUNT] = {GPUME_SINKS(ADDRESS)};

bool gpume_estimate_has_page(const struct gpume_estimate_options *options)
{
    const char *end = options->report ? strrchr(options->report, '.') : NULL;
    return end && strcasecmp(end, ".html") == 0;
}

bool gpume_estimate_draws(const struct gpume_estimate_options *options)
{
    bool draws = gpume_estimate_has_page(options) || options->report_dir;
    for (size_t i = 0; i < GPUME_SINK_COUNT; i++) {
        draws = draws || options->files[i];
    }
    return draws;
}

/* Removes "%d" and "%03d" from a name. */
static void remove_number(char *name)
{
    char *percent = strchr(name, '%');
    while (percent) {
        const size_t digits = strspn(percent + 1, "0123456789");
        if (percent[1 + digits] == 'd') {
            memmove(percent, percent + digits + 2, strlen(percent + digits + 2) + 1);
            percent = strchr(percent, '%');
        } else {
            percent = strchr(percent + 1, '%');
        }
    }
}

/* "path/clip.mp4" gives "clip.gpume", "frame_%03d.png" "frame.gpume", "-" "stdin.gpume". */
static char *default_folder(const char *input)
{
    static const char suffix[] = ".gpume";
    const bool is_url = strstr(input, "://") != NULL;
    const size_t whole = is_url ? strcspn(input, "?#") : strlen(input);
    size_t first = whole;
    while (first > 0 && input[first - 1] != '/') {
        first--;
    }
    size_t length = whole - first;
    char *name = malloc(length + sizeof("input") + sizeof(suffix));
    if (!name) {
        return NULL;
    }
    memcpy(name, input + first, length);
    name[length] = '\0';
    if (strcmp(input, "-") == 0) {
        strcpy(name, "stdin");
    }
    char *dot = strrchr(name, '.');
    if (dot && dot != name) {
        *dot = '\0';
    }
    remove_number(name);
    for (length = strlen(name); length > 0 && strchr("_-. ", name[length - 1]); length--) {
        name[length - 1] = '\0';
    }
    for (char *at = name; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = '_';
        }
    }
    return strcat(name[0] ? name : strcpy(name, "input"), suffix);
}

int gpume_estimate_name_folder(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    const char *input = options->common.inputs[options->common.input_count - 1];
    if (options->output && strcmp(options->output, "-") == 0) {
        return gpume_refuse(GPUME_INVALID,
            "-o -: takes a folder, not standard output; --vectors - writes vectors there");
    }
    GPUME_CHECK(options->output ? gpume_name_check_folder(options->output) : GPUME_OK);
    job->folder =
        options->output ? strdup(options->output) : default_folder(gpume_path_of_input(input));
    return job->folder ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "out of memory");
}

/* In the order in which outputs are completed and get their names. The report comes after those
 * whose times it shows; summary.json comes last, so where it exists all others are complete. */
static int make_list(struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    int status;
    if (options->vectors) {
        const struct gpume_vectors_format *format = gpume_name_vectors_format(
            options->asked.format, options->vectors, gpume_name_any_vectors);
        job->shape.format = format;
        GPUME_TRY(format ? GPUME_OK : GPUME_INVALID);
        GPUME_TRY(gpume_job_add(job, gpume_sink_vectors(format), options->vectors));
    }
    for (size_t i = 0; i < GPUME_SINK_COUNT; i++) {
        const char *file = options->files[i];
        GPUME_TRY(file ? gpume_job_add(job, gpume_named_sinks[i], file) : GPUME_OK);
    }
    const bool others = options->report || options->report_dir || options->asked.with_surface;
    const bool standard = options->output || (job->output_count == 0 && !others);
    if (standard) {
        GPUME_TRY(gpume_estimate_name_folder(job, options));
        GPUME_TRY(gpume_job_add_standard(job, &gpume_sink_vectors_csv, "vectors.csv"));
        GPUME_TRY(gpume_job_add_standard(job, &gpume_sink_frames_csv, "frames.csv"));
    }
    if (options->asked.with_surface) {
        char name[48];
        snprintf(name, sizeof(name), "surface_%" PRIu32 "_%" PRIu32 ".csv",
            options->asked.surface_x, options->asked.surface_y);
        GPUME_TRY(
            (job->folder ? gpume_job_add_standard : gpume_job_add)(job, &gpume_sink_surface, name));
    }
    if (options->report) {
        GPUME_TRY(gpume_job_add(job, gpume_sink_report(options->report), options->report));
    }
    if (options->report_dir && strcmp(options->report_dir, "-") == 0) {
        return gpume_refuse(GPUME_INVALID, "--report-dir -: takes a folder, not standard output");
    }
    if (options->report_dir) {
        char *page = gpume_path_in_folder(options->report_dir, "index.html");
        status = page ? gpume_job_add(job, &gpume_sink_report_folder, page)
                      : gpume_refuse(GPUME_NOMEM, "out of memory");
        free(page);
        GPUME_TRY(status);
    }
    if (standard) {
        GPUME_TRY(gpume_job_add_standard(job, &gpume_sink_summary, "summary.json"));
        job->set.seal = job->outputs[job->output_count - 1].path;
    }
    status = GPUME_OK;
fail:
    return status;
}

enum gpume_exit gpume_estimate_plan(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    const struct gpume_params *params = &options->params;
    const int status = make_list(job, options);
    if (status != GPUME_OK) {
        return status == GPUME_INVALID ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
    }
    job->shape.single = options->common.input_count == 2 || options->asked.frames == 1;
    job->shape.both = !params->best_reference &&
                      (params->direction == GPUME_DIRECTION_BOTH || params->distance_count > 1);
    job->leaves_partial = true;
    job->resumes = options->resume;
    if (options->resume) { /* existing outputs may be its; reading the state will tell */
        char *state = gpume_run_state_path(job->outputs[0].path);
        job->keeps = !state || access(state, F_OK) == 0;
        free(state);
    }
    return GPUME_EXIT_DONE;
}

/* --- checkpoints: about once per second the run flushes all outputs and saves its state, which
 * says how far they are, beside the first one */

/* The most work that a killed run loses; saving takes a millisecond. */
#define INTERVAL_NS UINT64_C(1000000000)

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

/* No run can be resumed, so existing files are something else. A partial result without a state
 * belongs to an interrupted run with another first output, which keeps its state beside that one.
 */
static enum gpume_exit begin_anew(const struct gpume_cli_job *job)
{
    for (size_t i = 0; i < job->output_count; i++) {
        struct stat info;
        char *partial = gpume_path_with_suffix(job->outputs[i].path, GPUME_OUT_PARTIAL);
        const bool found = partial && lstat(partial, &info) == 0;
        free(partial);
        if (found) {
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

/* Reads the state of an earlier run, and its sums into *summary. */
static enum gpume_exit resume_run(
    struct gpume_checkpoint *checkpoint, struct gpume_summary *summary)
{
    struct gpume_run_state *state = &checkpoint->state;
    if (!state->input) {
        return gpume_refuse(GPUME_EXIT_INPUT, "--resume: the input changed while it was being "
                                              "opened; try again when nothing writes to it");
    }
    int status = gpume_run_state_read(state, summary, checkpoint->path, &gpume_console);
    if (status == GPUME_EOF) {
        return begin_anew(checkpoint->job);
    }
    if (status == GPUME_OK) {
        gpume_console_info("--resume: %" PRIu64 " frame pair%s done, the last for frame %" PRIu64,
            summary->all.fields, gpume_plural(summary->all.fields), summary->last_field);
        if (!gpume_run_identity_is_certain(summary->run->input)) {
            gpume_console_warning(
                "--resume: standard input cannot be identified; it must be the same "
                "video, from its beginning");
        }
        status = take_marks(checkpoint);
    }
    const bool refused = status == GPUME_INVALID || status == GPUME_AGAIN;
    return status == GPUME_OK ? GPUME_EXIT_DONE : refused ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_checkpoint_open(struct gpume_checkpoint *checkpoint,
    struct gpume_cli_job *job, struct gpume_summary *summary, const struct gpume_run_input *input,
    uint64_t weights)
{
    job->set.alone = job->set.together = true;
    *checkpoint = (struct gpume_checkpoint){
        .possible = input != NULL,
        .job = job,
        .state = {.summary = summary,
            .input = input,
            .weights = weights,
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
    return job->resumes ? resume_run(checkpoint, summary) : GPUME_EXIT_DONE;
}

int gpume_checkpoint_take_back(const struct gpume_checkpoint *checkpoint)
{
    int status = GPUME_OK;
    for (size_t i = checkpoint->job->set.mark_count; i > 0 && status == GPUME_OK; i--) {
        status = gpume_out_set_take_back(&checkpoint->marks[i - 1], &gpume_console);
    }
    return status;
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

static int save(struct gpume_checkpoint *checkpoint, bool partial, bool ending)
{
    struct gpume_run_state *state = &checkpoint->state;
    int status;
    state->partial = partial;
    state->ending = ending;
    state->synced = false;
    /* Complete files of numbered series get their names, so that the state can count on them. */
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_sink *sink = checkpoint->job->sinks[i];
        GPUME_TRY(sink && sink->ops->settle ? sink->ops->settle(sink) : GPUME_OK);
    }
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_run_state_output *output = &state->outputs[i];
        status = gpume_out_set_mark(&checkpoint->job->set, &output->mark);
        output->marked = status == GPUME_OK;
        GPUME_TRY(status == GPUME_EOF ? GPUME_OK : status);
        output->mark.dated = false;
    }
    status = gpume_run_state_write(state, checkpoint->path, &gpume_console);
fail:
    return status;
}

int gpume_checkpoint_save(struct gpume_checkpoint *checkpoint)
{
    const int status = save(checkpoint, false, false);
    checkpoint->written = true;
    checkpoint->job->set.keep = checkpoint->job->resumes;
    checkpoint->next_ns = gpume_clock_ns() + INTERVAL_NS;
    return status;
}

int gpume_checkpoint_begin_end(struct gpume_checkpoint *checkpoint, bool partial)
{
    struct gpume_out_set *set = &checkpoint->job->set;
    const int status = checkpoint->possible ? save(checkpoint, partial, !partial) : GPUME_OK;
    checkpoint->written = checkpoint->written || checkpoint->possible;
    if (partial) {
        set->partial = set->sync = true;
        set->keep = checkpoint->possible; /* outputs that get no name can be resumed */
    }
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

int gpume_checkpoint_end(struct gpume_checkpoint *checkpoint, bool partial)
{
    for (size_t i = checkpoint->state.output_count; i > 0 && !partial; i--) {
        gpume_text_remove_partial(checkpoint->outputs[i - 1].path); /* of summary.json first */
    }
    gpume_run_state_supersede(&checkpoint->state, checkpoint->path);
    if (!partial) {
        (void)unlink(checkpoint->path);
        return GPUME_OK;
    }
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

void gpume_checkpoint_finish(struct gpume_checkpoint *checkpoint)
{
    if (checkpoint->path && checkpoint->written && !checkpoint->job->set.keep) {
        (void)unlink(checkpoint->path); /* a failed run leaves nothing */
    }
    free(checkpoint->path);
    checkpoint->path = NULL;
}
