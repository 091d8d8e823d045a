/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume vectors: writes the motion vectors that a stream holds, as its encoder chose them.
 * gpume-vectors(1) says what decoders export. Main thread only. */
#include "coded/vectors.h"

#include "base/status.h"
#include "coded/shown.h"
#include "commands.h"
#include "job.h"
#include "names.h"
#include "options/common.h"
#include "options/look.h"
#include "report/report.h"
#include "vectors/format.h"
#include "vectors/writer.h"

#include <inttypes.h>
#include <stdio.h>

struct copying {
    struct gpume_cli_job job;
    const struct gpume_coded_options *options;
    const char *output; /* NULL: only others are written */
    const struct gpume_vectors_format *format;
    struct gpume_coded coded;
    struct gpume_vectors_writer *writer; /* from the first frame with vectors on */
    struct gpume_coded_grid grid;        /* with --block */
    struct gpume_drawing drawing;
    struct gpume_reporting reporting;
    uint64_t intra, future, others; /* frames of type I, of type B, and neither */
    uint64_t interlaced;            /* frames with vectors */
    uint64_t blocks, vectors;
};

static unsigned columns_of(const struct copying *copying)
{
    return GPUME_VECTORS_REF | GPUME_VECTORS_TIME |
           (copying->options->block > 0 ? 0u : (unsigned)GPUME_VECTORS_REF2);
}

static enum gpume_exit plan_vectors(void *client)
{
    struct copying *copying = client;
    struct gpume_cli_job *job = &copying->job;
    const struct gpume_coded_options *options = copying->options;
    int status = GPUME_OK;
    copying->output =
        options->output || options->overlay || options->report ? options->output : "-";
    if (options->report && options->block == 0) {
        return gpume_refuse(GPUME_EXIT_USAGE, "--report: needs --block N");
    }
    if (copying->output) {
        const struct gpume_name_vectors vectors = {columns_of(copying), options->block > 0};
        copying->format = gpume_name_vectors_format(options->format, copying->output, vectors);
        if (!copying->format) {
            return GPUME_EXIT_USAGE;
        }
        job->shape.format = copying->format;
        job->shape.both = options->block == 0;
        status = gpume_job_add(job, gpume_sink_vectors(copying->format), copying->output);
    }
    if (status == GPUME_OK && options->overlay) {
        status = gpume_job_add(job, &gpume_sink_overlay, options->overlay);
    }
    if (status == GPUME_OK && options->report) {
        status = gpume_job_add(job, gpume_sink_report(options->report), options->report);
    }
    job->wanted.motion = true;
    job->wanted.colour = options->overlay || options->report;
    return gpume_exit_of_writer(status);
}

/* Opens what shows pictures of the frames, which are read by the last one of them. */
static enum gpume_exit open_pictures(void *client)
{
    struct copying *copying = client;
    struct gpume_cli_job *job = &copying->job;
    const struct gpume_coded_options *options = copying->options;
    int status = GPUME_OK;
    if (options->overlay) {
        copying->drawing = (struct gpume_drawing){.path = options->overlay, .look = options->look};
        copying->coded.read = gpume_drawing_read;
        copying->coded.opaque = &copying->drawing;
        GPUME_TRY(gpume_drawing_open(&copying->drawing, job->source, &job->info, &job->set));
    }
    if (options->report) {
        copying->reporting = (struct gpume_reporting){
            .path = options->report, .pictures = options->report_pictures, .block = options->block};
        copying->coded.read = gpume_reporting_read;
        copying->coded.opaque = &copying->reporting;
        GPUME_TRY(gpume_reporting_open(&copying->reporting, job->source, &job->info, &job->set));
    }
fail:
    return gpume_exit_of_writer(status);
}

static int open_writer(struct copying *copying, const struct gpume_coded_frame *frame)
{
    struct gpume_cli_job *job = &copying->job;
    const uint32_t block = copying->options->block;
    const struct gpume_vectors_info info = {
        .columns = columns_of(copying),
        .width = job->info.width,
        .height = job->info.height,
        .block_w = block,
        .block_h = block,
        .units = frame->units,
        .joined = block == 0,
    };
    const struct gpume_vectors_output output = {
        .path = copying->output,
        .format = copying->format,
        .set = &job->set,
        .processors = job->params->threads,
        .log = gpume_console,
    };
    copying->grid = (struct gpume_coded_grid){
        .side = block, .width = job->info.width, .height = job->info.height};
    if (block > 0 && gpume_coded_grid_init(&copying->grid) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    return gpume_vectors_writer_open(&copying->writer, &output, &info);
}

static int write_blocks(struct copying *copying, const struct gpume_coded_frame *frame)
{
    const bool grid = copying->options->block > 0;
    int status = copying->writer ? GPUME_OK : open_writer(copying, frame);
    if (status != GPUME_OK) {
        return status;
    }
    if (grid) {
        gpume_coded_grid_fill(&copying->grid, &copying->coded, frame);
    }
    const struct gpume_vectors_block *blocks = grid ? copying->grid.blocks : frame->blocks;
    const struct gpume_vectors_field field = {
        .frame = frame->frame,
        .ref = blocks[0].ref,
        .time_us = frame->time_us,
        .columns = columns_of(copying),
        .count = grid ? copying->grid.count : frame->count,
        .width = copying->job.info.width,
        .height = copying->job.info.height,
        .blocks = blocks,
    };
    status = gpume_vectors_writer_field(copying->writer, &field);
    return status ? status : gpume_vectors_writer_settle(copying->writer);
}

static void count_coded_blocks(struct copying *copying, const struct gpume_coded_frame *frame)
{
    copying->intra += frame->type == 'I';
    copying->future += frame->type == 'B';
    copying->others += frame->type != 'I' && frame->type != 'B';
    for (size_t i = 0; i < frame->count; i++) {
        copying->vectors += frame->blocks[i].ref2 != GPUME_VECTORS_ONE ? 2 : 1;
    }
    copying->blocks += frame->count;
    copying->interlaced += frame->interlaced && frame->count > 0;
}

static enum gpume_exit refuse_silent(const struct copying *copying)
{
    const struct gpume_cli_job *job = &copying->job;
    return gpume_coded_refuse(&job->info, job->frames, job->frames - copying->intra);
}

static enum gpume_exit write_coded_frame(
    void *client, const struct gpume_coded_frame *frame, bool *enough)
{
    struct copying *copying = client;
    const struct gpume_cli_job *job = &copying->job;
    *enough = job->frames_max > 0 && job->frames >= job->frames_max;
    count_coded_blocks(copying, frame);
    if (copying->blocks == 0 && job->frames - copying->intra >= GPUME_CODED_SILENT) {
        return refuse_silent(copying);
    }
    int status = copying->output && frame->count > 0 ? write_blocks(copying, frame) : GPUME_OK;
    if (status == GPUME_OK && copying->drawing.sink) {
        status = gpume_drawing_frame(&copying->drawing, frame);
    }
    if (status == GPUME_OK && copying->reporting.sink && frame->count > 0) {
        status = gpume_reporting_frame(&copying->reporting, &copying->coded, frame);
    }
    return gpume_exit_of_writer(status);
}

static enum gpume_exit copy_vectors(void *client)
{
    struct copying *copying = client;
    const enum gpume_exit result =
        gpume_coded_run(&copying->coded, &copying->job, write_coded_frame, copying);
    return result || copying->blocks > 0 ? result : refuse_silent(copying);
}

/* All outputs are complete before any gets its name. */
static enum gpume_exit complete_vectors(void *client)
{
    struct copying *copying = client;
    int status = copying->writer ? gpume_vectors_writer_finish(copying->writer) : GPUME_OK;
    if (status == GPUME_OK && copying->drawing.sink) {
        status = gpume_drawing_finish(&copying->drawing);
    }
    if (status == GPUME_OK && copying->reporting.sink) {
        status = gpume_reporting_finish(&copying->reporting);
    }
    return status ? gpume_exit_of_writer(status) : gpume_job_complete(&copying->job);
}

static enum gpume_exit conclude_vectors(void *client, FILE *stream)
{
    const struct copying *copying = client;
    gpume_coded_warn_interlaced(&copying->job.info, copying->interlaced);
    if (stream) {
        fprintf(stream,
            "coded        %" PRIu64 " blocks with %" PRIu64 " vectors in %" PRIu64
            " frames: %" PRIu64 " I, %" PRIu64 " P, %" PRIu64 " B\n",
            copying->blocks, copying->vectors, copying->job.frames, copying->intra, copying->others,
            copying->future);
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_coded_write(const struct gpume_coded_options *options)
{
    static const struct gpume_job_work work = {.plan = plan_vectors,
        .open = open_pictures,
        .run = copy_vectors,
        .complete = complete_vectors,
        .conclude = conclude_vectors};
    struct copying copying = {.options = options,
        .job = {.common = &options->common,
            .choice = &options->source,
            .params = &options->params,
            .frames_max = options->frames,
            .set = {.alone = true, .together = true}}};
    const enum gpume_exit result = gpume_job_run(&copying.job, &work, &copying);
    gpume_vectors_writer_close(&copying.writer);
    gpume_drawing_close(&copying.drawing);
    gpume_reporting_close(&copying.reporting);
    gpume_coded_grid_finish(&copying.grid);
    gpume_coded_finish(&copying.coded);
    gpume_job_close(&copying.job);
    return result;
}

static enum gpume_exit run_vectors(const void *options)
{
    return gpume_coded_write(options);
}

static void set_vectors_defaults(void *opaque)
{
    struct gpume_coded_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
    options->report_pictures = 26;
    options->look.scale = 1;
}

static int check_vectors_options(void *options, const struct gpume_line *line)
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
    .set_defaults = set_vectors_defaults,
    .check = check_vectors_options,
    .run = run_vectors,
};
