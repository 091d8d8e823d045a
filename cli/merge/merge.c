/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume merge: joins the files of runs over consecutive ranges of one video. Everything is checked
 * before anything is written, but for the lengths of tables, which are counted on the way; no file
 * has its name then. Main thread only.
 */
#include "base/base.h"
#include "files/out.h"
#include "files/path.h"
#include "job.h"
#include "merge/parts.h"
#include "options/common.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARTS_MAX 1000000u
#define OUTPUTS_MAX 8 /* vectors.csv, frames.csv, and six that options name */

struct merge_output {
    const char *name;              /* in the folder of every part, and of the result */
    bool series;                   /* numbered files */
    bool report;                   /* whose rows depend on those before */
    struct gpume_join_file *files; /* one per part, in their order; NULL: not joined */
};

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
    struct merge_output outputs[OUTPUTS_MAX]; /* as in the job */
    size_t output_count;
    struct gpume_merge_total total;
    const struct gpume_merge_part *part;
    bool any;       /* a frame has come, */
    uint64_t frame; /* this is the last one, */
    int (*pair)(struct merging *merging, const char *pattern, uint64_t frame, uint64_t ref);
};

/* --- the files that all parts have in common, and what becomes of them */

/* What the message about a file of this name says; NULL: it can be joined. */
static const char *lacks(const char *name)
{
    static const struct {
        const char *extension, *remedy;
    } kinds[] = {
        {".mkv", "write .y4m in the parts, and encode the merged file"},
        {".nut", "write .y4m in the parts, and encode the merged file"},
        {".mp4", "write .y4m in the parts, and encode the merged file"},
        {".webm", "write .y4m in the parts, and encode the merged file"},
        {".gif", "write .y4m in the parts, and encode the merged file"},
        {".npz", "write .mvf in the parts, and convert the merged file with 'gpume convert'"},
        {".html", "name a .csv or .json report in the parts"},
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcasecmp(end, kinds[i].extension) == 0) {
            return kinds[i].remedy;
        }
    }
    return NULL;
}

static int check_merged_name(const struct merging *merging, const char *name)
{
    const char *remedy = lacks(name);
    if (name[gpume_path_folder(name)] == '\0' || gpume_path_folder(name) > 0 ||
        gpume_pattern_kind(name) == GPUME_PATTERN_WRONG || gpume_path_descriptor(name) >= 0) {
        return gpume_refuse(GPUME_INVALID,
            "%s: give the name that the file has in the folder of every part, such as v.mvf or "
            "p%%05d.png",
            name);
    }
    if (remedy) {
        return gpume_refuse(GPUME_INVALID, "%s: %s files cannot be joined byte for byte; %s", name,
            strrchr(name, '.'), remedy);
    }
    bool named = strcmp(name, "summary.json") == 0; /* which is written last, by others */
    for (size_t i = 0; i < merging->output_count; i++) {
        named = named || strcmp(merging->outputs[i].name, name) == 0;
    }
    return named ? gpume_refuse(GPUME_INVALID,
                       "%s: named for two outputs; the standard files need no option", name)
                 : GPUME_OK;
}

static bool is_always_series(const char *path)
{
    (void)path;
    return true;
}

static const struct gpume_sink_ops merge_file = {.name = "merged file"};
static const struct gpume_sink_ops merge_series = {
    .name = "merged files", .is_series = is_always_series};

/* Adds an output, a report if so, here and to the job. GPUME_INVALID after one line: its files
 * cannot be joined. */
static int add_merged_output(struct merging *merging, const char *name, bool report)
{
    const bool series = !report && gpume_pattern_is_numbered(name);
    GPUME_CHECK(check_merged_name(merging, name));
    GPUME_CHECK(gpume_job_add_standard(&merging->job, series ? &merge_series : &merge_file, name));
    merging->outputs[merging->output_count++] =
        (struct merge_output){.name = name, .series = series, .report = report};
    return GPUME_OK;
}

/* GPUME_INVALID after one line: a file of a part is missing, incomplete, or not like the others. */
static int look_at_parts(
    struct merge_output *output, const struct gpume_merge_part *parts, size_t count)
{
    output->files = calloc(count, sizeof(*output->files));
    if (!output->files) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        char *path = gpume_merge_part_path(&parts[i], output->name, &gpume_console);
        GPUME_CHECK(path ? GPUME_OK : GPUME_NOMEM);
        struct gpume_join_file *file = &output->files[i];
        GPUME_CHECK(gpume_join_look(file, path, &gpume_console));
        GPUME_CHECK(gpume_join_check(&output->files[0], file, &gpume_console));
        GPUME_CHECK(output->report ? GPUME_OK : gpume_join_count(file, &parts[i], &gpume_console));
    }
    return GPUME_OK;
}

static int join_parts(struct merging *merging, size_t index)
{
    struct gpume_cli_job *job = &merging->job;
    const struct gpume_merge_total *total = &merging->total;
    const struct merge_output *output = &merging->outputs[index];
    struct gpume_job_output *to = &job->outputs[index];
    GPUME_CHECK(gpume_out_open_in(&to->out, &job->set, to->path, &gpume_console));
    if (output->report) {
        return gpume_merge_report_write(to->out, output->files, total, &gpume_console);
    }
    GPUME_CHECK(gpume_join_head(to->out, output->files, total->count, &gpume_console));
    for (size_t i = 0; i < total->count; i++) {
        GPUME_CHECK(
            gpume_join_append(to->out, &output->files[i], gpume_signals_caught, &gpume_console));
    }
    return GPUME_OK;
}

/* --- the merge */

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
        char *path = gpume_path_in_folder(merging->parts[i].folder, name);
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
    GPUME_CHECK(gpume_name_check_folder(options->output));
    job->folder = strdup(options->output);
    if (!job->folder) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    GPUME_CHECK(check_folder(merging));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const bool report = names[i] && names[i] == options->report;
        GPUME_CHECK(names[i] ? add_merged_output(merging, names[i], report) : GPUME_OK);
    }
    GPUME_CHECK(gpume_job_add_standard(job, &merge_file, "summary.json"));
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
    for (size_t i = 0; i < merging->output_count && status == GPUME_OK; i++) {
        const struct merge_output *output = &merging->outputs[i];
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

static enum gpume_exit check_files(void *client)
{
    struct merging *merging = client;
    int status = GPUME_OK;
    for (size_t i = 0; i < merging->output_count && status == GPUME_OK; i++) {
        struct merge_output *output = &merging->outputs[i];
        status = output->series ? GPUME_OK : look_at_parts(output, merging->parts, merging->count);
    }
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
    bool series = false;
    int status = GPUME_OK;
    for (size_t i = 0; i < merging->output_count && status == GPUME_OK; i++) {
        series = series || merging->outputs[i].series;
        status = merging->outputs[i].series ? GPUME_OK : join_parts(merging, i);
    }
    return gpume_exit_of_writer(status || !series ? status : each_pair(merging, copy_file));
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
            merging->count, gpume_plural(merging->count), summary->all.fields,
            gpume_plural(summary->all.fields), summary->first_field, summary->last_field);
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
    for (size_t i = 0; i < merging.output_count; i++) {
        struct gpume_join_file *files = merging.outputs[i].files;
        for (size_t k = 0; files && k < merging.count; k++) {
            gpume_join_finish(&files[k]);
        }
        free(files);
    }
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
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST,
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
