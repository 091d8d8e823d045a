/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `gpume bench`, and which kind of work each of them is for. */
#include "bench/bench.h"

#include "commands.h"
#include "console.h"
#include "library_log.h"
#include "options/checks.h"
#include "options/line.h"

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
        .help = "what a vector's bits are counted from: (0,0), or the median of neighbouring "
                "vectors of the pass before (default zero)",
        .uses = SEARCH, .needs = "lambda"},
    {GPUME_ROW_PARAM(OPTIONS, params.passes, passes), .uses = SEARCH, .needs = "predictor"},
    {GPUME_ROW_PARAM(OPTIONS, distances, distances), .type = &gpume_type_distances,
        .help = "frames from target to reference; a list such as 1,2 needs --best-reference or "
                "--bidirectional (default 1)",
        .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.best_reference, best_reference),
        .help = "search every target in all of its references together", .uses = SEARCH},
    {GPUME_ROW_PARAM(OPTIONS, params.bidirectional, bidirectional),
        .help = "the same with past and future references and the means of both", .uses = SEARCH},
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
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
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
    GPUME_OPTIONS_MESSAGES("show no progress", "show this help"),
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
    if (options->sort || options->reduce || unused) {
        return gpume_refuse(GPUME_INVALID, "--%s: not an option of 'gpume bench --decoders'",
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
        return gpume_refuse(GPUME_INVALID, "--%s: not an option of 'gpume bench --%s'",
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
    return options->decoders                  ? gpume_bench_decoding(options)
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
