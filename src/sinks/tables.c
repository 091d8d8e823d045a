/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables: frames.csv, with one row of sums per field, and the costs of every displacement of one
 * block. Called by the thread that receives fields.
 */
#include "base/status.h"
#include "files/out.h"
#include "files/text_file.h"
#include "sinks/border.h"
#include "sinks/frame_row.h"
#include "sinks/shown.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- frames.csv */

#define COLUMNS                                                                                    \
    "frame,ref,time,blocks,zero,sad_before,sad_after,sse_before,sse_after,psnr_before,psnr_after"

static int frames_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check(path, "frames", ".csv", log);
}

static int frames_open(struct gpume_sink *sink)
{
    int status;
    GPUME_TRY(gpume_out_open_in(&sink->out, sink->run->set, sink->path, &sink->run->log));
    if (!gpume_out_is_continued(sink->out)) {
        GPUME_TRY(gpume_out_text(sink->out, gpume_frame_columns(&sink->run->params)));
        GPUME_TRY(gpume_out_text(sink->out, "\n"));
    }
fail:
    return status;
}

const char *gpume_frame_columns(const struct gpume_params *params)
{
    return params->confidence ? COLUMNS ",border,border_share" : COLUMNS;
}

void gpume_frame_row(char row[GPUME_FRAME_ROW_BYTES], const struct gpume_params *params,
    const struct gpume_field *field)
{
    const uint64_t pixels = (uint64_t)params->width * params->height;
    const struct gpume_sums *sums = &field->sums;
    const uint64_t blocks = gpume_shown_count(field);
    char time[32], before[32], after[32];
    gpume_text_time(time, sizeof(time), field->time_us);
    gpume_text_psnr(before, sizeof(before), gpume_psnr(params->bits, pixels, sums->sse_before));
    gpume_text_psnr(after, sizeof(after), gpume_psnr(params->bits, pixels, sums->sse_after));
    const int length = snprintf(row, GPUME_FRAME_ROW_BYTES,
        "%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%" PRIu64 ",%s,%s",
        field->frame, field->ref, time, blocks, sums->zero, sums->sad_before, sums->sad_after,
        sums->sse_before, sums->sse_after, before, after);
    if (params->confidence) {
        const uint64_t border = gpume_border_count(field, params);
        snprintf(row + length, GPUME_FRAME_ROW_BYTES - (size_t)length, ",%" PRIu64 ",%.6f", border,
            (double)border / (double)blocks);
    }
}

static int frames_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    char row[GPUME_FRAME_ROW_BYTES];
    gpume_frame_row(row, &sink->run->params, field);
    (void)gpume_out_text(sink->out, row);
    return gpume_out_text(sink->out, "\n");
}

const struct gpume_sink_ops gpume_sink_frames_csv = {
    .name = "frames.csv",
    .bytes = sizeof(struct gpume_sink),
    .check = frames_check,
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

static int surface_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check(path, "surface", ".csv", log);
}

static void surface_close(struct gpume_sink *sink)
{
    free(((struct surface_sink *)sink)->costs);
}

static size_t displacements(const struct gpume_params *params)
{
    return (2 * (size_t)params->window_x * params->subpel + 1) *
           (2 * (size_t)params->window_y * params->subpel + 1);
}

static int surface_open(struct gpume_sink *sink)
{
    struct surface_sink *self = (struct surface_sink *)sink;
    const struct gpume_run *run = sink->run;
    const struct gpume_params *params = &run->params;
    int status;
    if (run->surface[0] >= params->width || run->surface[1] >= params->height) {
        return gpume_log_fail(&run->log, GPUME_INVALID,
            "--surface %" PRIu32 ",%" PRIu32 ": the picture has %" PRIu32 " x %" PRIu32
            " pixels, counted from 0; name one of them",
            run->surface[0], run->surface[1], params->width, params->height);
    }
    self->costs = malloc(displacements(params) * sizeof(*self->costs));
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
        gpume_shown_holding(field, sink->run->surface[0], sink->run->surface[1]);
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
    .check = surface_check,
    .open = surface_open,
    .field = surface_field,
    .finish = gpume_sink_finish_out,
    .close = surface_close,
    .want_frames = true,
};
