/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume methods: what the fast searches of FFmpeg's mestimate lose. Every frame but the first and
 * the last is searched in both its neighbours: by the library, and by each method of the filter. At
 * most three frames and two motion fields per search are in memory, and with --report one more pair
 * of frames with its fields. Main thread only.
 */
#include "base/base.h"
#include "base/os.h"
#include "console.h"
#include "files/path.h"
#include "host.h"
#include "job.h"
#include "media/ffmpeg.h"
#include "methods/searches.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_MAX 256

/* Frame pairs of which the exact search is timed as the filter's methods run: on one thread, in C
 * without vector instructions. That tries every candidate in full, so its time does not depend on
 * the content. */
#define PLAIN_PAIRS 4u

struct methods_options {
    struct gpume_video_options video;
    const char *report; /* NULL: not given */
    uint32_t block, window;
};

/* The searches in the order of the table; those between exact and none are methods of the filter.
 */
static const char *const names[] = {
    "exact", "esa", "tss", "tdls", "ntss", "fss", "ds", "hexbs", "epzs", "umh", "none"};

#define FRAMES 3u

enum { EXACT, FIRST, ROWS = GPUME_METHODS_ROWS, NONE = ROWS - 1, METHODS = NONE - FIRST };
_Static_assert(sizeof(names) / sizeof(names[0]) == ROWS, "a name for each");

struct methods {
    struct gpume_cli_job job;
    const struct methods_options *options;
    struct gpume_out *page; /* NULL: not wanted */
    struct gpume_params params;
    gpume *plain;                  /* searches the first frames as the filter's methods do */
    struct gpume_tally plain_time; /* its ns and pairs */
    char engine[192];
    struct gpume_mestimate *filters[METHODS];
    uint32_t blocks;
    uint8_t *samples;                  /* of all frames, */
    struct gpume_vector *vectors;      /* and all vectors */
    struct gpume_plane planes[FRAMES]; /* the newest frames, by number modulo FRAMES */
    struct gpume_vector *next;         /* exact, of the newest frame into the past */
    /* Of the frame before, by each search, into the past and the future; that of EXACT is exact. */
    struct gpume_vector *found[ROWS];
    struct gpume_tally tallies[ROWS];
    struct gpume_methods_row rows[ROWS]; /* of the table, in the end */
    struct gpume_worst worst;
};

static bool allocate(struct methods *methods)
{
    const struct gpume_params *params = &methods->params;
    struct gpume_worst *worst = &methods->worst;
    const size_t pixels = (size_t)params->width * params->height;
    const uint32_t blocks = params->width / params->block * (params->height / params->block);
    methods->blocks = worst->blocks = blocks;
    worst->block = params->block;
    methods->samples = malloc((FRAMES + 2) * pixels);
    methods->vectors = calloc((3 * ROWS + 1) * (size_t)blocks, sizeof(*methods->vectors));
    bool done = methods->samples && methods->vectors;
    struct gpume_vector *at = methods->vectors;
    for (size_t i = 0; i < ROWS && done; i++) {
        methods->found[i] = at;
        worst->vectors[i] = at + 2 * (size_t)blocks;
        at += 3 * (size_t)blocks;
        done = gpume_tally_init(&methods->tallies[i], params->window_x);
    }
    methods->next = at;
    for (uint32_t i = 0; i < FRAMES + 2 && done; i++) {
        struct gpume_plane *plane = i < FRAMES ? &methods->planes[i] : &worst->planes[i - FRAMES];
        *plane = (struct gpume_plane){.data = methods->samples + i * pixels,
            .stride = params->width,
            .width = params->width,
            .height = params->height,
            .bits = 8};
    }
    return done;
}

static enum gpume_exit open_searches(struct methods *methods)
{
    struct gpume_info info = {0};
    const int status = gpume_open(&methods->job.ctx, &methods->params);
    if (status == GPUME_OK) {
        gpume_get_info(methods->job.ctx, &info);
    }
    snprintf(methods->engine, sizeof(methods->engine), "%s, %s", info.device ? info.device : "",
        info.search ? info.search : "");
    enum gpume_exit result = gpume_job_opened(&methods->job, status, info.device);
    struct gpume_params plain = methods->params;
    plain.backend = GPUME_BACKEND_CPU;
    plain.device = plain.devices = NULL;
    plain.threads = 1;
    plain.search = "plain";
    if (result == GPUME_EXIT_DONE && gpume_open(&methods->plain, &plain) != GPUME_OK) {
        result = GPUME_EXIT_FAILED;
    }
    for (size_t i = 0; i < METHODS && result == GPUME_EXIT_DONE; i++) {
        const int failed =
            gpume_mestimate_open(&methods->filters[i], &methods->params, names[FIRST + i]);
        result = failed ? GPUME_EXIT_FAILED : GPUME_EXIT_DONE;
    }
    return result;
}

static int check_methods_page(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_name_is_stdout(path)
               ? gpume_refuse(GPUME_INVALID,
                     "--report %s: the table goes to standard output; name a file", path)
               : gpume_text_check_named(path, "report", ".html", log);
}

static const struct gpume_sink_ops page_ops = {.name = "methods page", .check = check_methods_page};

/* Without -o the table is printed as a summary. */
static enum gpume_exit plan_methods(void *client)
{
    struct methods *methods = client;
    const char *output = methods->job.output, *report = methods->options->report;
    int status = output ? gpume_job_add(&methods->job, NULL, output) : GPUME_OK;
    status = status || !report ? status : gpume_job_add(&methods->job, &page_ops, report);
    if (!output) {
        gpume_signals_end_with_reader();
    }
    return gpume_exit_of_writer(status);
}

static enum gpume_exit open_methods(void *opaque)
{
    struct methods *methods = opaque;
    const struct methods_options *options = methods->options;
    const struct gpume_source_info *info = &methods->job.info;
    struct gpume_params *params = &methods->params;
    *params = options->video.params;
    params->width = info->width;
    params->height = info->height;
    params->bits = info->bits;
    params->block = options->block;
    params->window_x = params->window_y = options->window;
    params->edge = GPUME_EDGE_INSIDE;
    params->direction = GPUME_DIRECTION_MANUAL;
    params->cache_dir = gpume_host_cache_folder();
    params->log = gpume_library_log;
    const char *obstacle = gpume_mestimate_obstacle(params);
    if (obstacle) {
        return gpume_refuse(GPUME_EXIT_INPUT, "%s: FFmpeg's mestimate cannot search it: %s%s",
            info->label, obstacle, info->bits != 8 ? "; add --vf format=gray" : "");
    }
    params->width = params->width / params->block * params->block;
    params->height = params->height / params->block * params->block;
    enum gpume_exit result = GPUME_EXIT_DONE;
    if (options->report) {
        const size_t last = methods->job.output_count - 1;
        result = gpume_job_open_output(&methods->job, last);
        methods->page = methods->job.outputs[last].out;
    }
    if (result == GPUME_EXIT_DONE && !allocate(methods)) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for its vectors", info->label);
    }
    return result ? result : open_searches(methods);
}

/* Searches one frame in another and copies the vectors. */
static int search_exactly(gpume *ctx, const struct methods *methods, uint64_t target,
    uint64_t reference, struct gpume_vector *vectors)
{
    const struct gpume_task task = {.size = sizeof(task), .target = target, .reference = reference};
    const struct gpume_field *field;
    GPUME_CHECK(gpume_search(ctx, &task));
    GPUME_CHECK(gpume_receive(ctx, &field, GPUME_WAIT));
    memcpy(vectors, field->vectors, methods->blocks * sizeof(*vectors));
    gpume_field_release(&field);
    return GPUME_OK;
}

/* The newest frame in the one before, timed. The vectors are those of the exact search. */
static int take_plain(struct methods *methods, uint64_t frame, int64_t time_us)
{
    if (methods->plain_time.pairs == PLAIN_PAIRS) {
        return GPUME_OK;
    }
    const uint64_t start = gpume_clock_ns();
    GPUME_CHECK(gpume_send_plane(methods->plain, &methods->planes[frame % FRAMES], time_us));
    if (frame > 0) {
        GPUME_CHECK(
            search_exactly(methods->plain, methods, frame, frame - 1, methods->found[NONE]));
        methods->plain_time.pairs++;
        methods->plain_time.ns += gpume_clock_ns() - start;
        memset(methods->found[NONE], 0, methods->blocks * sizeof(*methods->found[NONE]));
    }
    return GPUME_OK;
}

/* The newest frame in the one before, and that one in the newest. */
static int take_exact(struct methods *methods, uint64_t frame, int64_t time_us)
{
    const uint64_t start = gpume_clock_ns();
    GPUME_CHECK(gpume_send_plane(methods->job.ctx, &methods->planes[frame % FRAMES], time_us));
    if (frame > 0) {
        memcpy(methods->found[EXACT], methods->next, methods->blocks * sizeof(*methods->next));
        GPUME_CHECK(search_exactly(methods->job.ctx, methods, frame, frame - 1, methods->next));
        GPUME_CHECK(search_exactly(
            methods->job.ctx, methods, frame - 1, frame, methods->found[EXACT] + methods->blocks));
    }
    if (frame > 1) {
        methods->tallies[EXACT].ns += gpume_clock_ns() - start;
    }
    return GPUME_OK;
}

/* The frame before the newest, searched in the one before it or in the newest. */
static struct gpume_tally_pair pair_of(
    const struct methods *methods, size_t row, uint64_t frame, uint32_t ahead)
{
    return (struct gpume_tally_pair){
        .target = &methods->planes[(frame - 1) % FRAMES],
        .reference = &methods->planes[(frame - 2 + 2 * ahead) % FRAMES],
        .block = methods->params.block,
        .vectors = methods->found[row] + (size_t)ahead * methods->blocks,
        .exact = methods->found[EXACT] + (size_t)ahead * methods->blocks,
    };
}

/* Adds what a search found. *sad: of this pair. */
static int add(struct methods *methods, size_t row, uint64_t frame, uint32_t ahead, uint64_t *sad)
{
    struct gpume_tally *tally = &methods->tallies[row];
    const struct gpume_tally_pair pair = pair_of(methods, row, frame, ahead);
    const uint64_t before = tally->sad;
    if (!gpume_tally_fits(&pair, methods->params.window_x)) {
        return gpume_refuse(GPUME_IO,
            "frame %" PRIu64 ": mestimate=method=%s gives vectors that lead out of the picture or "
            "the window",
            frame - 1, names[row]);
    }
    gpume_tally_add(tally, &pair);
    *sad = tally->sad - before;
    return GPUME_OK;
}

/* Keeps the pair for the page if the methods lose more in it than in those before. */
static void keep_worst(struct methods *methods, uint64_t frame, uint32_t ahead, uint64_t loss)
{
    struct gpume_worst *worst = &methods->worst;
    if (!methods->page || (worst->found && loss <= worst->loss)) {
        return;
    }
    worst->found = true;
    worst->loss = loss;
    worst->target = frame - 1;
    worst->reference = frame - 2 + 2 * ahead;
    for (size_t row = 0; row < ROWS; row++) {
        memcpy(worst->vectors[row], pair_of(methods, row, frame, ahead).vectors,
            worst->blocks * sizeof(*worst->vectors[row]));
    }
    const size_t pixels = (size_t)methods->params.width * methods->params.height;
    memcpy(worst->planes[0].data, methods->planes[worst->target % FRAMES].data, pixels);
    memcpy(worst->planes[1].data, methods->planes[worst->reference % FRAMES].data, pixels);
}

static int add_all(struct methods *methods, uint64_t frame)
{
    for (uint32_t ahead = 0; ahead < 2; ahead++) {
        uint64_t least = 0, sad = 0, loss = 0;
        GPUME_CHECK(add(methods, EXACT, frame, ahead, &least));
        for (size_t row = FIRST; row < NONE; row++) {
            GPUME_CHECK(add(methods, row, frame, ahead, &sad));
            loss += sad - least;
        }
        GPUME_CHECK(add(methods, NONE, frame, ahead, &sad));
        keep_worst(methods, frame, ahead, loss);
    }
    return GPUME_OK;
}

static int take_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct methods *methods = opaque;
    const uint64_t frame = methods->job.frames - 1;
    const struct gpume_plane *plane = &methods->planes[frame % FRAMES];
    gpume_plane_copy(plane, luma);
    GPUME_CHECK(take_exact(methods, frame, time_us));
    GPUME_CHECK(take_plain(methods, frame, time_us));
    for (size_t row = FIRST; row < NONE; row++) {
        GPUME_CHECK(gpume_mestimate_next(
            methods->filters[row - FIRST], plane, methods->found[row], &methods->tallies[row].ns));
    }
    return frame > 1 ? add_all(methods, frame) : GPUME_OK;
}

#define ROW struct gpume_methods_row
static const struct gpume_column columns[] = {
    {GPUME_COLUMN("method", ROW, method), .title = "method", .width = 8, .heading = "search"},
    {GPUME_COLUMN("frame_pairs", ROW, frame_pairs)},
    {GPUME_COLUMN("blocks", ROW, blocks)},
    {GPUME_COLUMN("pixels", ROW, pixels)},
    {GPUME_COLUMN("sad", ROW, sad)},
    {GPUME_COLUMN("sse", ROW, sse)},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3, .title = "PSNR, dB", .width = 8, .shown = 3},
    {GPUME_COLUMN(NULL, ROW, loss), .unknown = GPUME_IF_MISSING, .title = "loss", .width = 8,
        .shown = 3, .style = GPUME_STYLE_SIGNED, .heading = "difference, dB", .blank = "-"},
    {GPUME_COLUMN("sad_per_pixel", ROW, sad_per_pixel), .decimals = 6, .title = "SAD/pixel",
        .width = 9, .shown = 4, .heading = "SAD per pixel"},
    {GPUME_COLUMN("bits_per_vector", ROW, bits_per_vector), .decimals = 6, .title = "bits/vec",
        .width = 8, .shown = 3, .heading = "bits per vector"},
    {GPUME_COLUMN(NULL, ROW, same), .title = "same vec", .width = 10, .shown = 2, .unit = " %",
        .heading = "exact vector, %"},
    {GPUME_COLUMN(NULL, ROW, good), .title = "as good", .width = 10, .shown = 2, .unit = " %",
        .heading = "as good, %"},
    {GPUME_COLUMN("vectors_equal", ROW, vectors_equal)},
    {GPUME_COLUMN("as_good", ROW, as_good)},
    {GPUME_COLUMN("ms_per_pair", ROW, ms_per_pair), .decimals = 3, .unknown = GPUME_IF_MISSING,
        .title = "ms/pair", .width = 10, .shown = 2, .heading = "ms per pair"},
    {GPUME_COLUMN("ms_plain", ROW, ms_plain), .decimals = 3, .unknown = GPUME_IF_MISSING,
        .title = "plain C", .width = 8, .shown = 2, .heading = "ms, one thread of plain C"},
};
static const struct gpume_table method_table = {GPUME_TABLE(columns, ROW), .gap = 1};

static double per_unit(uint64_t sum, uint64_t count)
{
    return (double)sum / (double)count;
}

/* All frame pairs have been added. */
static void fill_rows(struct methods *methods)
{
    const struct gpume_tally *exact = &methods->tallies[EXACT];
    for (size_t i = 0; i < ROWS; i++) {
        const struct gpume_tally *tally = &methods->tallies[i];
        const double psnr = gpume_psnr(8, tally->pixels, tally->sse);
        const double best = gpume_psnr(8, exact->pixels, exact->sse);
        const bool has_loss = exact->sse > 0 && tally->sse > 0;
        const struct gpume_tally *plain = i == EXACT ? &methods->plain_time : tally;
        methods->rows[i] = (ROW){
            .method = names[i],
            .frame_pairs = tally->pairs,
            .blocks = tally->blocks,
            .pixels = tally->pixels,
            .sad = tally->sad,
            .sse = tally->sse,
            .vectors_equal = tally->equal,
            .as_good = tally->as_good,
            .psnr = psnr,
            .loss = has_loss ? psnr - best : (double)NAN,
            .sad_per_pixel = per_unit(tally->sad, tally->pixels),
            .bits_per_vector = gpume_tally_bits(tally),
            .same = 100 * per_unit(tally->equal, tally->blocks),
            .good = 100 * per_unit(tally->as_good, tally->blocks),
            .ms_per_pair = tally->ns > 0 ? per_unit(tally->ns, tally->pairs) / 1e6 : (double)NAN,
            .ms_plain = plain->ns > 0 ? per_unit(plain->ns, plain->pairs) / 1e6 : (double)NAN,
        };
    }
}

static enum gpume_exit write_methods_page(const struct methods *methods)
{
    const struct gpume_methods_page page = {
        .input = methods->job.info.label,
        .label = methods->options->report,
        .engine = methods->engine,
        .window = methods->params.window_x,
        .table = &method_table,
        .rows = methods->rows,
        .worst = &methods->worst,
    };
    return gpume_exit_of_writer(gpume_methods_page_write(methods->page, &page));
}

static enum gpume_exit finish(void *opaque)
{
    struct methods *methods = opaque;
    if (methods->job.frames < FRAMES) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has %" PRIu64 " frame%s; at least three are needed, to search the second in both "
            "its neighbours",
            methods->job.info.label, methods->job.frames, gpume_plural(methods->job.frames));
    }
    fill_rows(methods);
    if (methods->job.output) {
        gpume_table_csv_head(&method_table, methods->job.outputs[0].out);
        gpume_table_csv(&method_table, methods->rows, ROWS, methods->job.outputs[0].out);
    }
    return methods->page ? write_methods_page(methods) : GPUME_EXIT_DONE;
}

static enum gpume_exit conclude_methods(void *client, FILE *stream)
{
    const struct methods *methods = client;
    const uint64_t pairs = methods->tallies[EXACT].pairs;
    if (!stream) {
        return GPUME_EXIT_DONE;
    }
    fprintf(stream,
        "%" PRIu64 " frame pair%s of %" PRIu32 "x%" PRIu32 " (%" PRIu64
        " frame%s with the one before and the one after), %" PRIu32 " block%s each, window %" PRIu32
        "\n",
        pairs, gpume_plural(pairs), methods->params.width, methods->params.height, pairs / 2,
        pairs == 2 ? "" : "s, each", methods->blocks, gpume_plural(methods->blocks),
        methods->params.window_x);
    gpume_table_print(&method_table, methods->rows, ROWS, stream, gpume_console_bold(stream),
        gpume_console_plain(stream));
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_methods(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_methods,
        .open = open_methods,
        .take = take_frame,
        .finish = finish,
        .conclude = conclude_methods};
    const struct methods_options *options = opaque;
    struct methods methods = {.options = options, .job = gpume_job_of(&options->video)};
    /* Those that are searched, and their neighbours at both ends. */
    methods.job.frames_max = options->video.frames > 0 ? options->video.frames + 2 : 0;
    const enum gpume_exit result = gpume_job_run(&methods.job, &work, &methods);
    gpume_job_close(&methods.job);
    (void)gpume_close(&methods.plain);
    for (size_t i = 0; i < METHODS; i++) {
        gpume_mestimate_close(&methods.filters[i]);
    }
    for (size_t i = 0; i < ROWS; i++) {
        gpume_tally_finish(&methods.tallies[i]);
    }
    free(methods.samples);
    free(methods.vectors);
    return result;
}

static void set_methods_defaults(void *opaque)
{
    struct methods_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->block = 16;
    options->window = 7;
}

static int check(void *opaque, const struct gpume_line *line)
{
    const struct methods_options *options = opaque;
    if ((options->block & (options->block - 1)) != 0) {
        return gpume_refuse(GPUME_INVALID,
            "--block %" PRIu32 ": must be 8, 16, 32, 64 or 128, as FFmpeg's mestimate has it",
            options->block);
    }
    const char *output = options->video.output ? options->video.output : "";
    const size_t bytes = strlen(output);
    if (bytes > 5 && strcmp(output + bytes - 5, ".html") == 0) {
        return gpume_refuse(GPUME_INVALID, "--output %s: is a CSV table; --report %s writes a page",
            output, output);
    }
    GPUME_CHECK(gpume_name_check_kind(options->video.output, "CSV", ".csv"));
    return gpume_video_options_check(opaque, line);
}

#define OPTIONS struct methods_options

static struct gpume_option table[] = {
    {.heading = "Search"},
    {GPUME_ROW_NUMBER("block", OPTIONS, block, 8, GPUME_BLOCK_MAX), .letter = 'b',
        .help = "side of the blocks: 8, 16, 32, 64 or 128 (default 16)"},
    {GPUME_ROW_NUMBER("window", OPTIONS, window, 4, WINDOW_MAX), .letter = 'w',
        .help = "largest displacement in pixels, 4 to 256 (default 7)"},
    GPUME_OPTIONS_VIDEO(OPTIONS, video),
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help =
            "write a page, .html, with the table, a chart, and pictures of the frame pair where "
            "the methods lose most"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, video),
};

const struct gpume_command gpume_methods_command = {
    .name = "methods",
    .summary = "show what fast searches lose against the exact one",
    .usage = "methods INPUT [-o FILE.csv] [--report FILE.html] [options]",
    .about = "Searches a video exactly and by every method of FFmpeg's mestimate, and compares "
             "their predictions, their vectors and their times.",
    GPUME_COMMAND_OPTIONS(table, struct methods_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_methods_defaults,
    .check = check,
    .run = run_methods,
};
