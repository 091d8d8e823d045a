/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.csv: one row of sums per field. Called by the thread that receives fields. */
#include "base/status.h"
#include "files/out.h"
#include "files/text_file.h"
#include "sinks/frame_row.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frames_csv {
    struct gpume_sink sink;
    struct gpume_out *out;
    uint64_t pixels;
    uint32_t bits;
};

static void frames_close(struct gpume_sink **sink)
{
    struct frames_csv *self = (struct frames_csv *)*sink;
    if (self) {
        gpume_out_close(&self->out);
        free(self);
        *sink = NULL;
    }
}

static int frames_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check(path, "frames", ".csv", log);
}

static int frames_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run)
{
    static const char header[] = GPUME_FRAME_COLUMNS "\n";
    int status;
    struct frames_csv *self = calloc(1, sizeof(*self));
    if (!self) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR, "%s: out of memory", path);
        return GPUME_NOMEM;
    }
    struct gpume_sink *base = &self->sink;
    self->sink.ops = &gpume_sink_frames_csv;
    self->pixels = (uint64_t)run->params.width * run->params.height;
    self->bits = run->params.bits;
    GPUME_TRY(gpume_out_open_in(&self->out, run->set, path, &run->log));
    if (!gpume_out_is_continued(self->out)) {
        GPUME_TRY(gpume_out_write(self->out, header, sizeof(header) - 1));
    }
    *sink = base;
    return GPUME_OK;
fail:
    frames_close(&base);
    return status;
}

void gpume_frame_row(char row[GPUME_FRAME_ROW_BYTES], uint32_t bits, uint64_t pixels,
    const struct gpume_field *field)
{
    const struct gpume_sums *sums = &field->sums;
    char time[32], before[32], after[32];
    gpume_text_time(time, sizeof(time), field->time_us);
    gpume_text_psnr(before, sizeof(before), gpume_psnr(bits, pixels, sums->sse_before));
    gpume_text_psnr(after, sizeof(after), gpume_psnr(bits, pixels, sums->sse_after));
    snprintf(row, GPUME_FRAME_ROW_BYTES,
        "%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%" PRIu64 ",%s,%s",
        field->frame, field->ref, time, (uint64_t)field->blocks_x * field->blocks_y, sums->zero,
        sums->sad_before, sums->sad_after, sums->sse_before, sums->sse_after, before, after);
}

static int frames_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct frames_csv *self = (struct frames_csv *)sink;
    char row[GPUME_FRAME_ROW_BYTES];
    gpume_frame_row(row, self->bits, self->pixels, field);
    (void)gpume_out_write(self->out, row, strlen(row));
    return gpume_out_write(self->out, "\n", 1);
}

static int frames_finish(struct gpume_sink *sink)
{
    return gpume_out_finish(((struct frames_csv *)sink)->out);
}

const struct gpume_sink_ops gpume_sink_frames_csv = {
    .name = "frames.csv",
    .check = frames_check,
    .exists = gpume_text_exists,
    .clear = gpume_text_clear,
    .can_continue = gpume_text_can_continue,
    .open = frames_open,
    .field = frames_field,
    .finish = frames_finish,
    .close = frames_close,
};
