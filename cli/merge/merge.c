/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume merge: joins the files of runs over consecutive ranges of one video. Everything is checked
 * before anything is written, but for the lengths of tables, which are counted on the way; no file
 * has its name then. Main thread only.
 */
#include "commands.h"
#include "console.h"
#include "estimate/outputs.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/outputs.h"
#include "merge/series.h"
#include "merge/total.h"
#include "names.h"
#include "options/common.h"
#include "signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 1000000u

struct merge_options {
    struct gpume_common_options common;
    const char *output;
    const char *vectors, *predicted, *residual, *difference, *overlay, *report;
    bool whole;
};

struct merge_job {
    const struct merge_options *options;
    struct gpume_merge_part *parts;
    size_t count;
    struct gpume_merge_outputs outputs;
    char *summary_path;
    struct gpume_merge_total total;
    struct gpume_out_set set;
    struct gpume_outputs folder; /* only its folder is used */
    const struct gpume_merge_part *part;
    bool any;       /* a frame has come, */
    uint64_t frame; /* this is the last one, */
    int (*pair)(struct merge_job *job, const char *pattern, uint64_t frame, uint64_t ref);
};

static enum gpume_exit read_parts(struct merge_job *job)
{
    const struct gpume_common_options *common = &job->options->common;
    job->parts = calloc(common->input_count, sizeof(*job->parts));
    if (!job->parts) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    int status = GPUME_OK;
    for (; job->count < common->input_count && status == GPUME_OK; job->count++) {
        status = gpume_merge_part_read(
            &job->parts[job->count], common->operands[job->count], &gpume_console);
    }
    return gpume_exit_of_writer(status ? status
                                       : gpume_merge_parts_check(job->parts, job->count,
                                             job->options->whole, &gpume_console));
}

/* Does any part have the file? */
static bool have(const struct merge_job *job, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < job->count && !found; i++) {
        char *path = gpume_text_join(job->parts[i].folder, name);
        found = !path || gpume_text_exists(path, false);
        free(path);
    }
    return found;
}

/* The result must not be one of the parts. */
static int check_folder(const struct merge_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        if (gpume_path_is_one_file(job->options->output, job->parts[i].folder)) {
            return gpume_refuse(GPUME_INVALID,
                "%s: is one of the parts; choose another folder with -o", job->options->output);
        }
    }
    return GPUME_OK;
}

/* In the order in which they get their names. */
static int list_outputs(struct merge_job *job)
{
    const struct merge_options *options = job->options;
    const char *const names[] = {options->vectors, options->predicted, options->residual,
        options->difference, options->overlay, options->report,
        have(job, "vectors.csv") ? "vectors.csv" : NULL, "frames.csv"};
    int status = check_folder(job);
    job->outputs.folder = options->output;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == GPUME_OK; i++) {
        const bool report = names[i] && names[i] == options->report;
        status = names[i] ? gpume_merge_outputs_add(&job->outputs, names[i], report) : GPUME_OK;
    }
    status = status ? status : gpume_merge_outputs_check(&job->outputs, options->common.overwrite);
    job->summary_path = gpume_text_join(options->output, "summary.json");
    if (status == GPUME_OK && !job->summary_path) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    status = status ? status
                    : gpume_text_check_new(
                          job->summary_path, false, options->common.overwrite, &gpume_console);
    return status == GPUME_OK && gpume_name_is_input(NULL, 0, job->summary_path) ? GPUME_INVALID
                                                                                 : status;
}

static enum gpume_exit plan_outputs(struct merge_job *job)
{
    const int status = list_outputs(job);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

static int check_file(struct merge_job *job, const char *pattern, uint64_t frame, uint64_t ref)
{
    return gpume_merge_series_check(job->part, pattern, frame, ref, &gpume_console);
}

static int copy_file(struct merge_job *job, const char *pattern, uint64_t frame, uint64_t ref)
{
    return gpume_signals_caught() ? GPUME_CANCELLED
                                  : gpume_merge_series_copy(job->part, pattern, frame, ref,
                                        job->options->output, &job->set, &gpume_console);
}

/* For the files of a frame pair; those that a frame has only once come with its first one. */
static int take_pair(void *opaque, uint64_t frame, uint64_t ref)
{
    struct merge_job *job = opaque;
    const bool again = job->any && job->frame == frame;
    int status = GPUME_OK;
    for (size_t i = 0; i < job->outputs.count && status == GPUME_OK; i++) {
        const struct gpume_merge_output *output = &job->outputs.items[i];
        const bool pair = gpume_pattern_kind(output->name) == GPUME_PATTERN_PAIR;
        if (output->series && (pair || !again)) {
            status = job->pair(job, output->name, frame, ref);
        }
    }
    job->any = true;
    job->frame = frame;
    return status;
}

/* Goes through the frame pairs of all parts. */
static int each_pair(
    struct merge_job *job, int (*pair)(struct merge_job *job, const char *, uint64_t, uint64_t))
{
    int status = GPUME_OK;
    job->pair = pair;
    job->any = false;
    gpume_merge_total_begin(&job->total, job->parts, job->count);
    for (size_t i = 0; i < job->count && status == GPUME_OK; i++) {
        job->part = &job->parts[i];
        status = gpume_merge_total_add(&job->total, job->part, take_pair, job, &gpume_console);
    }
    return status;
}

static bool have_series(const struct merge_job *job)
{
    bool found = false;
    for (size_t i = 0; i < job->outputs.count; i++) {
        found = found || job->outputs.items[i].series;
    }
    return found;
}

static enum gpume_exit check_files(struct merge_job *job)
{
    const int status = gpume_merge_outputs_look(&job->outputs, job->parts, job->count);
    return gpume_exit_of_writer(status ? status : each_pair(job, check_file));
}

static int write_summary(struct merge_job *job)
{
    struct gpume_out *out = NULL;
    int status = gpume_out_open_in(&out, &job->set, job->summary_path, &gpume_console);
    if (status == GPUME_OK) {
        gpume_merge_total_write(&job->total, out);
        status = gpume_out_finish(out);
    }
    status = status ? status : gpume_out_set_name(&job->set, &gpume_console);
    gpume_out_close(&out);
    return status;
}

static enum gpume_exit write_files(struct merge_job *job)
{
    gpume_signals_keep();
    gpume_merge_outputs_clear(&job->outputs);
    gpume_text_clear(job->summary_path, false);
    job->set = (struct gpume_out_set){.overwrite = job->options->common.overwrite,
        .alone = true,
        .together = true,
        .seal = job->summary_path};
    int status = gpume_merge_outputs_join(&job->outputs, &job->total, &job->set);
    if (status == GPUME_OK && have_series(job)) {
        status = each_pair(job, copy_file);
    }
    gpume_signals_detach();
    status = status ? status : write_summary(job);
    if (status == GPUME_CANCELLED) {
        gpume_signals_say_interrupted();
        return GPUME_EXIT_FAILED;
    }
    return gpume_exit_of_writer(status);
}

static enum gpume_exit conclude(const struct merge_job *job)
{
    const struct gpume_summary *summary = &job->total.summary;
    if (job->options->common.verbosity >= 0) {
        printf("merged       %zu part%s, %" PRIu64 " frame pair%s of frames %" PRIu64 " to %" PRIu64
               "\n",
            job->count, job->count == 1 ? "" : "s", summary->all.fields,
            summary->all.fields == 1 ? "" : "s", summary->first_field, summary->last_field);
        for (size_t i = 0; i < job->outputs.count; i++) {
            gpume_console_print_written(job->outputs.items[i].path, stdout);
        }
        gpume_console_print_written(job->summary_path, stdout);
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit make_folder(struct merge_job *job)
{
    job->folder.folder = strdup(job->options->output);
    if (!job->folder.folder) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    return gpume_outputs_make_folder(&job->folder);
}

static enum gpume_exit work(struct merge_job *job)
{
    enum gpume_exit result = read_parts(job);
    result = result ? result : plan_outputs(job);
    result = result ? result : check_files(job);
    result = result ? result : make_folder(job);
    result = result ? result : write_files(job);
    return result ? result : conclude(job);
}

static enum gpume_exit run(const void *options)
{
    struct merge_job job = {.options = options};
    const enum gpume_exit result = work(&job);
    gpume_merge_outputs_finish(&job.outputs);
    gpume_outputs_remove_folder(&job.folder);
    gpume_outputs_finish(&job.folder);
    for (size_t i = 0; i < job.count; i++) {
        gpume_merge_part_finish(&job.parts[i]);
    }
    free(job.parts);
    free(job.summary_path);
    return result;
}

#define OPTIONS struct merge_options

static struct gpume_option table[] = {
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "DIR", OPTIONS, output), .letter = 'o',
        .help = "folder for the merged files; vectors.csv, frames.csv and summary.json are always "
                "merged, the following if they are named"},
    {GPUME_ROW_FILE("vectors", "NAME", OPTIONS, vectors),
        .help = "also this file of --vectors, whose name is the same in the folder of every part: "
                "of any format, or a pattern such as flow%d.flo"},
    {GPUME_ROW_FILE("predicted", "NAME", OPTIONS, predicted),
        .help = "also this output of --predicted: .y4m, or a pattern such as p%05d.png"},
    {GPUME_ROW_FILE("residual", "NAME", OPTIONS, residual), .help = "the same for --residual"},
    {GPUME_ROW_FILE("difference", "NAME", OPTIONS, difference),
        .help = "the same for --difference"},
    {GPUME_ROW_FILE("overlay", "NAME", OPTIONS, overlay), .help = "the same for --overlay"},
    {GPUME_ROW_FILE("report", "NAME", OPTIONS, report),
        .help = "also this output of --report: .csv or .json"},
    {GPUME_ROW_FLAG("whole", OPTIONS, whole),
        .help = "refuse parts that do not cover the input from its first frame to its end"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing outputs"},
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST("show this help"),
};

static int check(void *opaque, const struct gpume_line *line)
{
    const struct merge_options *options = opaque;
    (void)line;
    if (!options->output) {
        return gpume_refuse(
            GPUME_INVALID, "-o DIR is missing: into which folder do the merged files go?");
    }
    return strcmp(options->output, "-") == 0
               ? gpume_refuse(GPUME_INVALID, "-o -: takes a folder, not standard output")
               : GPUME_OK;
}

const struct gpume_command gpume_merge_command = {
    .name = "merge",
    .summary = "join the files of runs over ranges of a video",
    .usage = "merge PART... -o DIR [options]",
    .about = "Joins files of runs over consecutive ranges into those of one run, byte for byte. "
             "PART is the folder of such a run, 'gpume INPUT --start N --frames N -o PART'; the "
             "order does not matter. Parts that overlap, that leave out frames, that are "
             "incomplete or that belong to another input or search are refused.",
    GPUME_COMMAND_OPTIONS(table, struct merge_options),
    .operands_min = 1,
    .operands_max = PARTS_MAX,
    .operands = "the folders of runs over ranges of one video",
    .reads_folders = true,
    .catches_signals = true,
    .check = check,
    .run = run,
};
