/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the motion vectors that a stream holds, as its encoder chose them: gpume vectors, and
 * gpume INPUT --from-stream. They go to a file, are drawn on the frames, and are reported on.
 * gpume-vectors(1) says what decoders export. Main thread only.
 */
#include "estimate/estimate.h"

#include "base/base.h"
#include "base/os.h"
#include "coded/coded.h"
#include "job.h"
#include "options/common.h"
#include "options/option.h"
#include "report/report.h"
#include "sinks/summary.h"
#include "vectors/format.h"
#include "vectors/vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer vectors are drawn as long as this, in pixels: most are short, and arrows and colours are
 * told apart by the length in relation to the longest. */
#define DRAWN_LONGEST 32
/* Vectors are reported as far as this, in pixels: four times as far as most encoders search. */
#define REPORTED_LONGEST 128
#define REPORTED_SIDE 16u   /* of a square, unless --block says otherwise */
#define REPORTED_PLANES 48u /* frames that are kept: those read ahead, and references */

static int take_shown_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    const int status = gpume_source_take_colour(source, frame, rgb);
    return status == GPUME_UNSUPPORTED ? GPUME_INVALID : status; /* it is the input */
}

/* --- the grid */

/* The past vectors of a coded frame on a grid of squares, as searches have it: each square has the
 * vector of the block that covers its middle, and (0,0) where there is none. */
struct coded_grid {
    uint32_t side; /* of a square, pixels */
    uint32_t across, down;
    size_t count;
    struct gpume_vectors_block *blocks;
};

static int init_grid(struct coded_grid *grid, uint32_t side, const struct gpume_source_info *info)
{
    grid->side = side;
    grid->across = (uint32_t)gpume_div_up(info->width, side);
    grid->down = (uint32_t)gpume_div_up(info->height, side);
    grid->count = (size_t)grid->across * grid->down;
    grid->blocks = calloc(grid->count, sizeof(*grid->blocks));
    if (!grid->blocks) {
        return gpume_refuse(GPUME_NOMEM, "out of memory for %zu blocks", grid->count);
    }
    for (size_t i = 0; i < grid->count; i++) {
        struct gpume_vectors_block *square = &grid->blocks[i];
        square->x = (uint32_t)(i % grid->across) * side;
        square->y = (uint32_t)(i / grid->across) * side;
        square->w = (uint16_t)gpume_min_u32(side, info->width - square->x);
        square->h = (uint16_t)gpume_min_u32(side, info->height - square->y);
        square->ref2 = GPUME_VECTORS_ONE;
    }
    return GPUME_OK;
}

/* Gives the block's vector to all squares whose middle it covers. */
static void spread_vector(struct coded_grid *grid, const struct gpume_vectors_block *block)
{
    const uint32_t right = (block->x + block->w - 1u) / grid->side;
    const uint32_t bottom = (block->y + block->h - 1u) / grid->side;
    for (uint32_t j = block->y / grid->side; j <= bottom && j < grid->down; j++) {
        for (uint32_t i = block->x / grid->side; i <= right && i < grid->across; i++) {
            struct gpume_vectors_block *square = &grid->blocks[(size_t)j * grid->across + i];
            const uint32_t x = square->x + square->w / 2u, y = square->y + square->h / 2u;
            if (x >= block->x && x < block->x + block->w && y >= block->y &&
                y < block->y + block->h) {
                square->dx = block->dx;
                square->dy = block->dy;
            }
        }
    }
}

/* All squares refer to the nearest past reference of the frame. */
static void fill_grid(
    struct coded_grid *grid, const struct gpume_coded *coded, const struct gpume_coded_frame *frame)
{
    const uint64_t ref = gpume_coded_reference(coded, frame->frame, false, 1);
    for (size_t i = 0; i < grid->count; i++) {
        grid->blocks[i].ref = ref != UINT64_MAX ? ref : frame->frame - (frame->frame > 0);
        grid->blocks[i].dx = grid->blocks[i].dy = 0;
    }
    for (size_t i = 0; i < frame->count; i++) {
        if (frame->blocks[i].ref <= frame->frame) {
            spread_vector(grid, &frame->blocks[i]);
        }
    }
}

/* --- the overlay */

/* Every frame with its blocks drawn on it as the parts of a partition are, through the sink of
 * --overlay. Zero: nothing is drawn. */
struct drawing {
    const char *path;
    struct gpume_run run;
    struct gpume_sink *sink;
    struct gpume_layer layers[GPUME_CODED_SHAPES];
    struct gpume_vector *vectors[GPUME_CODED_SHAPES];
    uint32_t *refs[GPUME_CODED_SHAPES]; /* 0: a past frame; 1: a future one */
    uint32_t *costs;                    /* zero */
    struct gpume_part *parts;
};

static int make_layers(struct drawing *drawing)
{
    const struct gpume_params *params = &drawing->run.params;
    bool made = true;
    size_t count = 0; /* of the last layer, which has most blocks */
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        const struct gpume_block_size *shape = &gpume_coded_shapes[i];
        const uint32_t across = (uint32_t)gpume_div_up(params->width, shape->width);
        const uint32_t down = (uint32_t)gpume_div_up(params->height, shape->height);
        count = (size_t)across * down;
        drawing->vectors[i] = calloc(count, sizeof(*drawing->vectors[i]));
        drawing->refs[i] = calloc(count, sizeof(*drawing->refs[i]));
        made = made && drawing->vectors[i] && drawing->refs[i];
        drawing->layers[i] = (struct gpume_layer){
            .block_w = shape->width,
            .block_h = shape->height,
            .blocks_x = across,
            .blocks_y = down,
            .vectors = drawing->vectors[i],
            .refs = drawing->refs[i],
        };
    }
    drawing->costs = calloc(count, sizeof(*drawing->costs));
    drawing->parts = calloc(count, sizeof(*drawing->parts));
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        drawing->layers[i].costs = drawing->layers[i].ranks = drawing->costs;
    }
    return made && drawing->costs && drawing->parts
               ? GPUME_OK
               : gpume_log_nomem(&gpume_console, drawing->path);
}

static int open_drawing(struct drawing *drawing, struct gpume_cli_job *job,
    const struct gpume_estimate_options *options)
{
    int status;
    const struct gpume_source_info *info = &job->info;
    drawing->path = options->files[GPUME_SINK_overlay];
    drawing->run = (struct gpume_run){
        .asked = &options->asked,
        .input = info->label,
        .params = {.width = info->width,
            .height = info->height,
            .bits = info->bits,
            .window_x = DRAWN_LONGEST,
            .window_y = DRAWN_LONGEST,
            .subpel = GPUME_VECTORS_UNITS,
            .shape_count = GPUME_CODED_SHAPES,
            .partition = true},
        .video = info,
        .colours = {take_shown_colour, job->source},
        .set = &job->set,
        .log = gpume_console,
    };
    memcpy(drawing->run.params.shapes, gpume_coded_shapes, sizeof(gpume_coded_shapes));
    GPUME_TRY(make_layers(drawing));
    GPUME_TRY(gpume_sink_open(&drawing->sink, &gpume_sink_overlay, drawing->path, &drawing->run));
fail:
    return status;
}

static int16_t shorten_drawn(int32_t value)
{
    const int32_t most = DRAWN_LONGEST * GPUME_VECTORS_UNITS;
    return (int16_t)(value < -most ? -most : value > most ? most : value);
}

/* False: it is no block of any layer, or not visible. */
static bool place_block(struct drawing *drawing, const struct gpume_vectors_block *block,
    uint64_t frame, struct gpume_part *part)
{
    const struct gpume_params *params = &drawing->run.params;
    const uint32_t shape = gpume_coded_shape(block);
    if (shape == GPUME_CODED_SHAPES || block->x >= params->width || block->y >= params->height) {
        return false;
    }
    const uint32_t at = block->y / block->h * drawing->layers[shape].blocks_x + block->x / block->w;
    drawing->vectors[shape][at] =
        (struct gpume_vector){shorten_drawn(block->dx), shorten_drawn(block->dy)};
    drawing->refs[shape][at] = block->ref > frame;
    *part = (struct gpume_part){.layer = shape, .block = at};
    return true;
}

/* Frames come in order, each once, also those without blocks. */
static int draw_frame(struct drawing *drawing, const struct gpume_coded_frame *frame)
{
    const uint64_t refs[2] = {frame->frame > 0 ? frame->frame - 1 : 0, frame->frame + 1};
    const struct gpume_layer none = {.block_w = 16, .block_h = 16};
    const struct gpume_layer *layers[GPUME_CODED_SHAPES];
    uint32_t count = 0;
    for (size_t i = 0; i < frame->count; i++) {
        struct gpume_part *part = &drawing->parts[count];
        count += place_block(drawing, &frame->blocks[i], frame->frame, part);
    }
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        layers[i] = count > 0 ? &drawing->layers[i] : &none;
    }
    const struct gpume_field field = {
        .frame = frame->frame,
        .ref = refs[0],
        .time_us = frame->time_us,
        .vector_units = GPUME_VECTORS_UNITS,
        .layer_count = GPUME_CODED_SHAPES,
        .layers = layers,
        .ref_count = 2,
        .refs = refs,
        .part_count = count,
        .parts = drawing->parts,
    };
    return drawing->sink->ops->field(drawing->sink, &field);
}

static void close_drawing(struct drawing *drawing)
{
    gpume_sink_close(&drawing->sink);
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        free(drawing->vectors[i]);
        free(drawing->refs[i]);
    }
    free(drawing->costs);
    free(drawing->parts);
}

/* --- the report */

/* A report on the grid, through the sink of --report: its cost of a square is the SAD of what the
 * vector predicts from the nearest past reference. Zero: there is none. */
struct reporting {
    const char *path;
    const struct gpume_plane *planes; /* of the frames read last: REPORTED_PLANES */
    struct gpume_plane predicted;
    struct gpume_run_request asked; /* what the report says of it */
    struct gpume_run run;
    struct gpume_summary summary;
    struct gpume_sink *sink;
    struct coded_grid grid;
    struct gpume_vectors_ranker *ranker;
    struct gpume_layer layer;
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    uint64_t start_ns, shortened; /* vectors that lead farther than a report can show */
};

static int make_report_layer(
    struct reporting *reporting, uint32_t block, const struct gpume_source_info *info)
{
    struct coded_grid *grid = &reporting->grid;
    int status;
    GPUME_TRY(init_grid(grid, block, info));
    reporting->predicted = gpume_source_plane(info);
    reporting->vectors = calloc(grid->count, sizeof(*reporting->vectors));
    reporting->costs = calloc(grid->count, sizeof(*reporting->costs));
    reporting->ranks = calloc(grid->count, sizeof(*reporting->ranks));
    if (!reporting->predicted.data || !reporting->vectors || !reporting->costs ||
        !reporting->ranks) {
        return gpume_log_nomem(&gpume_console, reporting->path);
    }
    GPUME_TRY(gpume_vectors_ranker_create(&reporting->ranker, &gpume_console));
    reporting->layer = (struct gpume_layer){
        .block_w = block,
        .block_h = block,
        .blocks_x = grid->across,
        .blocks_y = grid->down,
        .vectors = reporting->vectors,
        .costs = reporting->costs,
        .ranks = reporting->ranks,
    };
fail:
    return status;
}

/* planes: REPORTED_PLANES, by number of the frame, which outlive the report. */
static int open_reporting(struct reporting *reporting, struct gpume_cli_job *job,
    const struct gpume_estimate_options *options, const struct gpume_plane *planes)
{
    const struct gpume_source_info *info = &job->info;
    struct gpume_summary *summary = &reporting->summary;
    int status;
    reporting->path = options->report;
    reporting->planes = planes;
    reporting->start_ns = gpume_clock_ns();
    GPUME_TRY(
        make_report_layer(reporting, options->side > 0 ? options->side : REPORTED_SIDE, info));
    reporting->asked = (struct gpume_run_request){.source.stream = -1,
        .from_stream = true,
        .gain = 1,
        .gamma = 1,
        .report_pictures = options->asked.report_pictures};
    reporting->run = (struct gpume_run){
        .asked = &reporting->asked,
        .input = info->label,
        .expected = info->frames,
        .video = info,
        .colours = {take_shown_colour, job->source},
        .set = &job->set,
        .summary = summary,
        .log = gpume_console,
    };
    struct gpume_params *params = &reporting->run.params;
    gpume_params_default(params);
    params->width = info->width;
    params->height = info->height;
    params->bits = info->bits;
    params->block = reporting->grid.side;
    params->window_x = params->window_y = REPORTED_LONGEST;
    params->subpel = GPUME_VECTORS_UNITS;
    params->interpolation =
        strcmp(info->codec, "h264") == 0 ? GPUME_INTERPOLATION_H264 : GPUME_INTERPOLATION_BILINEAR;
    summary->run = &reporting->run;
    summary->blocks_x = reporting->layer.blocks_x;
    summary->blocks_y = reporting->layer.blocks_y;
    snprintf(summary->backend, sizeof(summary->backend), "none");
    snprintf(summary->device, sizeof(summary->device), "no search");
    GPUME_TRY(gpume_sink_open(
        &reporting->sink, gpume_sink_report(reporting->path), reporting->path, &reporting->run));
fail:
    return status;
}

static int32_t shorten_reported(struct reporting *reporting, int32_t value)
{
    const int32_t most = REPORTED_LONGEST * GPUME_VECTORS_UNITS;
    const bool fits = value >= -most && value <= most;
    reporting->shortened += !fits;
    return fits ? value : value < 0 ? -most : most;
}

static void put_samples(const struct gpume_plane *plane, const struct gpume_match_block *block,
    const struct gpume_match_samples *samples)
{
    const int32_t *from = samples->values;
    for (uint32_t y = 0; y < block->h; y++) {
        uint8_t *row = gpume_plane_row(plane, block->y + y);
        uint16_t *wide = (uint16_t *)(void *)row;
        for (uint32_t x = block->x; x < block->x + block->w; x++) {
            if (plane->bits > 8) {
                wide[x] = (uint16_t)*from++;
            } else {
                row[x] = (uint8_t)*from++;
            }
        }
    }
}

/* Predicts a part of a square, of at most GPUME_MATCH_SIDE pixels per side. Returns its SAD. */
static uint32_t predict_part(struct reporting *reporting, const struct gpume_field *field,
    const struct gpume_match_block *part, const struct gpume_vectors_block *square,
    struct gpume_sums *sums)
{
    struct gpume_match_samples own, samples;
    const enum gpume_interpolation filter = reporting->run.params.interpolation;
    gpume_match_take(&field->target, part, &own);
    gpume_match_predict(&field->reference, part, 0, 0, filter, &samples);
    const struct gpume_match_sums before = gpume_match_measure(part, &own, &samples);
    gpume_match_predict(&field->reference, part, square->dx, square->dy, filter, &samples);
    const struct gpume_match_sums after = gpume_match_measure(part, &own, &samples);
    put_samples(&reporting->predicted, part, &samples);
    sums->sad_before += before.sad;
    sums->sse_before += before.sse;
    sums->sad_after += after.sad;
    sums->sse_after += after.sse;
    return (uint32_t)after.sad;
}

static void measure_square(
    struct reporting *reporting, const struct gpume_field *field, size_t i, struct gpume_sums *sums)
{
    struct gpume_vectors_block *square = &reporting->grid.blocks[i];
    square->cost = 0;
    for (uint32_t y = 0; y < square->h; y += GPUME_MATCH_SIDE) {
        for (uint32_t x = 0; x < square->w; x += GPUME_MATCH_SIDE) {
            const struct gpume_match_block part = {square->x + x, square->y + y,
                gpume_min_u32(GPUME_MATCH_SIDE, square->w - x),
                gpume_min_u32(GPUME_MATCH_SIDE, square->h - y)};
            square->cost += predict_part(reporting, field, &part, square, sums);
        }
    }
    sums->zero += square->dx == 0 && square->dy == 0;
    reporting->costs[i] = square->cost;
    reporting->vectors[i] = (struct gpume_vector){(int16_t)shorten_reported(reporting, square->dx),
        (int16_t)shorten_reported(reporting, square->dy)};
}

static int rank_squares(struct reporting *reporting)
{
    const struct gpume_vectors_field *ranked = NULL;
    const struct gpume_vectors_field squares = {.columns = GPUME_VECTORS_COST,
        .count = reporting->grid.count,
        .width = reporting->run.params.width,
        .height = reporting->run.params.height,
        .blocks = reporting->grid.blocks};
    int status;
    GPUME_TRY(gpume_vectors_ranker_apply(reporting->ranker, &squares, &ranked));
    for (size_t i = 0; i < reporting->grid.count; i++) {
        reporting->ranks[i] = ranked->blocks[i].rank;
    }
fail:
    return status;
}

/* A frame with blocks; they come in order. */
static int report_frame(struct reporting *reporting, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame)
{
    const struct gpume_layer *layers[] = {&reporting->layer};
    const struct coded_grid *grid = &reporting->grid;
    int status;
    fill_grid(&reporting->grid, coded, frame);
    /* A reference that is no longer there is hardly the nearest one. */
    const uint64_t ref = coded->received - grid->blocks[0].ref <= REPORTED_PLANES
                             ? grid->blocks[0].ref
                             : frame->frame - 1;
    struct gpume_field field = {
        .frame = frame->frame,
        .ref = ref,
        .time_us = frame->time_us,
        .vector_units = GPUME_VECTORS_UNITS,
        .layer_count = 1,
        .layers = layers,
        .blocks_x = reporting->layer.blocks_x,
        .blocks_y = reporting->layer.blocks_y,
        .vectors = reporting->vectors,
        .costs = reporting->costs,
        .ranks = reporting->ranks,
        .predicted = reporting->predicted,
        .target = reporting->planes[frame->frame % REPORTED_PLANES],
        .reference = reporting->planes[ref % REPORTED_PLANES],
        .ref_count = 1,
        .refs = &ref,
    };
    for (size_t i = 0; i < grid->count; i++) {
        measure_square(reporting, &field, i, &field.sums);
    }
    GPUME_TRY(rank_squares(reporting));
    gpume_summary_add(&reporting->summary, &field);
    GPUME_TRY(reporting->sink->ops->field(reporting->sink, &field));
fail:
    return status;
}

static int finish_reporting(struct reporting *reporting, struct gpume_source *source)
{
    struct gpume_summary *summary = &reporting->summary;
    struct gpume_source_counts counts;
    gpume_source_get_counts(source, &counts);
    summary->delivered = counts.delivered;
    summary->refused = counts.refused;
    summary->scaled = counts.scaled;
    summary->whole_ns = gpume_clock_ns() - reporting->start_ns;
    if (reporting->shortened > 0) {
        gpume_console_warning("%s: %" PRIu64 " part%s of vectors longer than %d pixels shown "
                              "as long as that",
            reporting->path, reporting->shortened, gpume_plural(reporting->shortened),
            REPORTED_LONGEST);
    }
    return reporting->sink->ops->finish(reporting->sink);
}

static void close_reporting(struct reporting *reporting)
{
    gpume_sink_close(&reporting->sink);
    gpume_vectors_ranker_destroy(&reporting->ranker);
    free(reporting->grid.blocks);
    free(reporting->predicted.data);
    free(reporting->vectors);
    free(reporting->costs);
    free(reporting->ranks);
}

/* --- the job */

struct copying {
    struct gpume_cli_job job;
    const struct gpume_estimate_options *options;
    const char *output; /* NULL: only others are written */
    const struct gpume_vectors_format *format;
    struct gpume_coded coded;
    struct gpume_vectors_writer *writer; /* from the first frame with vectors on */
    struct coded_grid grid;              /* with --block */
    struct gpume_plane planes[REPORTED_PLANES];
    uint32_t plane_count; /* frames that are kept, by number; 0: they are not looked at */
    struct drawing drawing;
    struct reporting reporting;
    uint64_t intra, future, others; /* frames of type I, of type B, and neither */
    uint64_t interlaced;            /* frames with vectors */
    uint64_t blocks, vectors;
};

static unsigned columns_of(const struct copying *copying)
{
    return GPUME_VECTORS_REF | GPUME_VECTORS_TIME |
           (copying->options->side > 0 ? 0u : (unsigned)GPUME_VECTORS_REF2);
}

static enum gpume_exit plan_vectors(void *client)
{
    struct copying *copying = client;
    struct gpume_cli_job *job = &copying->job;
    const struct gpume_estimate_options *options = copying->options;
    int status = GPUME_OK;
    copying->output = options->vectors || options->files[GPUME_SINK_overlay] || options->report
                          ? options->vectors
                          : "-";
    if (copying->output) {
        const struct gpume_name_vectors vectors = {columns_of(copying), options->side > 0};
        copying->format =
            gpume_name_vectors_format(options->asked.format, copying->output, vectors);
        if (!copying->format) {
            return GPUME_EXIT_USAGE;
        }
        job->shape.format = copying->format;
        job->shape.both = options->side == 0;
        status = gpume_job_add(job, gpume_sink_vectors(copying->format), copying->output);
    }
    if (status == GPUME_OK && options->files[GPUME_SINK_overlay]) {
        status = gpume_job_add(job, &gpume_sink_overlay, options->files[GPUME_SINK_overlay]);
    }
    if (status == GPUME_OK && options->report) {
        status = gpume_job_add(job, gpume_sink_report(options->report), options->report);
    }
    job->wanted.motion = true;
    job->wanted.colour = options->files[GPUME_SINK_overlay] || options->report;
    return gpume_exit_of_writer(status);
}

/* A function `read` of struct gpume_coded. */
static int read_shown_frame(void *opaque, int64_t *time_us)
{
    struct copying *copying = opaque;
    const uint64_t at = copying->coded.received % copying->plane_count;
    return gpume_source_read(copying->job.source, &copying->planes[at], time_us);
}

/* Opens what shows pictures of the frames. Colours need the frame read last, a report others. */
static enum gpume_exit open_pictures(void *client)
{
    struct copying *copying = client;
    struct gpume_cli_job *job = &copying->job;
    const struct gpume_estimate_options *options = copying->options;
    int status = GPUME_OK;
    copying->plane_count = options->report                      ? REPORTED_PLANES
                           : options->files[GPUME_SINK_overlay] ? 1
                                                                : 0;
    for (uint32_t i = 0; i < copying->plane_count; i++) {
        copying->planes[i] = gpume_source_plane(&job->info);
        if (!copying->planes[i].data) {
            (void)gpume_log_nomem(&gpume_console, job->info.label);
            return GPUME_EXIT_FAILED;
        }
        copying->coded.read = read_shown_frame;
        copying->coded.opaque = copying;
    }
    if (options->files[GPUME_SINK_overlay]) {
        GPUME_TRY(open_drawing(&copying->drawing, job, options));
    }
    if (options->report) {
        GPUME_TRY(open_reporting(&copying->reporting, job, options, copying->planes));
    }
fail:
    return gpume_exit_of_writer(status);
}

static int open_writer(struct copying *copying, const struct gpume_coded_frame *frame)
{
    struct gpume_cli_job *job = &copying->job;
    const uint32_t block = copying->options->side;
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
    if (block > 0 && init_grid(&copying->grid, block, &job->info) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    return gpume_vectors_writer_open(&copying->writer, &output, &info);
}

static int write_blocks(struct copying *copying, const struct gpume_coded_frame *frame)
{
    const bool grid = copying->options->side > 0;
    int status = copying->writer ? GPUME_OK : open_writer(copying, frame);
    if (status != GPUME_OK) {
        return status;
    }
    if (grid) {
        fill_grid(&copying->grid, &copying->coded, frame);
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
        status = draw_frame(&copying->drawing, frame);
    }
    if (status == GPUME_OK && copying->reporting.sink && frame->count > 0) {
        status = report_frame(&copying->reporting, &copying->coded, frame);
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
        status = copying->drawing.sink->ops->finish(copying->drawing.sink);
    }
    if (status == GPUME_OK && copying->reporting.sink) {
        status = finish_reporting(&copying->reporting, copying->job.source);
    }
    return status ? gpume_exit_of_writer(status) : gpume_job_complete(&copying->job);
}

static enum gpume_exit conclude_vectors(void *client, FILE *stream)
{
    const struct copying *copying = client;
    gpume_coded_warn_interlaced(&copying->job.info, copying->interlaced);
    if (stream) {
        fprintf(stream,
            "coded        %" PRIu64 " block%s with %" PRIu64 " vector%s in %" PRIu64
            " frame%s: %" PRIu64 " I, %" PRIu64 " P, %" PRIu64 " B\n",
            copying->blocks, gpume_plural(copying->blocks), copying->vectors,
            gpume_plural(copying->vectors), copying->job.frames, gpume_plural(copying->job.frames),
            copying->intra, copying->others, copying->future);
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_from_stream_run(const struct gpume_estimate_options *options)
{
    static const struct gpume_job_work work = {.plan = plan_vectors,
        .open = open_pictures,
        .run = copy_vectors,
        .complete = complete_vectors,
        .conclude = conclude_vectors};
    struct copying copying = {.options = options,
        .job = {.common = &options->common,
            .choice = &options->asked.source,
            .params = &options->params,
            .frames_max = options->asked.frames,
            .set = {.alone = true, .together = true}}};
    const enum gpume_exit result = gpume_job_run(&copying.job, &work, &copying);
    gpume_vectors_writer_close(&copying.writer);
    close_drawing(&copying.drawing);
    close_reporting(&copying.reporting);
    free(copying.grid.blocks);
    for (uint32_t i = 0; i < copying.plane_count; i++) {
        free(copying.planes[i].data);
    }
    gpume_coded_finish(&copying.coded);
    gpume_job_close(&copying.job);
    return result;
}

static enum gpume_exit run_vectors(const void *options)
{
    return gpume_from_stream_run(options);
}

static void set_vectors_defaults(void *opaque)
{
    struct gpume_estimate_options *options = opaque;
    gpume_params_default(&options->params);
    options->asked.source.stream = -1;
    options->asked.report_pictures = 26;
    options->asked.look.scale = 1;
}

static int check_vectors_options(void *options, const struct gpume_line *line)
{
    return gpume_check_look(&((const struct gpume_estimate_options *)options)->asked.look, line);
}

#define OPTIONS struct gpume_estimate_options

static const char *const styles[] = {"arrows", "flow", NULL};

static struct gpume_option table[] = {
    {.heading = "Vectors"},
    {GPUME_OPTION_SIDE(OPTIONS, side),
        .help = "write one vector per square of this side, a multiple of 4 from 4 to 128: the past "
                "vector of the block that covers its middle, (0,0) where there is none (default: "
                "blocks as coded)"},
    {.heading = "Input"},
    {GPUME_OPTION_VIDEO_FRAMES(OPTIONS, asked.frames)},
    {GPUME_OPTION_STREAM(OPTIONS, asked.source.stream)},
    GPUME_OPTIONS_TRUST(OPTIONS, asked.source),
    {GPUME_OPTION_THREADS(OPTIONS, params.threads)},
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, vectors), .letter = 'o',
        .help = "write to this file: .csv .jsonl (also .csv.gz or .zst) .npy, with --block also "
                ".npz .mvf and flow%d.flo "
                "(default: standard output)"},
    {GPUME_ROW("format", "FORMAT", format, OPTIONS, asked.format),
        .help = "format of the output, whatever its name: csv, jsonl (also csv.gz or .zst), npy, "
                "extract_mvs, mv-extractor, npz, mvf or flo (default: by its extension; csv for "
                "standard output)"},
    {GPUME_ROW_FILE("overlay", "FILE", OPTIONS, files[GPUME_SINK_overlay]),
        .help = "draw the vectors on the frames in colour: .y4m .mkv .nut .mp4 .webm .gif, - for "
                "standard "
                "output, or a pattern (.png .ppm .bmp .jpg); without -o nothing else is written"},
    {GPUME_ROW_CHOICE("overlay-style", "arrows|flow", OPTIONS, asked.look.style, styles),
        .help = "arrows, or blocks tinted by direction and length (default arrows)",
        .needs = "overlay"},
    GPUME_OPTIONS_LOOK(OPTIONS, asked.look),
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help = "report on the vectors: .html (interactive, with charts and pictures), .json or "
                ".csv; without -o nothing else is written"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing outputs"},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("print no closing summary and no progress"),
};

const struct gpume_command gpume_vectors_command = {
    .name = "vectors",
    .summary = "write the motion vectors that a coded video holds",
    .usage = "vectors INPUT [-o FILE] [options]",
    .about = "Writes the motion vectors that the encoder of a video chose, without any search: "
             "blocks of several sizes, past and future references, quarter pixels. FFmpeg's "
             "decoders export them for H.264, MPEG-1, MPEG-2, MPEG-4, H.263 and their relatives.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_estimate_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_vectors_defaults,
    .check = check_vectors_options,
    .run = run_vectors,
};
