/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume vectors: writes the motion vectors that a stream holds, as its encoder chose them.
 * gpume-vectors(1) says what decoders export. Main thread only. */
#include "coded/vectors.h"

#include "base/status.h"
#include "coded/coded_grid.h"
#include "coded/drawing.h"
#include "coded/reporting.h"
#include "commands.h"
#include "console.h"
#include "files/text_file.h"
#include "names.h"
#include "options/common.h"
#include "options/look.h"
#include "progress.h"
#include "report/report.h"
#include "signals.h"
#include "sinks/sink.h"
#include "vectors/format.h"
#include "vectors/writer.h"
#include "video.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct job {
    const struct gpume_coded_options *options;
    const char *output; /* NULL: only others are written */
    const struct gpume_vectors_format *format;
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_coded coded;
    struct gpume_out_set set;
    struct gpume_vectors_writer *writer; /* from the first frame with vectors on */
    struct gpume_coded_grid grid;        /* with --block */
    struct gpume_drawing drawing;
    struct gpume_reporting reporting;
    struct gpume_progress progress;
    uint64_t frames, intra, future, others; /* all; of type I, of type B, and neither */
    uint64_t interlaced;                    /* frames with vectors */
    uint64_t blocks, vectors;
};

/* ops, shape: of the sink that such an output has, for its name. */
static enum gpume_exit check_name(const struct job *job, const struct gpume_sink_ops *ops,
    const char *path, const struct gpume_sink_shape *shape)
{
    const struct gpume_common_options *common = &job->options->common;
    if (ops->check(path, shape, &gpume_console) != GPUME_OK ||
        gpume_name_is_input(common->inputs, common->input_count, path) ||
        gpume_text_check_new(
            path, gpume_sink_is_series(ops, path), common->overwrite, &gpume_console) != GPUME_OK) {
        return GPUME_EXIT_USAGE;
    }
    return GPUME_EXIT_DONE;
}

static unsigned columns_of(const struct job *job)
{
    return GPUME_VECTORS_REF | GPUME_VECTORS_TIME |
           (job->options->block > 0 ? 0u : (unsigned)GPUME_VECTORS_REF2);
}

static enum gpume_exit check_output(struct job *job)
{
    const struct gpume_name_vectors vectors = {columns_of(job), job->options->block > 0};
    job->format = gpume_name_vectors_format(job->options->format, job->output, vectors);
    if (!job->format) {
        return GPUME_EXIT_USAGE;
    }
    const struct gpume_sink_shape shape = {.format = job->format, .both = job->options->block == 0};
    return check_name(job, gpume_sink_vectors(job->format), job->output, &shape);
}

static enum gpume_exit check_outputs(struct job *job)
{
    const struct gpume_coded_options *options = job->options;
    const struct gpume_sink_shape shape = {0};
    enum gpume_exit result = GPUME_EXIT_DONE;
    job->output = options->output || options->overlay || options->report ? options->output : "-";
    if (options->report && options->block == 0) {
        return gpume_refuse(GPUME_EXIT_USAGE, "--report: needs --block N");
    }
    if (job->output) {
        result = check_output(job);
    }
    if (result == GPUME_EXIT_DONE && options->overlay) {
        result = check_name(job, &gpume_sink_overlay, options->overlay, &shape);
    }
    if (result == GPUME_EXIT_DONE && options->report) {
        result = check_name(job, gpume_sink_report(options->report), options->report, &shape);
    }
    if (result == GPUME_EXIT_DONE && (gpume_name_is_twice(job->output, options->overlay) ||
                                         gpume_name_is_twice(job->output, options->report) ||
                                         gpume_name_is_twice(options->overlay, options->report))) {
        return GPUME_EXIT_USAGE;
    }
    return result;
}

static enum gpume_exit open_source(struct job *job)
{
    const struct gpume_coded_options *options = job->options;
    struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &options->source, &options->params);
    wanted.motion = true;
    wanted.colour = options->overlay || options->report;
    const int status = gpume_source_open_inputs(&job->source, &wanted, &job->info);
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    job->coded.source = job->source;
    gpume_progress_init(&job->progress, &options->common, job->info.frames);
    job->progress.unit = "frames";
    return GPUME_EXIT_DONE;
}

/* Those that show pictures of the frames, which are read by the last one of them. */
static int open_pictures(struct job *job)
{
    int status = GPUME_OK;
    const struct gpume_coded_options *options = job->options;
    if (options->overlay) {
        job->drawing = (struct gpume_drawing){.path = options->overlay, .look = options->look};
        job->coded.read = gpume_drawing_read;
        job->coded.opaque = &job->drawing;
        GPUME_TRY(gpume_drawing_open(&job->drawing, job->source, &job->info, &job->set));
    }
    if (options->report) {
        job->reporting = (struct gpume_reporting){
            .path = options->report, .pictures = options->report_pictures, .block = options->block};
        job->coded.read = gpume_reporting_read;
        job->coded.opaque = &job->reporting;
        GPUME_TRY(gpume_reporting_open(&job->reporting, job->source, &job->info, &job->set));
    }
fail:
    return status;
}

static int open_writer(struct job *job, const struct gpume_coded_frame *frame)
{
    const struct gpume_vectors_info info = {
        .columns = columns_of(job),
        .width = job->info.width,
        .height = job->info.height,
        .block_w = job->options->block,
        .block_h = job->options->block,
        .units = frame->units,
        .joined = job->options->block == 0,
    };
    const struct gpume_vectors_output output = {
        .path = job->output,
        .format = job->format,
        .set = &job->set,
        .processors = job->options->params.threads,
        .log = gpume_console,
    };
    job->grid = (struct gpume_coded_grid){
        .side = job->options->block, .width = job->info.width, .height = job->info.height};
    if (job->options->block > 0 && gpume_coded_grid_init(&job->grid) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    return gpume_vectors_writer_open(&job->writer, &output, &info);
}

static int write_blocks(struct job *job, const struct gpume_coded_frame *frame)
{
    const bool grid = job->options->block > 0;
    int status = job->writer ? GPUME_OK : open_writer(job, frame);
    if (status != GPUME_OK) {
        return status;
    }
    if (grid) {
        gpume_coded_grid_fill(&job->grid, &job->coded, frame);
    }
    const struct gpume_vectors_block *blocks = grid ? job->grid.blocks : frame->blocks;
    const struct gpume_vectors_field field = {
        .frame = frame->frame,
        .ref = blocks[0].ref,
        .time_us = frame->time_us,
        .columns = columns_of(job),
        .count = grid ? job->grid.count : frame->count,
        .width = job->info.width,
        .height = job->info.height,
        .blocks = blocks,
    };
    status = gpume_vectors_writer_field(job->writer, &field);
    return status ? status : gpume_vectors_writer_settle(job->writer);
}

static void count_blocks(struct job *job, const struct gpume_coded_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        job->vectors += frame->blocks[i].ref2 != GPUME_VECTORS_ONE ? 2 : 1;
    }
    job->blocks += frame->count;
    job->interlaced += frame->interlaced && frame->count > 0;
}

static enum gpume_exit refuse_silent(const struct job *job)
{
    return gpume_coded_refuse(&job->info, job->frames, job->frames - job->intra);
}

static enum gpume_exit take_frame(struct job *job, const struct gpume_coded_frame *frame)
{
    job->frames++;
    job->intra += frame->type == 'I';
    job->future += frame->type == 'B';
    job->others += frame->type != 'I' && frame->type != 'B';
    gpume_progress_step(&job->progress, job->frames, (double)NAN);
    count_blocks(job, frame);
    if (job->blocks == 0 && job->frames - job->intra >= GPUME_CODED_SILENT) {
        return refuse_silent(job);
    }
    int status = job->output && frame->count > 0 ? write_blocks(job, frame) : GPUME_OK;
    if (status == GPUME_OK && job->drawing.sink) {
        status = gpume_drawing_frame(&job->drawing, frame);
    }
    if (status == GPUME_OK && job->reporting.sink && frame->count > 0) {
        status = gpume_reporting_frame(&job->reporting, &job->coded, frame);
    }
    return gpume_exit_of_writer(status);
}

static bool wants_more(const struct job *job)
{
    return job->options->frames == 0 || job->frames < job->options->frames;
}

static enum gpume_exit copy(struct job *job)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    const struct gpume_coded_frame *frame = NULL;
    int status = gpume_coded_next(&job->coded, &frame);
    while (status == GPUME_OK && result == GPUME_EXIT_DONE && frame) {
        result = take_frame(job, frame);
        frame = NULL;
        status = result || !wants_more(job) ? status : gpume_coded_next(&job->coded, &frame);
    }
    gpume_progress_finish(&job->progress, job->frames);
    if (gpume_signals_caught()) {
        gpume_signals_say_interrupted();
        return GPUME_EXIT_FAILED;
    }
    result = result ? result : gpume_source_exit(status);
    return result || job->blocks > 0 ? result : refuse_silent(job);
}

static bool to_stdout(const struct job *job)
{
    const char *const names[] = {job->output, job->options->overlay, job->options->report};
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        found = found || (names[i] && gpume_text_is_stdout(names[i]));
    }
    return found;
}

static enum gpume_exit conclude(const struct job *job)
{
    gpume_coded_warn_interlaced(&job->info, job->interlaced);
    const char *const names[] = {job->output, job->options->overlay, job->options->report};
    if (job->options->common.verbosity >= 0 && !to_stdout(job)) {
        printf("coded        %" PRIu64 " blocks with %" PRIu64 " vectors in %" PRIu64
               " frames: %" PRIu64 " I, %" PRIu64 " P, %" PRIu64 " B\n",
            job->blocks, job->vectors, job->frames, job->intra, job->others, job->future);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (names[i]) {
                gpume_console_print_written(names[i], stdout);
            }
        }
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

/* All outputs are complete before any gets its name. */
static int finish(struct job *job)
{
    int status = job->writer ? gpume_vectors_writer_finish(job->writer) : GPUME_OK;
    if (status == GPUME_OK && job->drawing.sink) {
        status = gpume_drawing_finish(&job->drawing);
    }
    if (status == GPUME_OK && job->reporting.sink) {
        status = gpume_reporting_finish(&job->reporting);
    }
    return status ? status : gpume_out_set_name(&job->set, &gpume_console);
}

static enum gpume_exit work(struct job *job)
{
    enum gpume_exit result = check_outputs(job);
    gpume_signals_keep();
    if (to_stdout(job) && !!job->output + !!job->options->overlay + !!job->options->report == 1) {
        gpume_signals_end_with_reader();
    }
    result = result ? result : open_source(job);
    if (result == GPUME_EXIT_DONE) {
        gpume_signals_attach(NULL, job->source);
        result = gpume_exit_of_writer(open_pictures(job));
        result = result ? result : copy(job);
        gpume_signals_detach();
    }
    if (result == GPUME_EXIT_DONE) {
        result = gpume_exit_of_writer(finish(job));
    }
    return result ? result : conclude(job);
}

enum gpume_exit gpume_coded_write(const struct gpume_coded_options *options)
{
    struct job job = {.options = options,
        .set = {.overwrite = options->common.overwrite, .alone = true, .together = true}};
    const enum gpume_exit result = work(&job);
    gpume_vectors_writer_close(&job.writer);
    gpume_drawing_close(&job.drawing);
    gpume_reporting_close(&job.reporting);
    gpume_coded_grid_finish(&job.grid);
    gpume_coded_finish(&job.coded);
    gpume_source_close(&job.source);
    return result;
}

static enum gpume_exit run(const void *options)
{
    return gpume_coded_write(options);
}

static void set_defaults(void *opaque)
{
    struct gpume_coded_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
    options->report_pictures = 26;
    options->look.scale = 1;
}

static int check(void *options, const struct gpume_line *line)
{
    return gpume_check_look(&((const struct gpume_coded_options *)options)->look, line);
}

#define OPTIONS struct gpume_coded_options

static const char *const styles[] = {"arrows", "flow", NULL};

static struct gpume_option table[] = {
    {.heading = "Vectors"},
    {GPUME_OPTION_SIDE(OPTIONS, block),
        .help = "write one vector per square of this side, a multiple of 4 from 4 to 128: the past "
                "vector of the block that covers its middle, (0,0) where there is none (default: "
                "blocks as coded)"},
    {.heading = "Input"},
    {GPUME_OPTION_VIDEO_FRAMES(OPTIONS, frames)},
    {GPUME_OPTION_STREAM(OPTIONS, source.stream)},
    GPUME_OPTIONS_TRUST(OPTIONS, source),
    {GPUME_OPTION_THREADS(OPTIONS, params.threads)},
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, output), .letter = 'o',
        .help = "write to this file: .csv .jsonl (also .csv.gz or .zst) .npy, with --block also "
                ".npz .mvf and flow%d.flo "
                "(default: standard output)"},
    {GPUME_ROW("format", "FORMAT", format, OPTIONS, format),
        .help = "format of the output, whatever its name: csv, jsonl (also csv.gz or .zst), npy, "
                "extract_mvs, mv-extractor, npz, mvf or flo (default: by its extension; csv for "
                "standard output)"},
    {GPUME_ROW_FILE("overlay", "FILE", OPTIONS, overlay),
        .help = "draw the vectors on the frames in colour: .y4m .mkv .nut .mp4, - for standard "
                "output, or a pattern (.png .ppm .bmp .jpg); without -o nothing else is written"},
    {GPUME_ROW_CHOICE("overlay-style", "arrows|flow", OPTIONS, look.style, styles),
        .help = "arrows, or blocks tinted by direction and length (default arrows)",
        .needs = "overlay"},
    GPUME_OPTIONS_LOOK(OPTIONS, look),
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help = "report on the vectors: .html (interactive, with charts and pictures), .json or "
                ".csv; without -o nothing else is written",
        .needs = "block"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing outputs"},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("print no closing summary and no progress", "show this help"),
};

const struct gpume_command gpume_vectors_command = {
    .name = "vectors",
    .summary = "write the motion vectors that a coded video holds",
    .usage = "vectors INPUT [-o FILE] [options]",
    .about = "Writes the motion vectors that the encoder of a video chose, without any search: "
             "blocks of several sizes, past and future references, quarter pixels. FFmpeg's "
             "decoders export them for H.264, MPEG-1, MPEG-2, MPEG-4, H.263 and their relatives.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_coded_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_defaults,
    .check = check,
    .run = run,
};
