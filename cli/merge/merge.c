/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume merge: joins the files of runs over consecutive ranges of one video. Everything is checked
 * before anything is written, but for the lengths of tables, which are counted on the way; no file
 * has its name then. Main thread only.
 */
#include "base/status.h"
#include "commands.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "merge/join.h"
#include "merge/outputs.h"
#include "merge/total.h"
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

struct merging {
    struct gpume_cli_job job;
    const struct merge_options *options;
    struct gpume_merge_part *parts;
    size_t count;
    struct gpume_merge_outputs outputs;
    struct gpume_merge_total total;
    const struct gpume_merge_part *part;
    bool any;       /* a frame has come, */
    uint64_t frame; /* this is the last one, */
    int (*pair)(struct merging *merging, const char *pattern, uint64_t frame, uint64_t ref);
};

static enum gpume_exit read_parts(struct merging *merging)
{
    const struct gpume_common_options *common = &merging->options->common;
    merging->parts = calloc(common->input_count, sizeof(*merging->parts));
    if (!merging->parts) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    int status = GPUME_OK;
    for (; merging->count < common->input_count && status == GPUME_OK; merging->count++) {
        status = gpume_merge_part_read(
            &merging->parts[merging->count], common->operands[merging->count], &gpume_console);
    }
    return gpume_exit_of_writer(status ? status
                                       : gpume_merge_parts_check(merging->parts, merging->count,
                                             merging->options->whole, &gpume_console));
}

/* True if any part has the file. */
static bool parts_have(const struct merging *merging, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < merging->count && !found; i++) {
        char *path = gpume_text_join(merging->parts[i].folder, name);
        found = !path || gpume_text_exists(path, false);
        free(path);
    }
    return found;
}

/* The result must not be one of the parts. */
static int check_folder(const struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++) {
        if (gpume_path_is_one_file(merging->job.folder, merging->parts[i].folder)) {
            return gpume_refuse(GPUME_INVALID,
                "%s: is one of the parts; choose another folder with -o", merging->job.folder);
        }
    }
    return GPUME_OK;
}

/* summary.json is written last, so where it exists all others are complete. */
static int list_outputs(struct merging *merging)
{
    const struct merge_options *options = merging->options;
    const char *const names[] = {options->vectors, options->predicted, options->residual,
        options->difference, options->overlay, options->report,
        parts_have(merging, "vectors.csv") ? "vectors.csv" : NULL, "frames.csv"};
    struct gpume_cli_job *job = &merging->job;
    job->elsewhere = "folder with -o";
    job->folder = strdup(options->output);
    if (!job->folder) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    GPUME_CHECK(check_folder(merging));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const bool report = names[i] && names[i] == options->report;
        GPUME_CHECK(names[i] ? gpume_merge_outputs_add(&merging->outputs, job, names[i], report)
                             : GPUME_OK);
    }
    GPUME_CHECK(gpume_job_add_standard(job, &gpume_merge_file, "summary.json"));
    job->set.seal = job->outputs[job->output_count - 1].path;
    return GPUME_OK;
}

static enum gpume_exit plan_merge(void *client)
{
    struct merging *merging = client;
    const enum gpume_exit result = read_parts(merging);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    const int status = list_outputs(merging);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

static int check_file(struct merging *merging, const char *pattern, uint64_t frame, uint64_t ref)
{
    return gpume_merge_series_check(merging->part, pattern, frame, ref, &gpume_console);
}

static int copy_file(struct merging *merging, const char *pattern, uint64_t frame, uint64_t ref)
{
    return gpume_signals_caught() ? GPUME_CANCELLED
                                  : gpume_merge_series_copy(merging->part, pattern, frame, ref,
                                        merging->job.folder, &merging->job.set, &gpume_console);
}

/* For the files of a frame pair; those that a frame has only once come with its first one. */
static int take_pair(void *opaque, uint64_t frame, uint64_t ref)
{
    struct merging *merging = opaque;
    const bool again = merging->any && merging->frame == frame;
    int status = GPUME_OK;
    for (size_t i = 0; i < merging->outputs.count && status == GPUME_OK; i++) {
        const struct gpume_merge_output *output = &merging->outputs.items[i];
        const bool pair = gpume_pattern_kind(output->name) == GPUME_PATTERN_PAIR;
        if (output->series && (pair || !again)) {
            status = merging->pair(merging, output->name, frame, ref);
        }
    }
    merging->any = true;
    merging->frame = frame;
    return status;
}

/* Goes through the frame pairs of all parts. */
static int each_pair(
    struct merging *merging, int (*pair)(struct merging *, const char *, uint64_t, uint64_t))
{
    int status = GPUME_OK;
    merging->pair = pair;
    merging->any = false;
    gpume_merge_total_begin(&merging->total, merging->parts, merging->count);
    for (size_t i = 0; i < merging->count && status == GPUME_OK; i++) {
        merging->part = &merging->parts[i];
        status = gpume_merge_total_add(
            &merging->total, merging->part, take_pair, merging, &gpume_console);
    }
    return status;
}

static bool have_series(const struct merging *merging)
{
    bool found = false;
    for (size_t i = 0; i < merging->outputs.count; i++) {
        found = found || merging->outputs.items[i].series;
    }
    return found;
}

static enum gpume_exit check_files(void *client)
{
    struct merging *merging = client;
    const int status = gpume_merge_outputs_look(&merging->outputs, merging->parts, merging->count);
    return gpume_exit_of_writer(status ? status : each_pair(merging, check_file));
}

static enum gpume_exit make_folder(void *client)
{
    struct gpume_cli_job *job = &((struct merging *)client)->job;
    const enum gpume_exit made = gpume_job_make_folder(job);
    for (size_t i = 0; i < job->output_count && made == GPUME_EXIT_DONE; i++) {
        gpume_text_clear(job->outputs[i].path, gpume_job_is_series(&job->outputs[i]));
    }
    return made;
}

static enum gpume_exit write_files(void *client)
{
    struct merging *merging = client;
    int status = gpume_merge_outputs_join(&merging->outputs, &merging->job, &merging->total);
    if (status == GPUME_OK && have_series(merging)) {
        status = each_pair(merging, copy_file);
    }
    return gpume_exit_of_writer(status);
}

static enum gpume_exit complete_merge(void *client)
{
    struct merging *merging = client;
    struct gpume_cli_job *job = &merging->job;
    const size_t last = job->output_count - 1;
    const enum gpume_exit opened = gpume_job_open_output(job, last);
    if (opened == GPUME_EXIT_DONE) {
        gpume_merge_total_write(&merging->total, job->outputs[last].out);
    }
    return opened ? opened : gpume_job_complete(job);
}

static enum gpume_exit conclude_merge(void *client, FILE *stream)
{
    const struct merging *merging = client;
    const struct gpume_summary *summary = &merging->total.summary;
    if (stream) {
        fprintf(stream,
            "merged       %zu part%s, %" PRIu64 " frame pair%s of frames %" PRIu64 " to %" PRIu64
            "\n",
            merging->count, merging->count == 1 ? "" : "s", summary->all.fields,
            summary->all.fields == 1 ? "" : "s", summary->first_field, summary->last_field);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_merge(const void *opaque)
{
    static const struct gpume_job_work work = {
        .plan = plan_merge,
        .prepare = check_files,
        .open = make_folder,
        .run = write_files,
        .complete = complete_merge,
        .conclude = conclude_merge,
    };
    const struct merge_options *options = opaque;
    struct merging merging = {.options = options,
        .job = {.common = &options->common, .set = {.alone = true, .together = true}}};
    const enum gpume_exit result = gpume_job_run(&merging.job, &work, &merging);
    gpume_merge_outputs_finish(&merging.outputs);
    gpume_job_close(&merging.job);
    for (size_t i = 0; i < merging.count; i++) {
        gpume_merge_part_finish(&merging.parts[i]);
    }
    free(merging.parts);
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

static int check_merge_options(void *opaque, const struct gpume_line *line)
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
    .check = check_merge_options,
    .run = run_merge,
};
