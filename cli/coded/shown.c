/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/shown.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "coded/match.h"
#include "console.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer vectors are drawn as long as this, in pixels: most are short, and arrows and colours are
 * told apart by the length in relation to the longest. */
#define DRAWN_LONGEST 32
/* Vectors are reported as far as this, in pixels: four times as far as most encoders search. */
#define REPORTED_LONGEST 128

static int take_shown_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    const int status = gpume_source_take_colour(source, frame, rgb);
    return status == GPUME_UNSUPPORTED ? GPUME_INVALID : status; /* it is the input */
}

static int refuse_shown(const char *path)
{
    return gpume_refuse(GPUME_NOMEM, "%s: out of memory", path);
}

/* --- the grid */

static uint32_t squares_along(uint32_t side, uint32_t length)
{
    return (length - 1) / side + 1;
}

int gpume_coded_grid_init(struct gpume_coded_grid *grid)
{
    grid->count =
        (size_t)squares_along(grid->side, grid->width) * squares_along(grid->side, grid->height);
    grid->blocks = calloc(grid->count, sizeof(*grid->blocks));
    return grid->blocks ? GPUME_OK
                        : gpume_refuse(GPUME_NOMEM, "out of memory for %zu blocks", grid->count);
}

void gpume_coded_grid_finish(struct gpume_coded_grid *grid)
{
    free(grid->blocks);
    grid->blocks = NULL;
}

static void clear_grid(struct gpume_coded_grid *grid, uint64_t ref)
{
    uint32_t x = 0, y = 0;
    for (size_t i = 0; i < grid->count; i++) {
        grid->blocks[i] = (struct gpume_vectors_block){
            .x = x,
            .y = y,
            .w = (uint16_t)gpume_min_u32(grid->side, grid->width - x),
            .h = (uint16_t)gpume_min_u32(grid->side, grid->height - y),
            .ref = ref,
            .ref2 = GPUME_VECTORS_ONE,
        };
        x += grid->side;
        if (x >= grid->width) {
            x = 0;
            y += grid->side;
        }
    }
}

static bool is_in_middle(
    const struct gpume_vectors_block *block, const struct gpume_vectors_block *square)
{
    const uint32_t x = square->x + square->w / 2u, y = square->y + square->h / 2u;
    return x >= block->x && x < block->x + block->w && y >= block->y && y < block->y + block->h;
}

/* Gives the block's vector to all squares whose middle it covers. */
static void spread_vector(struct gpume_coded_grid *grid, const struct gpume_vectors_block *block)
{
    const uint32_t across = squares_along(grid->side, grid->width);
    const uint32_t down = squares_along(grid->side, grid->height);
    const uint32_t right = (block->x + block->w - 1u) / grid->side;
    const uint32_t bottom = (block->y + block->h - 1u) / grid->side;
    for (uint32_t y = block->y / grid->side; y <= bottom && y < down; y++) {
        for (uint32_t x = block->x / grid->side; x <= right && x < across; x++) {
            struct gpume_vectors_block *square = &grid->blocks[(size_t)y * across + x];
            if (is_in_middle(block, square)) {
                square->dx = block->dx;
                square->dy = block->dy;
            }
        }
    }
}

void gpume_coded_grid_fill(struct gpume_coded_grid *grid, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame)
{
    const uint64_t ref = gpume_coded_reference(coded, frame->frame, false, 1);
    clear_grid(grid, ref != UINT64_MAX ? ref : frame->frame - (frame->frame > 0));
    for (size_t i = 0; i < frame->count; i++) {
        if (frame->blocks[i].ref <= frame->frame) {
            spread_vector(grid, &frame->blocks[i]);
        }
    }
}

/* --- the overlay */

static int make_drawn_layer(struct gpume_drawing *drawing, size_t i)
{
    const struct gpume_params *params = &drawing->run.params;
    const uint32_t across = (params->width - 1) / gpume_coded_shapes[i].width + 1;
    const uint32_t down = (params->height - 1) / gpume_coded_shapes[i].height + 1;
    const size_t count = (size_t)across * down;
    drawing->vectors[i] = calloc(count, sizeof(*drawing->vectors[i]));
    drawing->refs[i] = calloc(count, sizeof(*drawing->refs[i]));
    if (i == GPUME_CODED_SHAPES - 1) { /* the layer that has most */
        drawing->costs = calloc(count, sizeof(*drawing->costs));
        drawing->parts = calloc(count, sizeof(*drawing->parts));
    }
    drawing->layers[i] = (struct gpume_layer){
        .block_w = gpume_coded_shapes[i].width,
        .block_h = gpume_coded_shapes[i].height,
        .blocks_x = across,
        .blocks_y = down,
        .vectors = drawing->vectors[i],
        .refs = drawing->refs[i],
    };
    return drawing->vectors[i] && drawing->refs[i] ? GPUME_OK : GPUME_NOMEM;
}

static int make_layers(struct gpume_drawing *drawing)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < GPUME_CODED_SHAPES && status == GPUME_OK; i++) {
        status = make_drawn_layer(drawing, i);
    }
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        drawing->layers[i].costs = drawing->layers[i].ranks = drawing->costs;
    }
    return status == GPUME_OK && drawing->costs && drawing->parts ? GPUME_OK
                                                                  : refuse_shown(drawing->path);
}

int gpume_drawing_open(struct gpume_drawing *drawing, struct gpume_source *source,
    const struct gpume_source_info *info, struct gpume_out_set *set)
{
    int status;
    struct gpume_params params = {.width = info->width,
        .height = info->height,
        .bits = info->bits,
        .window_x = DRAWN_LONGEST,
        .window_y = DRAWN_LONGEST,
        .subpel = GPUME_VECTORS_UNITS,
        .shape_count = GPUME_CODED_SHAPES,
        .partition = true};
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        params.shapes[i] = gpume_coded_shapes[i];
    }
    drawing->source = source;
    drawing->run = (struct gpume_run){
        .request.input = info->label,
        .params = params,
        .block_w = gpume_coded_shapes[0].width,
        .block_h = gpume_coded_shapes[0].height,
        .video = info,
        .look = drawing->look,
        .colours.take = take_shown_colour,
        .colours.source = source,
        .set = set,
        .log = gpume_console,
    };
    drawing->luma = gpume_source_plane(info);
    GPUME_TRY(drawing->luma.data ? GPUME_OK : refuse_shown(drawing->path));
    GPUME_TRY(make_layers(drawing));
    GPUME_TRY(gpume_sink_open(&drawing->sink, &gpume_sink_overlay, drawing->path, &drawing->run));
fail:
    return status;
}

int gpume_drawing_read(void *opaque, int64_t *time_us)
{
    struct gpume_drawing *drawing = opaque;
    return gpume_source_read(drawing->source, &drawing->luma, time_us);
}

static int16_t shorten_drawn(int32_t value)
{
    const int32_t most = DRAWN_LONGEST * GPUME_VECTORS_UNITS;
    return (int16_t)(value < -most ? -most : value > most ? most : value);
}

/* False: it is no block of any layer, or not visible. */
static bool place_block(struct gpume_drawing *drawing, const struct gpume_vectors_block *block,
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

int gpume_drawing_frame(struct gpume_drawing *drawing, const struct gpume_coded_frame *frame)
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

int gpume_drawing_finish(struct gpume_drawing *drawing)
{
    return drawing->sink->ops->finish(drawing->sink);
}

void gpume_drawing_close(struct gpume_drawing *drawing)
{
    gpume_sink_close(&drawing->sink);
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        free(drawing->vectors[i]);
        free(drawing->refs[i]);
    }
    free(drawing->costs);
    free(drawing->parts);
    free(drawing->luma.data);
}

/* --- the report */

static int make_report_planes(
    struct gpume_reporting *reporting, const struct gpume_source_info *info)
{
    reporting->predicted = gpume_source_plane(info);
    bool made = reporting->predicted.data;
    for (size_t i = 0; i < GPUME_REPORTING_PLANES && made; i++) {
        reporting->planes[i] = gpume_source_plane(info);
        made = reporting->planes[i].data;
    }
    return made ? GPUME_OK : refuse_shown(reporting->path);
}

static int make_report_layer(
    struct gpume_reporting *reporting, const struct gpume_source_info *info)
{
    struct gpume_coded_grid *grid = &reporting->grid;
    int status;
    *grid = (struct gpume_coded_grid){
        .side = reporting->block, .width = info->width, .height = info->height};
    GPUME_TRY(gpume_coded_grid_init(grid));
    reporting->vectors = calloc(grid->count, sizeof(*reporting->vectors));
    reporting->costs = calloc(grid->count, sizeof(*reporting->costs));
    reporting->ranks = calloc(grid->count, sizeof(*reporting->ranks));
    if (!reporting->vectors || !reporting->costs || !reporting->ranks) {
        return refuse_shown(reporting->path);
    }
    GPUME_TRY(gpume_vectors_ranker_create(&reporting->ranker, &gpume_console));
    reporting->layer = (struct gpume_layer){
        .block_w = grid->side,
        .block_h = grid->side,
        .blocks_x = (info->width - 1) / grid->side + 1,
        .blocks_y = (info->height - 1) / grid->side + 1,
        .vectors = reporting->vectors,
        .costs = reporting->costs,
        .ranks = reporting->ranks,
    };
fail:
    return status;
}

static struct gpume_params describe_coding(
    const struct gpume_reporting *reporting, const struct gpume_source_info *info)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = info->width;
    params.height = info->height;
    params.bits = info->bits;
    params.block = reporting->block;
    params.window_x = params.window_y = REPORTED_LONGEST;
    params.subpel = GPUME_VECTORS_UNITS;
    params.interpolation =
        strcmp(info->codec, "h264") == 0 ? GPUME_INTERPOLATION_H264 : GPUME_INTERPOLATION_BILINEAR;
    return params;
}

static void describe_report(struct gpume_reporting *reporting, const struct gpume_source_info *info,
    struct gpume_out_set *set)
{
    struct gpume_summary *summary = &reporting->summary;
    reporting->run = (struct gpume_run){
        .request.input = info->label,
        .params = describe_coding(reporting, info),
        .block_w = reporting->block,
        .block_h = reporting->block,
        .request.from_stream = true,
        .expected = info->frames,
        .request.stream = -1,
        .video = info,
        .pictures.gain = 1,
        .pictures.gamma = 1,
        .colours.take = take_shown_colour,
        .colours.source = reporting->source,
        .report.pictures = reporting->pictures,
        .set = set,
        .summary = summary,
        .log = gpume_console,
    };
    *summary = (struct gpume_summary){
        .run = &reporting->run,
        .blocks_x = reporting->layer.blocks_x,
        .blocks_y = reporting->layer.blocks_y,
    };
    snprintf(summary->backend, sizeof(summary->backend), "none");
    snprintf(summary->device, sizeof(summary->device), "no search");
}

int gpume_reporting_open(struct gpume_reporting *reporting, struct gpume_source *source,
    const struct gpume_source_info *info, struct gpume_out_set *set)
{
    int status;
    reporting->source = source;
    reporting->start_ns = gpume_clock_ns();
    GPUME_TRY(make_report_planes(reporting, info));
    GPUME_TRY(make_report_layer(reporting, info));
    describe_report(reporting, info, set);
    GPUME_TRY(gpume_sink_open(
        &reporting->sink, gpume_sink_report(reporting->path), reporting->path, &reporting->run));
fail:
    return status;
}

static struct gpume_plane *reported_plane(struct gpume_reporting *reporting, uint64_t frame)
{
    return &reporting->planes[frame % GPUME_REPORTING_PLANES];
}

int gpume_reporting_read(void *opaque, int64_t *time_us)
{
    struct gpume_reporting *reporting = opaque;
    const struct gpume_plane *plane = reported_plane(reporting, reporting->received);
    const int status = gpume_source_read(reporting->source, plane, time_us);
    reporting->received += status == GPUME_OK;
    return status;
}

static int32_t shorten_reported(struct gpume_reporting *reporting, int32_t value)
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
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)(block->y + y) * plane->stride;
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
static uint32_t predict_part(struct gpume_reporting *reporting, const struct gpume_field *field,
    const struct gpume_match_block *part, const struct gpume_vectors_block *square,
    struct gpume_sums *sums)
{
    struct gpume_match_samples samples;
    const enum gpume_interpolation filter = reporting->run.params.interpolation;
    gpume_match_predict(&field->reference, part, 0, 0, filter, &samples);
    const struct gpume_match_sums before = gpume_match_measure(&field->target, part, &samples);
    gpume_match_predict(&field->reference, part, square->dx, square->dy, filter, &samples);
    const struct gpume_match_sums after = gpume_match_measure(&field->target, part, &samples);
    put_samples(&reporting->predicted, part, &samples);
    sums->sad_before += before.sad;
    sums->sse_before += before.sse;
    sums->sad_after += after.sad;
    sums->sse_after += after.sse;
    return (uint32_t)after.sad;
}

static void measure_square(struct gpume_reporting *reporting, const struct gpume_field *field,
    size_t i, struct gpume_sums *sums)
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

static int rank_squares(struct gpume_reporting *reporting)
{
    const struct gpume_vectors_field *ranked = NULL;
    const struct gpume_vectors_field squares = {.columns = GPUME_VECTORS_COST,
        .count = reporting->grid.count,
        .width = reporting->grid.width,
        .height = reporting->grid.height,
        .blocks = reporting->grid.blocks};
    int status;
    GPUME_TRY(gpume_vectors_ranker_apply(reporting->ranker, &squares, &ranked));
    for (size_t i = 0; i < reporting->grid.count; i++) {
        reporting->ranks[i] = ranked->blocks[i].rank;
    }
fail:
    return status;
}

int gpume_reporting_frame(struct gpume_reporting *reporting, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame)
{
    const struct gpume_layer *layers[] = {&reporting->layer};
    const struct gpume_coded_grid *grid = &reporting->grid;
    int status;
    gpume_coded_grid_fill(&reporting->grid, coded, frame);
    /* A reference that is no longer there is hardly the nearest one. */
    const uint64_t ref = reporting->received - grid->blocks[0].ref <= GPUME_REPORTING_PLANES
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
        .target = *reported_plane(reporting, frame->frame),
        .reference = *reported_plane(reporting, ref),
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

int gpume_reporting_finish(struct gpume_reporting *reporting)
{
    struct gpume_summary *summary = &reporting->summary;
    struct gpume_source_counts counts;
    gpume_source_get_counts(reporting->source, &counts);
    summary->delivered = counts.delivered;
    summary->refused = counts.refused;
    summary->scaled = counts.scaled;
    summary->whole_ns = gpume_clock_ns() - reporting->start_ns;
    if (reporting->shortened > 0) {
        gpume_console_warning("%s: %" PRIu64 " parts of vectors are longer than %d pixels, and "
                              "shown as long as that",
            reporting->path, reporting->shortened, REPORTED_LONGEST);
    }
    return reporting->sink->ops->finish(reporting->sink);
}

void gpume_reporting_close(struct gpume_reporting *reporting)
{
    gpume_sink_close(&reporting->sink);
    gpume_vectors_ranker_destroy(&reporting->ranker);
    gpume_coded_grid_finish(&reporting->grid);
    for (size_t i = 0; i < GPUME_REPORTING_PLANES; i++) {
        free(reporting->planes[i].data);
    }
    free(reporting->predicted.data);
    free(reporting->vectors);
    free(reporting->costs);
    free(reporting->ranks);
}
