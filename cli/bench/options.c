/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `gpume bench`, and which kind of work each of them is for. */
#include "base/os.h"
#include "bench/bench.h"
#include "console.h"
#include "files/forms.h"
#include "files/path.h"
#include "host.h"
#include "options/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    printf(": decoding alone, %s, %" PRIu32 "x%" PRIu32 ", %" PRIu32 " processor%s\n", info->codec,
        info->width, info->height, gpume_host_processors(), gpume_plural(gpume_host_processors()));
    gpume_table_print(&decoding_table, job->rows, job->count, stdout, "", "");
}

static enum gpume_exit bench_decoding(const struct gpume_bench_options *options)
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

#define OPTIONS struct gpume_bench_options
#define FRAMES_MAX 64u

/* Kinds of work: bits of a row's `uses`. */
enum { GENERATED = 1, INPUT = 2, SEARCH = GENERATED | INPUT, ARRAYS = 4, DECODING = 8 };

static const char *const predictors[] = {"zero", "median", NULL};

static struct gpume_option table[] = {
    {.heading = "Benchmark"},
    {GPUME_ROW("size", "WxH", size, OPTIONS, params.width), .min = 1, .max = 65536,
        .help =
            "size of the generated frames in pixels, 1 to 65536 on each axis (default 1920x1080)",
        .uses = GENERATED},
    {GPUME_ROW_NUMBER("bits", OPTIONS, params.bits, 8, 16),
        .help = "bits per sample of the generated frames, 8 to 16 (default 8)", .uses = GENERATED},
    {GPUME_ROW_FLAG("sort", OPTIONS, sort), .help = "measure sorting instead of the search"},
    {GPUME_ROW_FLAG("reduce", OPTIONS, reduce),
        .help = "measure sums, minima and histograms instead of the search"},
    {GPUME_ROW_FLAG("decoders", OPTIONS, decoders),
        .help = "measure how fast one, two, four ... decoders read INPUT, instead of the search",
        .uses = DECODING},
    {GPUME_ROW_REAL("seconds", "S", OPTIONS, seconds, 0.001, 3600),
        .help = "time to spend on each row of the table, 0.001 to 3600 (default 0.5; with "
                "--decoders the whole input)"},
    {.heading = "Search"},
    {GPUME_OPTION_BLOCK(OPTIONS, shapes), .uses = SEARCH},
    {GPUME_OPTION_WINDOW(OPTIONS, params.window_x), .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.edge, edge), .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.partition, partition),
        .help = "also choose the division of each block that costs least; needs --lambda",
        .uses = SEARCH},
    GPUME_OPTIONS_COMPARISON(OPTIONS, params, SEARCH),
    {GPUME_OPTION_LAMBDA(OPTIONS, lambda), .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.predictor, predictor), .value = "zero|median",
        .choices = predictors,
        .help = "what vectors are predicted from, since only the difference costs bits: (0,0), or "
                "the median of neighbouring vectors of the previous pass (default zero)",
        .uses = SEARCH, .needs = "lambda"},
    {GPUME_ROW_PARAM(OPTIONS, params.passes, passes), .uses = SEARCH, .needs = "predictor"},
    {GPUME_ROW_PARAM(OPTIONS, distances, distances), .type = &gpume_type_distances,
        .help = "frames from target to reference; a list such as 1,2 needs --best-reference or "
                "--bidirectional (default 1)",
        .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.best_reference, best_reference),
        .help = "choose the best of all references of a target for each block", .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.bidirectional, bidirectional),
        .help = "the same with past and future references, and their means", .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.candidates, candidates),
        .help = "number of matches per block, 1 to 8 (default 1)", .uses = SEARCH},
    {.heading = "Input"},
    {GPUME_ROW_NUMBER("frames", OPTIONS, frames, 1, FRAMES_MAX),
        .help = "number of frame pairs, 1 to 64 (default 3)", .uses = SEARCH},
    {GPUME_OPTION_PICTURES(OPTIONS, source.pictures), .uses = INPUT},
    {GPUME_OPTION_VF(OPTIONS, source.filter), .uses = INPUT},
    {GPUME_OPTION_STREAM(OPTIONS, source.stream), .uses = INPUT | DECODING},
    {GPUME_OPTION_ALLOW_NETWORK(OPTIONS, source.trust.network), .uses = INPUT | DECODING},
    {GPUME_OPTION_ALLOW_FILES(OPTIONS, source.trust.files), .uses = INPUT | DECODING},
    {GPUME_OPTION_MAX_PIXELS(OPTIONS, source.trust.max_pixels), .uses = INPUT | DECODING},
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, params.memory_max),
        .help = "let each engine use at most this much memory, not counting frames, e.g. 500M or "
                "2GiB (default: no limit)",
        .uses = SEARCH},
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Engine"},
    {GPUME_ROW_PARAM(OPTIONS, params.backend, backend),
        .help = "measure only this backend; vulkan includes software drivers (default: everything "
                "except software drivers)",
        .uses = SEARCH | ARRAYS},
    {GPUME_OPTION_DEVICES(OPTIONS, params.device),
        .help = "measure only these Vulkan devices, and all of them together: indices in 'gpume "
                "devices' or parts of names, separated by commas; all: every GPU; cpu: the CPU too "
                "where they work together",
        .uses = SEARCH | ARRAYS},
    {GPUME_OPTION_THREADS(OPTIONS, params.threads), .uses = SEARCH | DECODING},
    {GPUME_OPTION_SEARCH(OPTIONS, params.search),
        .help = "measure only this implementation of the search, as listed by 'gpume devices'",
        .uses = SEARCH},
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the table as one JSON object"},
    {GPUME_OPTION_CSV, .help = "print the table as CSV"},
    GPUME_OPTIONS_MESSAGES("show no progress"),
};

static void set_bench_defaults(void *opaque)
{
    struct gpume_bench_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
    options->seconds = 0.5;
    options->lambda = -1;
}

static int apply_search(struct gpume_bench_options *options)
{
    struct gpume_params *params = &options->params;
    gpume_shape_list_apply(&options->shapes, params);
    gpume_distance_list_apply(&options->distances, params);
    gpume_lambda_apply(options->lambda, -1, params);
    params->best_reference |= params->bidirectional;
    if (params->bidirectional) {
        params->direction = GPUME_DIRECTION_BOTH;
    }
    if (params->distance_count > 1 && !params->best_reference) {
        return gpume_refuse(GPUME_INVALID,
            "--ref-distance: a list needs --best-reference or --bidirectional; give one distance");
    }
    return gpume_library_check(params);
}

static int check_decoding(struct gpume_bench_options *options, const struct gpume_line *line)
{
    const struct gpume_option *unused = gpume_line_unused(line, DECODING);
    if (options->common.input_count != 1) {
        return gpume_refuse(GPUME_INVALID, options->common.input_count == 0
                                               ? "--decoders: needs one video; name it"
                                               : "--decoders: takes one video, and no number here");
    }
    if (gpume_text_is_special(options->common.inputs[0])) {
        return gpume_refuse(GPUME_INVALID,
            "--decoders: reads its video several times, and %s can be read once; give a file",
            strcmp(options->common.inputs[0], "-") == 0 ? "standard input"
                                                        : options->common.inputs[0]);
    }
    if (options->sort || options->reduce || unused) {
        return gpume_refuse(GPUME_INVALID, "--%s: is not an option of 'gpume bench --decoders'",
            unused          ? unused->name
            : options->sort ? "sort"
                            : "reduce");
    }
    options->seconds = gpume_line_has(line, "seconds") ? options->seconds : 3600;
    return GPUME_OK;
}

static int check_bench(void *opaque, const struct gpume_line *line)
{
    struct gpume_bench_options *options = opaque;
    const bool arrays = options->sort || options->reduce;
    const bool input = options->common.input_count > 0;
    if (options->decoders) {
        return check_decoding(options, line);
    }
    const struct gpume_option *unused = gpume_line_unused(line, arrays  ? ARRAYS
                                                                : input ? INPUT
                                                                        : GENERATED);
    if (arrays && input) {
        return gpume_refuse(GPUME_INVALID,
            "%s: 'gpume bench --%s' generates its own numbers; leave it out",
            options->common.inputs[0], options->sort ? "sort" : "reduce");
    }
    if (unused && arrays) {
        return gpume_refuse(GPUME_INVALID, "--%s: is not an option of 'gpume bench --%s'",
            unused->name, options->sort ? "sort" : "reduce");
    }
    if (unused) {
        return gpume_refuse(GPUME_INVALID, "--%s: is for %s", unused->name,
            input ? "generated frames; leave it or the input out"
                  : "an input; name one or leave it out");
    }
    gpume_take_device_list(&options->params);
    if (arrays && options->params.devices) {
        return gpume_refuse(GPUME_INVALID,
            "--device %s: 'gpume bench --%s' uses one device; name it", options->params.devices,
            options->sort ? "sort" : "reduce");
    }
    int status = gpume_source_options_check(&options->common, &options->source);
    status = status ? status : gpume_check_engine(&options->params);
    return status ? status : apply_search(options);
}

static enum gpume_exit run_bench(const void *opaque)
{
    const struct gpume_bench_options *options = opaque;
    return options->decoders                  ? bench_decoding(options)
           : options->sort || options->reduce ? gpume_bench_arrays(options)
                                              : gpume_bench_search(options);
}

const struct gpume_command gpume_bench_command = {
    .name = "bench",
    .summary = "time every engine of this machine side by side",
    .usage = "bench [INPUT] [options]\nbench --sort|--reduce [options]\nbench INPUT --decoders "
             "[options]",
    .about = "Measures every search implementation, on the CPU and on each GPU, on the same frames "
             "and compares their vectors; nothing is printed unless all agree. The frames are "
             "generated, or read from INPUT, which is a video or two pictures.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_bench_options),
    .operands_max = 2,
    .operands = "one video, or two still pictures",
    .set_defaults = set_bench_defaults,
    .check = check_bench,
    .run = run_bench,
};
