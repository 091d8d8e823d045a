/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/reporting.h"

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

/* Vectors are shown as far as this, in pixels: four times as far as most encoders search. */
#define LONGEST 128

/* --- opening */

static int take_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    const int status = gpume_source_take_colour(source, frame, rgb);
    return status == GPUME_UNSUPPORTED ? GPUME_INVALID : status; /* it is the input */
}

static int make_planes(struct gpume_reporting *reporting, const struct gpume_source_info *info)
{
    reporting->predicted = gpume_source_plane(info);
    bool made = reporting->predicted.data;
    for (size_t i = 0; i < GPUME_REPORTING_PLANES && made; i++) {
        reporting->planes[i] = gpume_source_plane(info);
        made = reporting->planes[i].data;
    }
    return made ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "%s: out of memory", reporting->path);
}

static int make_layer(struct gpume_reporting *reporting, const struct gpume_source_info *info)
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
        return gpume_refuse(GPUME_NOMEM, "%s: out of memory", reporting->path);
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

static struct gpume_params describe_search(
    const struct gpume_reporting *reporting, const struct gpume_source_info *info)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = info->width;
    params.height = info->height;
    params.bits = info->bits;
    params.block = reporting->block;
    params.window_x = params.window_y = LONGEST;
    params.subpel = GPUME_VECTORS_UNITS;
    params.interpolation =
        strcmp(info->codec, "h264") == 0 ? GPUME_INTERPOLATION_H264 : GPUME_INTERPOLATION_BILINEAR;
    return params;
}

static void describe(struct gpume_reporting *reporting, const struct gpume_source_info *info,
    struct gpume_out_set *set)
{
    struct gpume_summary *summary = &reporting->summary;
    reporting->run = (struct gpume_run){
        .input = info->label,
        .params = describe_search(reporting, info),
        .block_w = reporting->block,
        .block_h = reporting->block,
        .from_stream = true,
        .expected = info->frames,
        .stream = -1,
        .video = info,
        .gain = 1,
        .gamma = 1,
        .take_colour = take_colour,
        .colours = reporting->source,
        .report_pictures = reporting->pictures,
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
    GPUME_TRY(make_planes(reporting, info));
    GPUME_TRY(make_layer(reporting, info));
    describe(reporting, info, set);
    GPUME_TRY(gpume_sink_open(
        &reporting->sink, gpume_sink_report(reporting->path), reporting->path, &reporting->run));
fail:
    return status;
}

/* --- frames */

static struct gpume_plane *plane_of(struct gpume_reporting *reporting, uint64_t frame)
{
    return &reporting->planes[frame % GPUME_REPORTING_PLANES];
}

int gpume_reporting_read(void *opaque, int64_t *time_us)
{
    struct gpume_reporting *reporting = opaque;
    const struct gpume_plane *plane = plane_of(reporting, reporting->received);
    const int status = gpume_source_read(reporting->source, plane, time_us);
    reporting->received += status == GPUME_OK;
    return status;
}

static int32_t shorten(struct gpume_reporting *reporting, int32_t value)
{
    const int32_t most = LONGEST * GPUME_VECTORS_UNITS;
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
static uint32_t predict(struct gpume_reporting *reporting, const struct gpume_field *field,
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

static void measure(struct gpume_reporting *reporting, const struct gpume_field *field, size_t i,
    struct gpume_sums *sums)
{
    struct gpume_vectors_block *square = &reporting->grid.blocks[i];
    square->cost = 0;
    for (uint32_t y = 0; y < square->h; y += GPUME_MATCH_SIDE) {
        for (uint32_t x = 0; x < square->w; x += GPUME_MATCH_SIDE) {
            const struct gpume_match_block part = {square->x + x, square->y + y,
                gpume_min_u32(GPUME_MATCH_SIDE, square->w - x),
                gpume_min_u32(GPUME_MATCH_SIDE, square->h - y)};
            square->cost += predict(reporting, field, &part, square, sums);
        }
    }
    sums->zero += square->dx == 0 && square->dy == 0;
    reporting->costs[i] = square->cost;
    reporting->vectors[i] = (struct gpume_vector){
        (int16_t)shorten(reporting, square->dx), (int16_t)shorten(reporting, square->dy)};
}

static int rank(struct gpume_reporting *reporting)
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
        .target = *plane_of(reporting, frame->frame),
        .reference = *plane_of(reporting, ref),
        .ref_count = 1,
        .refs = &ref,
    };
    for (size_t i = 0; i < grid->count; i++) {
        measure(reporting, &field, i, &field.sums);
    }
    GPUME_TRY(rank(reporting));
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
            reporting->path, reporting->shortened, LONGEST);
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
