/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the list of outputs from the options. If no output is named, the three standard files are
 * written to the default folder; otherwise only named outputs are, and the standard files with -o.
 */
#include "estimate/estimate.h"

#include "base/status.h"
#include "estimate/modes.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "job.h"
#include "names.h"
#include "report/report.h"
#include "resume/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int add_named(struct gpume_cli_job *job, const struct gpume_sink_ops *ops, const char *path)
{
    return path ? gpume_job_add(job, ops, path) : GPUME_OK;
}

static int add_surface(struct gpume_cli_job *job, uint32_t x, uint32_t y)
{
    char name[48];
    snprintf(name, sizeof(name), "surface_%" PRIu32 "_%" PRIu32 ".csv", x, y);
    return job->folder ? gpume_job_add_standard(job, &gpume_sink_surface, name)
                       : gpume_job_add(job, &gpume_sink_surface, name);
}

static int name_folder(struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    const char *input = options->common.inputs[options->common.input_count - 1];
    if (options->output && strcmp(options->output, "-") == 0) {
        return gpume_refuse(GPUME_INVALID,
            "-o -: takes a folder, not standard output; --vectors - writes vectors there");
    }
    job->folder =
        options->output ? strdup(options->output) : default_folder(gpume_path_of_input(input));
    return job->folder ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "out of memory");
}

static int list_against(struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    int status = name_folder(job, options);
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS && status == GPUME_OK; i++) {
        status =
            gpume_job_add_standard(job, &gpume_against_outputs[i], gpume_against_outputs[i].name);
    }
    return status;
}

/* In the order in which outputs are completed and get their names. The report comes after those
 * whose times it shows; summary.json comes last, so where it exists all others are complete. */
static int make_list(struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    int status;
    if (options->against_stream) {
        return list_against(job, options);
    }
    if (options->vectors) {
        const struct gpume_vectors_format *format =
            gpume_name_vectors_format(options->format, options->vectors, gpume_name_any_vectors);
        job->shape.format = format;
        GPUME_TRY(format ? GPUME_OK : GPUME_INVALID);
        GPUME_TRY(gpume_job_add(job, gpume_sink_vectors(format), options->vectors));
    }
    GPUME_TRY(add_named(job, &gpume_sink_predicted, options->predicted));
    GPUME_TRY(add_named(job, &gpume_sink_residual, options->residual));
    GPUME_TRY(add_named(job, &gpume_sink_difference, options->difference));
    GPUME_TRY(add_named(job, &gpume_sink_overlay, options->overlay));
    const bool others = options->report || options->report_dir || options->with_surface;
    const bool standard = options->output || (job->output_count == 0 && !others);
    if (standard) {
        GPUME_TRY(name_folder(job, options));
        GPUME_TRY(gpume_job_add_standard(job, &gpume_sink_vectors_csv, "vectors.csv"));
        GPUME_TRY(gpume_job_add_standard(job, &gpume_sink_frames_csv, "frames.csv"));
    }
    if (options->with_surface) {
        GPUME_TRY(add_surface(job, options->surface_x, options->surface_y));
    }
    if (options->report) {
        GPUME_TRY(add_named(job, gpume_sink_report(options->report), options->report));
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

/* True if existing outputs may belong to the run to be resumed. Reading its state will tell. */
static bool may_be_resumed(const struct gpume_cli_job *job)
{
    char *state = gpume_run_state_path(job->outputs[0].path);
    const bool found = !state || access(state, F_OK) == 0;
    free(state);
    return found;
}

enum gpume_exit gpume_estimate_plan(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options)
{
    const struct gpume_params *params = &options->params;
    const int status = make_list(job, options);
    if (status != GPUME_OK) {
        return status == GPUME_INVALID ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
    }
    job->shape.single = options->common.input_count == 2 || options->frames == 1;
    job->shape.both = !params->best_reference &&
                      (params->direction == GPUME_DIRECTION_BOTH || params->distance_count > 1);
    job->leaves_partial = true;
    job->resumes = options->resume;
    job->keeps = options->resume && may_be_resumed(job);
    return GPUME_EXIT_DONE;
}
