/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of motion estimation, and which of them go together. */
#include "base/params.h"
#include "console.h"
#include "estimate/estimate.h"
#include "host.h"
#include "job.h"
#include "media/source.h"
#include "options/common.h"
#include "options/option.h"

#include <stdlib.h>
#include <string.h>

/* --- fields of interlaced video */

const char *const gpume_fields_names[] = {"none", "same", "nearest", NULL};

/* The nearest field of the same parity is two fields away. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list)
{
    if (fields != GPUME_FIELDS_SAME) {
        return GPUME_OK;
    }
    if (list->count == 0) {
        list->distances[list->count++] = 1;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        list->distances[i] *= 2;
        if (list->distances[i] > GPUME_DISTANCE_MAX) {
            return gpume_refuse(GPUME_INVALID,
                "--ref-distance: at most %d frames with --fields same", GPUME_DISTANCE_MAX / 2);
        }
    }
    return GPUME_OK;
}

/* Checks that the options go together; then --ref-distance counts what the choice says. GPUME_OK,
 * or GPUME_INVALID after one line. Before the parameters are derived from the options. */
static int fields_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    if (options->fields == GPUME_FIELDS_NONE) {
        return GPUME_OK;
    }
    if (gpume_line_has(line, "compat")) {
        return gpume_refuse(
            GPUME_INVALID, "--compat: cannot be combined with --fields; leave one of them out");
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--fields: needs one video, not two pictures");
    }
    return gpume_fields_count(options->fields, &options->search.distances);
}

/* --- times */

static bool has_times(const struct gpume_estimate_options *options)
{
    return options->range.start.is_time || options->range.duration_us > 0;
}

/* The targets are the frames from first to end - 1. */
static enum gpume_exit set_range(
    struct gpume_estimate_options *options, uint64_t first, uint64_t end)
{
    const char *input = options->common.inputs[0];
    if (first == GPUME_FIND_NONE) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before the time that --start names; give an earlier one", input);
    }
    options->asked.start = first;
    const uint64_t target = gpume_estimate_first_target(options);
    if (end <= target) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no target frame lies within --duration; give a longer one", input);
    }
    options->asked.frames = end == GPUME_FIND_NONE ? options->asked.frames : end - target;
    return GPUME_EXIT_DONE;
}

/* A signal ends the program here: no output was begun. */
static enum gpume_exit estimate_find_times(struct gpume_estimate_options *options)
{
    const int64_t begin = options->range.start.is_time ? options->range.start.us : 0;
    const int64_t times[2] = {begin, begin + options->range.duration_us};
    uint64_t frames[2] = {0, GPUME_FIND_NONE};
    if (!has_times(options)) {
        return GPUME_EXIT_DONE;
    }
    struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &options->asked.source, &options->params);
    wanted.log = gpume_console_errors;
    const int status =
        gpume_find_frames(&wanted, times, frames, options->range.duration_us > 0 ? 2 : 1);
    return status == GPUME_OK ? set_range(options, frames[0], frames[1])
                              : gpume_source_exit(status);
}

/* --- the options */

#define OPTIONS struct gpume_estimate_options

static const char *const compats[] = {"ffmpeg", NULL};
static const char *const residual_modes[] = {"absolute", "signed", NULL};
static const char *const overlay_styles[] = {
    "arrows", "flow", "cost", "blocks", "confidence", "return", NULL};

#define SINK_ROW(sink) {GPUME_ROW_FILE(#sink, "FILE", OPTIONS, files[GPUME_SINK_##sink])},

static struct gpume_option table[] = {
    {.heading = "Search"},
    {GPUME_OPTION_BLOCK(OPTIONS, search.shapes),
        .brief = "block side in pixels, or shapes (default 8)"},
    {GPUME_ROW_PARAM(OPTIONS, params.partition, partition)},
    {GPUME_OPTION_WINDOW(OPTIONS, params.window_x),
        .brief = "largest displacement in pixels (default 7)"},
    {GPUME_ROW_PARAM(OPTIONS, params.edge, edge)},
    GPUME_OPTIONS_COMPARISON(OPTIONS, params, 0),
    {GPUME_OPTION_LAMBDA(OPTIONS, search.lambda)},
    {GPUME_ROW_REAL("qp", "Q", OPTIONS, search.qp, 0, 71),
        .help = "set --lambda to 2^((Q - 12) / 6), 0 to 71", .excludes = "lambda"},
    {GPUME_ROW_PARAM(OPTIONS, asked.predictor, predictor), .type = &gpume_type_predictor,
        .complete = GPUME_COMPLETE_FILES, .reads = true},
    {GPUME_ROW_PARAM(OPTIONS, params.passes, passes)},
    {GPUME_ROW_PARAM(OPTIONS, search.distances, distances), .type = &gpume_type_distances},
    {GPUME_ROW_PARAM(OPTIONS, params.best_reference, best_reference)},
    {GPUME_ROW_PARAM(OPTIONS, params.bidirectional, bidirectional)},
    {GPUME_ROW_PARAM(OPTIONS, params.candidates, candidates)},
    {GPUME_ROW_PARAM(OPTIONS, params.confidence, confidence)},
    {GPUME_ROW_PARAM(OPTIONS, params.direction, direction), .choices = gpume_names_direction,
        .brief = "frames to search in (default past)"},
    {GPUME_ROW_CHOICE("compat", "ffmpeg", OPTIONS, asked.compat_ffmpeg, compats), .stored = 1,
        .help = "produce exactly the vectors that FFmpeg's mestimate=method=esa produces"},
    {GPUME_ROW_FLAG("against-stream", OPTIONS, against_stream),
        .help = "compare the vectors that a coded video holds with the best ones in the same "
                "frames: writes tables and a page to the output folder"},
    {GPUME_ROW_FLAG("from-stream", OPTIONS, asked.from_stream),
        .help = "write or draw the vectors that a coded video holds, without a search, as 'gpume "
                "vectors' does; needs --vectors, --overlay or --report"},
    {GPUME_ROW_PARAM(OPTIONS, asked.prefilter, prefilter), .type = &gpume_type_prefilter,
        .reads = true, .words = "gauss: box: median:3 median:5 bilateral: kernel:"},
    {.heading = "Input"},
    {GPUME_ROW("start", "N|TIME", place, OPTIONS, range.start), .max = UINT32_MAX,
        .help = "index of the first target frame, counted from 0, or its time from the first "
                "frame, such as 1:23.4 or 12.5s (default: the first that has a reference)"},
    {GPUME_ROW_NUMBER("frames", OPTIONS, asked.frames, 1, UINT32_MAX),
        .help = "number of target frames (default: all)",
        .brief = "number of target frames (default: all)"},
    {GPUME_ROW("duration", "TIME", duration, OPTIONS, range.duration_us), .excludes = "frames",
        .help = "take target frames for this long, such as 10s or 1:30, from the time of --start "
                "or from the first frame"},
    {GPUME_OPTION_PICTURES(OPTIONS, asked.source.pictures)},
    {GPUME_OPTION_VF(OPTIONS, asked.source.filter)},
    {GPUME_ROW_CHOICE("fields", "none|same|nearest", OPTIONS, fields, gpume_fields_names),
        .help = "search the fields of interlaced video, each in the nearest field of the same "
                "parity or in the nearest of all (default none: whole frames)"},
    {GPUME_OPTION_STREAM(OPTIONS, asked.source.stream)},
    {GPUME_OPTION_HWACCEL(OPTIONS, asked.source.hwaccel)},
    {GPUME_OPTION_DECODERS(OPTIONS, asked.source.decoders)},
    GPUME_OPTIONS_TRUST(OPTIONS, asked.source),
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, params.memory_max)},
    {GPUME_ROW_TIMEOUT,
        .help =
            "stop after this time and keep partial results, as after Ctrl-C (default: no limit)"},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "DIR", OPTIONS, output), .letter = 'o',
        .help = "folder for vectors.csv, frames.csv and summary.json (default: INPUT's name with "
                ".gpume in place of its extension)",
        .brief = "output folder (default: INPUT.gpume)"},
    {GPUME_ROW_FILE("vectors", "FILE", OPTIONS, vectors),
        .help =
            "write vectors to this file only: .csv .jsonl (also .csv.gz or .zst) .npy .npz .mvf "
            ".hash, a pattern such as flow%d.flo, or - for standard output",
        .brief = "write vectors to this file only, or to -"},
    {GPUME_ROW("format", "FORMAT", format, OPTIONS, asked.format),
        .help = "format of --vectors, whatever its name: csv, jsonl (also csv.gz or .zst), npy, "
                "npz, mvf, extract_mvs, mv-extractor, flo or hash (default: by its extension; csv "
                "for -)",
        .needs = "vectors"},
    GPUME_SINKS(SINK_ROW){
        GPUME_ROW_CHOICE("overlay-style", "STYLE", OPTIONS, asked.look.style, overlay_styles),
        .help = "arrows, flow, cost, blocks, confidence or return (default arrows)",
        .needs = "overlay"},
    GPUME_OPTIONS_LOOK(OPTIONS, asked.look),
    {GPUME_ROW_CHOICE(
         "residual-mode", "absolute|signed", OPTIONS, asked.residual_signed, residual_modes),
        .help = "absolute values, or signed values around middle gray (default absolute)"},
    {GPUME_ROW_REAL("gain", "G", OPTIONS, asked.gain, 0.001, 65535),
        .help = "multiply --residual and --difference by G (default 1)"},
    {GPUME_ROW_REAL("gamma", "G", OPTIONS, asked.gamma, 0.01, 100),
        .help = "after --gain, replace each value v by v^(1/G) on a scale from 0 to 1, which "
                "brightens dark values if G is above 1 (default 1)"},
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help = "report on the run: .html (interactive, with charts and pictures), .json or .csv",
        .brief = "report on the run: .html, .json or .csv"},
    {GPUME_ROW_FILE("report-dir", "DIR", OPTIONS, report_dir),
        .help = "the HTML report as a folder: DIR/index.html, and all pictures of every frame pair "
                "in files, which the page loads when it shows them"},
    {GPUME_ROW_NUMBER("report-pictures", OPTIONS, asked.report_pictures, 0, 1000),
        .help = "largest number of frame pairs with all pictures in the HTML report, 0 to 1000; "
                "fewer if the page would exceed 20 MB (default 60)"},
    {GPUME_ROW("surface", "X,Y", pixel, OPTIONS, asked.surface_x), .max = UINT32_MAX,
        .help = "write the cost of every displacement of the window for the block that holds pixel "
                "(X,Y) to surface_X_Y.csv, in the output folder if -o names one"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing outputs",
        .brief = "replace existing outputs"},
    {GPUME_ROW_FLAG("resume", OPTIONS, resume), .help = "resume an interrupted run"},
    {.heading = "Engine"},
    {GPUME_ROW_PARAM(OPTIONS, params.backend, backend),
        .brief = "engine (default auto: GPU if present)"},
    {GPUME_OPTION_DEVICES(OPTIONS, params.device)},
    {GPUME_OPTION_THREADS(OPTIONS, params.threads)},
    {GPUME_OPTION_SEARCH(OPTIONS, params.search)},
    {GPUME_ROW_PARAM(OPTIONS, params.no_elimination, no_elimination)},
    {GPUME_ROW_PARAM(OPTIONS, params.check, check)},
    {GPUME_ROW_PARAM(OPTIONS, params.validate, validate)},
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the closing summary as one JSON object"},
    {GPUME_OPTION_QUIET, .help = "print no closing summary and no progress"},
    {GPUME_OPTION_VERBOSE},
    {GPUME_OPTION_PROGRESS},
    {GPUME_OPTION_NO_PROGRESS},
    GPUME_OPTIONS_LAST_WITH("show the most used options, or with --help all every option"),
};

static void make_estimate_options(void)
{
    const size_t rows = sizeof(table) / sizeof(table[0]);
    for (size_t i = 0, row = 0; i < GPUME_SINK_COUNT && row < rows; row++) {
        if (table[row].offset == offsetof(OPTIONS, files) + i * sizeof(char *)) {
            table[row].help = gpume_named_sinks[i]->help;
            table[row].brief = gpume_named_sinks[i]->brief;
            i++;
        }
    }
}

static void set_estimate_defaults(void *opaque)
{
    struct gpume_estimate_options *options = opaque;
    gpume_params_default(&options->params);
    options->search.lambda = options->search.qp = -1;
    options->asked.source.stream = -1;
    options->asked.gain = options->asked.gamma = 1;
    options->asked.look.scale = 1;
    options->asked.report_pictures = 60;
}

/* Replaced before the run, by a function that reads the file. */
static int predict_nothing(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque;
    (void)frame;
    (void)ref;
    (void)vectors;
    return GPUME_INVALID;
}

static int apply_direction(const struct gpume_line *line, struct gpume_params *params)
{
    if (!params->bidirectional) {
        return GPUME_OK;
    }
    if (gpume_line_has(line, "direction") && params->direction != GPUME_DIRECTION_BOTH) {
        return gpume_refuse(GPUME_INVALID,
            "--bidirectional: needs past and future references; leave out --direction");
    }
    params->direction = GPUME_DIRECTION_BOTH;
    params->best_reference = true;
    return GPUME_OK;
}

static int check_used(const struct gpume_line *line, const struct gpume_params *params)
{
    const bool median = params->predictor == GPUME_PREDICTOR_MEDIAN, fractions = params->subpel > 1;
    const bool several = params->distance_count > 1 || params->direction == GPUME_DIRECTION_BOTH;
    const struct {
        const char *option, *needed;
        bool used;
    } options[] = {
        {"passes", "--predictor median", median},
        {"interpolation", "--subpel 2 or 4", fractions},
        {"subpel-search", "--subpel 2 or 4", fractions},
        {"best-reference",
            "several references; list distances in --ref-distance, or add --direction both",
            several},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (gpume_line_has(line, options[i].option) && !options[i].used) {
            return gpume_refuse(
                GPUME_INVALID, "--%s: needs %s", options[i].option, options[i].needed);
        }
    }
    return GPUME_OK;
}

static int apply_search_choice(
    struct gpume_estimate_options *options, const struct gpume_line *line)
{
    const struct gpume_search_choice *choice = &options->search;
    struct gpume_params *params = &options->params;
    gpume_shape_list_apply(&choice->shapes, params);
    gpume_distance_list_apply(&choice->distances, params);
    gpume_lambda_apply(choice->lambda, choice->qp, params);
    params->predictor = options->asked.predictor.kind;
    params->predict = options->asked.predictor.file ? predict_nothing : NULL;
    if (gpume_line_has(line, "predictor") && !params->rate) {
        return gpume_refuse(GPUME_INVALID, "--predictor: needs --lambda L or --qp Q");
    }
    const int status = apply_direction(line, params);
    return status ? status : gpume_library_check(params);
}

/* Whether the overlay needs both directions of a distance, and draws the pairs with past
 * references. */
static bool shows_return(const struct gpume_estimate_options *options)
{
    return options->asked.look.style == GPUME_OVERLAY_RETURN &&
           options->params.distance_count <= 1 && options->params.direction == GPUME_DIRECTION_BOTH;
}

/* Pictures are numbered by target frame; the HTML report is ordered by frames, each with one
 * reference on either side. */
static int check_both(const struct gpume_estimate_options *options, const char *which)
{
    for (size_t i = 0; i < GPUME_SINK_COUNT; i++) {
        if (options->files[i] && gpume_named_sinks[i]->one_per_frame &&
            !(i == GPUME_SINK_overlay && shows_return(options))) {
            return gpume_refuse(GPUME_INVALID,
                "%s: searches several references per frame, but --%s writes one picture; leave it "
                "out, add --best-reference, or run once for each reference",
                which, gpume_named_sinks[i]->name);
        }
    }
    const bool several = options->params.distance_count > 1;
    if ((gpume_estimate_has_page(options) || options->report_dir) &&
        (several || options->asked.compat_ffmpeg)) {
        return gpume_refuse(GPUME_INVALID,
            "%s: cannot be combined with an HTML report; name a .json or .csv report, add "
            "--best-reference, or run once for each %s",
            several ? "--ref-distance with a list" : which, several ? "distance" : "reference");
    }
    return GPUME_OK;
}

static int check_direction(const struct gpume_estimate_options *options)
{
    const bool both = options->params.direction == GPUME_DIRECTION_BOTH;
    const bool returns = options->asked.look.style == GPUME_OVERLAY_RETURN; /* needs both */
    const char *which = options->asked.compat_ffmpeg         ? "--compat ffmpeg"
                        : options->params.best_reference     ? NULL
                        : both && !returns                   ? "--direction both"
                        : options->params.distance_count > 1 ? "--ref-distance with a list"
                        : both                               ? "--direction both"
                                                             : NULL;
    if (which && check_both(options, which) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2 && options->params.direction != GPUME_DIRECTION_PAST) {
        return gpume_refuse(GPUME_INVALID,
            options->params.bidirectional ? "--bidirectional: needs a video, not two pictures"
                                          : "--direction %s: two pictures are reference and "
                                            "target; leave it out, or give them in "
                                            "the other order",
            gpume_names_direction[options->params.direction]);
    }
    return GPUME_OK;
}

static int check_pictures(
    const struct gpume_estimate_options *options, const struct gpume_line *line)
{
    const char *residual = options->files[GPUME_SINK_residual];
    if (gpume_line_has(line, "report-pictures") && !gpume_estimate_has_page(options)) {
        return gpume_refuse(GPUME_INVALID, "--report-pictures: needs --report FILE.html");
    }
    if (gpume_line_has(line, "overlay-style") &&
        options->asked.look.style == GPUME_OVERLAY_CONFIDENCE && !options->params.confidence) {
        return gpume_refuse(GPUME_INVALID, "--overlay-style confidence: needs --confidence");
    }
    if (options->asked.look.style == GPUME_OVERLAY_RETURN &&
        (!options->params.confidence || options->params.direction != GPUME_DIRECTION_BOTH)) {
        return gpume_refuse(
            GPUME_INVALID, "--overlay-style return: needs --confidence and --direction both");
    }
    if (gpume_check_look(&options->asked.look, line) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->asked.residual_signed && !residual) {
        return gpume_refuse(GPUME_INVALID, "--residual-mode signed: needs --residual FILE");
    }
    if ((options->asked.gain != 1 || options->asked.gamma != 1) && !residual &&
        !options->files[GPUME_SINK_difference]) {
        return gpume_refuse(GPUME_INVALID, "--%s: needs --residual FILE or --difference FILE",
            options->asked.gain != 1 ? "gain" : "gamma");
    }
    return GPUME_OK;
}

static int check_surface(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    options->asked.with_surface = gpume_line_has(line, "surface");
    const char *other = gpume_line_has(line, "prefilter") ? "prefilter"
                        : options->params.bidirectional   ? "bidirectional"
                        : options->params.best_reference  ? "best-reference"
                                                          : NULL;
    return options->asked.with_surface && other
               ? gpume_refuse(GPUME_INVALID, "--surface: cannot be combined with --%s", other)
               : GPUME_OK;
}

static int check_estimate_options(void *opaque, const struct gpume_line *line)
{
    struct gpume_estimate_options *options = opaque;
    options->asked.start = options->range.start.frame;
    options->asked.report_pictures_asked = gpume_line_has(line, "report-pictures");
    int status = gpume_source_options_check(&options->common, &options->asked.source);
    gpume_take_device_list(&options->params);
    status = status ? status : gpume_settle_engine(&options->params);
    if (status == GPUME_OK && options->asked.from_stream) {
        return gpume_from_stream_check(options, line);
    }
    if (status == GPUME_OK && options->against_stream) {
        status = gpume_against_check(options, line);
    }
    status = status ? status : fields_check(options, line);
    status = status ? status : apply_search_choice(options, line);
    if (status != GPUME_OK || options->against_stream) {
        return status;
    }
    status = check_direction(options);
    if (status == GPUME_OK && options->asked.compat_ffmpeg) {
        status = gpume_compat_apply(options, line);
    }
    status = status ? status : check_used(line, &options->params);
    status = status ? status : check_pictures(options, line);
    status = status ? status : check_surface(options, line);
    return status ? status : gpume_range_check(&options->common, &options->range);
}

static enum gpume_exit run_estimate(const void *opaque)
{
    struct gpume_estimate_options options = *(const struct gpume_estimate_options *)opaque;
    char *graph = NULL;
    if (options.fields != GPUME_FIELDS_NONE) {
        graph = gpume_fields_graph(options.asked.source.filter);
        if (!graph) {
            return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
        }
        options.asked.source.filter = graph;
    }
    enum gpume_exit result = estimate_find_times(&options);
    result = result                      ? result
             : options.asked.from_stream ? gpume_from_stream_run(&options)
             : options.against_stream    ? gpume_against_run(&options)
                                         : gpume_estimate_run(&options);
    free(graph);
    return result;
}

const struct gpume_command gpume_estimate_command = {
    .name = "estimate",
    .summary = "Exact block motion estimation: for every block of a frame, exhaustive search finds "
               "the best match in another frame, on the GPU or the CPU.",
    .usage = "INPUT [-o DIR] [options]\nREFERENCE TARGET [-o DIR] [options]",
    .about =
        "Exact block motion estimation: for every block of each frame, gpume finds the best match "
        "in a window of another frame by exhaustive search. INPUT is a video, a numbered pattern "
        "(frame%03d.png), or - for standard input; REFERENCE and TARGET are still pictures.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_estimate_options),
    .operands_min = 1,
    .operands_max = 2,
    .operands = "one video, or two still pictures",
    .catches_signals = true,
    .make_options = make_estimate_options,
    .set_defaults = set_estimate_defaults,
    .check = check_estimate_options,
    .run = run_estimate,
};
