/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume compare: reads both runs side by side, with one field of each in memory; fields that only
 * one run has are counted and skipped. Prints the table at the end, rows of --csv on the way. With
 * --map or --video, files are compared once in advance, to learn the picture size and find what
 * cannot be drawn before anything is written. Main thread only.
 */
#include "compare/compare.h"

#include "files/path.h"
#include "job.h"
#include "options/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- one of the two runs: its files, and the motion field just read */

enum { VECTORS, FRAMES, SUMMARY, SIDE_FILES };

struct compare_side {
    bool is_folder;          /* the output folder of a run */
    char *names[SIDE_FILES]; /* vectors; of a folder also frames.csv and summary.json */
    struct gpume_vectors_reader *vectors;
    struct gpume_frames_reader *frames;      /* NULL: no frames.csv */
    const struct gpume_vectors_field *field; /* the current one; NULL: all have been read */
};

/* Finds the files of an input. */
static int name_side(struct compare_side *side, const char *input)
{
    static const char *const files[SIDE_FILES] = {"vectors.csv", "frames.csv", "summary.json"};
    struct stat info;
    side->is_folder = strcmp(input, "-") != 0 && stat(input, &info) == 0 && S_ISDIR(info.st_mode);
    const size_t count = side->is_folder ? SIDE_FILES : 1;
    side->names[VECTORS] = gpume_name_vectors_input(input);
    if (!side->names[VECTORS]) {
        return GPUME_IO;
    }
    for (size_t i = VECTORS + 1; i < count; i++) {
        side->names[i] = gpume_path_in_folder(input, files[i]);
        if (!side->names[i]) {
            return gpume_refuse(GPUME_NOMEM, "%s: out of memory", input);
        }
    }
    return GPUME_OK;
}

/* Reads the first field. block: of .flo files, or 0. memory_max: for both sides, each of which gets
 * half; 0: no limit. */
static int open_side(struct compare_side *side, uint32_t block, uint64_t memory_max)
{
    const struct gpume_vectors_source source = {
        .path = side->names[VECTORS],
        .block = block,
        .memory_max = memory_max / 2 + memory_max % 2,
        .log = gpume_console,
    };
    int status = gpume_vectors_reader_open(&side->vectors, &source);
    if (status == GPUME_OK && side->names[FRAMES] && access(side->names[FRAMES], F_OK) == 0) {
        status = gpume_frames_reader_open(&side->frames, side->names[FRAMES], &gpume_console);
    }
    return status ? status : gpume_vectors_reader_next(side->vectors, &side->field);
}

/* None without a summary.json. */
static void read_side_settings(
    const struct compare_side *side, struct gpume_read_settings *settings)
{
    const char *name = side->names[SUMMARY];
    const int status = name ? gpume_read_settings(settings, name) : GPUME_OK;
    const char *reason = strerror(errno);
    if (status != GPUME_OK && access(name, F_OK) == 0) {
        gpume_console_warning("%s: %s; the settings of the runs are not compared", name,
            status == GPUME_IO ? reason : "is not a summary of a run");
    }
}

/* Whether it is a pipe or device, which can be read only once. */
static bool is_special_side(const struct compare_side *side)
{
    return gpume_text_is_special(side->names[VECTORS]) ||
           (side->names[FRAMES] && gpume_text_is_special(side->names[FRAMES]));
}

struct comparing {
    struct gpume_cli_job job; /* its source: the video that both runs searched; NULL: no --video */
    const struct gpume_compare_options *options;
    struct compare_side sides[2];
    struct gpume_comparison comparison;
    struct gpume_compare_map *map;      /* NULL: no --map */
    struct gpume_plane luma;            /* of the frame read last, which nobody looks at */
    struct gpume_plane rgb;             /* the frame of `last`, with --video */
    uint64_t next;                      /* number of the frame to read */
    struct gpume_comparison_page *page; /* NULL: no --report */
    uint32_t width, height;             /* pixels: the area that all blocks cover */
    uint64_t last;                      /* frame of the last field that both have */
};

/* --- the video that both runs searched, whose frames lie below a map */

/* The map takes the size of its pictures, since blocks may leave edges out. */
static enum gpume_exit open_ground(struct comparing *comparing)
{
    static const struct gpume_params params = {0};
    struct gpume_cli_job *job = &comparing->job;
    const char *path = comparing->options->video;
    job->wanted = gpume_source_options_make(
        &comparing->options->common, &comparing->options->source, &params);
    job->wanted.paths[0] = path;
    job->wanted.path_count = 1;
    job->wanted.colour = true;
    const enum gpume_exit result = gpume_job_open_video(job, false);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    if (job->info.width < comparing->width || job->info.height < comparing->height) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--video %s: has pictures of %" PRIu32 "x%" PRIu32 " pixels, but the blocks cover "
            "%" PRIu32 "x%" PRIu32 "; give the video that both runs searched, with their --vf",
            path, job->info.width, job->info.height, comparing->width, comparing->height);
    }
    comparing->width = job->info.width;
    comparing->height = job->info.height;
    comparing->luma = gpume_source_plane(&job->info);
    return comparing->luma.data ? GPUME_EXIT_DONE
                                : gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", path);
}

/* Reads a frame as R, G, B bytes; numbers rise. */
static enum gpume_exit read_ground(struct comparing *comparing, uint64_t frame)
{
    struct gpume_source *source = comparing->job.source;
    int status = GPUME_OK;
    while (status == GPUME_OK && comparing->next <= frame) {
        int64_t time_us;
        const struct gpume_plane *plane = comparing->next == frame ? &comparing->luma : NULL;
        status = gpume_source_read(source, plane, &time_us);
        comparing->next++;
    }
    if (status == GPUME_EOF) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before frame %" PRIu64 ", which both runs have; give the video that they "
            "searched, with their --vf",
            comparing->options->video, frame);
    }
    status = status ? status : gpume_source_take_colour(source, frame, &comparing->rgb);
    return status ? gpume_source_exit(status) : GPUME_EXIT_DONE;
}

/* --- comparing */

static enum gpume_exit name_sides(struct comparing *comparing)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < 2 && status == GPUME_OK; i++) {
        comparing->comparison.names[i] = comparing->options->common.inputs[i];
        status = name_side(&comparing->sides[i], comparing->options->common.inputs[i]);
    }
    return gpume_exit_of_reader(status);
}

static enum gpume_exit open_sides(struct comparing *comparing)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < 2 && status == GPUME_OK; i++) {
        status = open_side(
            &comparing->sides[i], comparing->options->block, comparing->options->memory_max);
        comparing->comparison.has_statistics[i] = comparing->sides[i].frames != NULL;
    }
    return gpume_exit_of_reader(status);
}

static void close_sides(struct comparing *comparing)
{
    for (size_t i = 0; i < 2; i++) {
        struct compare_side *side = &comparing->sides[i];
        gpume_vectors_reader_close(&side->vectors);
        gpume_frames_reader_close(&side->frames);
        for (size_t k = 0; k < SIDE_FILES; k++) {
            free(side->names[k]);
        }
    }
}

static int compare_field(struct comparing *comparing, struct gpume_read_statistics statistics[2])
{
    struct gpume_compared_field field;
    const struct gpume_vectors_field *a = comparing->sides[0].field, *b = comparing->sides[1].field;
    int status = GPUME_OK;
    for (size_t i = 0; i < 2 && status == GPUME_OK; i++) {
        if (comparing->sides[i].frames) {
            const struct gpume_vectors_field *read = comparing->sides[i].field;
            const uint64_t *ref = read->columns & GPUME_VECTORS_REF ? &read->ref : NULL;
            status = gpume_frames_reader_seek(
                comparing->sides[i].frames, read->frame, ref, &statistics[i]);
        }
    }
    status = status ? status
                    : gpume_comparison_add(
                          &comparing->comparison, a, b, statistics, &field, &gpume_console);
    if (status == GPUME_OK && comparing->job.csv) {
        gpume_comparison_csv_row(comparing->job.csv, &field);
    }
    return status || !comparing->page ? status
                                      : gpume_comparison_page_add(comparing->page, &field, a, b,
                                            comparing->job.source ? &comparing->rgb : NULL);
}

/* Pictures have the time stamps of the first run, if both runs have time stamps. */
static enum gpume_exit draw_field(
    struct comparing *comparing, const struct gpume_read_statistics statistics[2])
{
    const bool timed = statistics[0].has_time && statistics[1].has_time;
    const int status =
        gpume_compare_map_draw(comparing->map, comparing->sides[0].field, comparing->sides[1].field,
            comparing->job.source ? &comparing->rgb : NULL, timed ? &statistics[0].time_us : NULL);
    return gpume_exit_of_writer(status);
}

/* A field that both have. */
static enum gpume_exit take_both(struct comparing *comparing)
{
    const struct gpume_vectors_field *field = comparing->sides[0].field;
    struct gpume_read_statistics statistics[2] = {{0}, {0}};
    const bool again = comparing->comparison.fields > 0 && field->frame == comparing->last;
    if (comparing->options->map && again) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s and %s: have two motion fields per frame, but --map draws one; leave it out, or "
            "compare runs of one direction",
            comparing->comparison.names[0], comparing->comparison.names[1]);
    }
    const enum gpume_exit result =
        comparing->job.source && !again ? read_ground(comparing, field->frame) : GPUME_EXIT_DONE;
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    const int status = compare_field(comparing, statistics);
    comparing->last = field->frame;
    comparing->width = field->width > comparing->width ? field->width : comparing->width;
    comparing->height = field->height > comparing->height ? field->height : comparing->height;
    return status != GPUME_OK || !comparing->map ? gpume_exit_of_reader(status)
                                                 : draw_field(comparing, statistics);
}

/* Orders by frame, then by reference; NULL comes last. Negative: a comes first. */
static int order(const struct gpume_vectors_field *a, const struct gpume_vectors_field *b)
{
    if (!a || !b) {
        return !a - !b;
    }
    if (a->frame != b->frame) {
        return a->frame < b->frame ? -1 : 1;
    }
    const bool has_refs = a->columns & b->columns & GPUME_VECTORS_REF;
    return has_refs ? (a->ref > a->frame) - (b->ref > b->frame) : 0;
}

/* Processes the earlier of the two fields, or both if they belong together. */
static enum gpume_exit step(struct comparing *comparing)
{
    struct compare_side *a = &comparing->sides[0], *b = &comparing->sides[1];
    const int first = order(a->field, b->field);
    const bool take_a = first <= 0, take_b = first >= 0;
    int status = GPUME_OK;
    if (take_a && take_b) {
        const enum gpume_exit result = take_both(comparing);
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
    } else {
        comparing->comparison.only[take_b]++;
    }
    if (take_a) {
        status = gpume_vectors_reader_next(a->vectors, &a->field);
    }
    if (status == GPUME_OK && take_b) {
        status = gpume_vectors_reader_next(b->vectors, &b->field);
    }
    return gpume_signals_caught() ? GPUME_EXIT_FAILED : gpume_exit_of_reader(status);
}

static enum gpume_exit compare_fields(void *client)
{
    struct comparing *comparing = client;
    enum gpume_exit result = GPUME_EXIT_DONE;
    while (result == GPUME_EXIT_DONE && (comparing->sides[0].field || comparing->sides[1].field)) {
        result = step(comparing);
    }
    if (result == GPUME_EXIT_DONE && comparing->comparison.fields == 0) {
        gpume_console_error("%s and %s have no frame pair in common; give runs with the same "
                            "targets, --direction and --ref-distance",
            comparing->comparison.names[0], comparing->comparison.names[1]);
        result = GPUME_EXIT_INPUT;
    }
    return result;
}

/* The whole comparison without outputs. A pipe can be read only once: what is wrong with it shows
 * on the way. */
static enum gpume_exit rehearse(struct comparing *comparing)
{
    struct comparing trial = {.options = comparing->options};
    enum gpume_exit result = name_sides(&trial);
    if (result == GPUME_EXIT_DONE && !is_special_side(&trial.sides[0]) &&
        !is_special_side(&trial.sides[1])) {
        result = open_sides(&trial);
        result = result ? result : compare_fields(&trial);
        comparing->width = trial.width;
        comparing->height = trial.height;
    }
    close_sides(&trial);
    return result;
}

static int open_map(struct comparing *comparing)
{
    unsigned num = 0, den = 0;
    const struct gpume_compare_options *options = comparing->options;
    const struct gpume_read_settings *settings = comparing->comparison.settings;
    const char *a = gpume_read_settings_find(&settings[0], "input frame_rate");
    const char *b = gpume_read_settings_find(&settings[1], "input frame_rate");
    if (!a || !b || strcmp(a, b) != 0 || sscanf(a, "%9u/%9u", &num, &den) != 2) {
        num = den = 0;
    }
    const struct gpume_compare_map_options map = {
        .path = options->map,
        .overwrite = options->common.overwrite,
        .width = comparing->width,
        .height = comparing->height,
        .rate_num = num,
        .rate_den = den,
        .key = options->key,
        .log = gpume_console,
    };
    return gpume_compare_map_create(&comparing->map, &map);
}

static enum gpume_exit open_comparison_outputs(void *client)
{
    struct comparing *comparing = client;
    const struct gpume_compare_options *options = comparing->options;
    enum gpume_exit result = options->video ? open_ground(comparing) : GPUME_EXIT_DONE;
    if (result == GPUME_EXIT_DONE && options->map) {
        result = gpume_exit_of_writer(open_map(comparing));
    }
    if (result == GPUME_EXIT_DONE && options->report) {
        const size_t last = comparing->job.output_count - 1;
        result = gpume_job_open_output(&comparing->job, last);
        if (result == GPUME_EXIT_DONE) {
            result = gpume_exit_of_writer(gpume_comparison_page_open(&comparing->page,
                comparing->job.outputs[last].out, options->report, &gpume_console));
        }
    }
    if (result == GPUME_EXIT_DONE && comparing->job.csv) {
        gpume_comparison_csv_head(comparing->job.csv);
    }
    return result;
}

/* Warns of frame pairs that are missing from the means. */
static void warn_of_statistics(const struct comparing *comparing)
{
    const struct gpume_comparison *comparison = &comparing->comparison;
    for (size_t i = 0; i < 2; i++) {
        if (comparing->sides[i].is_folder && !comparison->has_statistics[i] &&
            comparison->has_statistics[1 - i]) {
            gpume_console_warning(
                "%s: has no frames.csv; its SAD and PSNR are not compared", comparison->names[i]);
        }
        if (comparison->unknown[i] > 0) {
            gpume_console_warning("%s: frames.csv has no row for %" PRIu64 " of %" PRIu64
                                  " frame pairs; the means of SAD and PSNR do not include them",
                comparison->names[i], comparison->unknown[i], comparison->fields);
        }
    }
}

static enum gpume_exit complete(void *client)
{
    struct comparing *comparing = client;
    warn_of_statistics(comparing);
    if (comparing->map && gpume_compare_map_finish(comparing->map) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    if (comparing->page &&
        gpume_comparison_page_finish(comparing->page, &comparing->comparison) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    return GPUME_EXIT_DONE;
}

static void print_comparison(const void *client)
{
    gpume_compare_print_table(&((const struct comparing *)client)->comparison);
}

static void put_comparison_json(const void *client, struct gpume_json *json)
{
    gpume_comparison_put_json(&((const struct comparing *)client)->comparison, json);
}

/* Reports the difference and chooses the exit status. */
static enum gpume_exit conclude_comparison(void *client, FILE *stream)
{
    const struct comparing *comparing = client;
    (void)stream;
    const struct gpume_comparison *comparison = &comparing->comparison;
    const struct gpume_compared *blocks = &comparison->blocks;
    if (gpume_comparison_equal(comparison)) {
        return GPUME_EXIT_DONE;
    }
    if (comparing->options->common.verbosity >= 0 && !blocks->has_costs &&
        blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: %" PRIu64 " vectors of %" PRIu64 " blocks",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks);
    } else if (comparing->options->common.verbosity >= 0 && blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: %" PRIu64 " vectors and %" PRIu64
                            " costs of %" PRIu64 " blocks",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks - blocks->costs_equal, blocks->blocks);
    } else if (comparing->options->common.verbosity >= 0) {
        gpume_console_error("%s and %s differ: %" PRIu64 " frame pairs are in only one of them",
            comparison->names[0], comparison->names[1], comparison->only[0] + comparison->only[1]);
    }
    return GPUME_EXIT_MISMATCH;
}

/* The result of the comparison goes to standard output. */
static int check_map(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_name_is_stdout(path)
               ? gpume_refuse(GPUME_INVALID,
                     "--map %s: the result of the comparison goes to standard output; name a file",
                     path)
               : gpume_compare_map_check(path, log);
}

static int check_comparison_page(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_name_is_stdout(path)
               ? gpume_refuse(GPUME_INVALID,
                     "--report %s: the result of the comparison goes to standard output; name a "
                     "file",
                     path)
               : gpume_text_check_named(path, "comparison", ".html", log);
}

static const struct gpume_sink_ops map_ops = {.name = "map",
                                       .check = check_map,
                                       .is_series = gpume_compare_map_is_series},
                                   page_ops = {
                                       .name = "comparison", .check = check_comparison_page};

static enum gpume_exit plan_comparison(void *client)
{
    struct comparing *comparing = client;
    struct gpume_cli_job *job = &comparing->job;
    const struct gpume_compare_options *options = comparing->options;
    int status = options->map ? gpume_job_add(job, &map_ops, options->map) : GPUME_OK;
    status = status || !options->report ? status : gpume_job_add(job, &page_ops, options->report);
    job->inputs = options->common.inputs;
    job->input_count = 2;
    return gpume_exit_of_writer(status);
}

static enum gpume_exit prepare(void *client)
{
    struct comparing *comparing = client;
    const struct gpume_compare_options *options = comparing->options;
    enum gpume_exit result = options->map || options->video ? rehearse(comparing) : GPUME_EXIT_DONE;
    result = result ? result : name_sides(comparing);
    result = result ? result : open_sides(comparing);
    for (size_t i = 0; i < 2 && result == GPUME_EXIT_DONE; i++) {
        read_side_settings(&comparing->sides[i], &comparing->comparison.settings[i]);
    }
    return result;
}

static enum gpume_exit run_compare(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_comparison,
        .prepare = prepare,
        .open = open_comparison_outputs,
        .run = compare_fields,
        .complete = complete,
        .print = print_comparison,
        .optional = true,
        .put_json = put_comparison_json,
        .format = GPUME_COMPARISON_FORMAT,
        .conclude = conclude_comparison};
    const struct gpume_compare_options *options = opaque;
    if (options->truth) {
        return gpume_compare_truth(options);
    }
    struct comparing comparing = {.options = options, .job.common = &options->common};
    const enum gpume_exit result = gpume_job_run(&comparing.job, &work, &comparing);
    close_sides(&comparing);
    gpume_compare_map_destroy(&comparing.map);
    gpume_comparison_page_close(&comparing.page);
    gpume_job_close(&comparing.job);
    free(comparing.luma.data);
    return result;
}

#define OPTIONS struct gpume_compare_options

static struct gpume_option table[] = {
    {.heading = "Comparing"},
    {GPUME_ROW_FILE("map", "FILE", OPTIONS, map),
        .help = "draw where A and B differ: .y4m .mkv .mp4 .webm .gif, or a pattern such as "
                "map%03d.png (.png "
                ".ppm .bmp .jpg)"},
    {GPUME_ROW_FILE("video", "FILE", OPTIONS, video), .reads = true,
        .help = "show the frames of this video, which both runs searched, below the map and in the "
                "page"},
    {GPUME_OPTION_VF(OPTIONS, source.filter), .needs = "video"},
    {GPUME_ROW_CHOICE("map-key", "auto|on|off", OPTIONS, key, gpume_look_keys),
        .help = "say in a corner of the map what its colours mean; auto: if it covers little of "
                "the picture (default auto)",
        .needs = "map"},
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help = "write a page, .html, with both runs side by side: vectors, costs and differences "
                "of every block"},
    {GPUME_ROW_FILE("truth", "FILE", OPTIONS, truth), .reads = true,
        .help = "measure one run against true flow: a Middlebury .flo or KITTI .png file, or a "
                "pattern such as flow%04d.flo"},
    {GPUME_ROW_NUMBER("truth-start", OPTIONS, truth_start, 0, 1000000000),
        .help = "number in the pattern of --truth for frame 0 (default 0)", .needs = "truth"},
    {GPUME_OPTION_SIDE(OPTIONS, block), .help = "combine the pixels of .flo files into blocks of "
                                                "this side, a multiple of 4 from 4 to 128"},
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing map or page"},
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, memory_max),
        .help = "refuse input whose frames need more memory, at 88 bytes per block, e.g. 500M or "
                "2GiB (default: no limit)"},
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the comparison as one JSON object"},
    {GPUME_OPTION_CSV, .help = "print one row of CSV per frame pair"},
    {GPUME_OPTION_QUIET, .help = "print nothing; only the exit status shows the result"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST("show this help"),
};

static void set_compare_defaults(void *options)
{
    ((struct gpume_compare_options *)options)->source.stream = -1;
}

static int check_options(void *opaque, const struct gpume_line *line)
{
    const struct gpume_compare_options *options = opaque;
    if (options->truth) {
        return gpume_compare_check_truth(options, line);
    }
    if (options->common.input_count < 2) {
        return gpume_refuse(GPUME_INVALID,
            "give two runs, folders or files of vectors, or one and --truth; try 'gpume compare "
            "--help'");
    }
    if (options->video && !options->map && !options->report) {
        return gpume_refuse(GPUME_INVALID, "--video: needs --map FILE or --report FILE");
    }
    for (uint32_t i = 0; i < options->common.input_count; i++) {
        if (options->video && strcmp(options->video, "-") == 0 &&
            strcmp(options->common.inputs[i], "-") == 0) {
            return gpume_refuse(
                GPUME_INVALID, "--video -: standard input is one of the runs; name a file");
        }
    }
    return gpume_check_streams(&options->common, "runs");
}

const struct gpume_command gpume_compare_command = {
    .name = "compare",
    .summary = "show where two runs differ",
    .usage = "compare A B [options]\ncompare A --truth FILE [options]",
    .about = "Compares two runs block by block: output folders of gpume, or files of vectors in "
             "any format that can be read. Exit status 0: all vectors and costs are equal; 5: "
             "some differ. With --truth, measures the errors of one run against true flow.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_compare_options),
    .operands_min = 1,
    .operands_max = 2,
    .operands = "two runs, folders or files of vectors",
    .catches_signals = true,
    .set_defaults = set_compare_defaults,
    .check = check_options,
    .run = run_compare,
};
