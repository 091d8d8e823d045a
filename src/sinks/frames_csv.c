/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.csv: one row of sums per field. Called by the thread that receives fields. */
#include "base/status.h"
#include "files/out.h"
#include "files/text_file.h"
#include "sinks/border.h"
#include "sinks/frame_row.h"
#include "sinks/shown.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>

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
