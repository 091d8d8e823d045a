/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume compare: reads both runs side by side, with one field of each in memory; fields that only
 * one run has are counted and skipped. Prints the table at the end, rows of --csv on the way. With
 * --map or --video, files are compared once in advance, to learn the picture size and find what
 * cannot be drawn before anything is written. With --truth, one run is measured against true flow.
 * Main thread only.
 */
#include "compare/comparison.h"
#include "console.h"
#include "files/forms.h"
#include "files/path.h"
#include "job.h"
#include "options/common.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct compare_options {
    struct gpume_common_options common;
    const char *map;    /* NULL: not given */
    const char *video;  /* below the map, in the page; NULL: none */
    const char *report; /* NULL: not given */
    struct gpume_source_options source;
    enum gpume_overlay_key key;
    const char *truth;    /* NULL: not given. A file, or a pattern with one number or two */
    uint32_t truth_start; /* the number of frame 0 in the pattern */
    uint32_t block;       /* 0: not given */
    uint64_t memory_max;  /* bytes; 0: no limit */
};

/* --- the table of a comparison */

/* Percentages are rounded down: 100 % means all. */
static double percent_down(uint64_t part, uint64_t whole)
{
    return floor((double)part / (double)whole * 10000) / 100;
}

static void print_settings(const struct gpume_comparison *comparison)
{
    uint32_t at = 0;
    const char *name, *values[2], *title = "made with";
    while (gpume_comparison_setting(comparison, &at, &name, values)) {
        printf("%-13s", title);
        gpume_console_print_name(name, stdout);
        for (size_t i = 0; i < 2; i++) {
            printf("%s", i ? ", B " : ": A ");
            gpume_console_print_name(values[i] ? values[i] : "-", stdout);
        }
        printf("\n");
        title = "";
    }
}

static void print_counts(const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    const uint64_t all = blocks->blocks;
    printf("compared     %" PRIu64 " frame pair%s, %" PRIu64 " block%s\n", comparison->fields,
        gpume_plural(comparison->fields), all, gpume_plural(all));
    for (size_t i = 0; i < 2; i++) {
        if (comparison->only[i] > 0) {
            printf("only in %c    %" PRIu64 " frame pair%s, not compared\n", "AB"[i],
                comparison -> only[i], gpume_plural(comparison->only[i]));
        }
    }
    if (comparison->refs_differ > 0) {
        printf("references   differ in %" PRIu64 " frame pair%s\n", comparison->refs_differ,
            gpume_plural(comparison->refs_differ));
    }
    printf("vectors      %" PRIu64 " of %" PRIu64 " equal (%.2f %%)", blocks->vectors_equal, all,
        percent_down(blocks->vectors_equal, all));
    if (blocks->vectors_equal < all) {
        printf(", %.3f pixels apart on average, %.3f at most", blocks->distance_sum / (double)all,
            blocks->distance_max);
    }
    if (!blocks->has_costs) {
        printf("\ncosts        not compared, %s has any\n", comparison->has_costs[0]   ? "only A"
                                                            : comparison->has_costs[1] ? "only B"
                                                                                       : "neither");
    } else {
        printf("\ncosts        %" PRIu64 " of %" PRIu64 " equal (%.2f %%)", blocks->costs_equal,
            all, percent_down(blocks->costs_equal, all));
        if (blocks->costs_equal < all) {
            printf(", at most %" PRIu64 " apart", blocks->cost_difference_max);
        }
        printf("\nboth         %" PRIu64 " of %" PRIu64 " equal (%.2f %%)\n", blocks->both_equal,
            all, percent_down(blocks->both_equal, all));
    }
    printf("frame pairs  %" PRIu64 " of %" PRIu64 " equal in all blocks\n",
        comparison->equal_fields, comparison->fields);
}

#define FRAME_BYTES 64

/* Tells the two fields of a frame apart. */
static void name_field(char name[FRAME_BYTES], uint64_t frame, uint64_t ref)
{
    if (ref > frame) {
        snprintf(name, FRAME_BYTES, "frame %" PRIu64 " to %" PRIu64, frame, ref);
    } else {
        snprintf(name, FRAME_BYTES, "frame %" PRIu64, frame);
    }
}

static double pixels(int32_t value)
{
    return (double)value / GPUME_VECTORS_UNITS;
}

static void print_first(const struct gpume_comparison *comparison)
{
    if (comparison->has_first) {
        const struct gpume_vectors_block *a = &comparison->first[0], *b = &comparison->first[1];
        char name[FRAME_BYTES], costs[2][32] = {"", ""};
        name_field(name, comparison->first_frame, comparison->first_ref);
        for (size_t i = 0; i < 2 && comparison->blocks.has_costs; i++) {
            snprintf(costs[i], sizeof(costs[i]), " at cost %" PRIu32, comparison->first[i].cost);
        }
        printf("first        %s, block at (%" PRIu32 ",%" PRIu32 "): A (%g,%g)%s, B (%g,%g)%s\n",
            name, a->x, a->y, pixels(a->dx), pixels(a->dy), costs[0], pixels(b->dx), pixels(b->dy),
            costs[1]);
    }
}

struct statistics_row {
    const char *name;
    char cells[3][48]; /* of A, of B, and how much more B has */
};

static const struct gpume_column statistics_columns[] = {
    {GPUME_COLUMN(NULL, struct statistics_row, name), .title = "", .width = 22},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[0]), .title = "A", .width = 16, .right = true},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[1]), .title = "B", .width = 16, .right = true},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[2]), .title = "B - A", .width = 16,
        .right = true},
};
static const struct gpume_table statistics_table = {
    GPUME_TABLE(statistics_columns, struct statistics_row)};

/* NAN: unknown. */
static struct statistics_row pair_row(const char *name, double a, double b, int decimals)
{
    struct statistics_row row = {.name = name};
    const double values[3] = {a, b, isfinite(a) && isfinite(b) ? b - a : (double)NAN};
    for (size_t i = 0; i < 3; i++) {
        snprintf(row.cells[i], sizeof(row.cells[i]),
            isnan(values[i]) ? "-"
            : i == 2         ? "%+.*f"
                             : "%.*f",
            decimals, values[i]);
    }
    return row;
}

static double mean_of(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* Infinite if every frame is predicted exactly. */
static double mean_psnr(const struct gpume_compared_statistics *statistics)
{
    return statistics->psnr_finite == 0 && statistics->fields > 0
               ? (double)INFINITY
               : mean_of(statistics->psnr_sum, statistics->psnr_finite);
}

static void print_statistics(const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    const struct gpume_compared_statistics *a = &comparison->statistics[0], *b = a + 1;
    const double fields = (double)comparison->fields;
    struct statistics_row rows[8];
    size_t count = 0;
    if (blocks->has_costs) {
        rows[count++] = pair_row("cost per frame pair", (double)blocks->costs[0] / fields,
            (double)blocks->costs[1] / fields, 1);
        rows[count++] =
            pair_row("cheaper blocks", (double)blocks->cheaper[0], (double)blocks->cheaper[1], 0);
    }
    rows[count++] = pair_row("zero vectors", (double)blocks->zero[0], (double)blocks->zero[1], 0);
    if (a->fields > 0 || b->fields > 0) {
        rows[count++] = pair_row("SAD per pair, before", mean_of(a->sad_before, a->fields),
            mean_of(b->sad_before, b->fields), 1);
        rows[count++] = pair_row("SAD per pair, after", mean_of(a->sad_after, a->fields),
            mean_of(b->sad_after, b->fields), 1);
        rows[count++] = pair_row("SAD per pixel, before", mean_of(a->sad_before, a->pixels),
            mean_of(b->sad_before, b->pixels), 3);
        rows[count++] = pair_row("SAD per pixel, after", mean_of(a->sad_after, a->pixels),
            mean_of(b->sad_after, b->pixels), 3);
        rows[count++] = pair_row("mean PSNR after, dB", mean_psnr(a), mean_psnr(b), 3);
    }
    printf("\n");
    gpume_table_print(&statistics_table, rows, count, stdout, gpume_console_bold(stdout),
        gpume_console_plain(stdout));
}

struct worst_row {
    char name[FRAME_BYTES];
    uint64_t blocks, cheaper[2];
    double share, pixels;
};

static const struct gpume_column worst_columns[] = {
    {GPUME_COLUMN(NULL, struct worst_row, name), .title = "most unequal"},
    {GPUME_COLUMN(NULL, struct worst_row, blocks), .title = "blocks", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, share), .title = "share", .width = 8, .shown = 2,
        .unit = " %"},
    {GPUME_COLUMN(NULL, struct worst_row, cheaper[0]), .title = "A cheaper", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, cheaper[1]), .title = "B cheaper", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, pixels), .title = "pixels at most", .shown = 3},
};
static const struct gpume_table worst_table = {GPUME_TABLE(worst_columns, struct worst_row)};

static void print_worst(const struct gpume_comparison *comparison)
{
    struct worst_row rows[GPUME_COMPARISON_WORST];
    for (uint32_t i = 0; i < comparison->worst_count; i++) {
        const struct gpume_compared_field *field = &comparison->worst[i];
        const struct gpume_compared *blocks = &field->blocks;
        const uint64_t unequal = blocks->blocks - blocks->both_equal;
        rows[i] = (struct worst_row){.blocks = unequal,
            .cheaper = {blocks->cheaper[0], blocks->cheaper[1]},
            .share = percent_down(unequal, blocks->blocks),
            .pixels = blocks->distance_max};
        name_field(rows[i].name, field->frame, field->ref[0]);
    }
    if (comparison->worst_count > 0) {
        printf("\n");
        gpume_table_print(&worst_table, rows, comparison->worst_count, stdout,
            gpume_console_bold(stdout), gpume_console_plain(stdout));
    }
}

static void compare_print_table(const struct gpume_comparison *comparison)
{
    for (size_t i = 0; i < 2; i++) {
        printf("%c            ", "AB"[i]);
        gpume_console_print_name(comparison->names[i], stdout);
        printf("\n");
    }
    print_settings(comparison);
    print_counts(comparison);
    print_first(comparison);
    print_statistics(comparison);
    print_worst(comparison);
}

/* --- RUN --truth FILE: one run against true flow */

struct truth_job {
    struct gpume_cli_job job;
    const struct compare_options *options;
    const char *run, *truth; /* as they were named */
    enum gpume_pattern_kind kind;
    char *name; /* of the file of vectors */
    struct gpume_vectors_reader *reader;
    uint64_t fields;  /* compared */
    uint64_t missing; /* fields without a file of truth */
    uint64_t earlier; /* fields whose reference is earlier, which a pattern has no truth for */
    struct gpume_flow_errors errors;
};

/* The file for a field. NULL after one line. */
static char *name_truth(const struct truth_job *job, const struct gpume_vectors_field *field)
{
    const uint64_t start = job->options->truth_start;
    const struct gpume_pattern_numbers numbers = {field->frame + start, field->ref + start};
    char *name = job->kind == GPUME_PATTERN_PAIR ? gpume_pattern_name_pair(job->truth, numbers)
                                                 : gpume_pattern_name(job->truth, numbers.first);
    if (!name) {
        gpume_console_error("%s: out of memory", job->truth);
    }
    return name;
}

struct truth_row {
    uint64_t frame, ref;
    struct gpume_flow_errors errors;
    double epe, angle;
};

enum { FIELD = 1 };

#define ROW struct truth_row
static const struct gpume_column columns[] = {
    {GPUME_COLUMN("frame", ROW, frame), .only = FIELD},
    {GPUME_COLUMN("ref", ROW, ref), .only = FIELD, .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("known", ROW, errors.known)},
    {GPUME_COLUMN("pixels", ROW, errors.pixels)},
    {GPUME_COLUMN("epe", ROW, epe), .decimals = 6},
    {GPUME_COLUMN("epe_max", ROW, errors.distance_max), .decimals = 6},
    {GPUME_COLUMN("above_1", ROW, errors.above[0])},
    {GPUME_COLUMN("above_3", ROW, errors.above[1])},
    {GPUME_COLUMN("above_5", ROW, errors.above[2])},
    {GPUME_COLUMN("outliers", ROW, errors.outliers)},
    {GPUME_COLUMN("angle", ROW, angle), .decimals = 6},
};
static const struct gpume_table field_table = {GPUME_TABLE(columns, ROW), .kind = FIELD};
static const struct gpume_table sums_table = {GPUME_TABLE(columns, ROW)};

static ROW errors_row(const struct gpume_flow_errors *errors)
{
    const double pixels = errors->pixels > 0 ? (double)errors->pixels : 1;
    return (ROW){.errors = *errors,
        .epe = errors->distance_sum / pixels,
        .angle = errors->angle_sum / pixels};
}

/* Two pictures in their natural order: the first is the reference, and all vectors lead to it, but
 * the flow leads to the second. Numbers of frames do not tell, since the other order has the same.
 * Vectors that lead the way of the flow fit it better than their opposites do, even where most are
 * wrong. */
static bool is_turned(const struct truth_job *job, const struct gpume_vectors_field *field,
    const struct gpume_flow_errors *errors)
{
    const bool is_later = (field->columns & GPUME_VECTORS_REF) && field->ref > field->frame;
    return job->kind == GPUME_PATTERN_PLAIN && !is_later &&
           errors->distance_sum > errors->opposite_sum * 4 / 3;
}

static int measure_truth(
    struct truth_job *job, const struct gpume_vectors_field *field, const char *name)
{
    const char *const names[2] = {job->run, name};
    struct gpume_flow flow;
    struct gpume_flow_errors errors;
    int status = gpume_flow_read(&flow, field, names, &gpume_console);
    status = status ? status : gpume_flow_measure(&errors, &flow, field, names[0], &gpume_console);
    if (status == GPUME_OK && is_turned(job, field, &errors)) {
        status = gpume_refuse(GPUME_INVALID,
            "%s: its vectors lead from the second picture to the first, but the flow of %s leads "
            "from the first to the second; search again with the second one as the reference: "
            "gpume "
            "SECOND FIRST",
            names[0], name);
    }
    if (status == GPUME_OK) {
        gpume_flow_add(&job->errors, &errors);
        job->fields++;
        if (job->job.csv) {
            ROW row = errors_row(&errors);
            row.frame = field->frame;
            row.ref = field->columns & GPUME_VECTORS_REF ? field->ref : GPUME_MISSING;
            gpume_table_csv(&field_table, &row, 1, job->job.csv);
        }
    }
    gpume_flow_finish(&flow);
    return status;
}

static int measure_field(struct truth_job *job, const struct gpume_vectors_field *field)
{
    const bool has_ref = field->columns & GPUME_VECTORS_REF;
    if (job->kind == GPUME_PATTERN_PLAIN && job->fields > 0) {
        return gpume_refuse(GPUME_INVALID,
            "%s has several motion fields, but --truth %s is one; name a pattern such as "
            "flow%%04d.flo",
            job->run, job->truth);
    }
    if (job->kind == GPUME_PATTERN_NUMBERED && has_ref && field->ref < field->frame) {
        job->earlier++;
        return GPUME_OK;
    }
    char *name = name_truth(job, field);
    if (!name) {
        return GPUME_NOMEM;
    }
    const bool missing = job->kind != GPUME_PATTERN_PLAIN && !gpume_text_exists(name, false);
    job->missing += missing;
    const int status = missing ? GPUME_OK : measure_truth(job, field, name);
    free(name);
    return status;
}

/* Explains a run of which nothing could be compared. */
static enum gpume_exit refuse_empty(const struct truth_job *job)
{
    const char *run = job->run, *truth = job->truth;
    if (job->fields > 0) {
        gpume_console_error("%s: has no true vector at a pixel that has one in %s", truth, run);
    } else if (job->missing == 0) {
        gpume_console_error("%s: its vectors lead to earlier frames, but the flow of %s leads to "
                            "the next one; search with --direction future",
            run, truth);
    } else {
        gpume_console_error("%s: there is no such file for any of %" PRIu64
                            " frame pair%s of %s; --truth-start N gives the number of frame 0",
            truth, job->missing, gpume_plural(job->missing), run);
    }
    return GPUME_EXIT_INPUT;
}

static enum gpume_exit open_truth_run(void *client)
{
    struct truth_job *job = client;
    job->name = gpume_name_vectors_input(job->run);
    if (!job->name) {
        return GPUME_EXIT_FAILED;
    }
    const struct gpume_vectors_source source = {.path = job->name,
        .block = job->options->block,
        .fine = true,
        .memory_max = job->options->memory_max,
        .log = gpume_console};
    return gpume_exit_of_reader(gpume_vectors_reader_open(&job->reader, &source));
}

static enum gpume_exit measure_fields(void *client)
{
    struct truth_job *job = client;
    const struct gpume_vectors_field *field;
    if (job->job.csv) {
        gpume_table_csv_head(&field_table, job->job.csv);
    }
    int status = gpume_vectors_reader_next(job->reader, &field);
    while (status == GPUME_OK && field) {
        status = measure_field(job, field);
        status = status ? status : gpume_vectors_reader_next(job->reader, &field);
    }
    return status != GPUME_OK        ? gpume_exit_of_reader(status)
           : job->errors.pixels == 0 ? refuse_empty(job)
                                     : GPUME_EXIT_DONE;
}

static double percent_of_pixels(const struct truth_job *job, uint64_t pixels)
{
    return (double)pixels / (double)job->errors.pixels * 100;
}

static void print_truth(const void *client)
{
    const struct truth_job *job = client;
    const struct gpume_flow_errors *errors = &job->errors;
    const double pixels = (double)errors->pixels;
    printf("run              ");
    gpume_console_print_name(job->run, stdout);
    printf("\ntruth            ");
    gpume_console_print_name(job->truth, stdout);
    printf("\ncompared         %" PRIu64 " frame pair%s, %" PRIu64 " pixel%s with truth\n",
        job->fields, gpume_plural(job->fields), errors->pixels, gpume_plural(errors->pixels));
    if (errors->known > errors->pixels) {
        printf("without vectors  %" PRIu64 " more pixel%s with truth\n",
            errors->known - errors->pixels, gpume_plural(errors->known - errors->pixels));
    }
    if (job->missing > 0 || job->earlier > 0) {
        printf("not compared     %" PRIu64 " frame pair%s without truth, %" PRIu64
               " with an earlier reference\n",
            job->missing, gpume_plural(job->missing), job->earlier);
    }
    printf("end-point error  %.3f pixels on average, %.3f at most\n", errors->distance_sum / pixels,
        errors->distance_max);
    for (uint32_t i = 0; i < GPUME_FLOW_LIMITS; i++) {
        printf("  above %u px     %6.2f %%\n", (unsigned)gpume_flow_limits[i],
            percent_of_pixels(job, errors->above[i]));
    }
    printf("Fl outliers      %6.2f %%  (above 3 px and 5 %% of the true length)\n"
           "angular error    %.3f degrees on average\n",
        percent_of_pixels(job, errors->outliers), errors->angle_sum / pixels);
}

static void put_truth_json(const void *client, struct gpume_json *json)
{
    const struct truth_job *job = client;
    const ROW row = errors_row(&job->errors);
    gpume_json_text(json, "run", job->run);
    gpume_json_text(json, "truth", job->truth);
    gpume_json_count(json, "fields", job->fields);
    gpume_json_count(json, "fields_without_truth", job->missing);
    gpume_json_count(json, "fields_with_earlier_reference", job->earlier);
    gpume_table_json_members(&sums_table, &row, json);
}

static enum gpume_exit compare_truth(const struct compare_options *options)
{
    static const struct gpume_job_work work = {.prepare = open_truth_run,
        .run = measure_fields,
        .print = print_truth,
        .optional = true,
        .put_json = put_truth_json,
        .format = GPUME_COMPARISON_FORMAT};
    struct truth_job job = {.job.common = &options->common,
        .options = options,
        .run = options->common.inputs[0],
        .truth = options->truth,
        .kind = gpume_pattern_kind(options->truth)};
    const enum gpume_exit result = gpume_job_run(&job.job, &work, &job);
    gpume_vectors_reader_close(&job.reader);
    gpume_job_close(&job.job);
    free(job.name);
    return result;
}

static const struct gpume_mode truth_mode = {
    .option = "truth",
    .does = "prints numbers only",
    .takes = (const char *const[]){"truth-start", "block", "max-memory", "json", "csv", NULL},
};

static int compare_check_truth(const struct compare_options *options, const struct gpume_line *line)
{
    const char *truth = options->truth;
    if (options->common.input_count != 1) {
        return gpume_refuse(
            GPUME_INVALID, "--truth %s: measures one run; leave one of the two out", truth);
    }
    if (gpume_text_is_special(truth)) {
        return gpume_refuse(GPUME_INVALID, "--truth %s: must be a file", truth);
    }
    if (gpume_pattern_kind(truth) == GPUME_PATTERN_WRONG) {
        return gpume_refuse(GPUME_INVALID,
            "--truth %s: must have at most two numbers such as %%04d, both in its last part",
            truth);
    }
    return gpume_check_mode(line, &truth_mode);
}

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
    const struct compare_options *options;
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
    const struct compare_options *options = comparing->options;
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
    const struct compare_options *options = comparing->options;
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
                                  " frame pair%s; the means of SAD and PSNR do not include them",
                comparison->names[i], comparison->unknown[i], comparison->fields,
                gpume_plural(comparison->fields));
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
    compare_print_table(&((const struct comparing *)client)->comparison);
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
    const uint64_t only = comparison->only[0] + comparison->only[1];
    if (comparing->options->common.verbosity >= 0 && !blocks->has_costs &&
        blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: in the vectors of %" PRIu64 " of %" PRIu64
                            " block%s",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks, gpume_plural(blocks->blocks));
    } else if (comparing->options->common.verbosity >= 0 && blocks->both_equal < blocks->blocks) {
        gpume_console_error("%s and %s differ: in the vectors of %" PRIu64
                            " and the costs of %" PRIu64 " of %" PRIu64 " block%s",
            comparison->names[0], comparison->names[1], blocks->blocks - blocks->vectors_equal,
            blocks->blocks - blocks->costs_equal, blocks->blocks, gpume_plural(blocks->blocks));
    } else if (comparing->options->common.verbosity >= 0) {
        gpume_console_error("%s and %s differ: only one of them has %" PRIu64 " frame pair%s",
            comparison->names[0], comparison->names[1], only, gpume_plural(only));
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
    const struct compare_options *options = comparing->options;
    int status = options->map ? gpume_job_add(job, &map_ops, options->map) : GPUME_OK;
    status = status || !options->report ? status : gpume_job_add(job, &page_ops, options->report);
    job->inputs = options->common.inputs;
    job->input_count = 2;
    return gpume_exit_of_writer(status);
}

static enum gpume_exit prepare(void *client)
{
    struct comparing *comparing = client;
    const struct compare_options *options = comparing->options;
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
    const struct compare_options *options = opaque;
    if (options->truth) {
        return compare_truth(options);
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

#define OPTIONS struct compare_options

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
        .help = "explain the colours in a corner of the map; auto: if that covers little of the "
                "picture (default auto)",
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
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the comparison as one JSON object"},
    {GPUME_OPTION_CSV, .help = "print one row of CSV per frame pair"},
    {GPUME_OPTION_QUIET, .help = "print nothing; only the exit status shows the result"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST,
};

static void set_compare_defaults(void *options)
{
    ((struct compare_options *)options)->source.stream = -1;
}

static int check_options(void *opaque, const struct gpume_line *line)
{
    const struct compare_options *options = opaque;
    if (options->truth) {
        return compare_check_truth(options, line);
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
    GPUME_COMMAND_OPTIONS(table, struct compare_options),
    .operands_min = 1,
    .operands_max = 2,
    .operands = "two runs, folders or files of vectors",
    .catches_signals = true,
    .set_defaults = set_compare_defaults,
    .check = check_options,
    .run = run_compare,
};
