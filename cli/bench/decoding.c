/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench INPUT --decoders`: how fast the video is decoded, without a search and without
 * copying its frames, by one decoder, two, four and so on. The first of them is the limit of a run
 * with one decoder, the fastest that of this machine. Main thread only.
 */
#include "bench/bench.h"

#include "base/clock.h"
#include "files/table.h"

#include <inttypes.h>
#include <stdio.h>

#define ROWS_MAX 8u /* 1 to 128 decoders */

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
    struct gpume_cli_job job;
    const struct gpume_bench_options *options;
    struct decoding_row rows[ROWS_MAX];
    uint32_t count;
};

/* Reads to the end, or for the time of a row. */
static int read_all(const struct decoding_job *job, struct decoding_row *row)
{
    const uint64_t start = gpume_clock_ns(), limit = (uint64_t)(job->options->seconds * 1e9);
    int status = GPUME_OK;
    uint64_t spent = 0;
    while (status == GPUME_OK && spent < limit) {
        int64_t time_us;
        status = gpume_source_read(job->job.source, NULL, &time_us);
        row->frames += status == GPUME_OK;
        spent = gpume_clock_ns() - start;
    }
    row->seconds = (double)spent / 1e9;
    row->per_second = row->seconds > 0 ? (double)row->frames / row->seconds : 0;
    row->over_one = job->rows[0].per_second > 0 ? row->per_second / job->rows[0].per_second : 0;
    return status == GPUME_EOF ? GPUME_OK : status;
}

/* Adds rows, as long as the input can have that many decoders. */
static enum gpume_exit measure_decoders(void *client)
{
    struct decoding_job *job = client;
    const struct gpume_bench_options *options = job->options;
    struct gpume_source_options choice = options->source;
    const uint32_t processors = gpume_host_processors(), most = processors > 2 ? processors : 2;
    enum gpume_exit result = GPUME_EXIT_DONE;
    bool possible = true;
    for (uint32_t decoders = 1;
         decoders <= most && decoders <= 64 && possible && result == GPUME_EXIT_DONE;
         decoders *= 2) {
        choice.decoders = decoders;
        job->job.wanted = gpume_source_options_make(&options->common, &choice, &options->params);
        result = gpume_job_open_video(&job->job, false);
        if (result == GPUME_EXIT_DONE) {
            possible =
                gpume_source_share(&job->job.wanted, job->job.source, 0, 1, UINT64_MAX) == decoders;
        }
        if (result == GPUME_EXIT_DONE && possible) {
            struct decoding_row *row = &job->rows[job->count++];
            *row = (struct decoding_row){.decoders = decoders};
            result = gpume_source_exit(read_all(job, row));
        }
        gpume_source_close(&job->job.source);
    }
    return result;
}

static void put_decoding_json(const void *client, struct gpume_json *json)
{
    const struct decoding_job *job = client;
    const struct gpume_source_info *info = &job->job.info;
    gpume_json_text(json, "input", info->label);
    gpume_json_text(json, "codec", info->codec);
    gpume_json_count(json, "width", info->width);
    gpume_json_count(json, "height", info->height);
    gpume_json_count(json, "processors", gpume_host_processors());
    gpume_table_json(&decoding_table, "decoding", job->rows, job->count, json);
}

static void put_decoding_csv(const void *client, struct gpume_out *out)
{
    const struct decoding_job *job = client;
    gpume_table_csv_head(&decoding_table, out);
    gpume_table_csv(&decoding_table, job->rows, job->count, out);
}

static void print_decoding(const void *client)
{
    const struct decoding_job *job = client;
    const struct gpume_source_info *info = &job->job.info;
    gpume_console_print_name(info->label, stdout);
    printf(": decoding alone, %s, %" PRIu32 "x%" PRIu32 ", %" PRIu32 " processors\n", info->codec,
        info->width, info->height, gpume_host_processors());
    gpume_table_print(&decoding_table, job->rows, job->count, stdout, "", "");
}

enum gpume_exit gpume_bench_decoding(const struct gpume_bench_options *options)
{
    static const struct gpume_job_work work = {.run = measure_decoders,
        .print = print_decoding,
        .put_csv = put_decoding_csv,
        .put_json = put_decoding_json,
        .format = 1};
    struct decoding_job job = {
        .job = {.common = &options->common, .params = &options->params}, .options = options};
    const enum gpume_exit result = gpume_job_run(&job.job, &work, &job);
    gpume_job_close(&job.job);
    return result;
}
