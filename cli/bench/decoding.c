/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench INPUT --decoders`: how fast the video is decoded, without a search and without
 * copying its frames, by one decoder, two, four and so on. The first of them is the limit of a run
 * with one decoder, the fastest that of this machine. Main thread only.
 */
#include "bench/bench.h"

#include "base/clock.h"
#include "console.h"
#include "files/table.h"
#include "host.h"

#include <inttypes.h>
#include <stdio.h>

#define ROWS_MAX 8u /* 1 to 128 decoders */
#define FORMAT 1

struct decoding_row {
    uint32_t decoders;
    uint64_t frames;
    double seconds, per_second, over_one; /* over_one: times as fast as one decoder */
};

static const struct gpume_column columns[] = {
    {GPUME_COLUMN("decoders", struct decoding_row, decoders), .title = "decoders"},
    {GPUME_COLUMN("frames", struct decoding_row, frames), .title = "frames", .width = 10},
    {GPUME_COLUMN("seconds", struct decoding_row, seconds), .decimals = 6, .title = "seconds",
        .width = 10, .shown = 3},
    {GPUME_COLUMN("frames_per_s", struct decoding_row, per_second), .decimals = 3,
        .title = "frames/s", .width = 12, .shown = 1},
    {GPUME_COLUMN("speedup_one", struct decoding_row, over_one), .decimals = 6, .title = "x one",
        .width = 8, .shown = 2},
};
static const struct gpume_table decoding_table = {
    GPUME_TABLE(columns, struct decoding_row), .gap = 1};

struct decoding_job {
    const struct gpume_bench_options *options;
    struct gpume_source_info info;
    struct decoding_row rows[ROWS_MAX];
    uint32_t count;
};

/* Reads to the end, or for the time of a row. */
static int read_all(
    const struct decoding_job *job, struct gpume_source *source, struct decoding_row *row)
{
    const uint64_t start = gpume_clock_ns(), limit = (uint64_t)(job->options->seconds * 1e9);
    int status = GPUME_OK;
    uint64_t spent = 0;
    while (status == GPUME_OK && spent < limit) {
        int64_t time_us;
        status = gpume_source_read(source, NULL, &time_us);
        row->frames += status == GPUME_OK;
        spent = gpume_clock_ns() - start;
    }
    row->seconds = (double)spent / 1e9;
    row->per_second = row->seconds > 0 ? (double)row->frames / row->seconds : 0;
    row->over_one = job->rows[0].per_second > 0 ? row->per_second / job->rows[0].per_second : 0;
    return status == GPUME_EOF ? GPUME_OK : status;
}

/* Adds a row, unless the input cannot have that many decoders. */
static int measure_decoders(struct decoding_job *job, uint32_t decoders, bool *possible)
{
    const struct gpume_bench_options *options = job->options;
    struct gpume_source_options asked = options->source;
    struct gpume_source *source = NULL;
    asked.decoders = decoders;
    const struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &asked, &options->params);
    int status = gpume_source_open_inputs(&source, &wanted, &job->info);
    if (status == GPUME_OK) {
        const uint32_t used = gpume_source_share(&wanted, source, 0, 1, UINT64_MAX);
        struct decoding_row *row = &job->rows[job->count];
        *row = (struct decoding_row){.decoders = decoders};
        *possible = used == decoders;
        status = *possible ? read_all(job, source, row) : GPUME_OK;
        job->count += *possible && status == GPUME_OK;
    }
    gpume_source_close(&source);
    return status;
}

static enum gpume_exit measure_all_decoders(struct decoding_job *job)
{
    bool possible = true;
    const uint32_t processors = gpume_host_processors(), most = processors > 2 ? processors : 2;
    for (uint32_t decoders = 1; decoders <= most && decoders <= 64 && possible; decoders *= 2) {
        const int status = measure_decoders(job, decoders, &possible);
        if (status != GPUME_OK) {
            return gpume_source_exit(status);
        }
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit print_decoding_json(const struct decoding_job *job)
{
    struct gpume_json json;
    int status = gpume_json_start(&json, FORMAT, &gpume_console);
    if (status == GPUME_OK) {
        gpume_json_text(&json, "input", job->info.label);
        gpume_json_text(&json, "codec", job->info.codec);
        gpume_json_count(&json, "width", job->info.width);
        gpume_json_count(&json, "height", job->info.height);
        gpume_json_count(&json, "processors", gpume_host_processors());
        gpume_table_json(&decoding_table, "decoding", job->rows, job->count, &json);
        status = gpume_json_finish(&json);
    }
    return status == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit print_decoding_csv(const struct decoding_job *job)
{
    struct gpume_out *out = NULL;
    int status = gpume_out_open(&out, "-", true, &gpume_console);
    if (status == GPUME_OK) {
        gpume_table_csv_head(&decoding_table, out);
        gpume_table_csv(&decoding_table, job->rows, job->count, out);
        status = gpume_out_finish(out);
    }
    gpume_out_close(&out);
    return status == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_bench_decoding(const struct gpume_bench_options *options)
{
    struct decoding_job job = {.options = options};
    const enum gpume_exit result = measure_all_decoders(&job);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    if (options->common.form != GPUME_FORM_TABLE) {
        return (options->common.form == GPUME_FORM_JSON ? print_decoding_json : print_decoding_csv)(
            &job);
    }
    gpume_console_print_name(job.info.label, stdout);
    printf(": decoding alone, %s, %" PRIu32 "x%" PRIu32 ", %" PRIu32 " processors\n",
        job.info.codec, job.info.width, job.info.height, gpume_host_processors());
    gpume_table_print(&decoding_table, job.rows, job.count, stdout, "", "");
    return gpume_console_flush_output("the table") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}
