/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/compare.h"

#include "compare/comparison.h"
#include "files/forms.h"
#include "files/path.h"
#include "job.h"
#include "options/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct truth_job {
    struct gpume_cli_job job;
    const struct gpume_compare_options *options;
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
                            " frame pairs of %s; --truth-start N gives the number of frame 0",
            truth, job->missing, run);
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
    printf("\ncompared         %" PRIu64 " frame pair%s, %" PRIu64 " pixels with truth\n",
        job->fields, job->fields == 1 ? "" : "s", errors->pixels);
    if (errors->known > errors->pixels) {
        printf("without vectors  %" PRIu64 " more pixels with truth\n",
            errors->known - errors->pixels);
    }
    if (job->missing > 0 || job->earlier > 0) {
        printf("not compared     %" PRIu64 " frame pairs without truth, %" PRIu64
               " with an earlier reference\n",
            job->missing, job->earlier);
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

enum gpume_exit gpume_compare_truth(const struct gpume_compare_options *options)
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

int gpume_compare_check_truth(
    const struct gpume_compare_options *options, const struct gpume_line *line)
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
