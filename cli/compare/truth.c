/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/compare.h"

#include "compare/flow.h"
#include "console.h"
#include "files/pattern.h"
#include "files/table.h"
#include "files/text_file.h"
#include "names.h"
#include "options/checks.h"
#include "signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct truth_job {
    const struct gpume_common_options *common;
    const struct gpume_truth_options *truth;
    enum gpume_pattern_kind kind;
    struct gpume_vectors_reader *reader;
    struct gpume_out *csv; /* NULL: no --csv */
    uint64_t fields;       /* compared */
    uint64_t missing;      /* fields without a file of truth */
    uint64_t earlier;      /* fields whose reference is earlier, which a pattern has no truth for */
    struct gpume_flow_errors errors;
};

/* The file for a field. NULL after one line. */
static char *name_truth(const struct truth_job *job, const struct gpume_vectors_field *field)
{
    const uint64_t start = job->truth->start;
    const struct gpume_pattern_numbers numbers = {field->frame + start, field->ref + start};
    char *name = job->kind == GPUME_PATTERN_PAIR
                     ? gpume_pattern_name_pair(job->truth->path, numbers)
                     : gpume_pattern_name(job->truth->path, numbers.first);
    if (!name) {
        gpume_console_error("%s: out of memory", job->truth->path);
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
    const char *const names[2] = {job->common->inputs[0], name};
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
        if (job->csv) {
            ROW row = errors_row(&errors);
            row.frame = field->frame;
            row.ref = field->columns & GPUME_VECTORS_REF ? field->ref : GPUME_MISSING;
            gpume_table_csv(&field_table, &row, 1, job->csv);
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
            job->common->inputs[0], job->truth->path);
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

static int measure_fields(struct truth_job *job)
{
    const struct gpume_vectors_field *field;
    int status = gpume_vectors_reader_next(job->reader, &field);
    while (status == GPUME_OK && field && !gpume_signals_caught()) {
        status = measure_field(job, field);
        status = status ? status : gpume_vectors_reader_next(job->reader, &field);
    }
    return status;
}

/* Explains a run of which nothing could be compared. */
static enum gpume_exit refuse_empty(const struct truth_job *job)
{
    const char *run = job->common->inputs[0], *truth = job->truth->path;
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

static double percent_of_pixels(const struct truth_job *job, uint64_t pixels)
{
    return (double)pixels / (double)job->errors.pixels * 100;
}

static void print_truth_table(const struct truth_job *job)
{
    const struct gpume_flow_errors *errors = &job->errors;
    const double pixels = (double)errors->pixels;
    printf("run              ");
    gpume_console_print_name(job->common->inputs[0], stdout);
    printf("\ntruth            ");
    gpume_console_print_name(job->truth->path, stdout);
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

static int write_truth_json(const struct truth_job *job)
{
    const ROW row = errors_row(&job->errors);
    struct gpume_json json;
    const int status = gpume_json_start(&json, GPUME_COMPARISON_FORMAT, &gpume_console);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_json_text(&json, "run", job->common->inputs[0]);
    gpume_json_text(&json, "truth", job->truth->path);
    gpume_json_count(&json, "fields", job->fields);
    gpume_json_count(&json, "fields_without_truth", job->missing);
    gpume_json_count(&json, "fields_with_earlier_reference", job->earlier);
    gpume_table_json_members(&sums_table, &row, &json);
    return gpume_json_finish(&json);
}

static enum gpume_exit print_truth(struct truth_job *job)
{
    if (job->csv) {
        return gpume_out_finish(job->csv) ? GPUME_EXIT_FAILED : GPUME_EXIT_DONE;
    }
    if (job->common->form == GPUME_FORM_JSON) {
        return write_truth_json(job) ? GPUME_EXIT_FAILED : GPUME_EXIT_DONE;
    }
    if (job->common->verbosity >= 0) {
        print_truth_table(job);
    }
    return gpume_console_flush_output("the table") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static int open_csv(struct truth_job *job)
{
    gpume_signals_end();
    const int status = gpume_out_open(&job->csv, "-", true, &gpume_console);
    if (status == GPUME_OK) {
        gpume_table_csv_head(&field_table, job->csv);
    }
    return status;
}

static enum gpume_exit read_and_print(
    struct truth_job *job, const struct gpume_vectors_source *source)
{
    int status = gpume_vectors_reader_open(&job->reader, source);
    if (status == GPUME_OK && job->common->form == GPUME_FORM_CSV) {
        status = open_csv(job);
    }
    status = status ? status : measure_fields(job);
    if (status != GPUME_OK) {
        return gpume_exit_of_reader(status);
    }
    if (gpume_signals_caught()) {
        return GPUME_EXIT_FAILED;
    }
    return job->errors.pixels > 0 ? print_truth(job) : refuse_empty(job);
}

enum gpume_exit gpume_compare_truth(const struct gpume_common_options *common,
    const struct gpume_truth_options *truth, uint32_t block, uint64_t memory_max)
{
    struct truth_job job = {
        .common = common, .truth = truth, .kind = gpume_pattern_kind(truth->path)};
    char *name = gpume_name_vectors_input(common->inputs[0]);
    if (!name) {
        return GPUME_EXIT_FAILED;
    }
    const struct gpume_vectors_source source = {
        .path = name, .block = block, .memory_max = memory_max, .log = gpume_console};
    const enum gpume_exit result = read_and_print(&job, &source);
    gpume_vectors_reader_close(&job.reader);
    gpume_out_close(&job.csv);
    free(name);
    return result;
}

static const struct gpume_mode truth_mode = {
    .option = "truth",
    .does = "prints numbers only",
    .takes = (const char *const[]){"truth-start", "block", "max-memory", "json", "csv", NULL},
};

int gpume_compare_check_truth(const struct gpume_common_options *common,
    const struct gpume_truth_options *truth, const struct gpume_line *line)
{
    if (common->input_count != 1) {
        return gpume_refuse(
            GPUME_INVALID, "--truth %s: measures one run; leave one of the two out", truth->path);
    }
    if (gpume_text_is_special(truth->path)) {
        return gpume_refuse(GPUME_INVALID, "--truth %s: must be a file", truth->path);
    }
    if (gpume_pattern_kind(truth->path) == GPUME_PATTERN_WRONG) {
        return gpume_refuse(GPUME_INVALID,
            "--truth %s: must have at most two numbers such as %%04d, both in its last part",
            truth->path);
    }
    return gpume_check_mode(line, &truth_mode);
}
