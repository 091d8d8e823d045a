/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables: frames.csv, with one row of sums per field, and the costs of every displacement of one
 * block. Called by the thread that receives fields.
 */
#include "base/base.h"
#include "files/out.h"
#include "files/path.h"
#include "sinks/sink.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- frames.csv */

#define ROW struct gpume_frame_row
static const struct gpume_column columns[] = {
    {GPUME_COLUMN("frame", ROW, frame)},
    {GPUME_COLUMN("ref", ROW, ref)},
    {GPUME_COLUMN("time", ROW, time)},
    {GPUME_COLUMN("blocks", ROW, blocks)},
    {GPUME_COLUMN("zero", ROW, zero)},
    {GPUME_COLUMN("sad_before", ROW, sad_before)},
    {GPUME_COLUMN("sad_after", ROW, sad_after)},
    {GPUME_COLUMN("sse_before", ROW, sse_before)},
    {GPUME_COLUMN("sse_after", ROW, sse_after)},
    {GPUME_COLUMN("psnr_before", ROW, psnr_before), .decimals = 3},
    {GPUME_COLUMN("psnr_after", ROW, psnr_after), .decimals = 3},
    {GPUME_COLUMN("border", ROW, border), .only = GPUME_FRAME_BORDER},
    {GPUME_COLUMN("border_share", ROW, border_share), .decimals = 6, .only = GPUME_FRAME_BORDER},
    {GPUME_COLUMN("dx_mean", ROW, dx_mean), .decimals = 3, .only = GPUME_FRAME_REPORT},
    {GPUME_COLUMN("dy_mean", ROW, dy_mean), .decimals = 3, .only = GPUME_FRAME_REPORT},
    {GPUME_COLUMN("length_mean", ROW, length_mean), .decimals = 3, .only = GPUME_FRAME_REPORT},
    {GPUME_COLUMN("length_max", ROW, length_max), .decimals = 3, .only = GPUME_FRAME_REPORT},
    {GPUME_COLUMN("cost_max", ROW, cost_max), .only = GPUME_FRAME_REPORT},
    {GPUME_COLUMN("cut", ROW, cut), .only = GPUME_FRAME_REPORT},
};

struct gpume_table gpume_frame_table(unsigned kind)
{
    return (struct gpume_table){GPUME_TABLE(columns, ROW), .kind = kind};
}

ROW gpume_frame_row_make(const struct gpume_params *params, const struct gpume_field *field)
{
    const uint64_t pixels = (uint64_t)params->width * params->height;
    const struct gpume_sums *sums = &field->sums;
    ROW row = {.frame = field->frame,
        .ref = field->ref,
        .time = field->time_us,
        .blocks = gpume_shown_count(field),
        .zero = sums->zero,
        .sad_before = sums->sad_before,
        .sad_after = sums->sad_after,
        .sse_before = sums->sse_before,
        .sse_after = sums->sse_after,
        .psnr_before = gpume_psnr(params->bits, pixels, sums->sse_before),
        .psnr_after = gpume_psnr(params->bits, pixels, sums->sse_after)};
    if (params->confidence) {
        row.border = gpume_border_count(field, params);
        row.border_share = (double)row.border / (double)row.blocks;
    }
    return row;
}

static struct gpume_table table_of(const struct gpume_sink *sink)
{
    return gpume_frame_table(sink->run->params.confidence ? GPUME_FRAME_BORDER : 0);
}

static int frames_open(struct gpume_sink *sink)
{
    const struct gpume_table table = table_of(sink);
    const int status = gpume_out_open_in(&sink->out, sink->run->set, sink->path, &sink->run->log);
    if (status == GPUME_OK && !gpume_out_is_continued(sink->out)) {
        gpume_table_csv_head(&table, sink->out);
    }
    return status;
}

static int frames_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    const struct gpume_table table = table_of(sink);
    const ROW row = gpume_frame_row_make(&sink->run->params, field);
    gpume_table_csv(&table, &row, 1, sink->out);
    return gpume_out_text(sink->out, ""); /* has it failed? */
}

const struct gpume_sink_ops gpume_sink_frames_csv = {
    .name = "frames.csv",
    .bytes = sizeof(struct gpume_sink),
    .stem = "frames",
    .ending = ".csv",
    .can_continue = gpume_text_can_continue,
    .open = frames_open,
    .field = frames_field,
    .finish = gpume_sink_finish_out,
};

/* --- the costs of one block */

struct surface_sink {
    struct gpume_sink sink;
    uint32_t *costs;
};

static void surface_close(struct gpume_sink *sink)
{
    free(((struct surface_sink *)sink)->costs);
}

static int surface_open(struct gpume_sink *sink)
{
    struct surface_sink *self = (struct surface_sink *)sink;
    const struct gpume_run *run = sink->run;
    const struct gpume_params *params = &run->params;
    int status;
    if (run->asked->surface_x >= params->width || run->asked->surface_y >= params->height) {
        return gpume_log_fail(&run->log, GPUME_INVALID,
            "--surface %" PRIu32 ",%" PRIu32 ": the picture has %" PRIu32 " x %" PRIu32
            " pixels, counted from 0; name one of them",
            run->asked->surface_x, run->asked->surface_y, params->width, params->height);
    }
    self->costs =
        malloc((2 * (size_t)params->window_x * params->subpel + 1) *
               (2 * (size_t)params->window_y * params->subpel + 1) * sizeof(*self->costs));
    if (!self->costs) {
        return gpume_log_nomem(&run->log, sink->path);
    }
    GPUME_TRY(gpume_out_open_in(&sink->out, run->set, sink->path, &run->log));
    GPUME_TRY(gpume_out_text(sink->out, "frame,ref,x,y,w,h,dx,dy,cost\n"));
fail:
    return status;
}

/* A candidate's row ends with its cost, that of another displacement with nothing. */
static int put_row(struct gpume_sink *sink, const char *head, int32_t dx, int32_t dy, uint32_t cost)
{
    char row[192], number[11] = "";
    const double units = sink->run->params.subpel;
    if (cost != GPUME_NONE) {
        snprintf(number, sizeof(number), "%" PRIu32, cost);
    }
    snprintf(row, sizeof(row), "%s%.8g,%.8g,%s\n", head, dx / units, dy / units, number);
    return gpume_out_text(sink->out, row);
}

static int put_surface(struct gpume_sink *sink, const char *head, const uint32_t *costs)
{
    const struct gpume_params *params = &sink->run->params;
    const int32_t window_x = (int32_t)(params->window_x * params->subpel);
    const int32_t window_y = (int32_t)(params->window_y * params->subpel);
    int status = GPUME_OK;
    for (int32_t dy = -window_y; dy <= window_y; dy++) {
        for (int32_t dx = -window_x; dx <= window_x && status == GPUME_OK; dx++) {
            status = put_row(sink, head, dx, dy, *costs++);
        }
    }
    return status;
}

static int surface_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    const struct surface_sink *self = (struct surface_sink *)sink;
    const struct gpume_params *params = &sink->run->params;
    const struct gpume_shown shown =
        gpume_shown_holding(field, sink->run->asked->surface_x, sink->run->asked->surface_y);
    const struct gpume_block_size shape = {shown.layer->block_w, shown.layer->block_h};
    const uint32_t right = params->width - shown.x, below = params->height - shown.y;
    char head[120];
    snprintf(head, sizeof(head),
        "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", field->frame,
        field->ref, shown.x, shown.y, shape.width < right ? shape.width : right,
        shape.height < below ? shape.height : below);
    const int status = gpume_surface(
        params, &field->target, &field->reference, &shape, shown.x, shown.y, self->costs);
    return status == GPUME_OK ? put_surface(sink, head, self->costs) : status;
}

const struct gpume_sink_ops gpume_sink_surface = {
    .name = "surface",
    .bytes = sizeof(struct surface_sink),
    .noun = "a cost surface",
    .stem = "surface",
    .ending = ".csv",
    .open = surface_open,
    .field = surface_field,
    .finish = gpume_sink_finish_out,
    .close = surface_close,
    .want_frames = true,
};
