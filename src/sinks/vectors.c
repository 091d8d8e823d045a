/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors, in any format of vectors/format.h. */
#include "base/status.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "sinks/sink.h"
#include "vectors/format.h"
#include "vectors/writer.h"

#include <stdlib.h>

struct vectors_sink {
    struct gpume_sink sink;
    struct gpume_vectors_info info;
    struct gpume_vectors_writer *writer;
};

static void vectors_close(struct gpume_sink **sink)
{
    struct vectors_sink *self = (struct vectors_sink *)*sink;
    if (self) {
        gpume_vectors_writer_close(&self->writer);
        free(self);
        *sink = NULL;
    }
}

static int vectors_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run,
    const struct gpume_vectors_format *format, const struct gpume_sink_ops *ops)
{
    int status = GPUME_NOMEM;
    struct vectors_sink *self = calloc(1, sizeof(*self));
    struct gpume_sink *base = (struct gpume_sink *)self;
    if (!self) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR, "%s: out of memory", path);
        return status;
    }
    self->sink.ops = ops;
    self->info = (struct gpume_vectors_info){
        .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME,
        .width = run->params.width,
        .height = run->params.height,
        .block = run->params.block,
        .has_search = true,
        .bits = run->params.bits,
        .window_x = run->params.window_x,
        .window_y = run->params.window_y,
        .edge = run->params.edge,
        .metric = run->params.metric,
        .prefilter = run->prefilter,
    };
    const struct gpume_vectors_target target = {
        .path = path,
        .format = format,
        .set = run->set,
        .processors = run->params.threads,
        .log = run->log,
    };
    GPUME_TRY(gpume_vectors_writer_open(&self->writer, &target, &self->info));
    *sink = base;
    return GPUME_OK;
fail:
    vectors_close(&base);
    return status;
}

static int vectors_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct vectors_sink *self = (struct vectors_sink *)sink;
    const struct gpume_vectors_field vectors = {
        .frame = field->frame,
        .ref = field->ref,
        .time_us = field->time_us,
        .columns = self->info.columns,
        .count = (size_t)field->blocks_x * field->blocks_y,
        .width = self->info.width,
        .height = self->info.height,
        .vectors = field->vectors,
        .costs = field->costs,
        .ranks = field->ranks,
    };
    return gpume_vectors_writer_field(self->writer, &vectors);
}

static int vectors_settle(struct gpume_sink *sink)
{
    return gpume_vectors_writer_settle(((struct vectors_sink *)sink)->writer);
}

static int vectors_finish(struct gpume_sink *sink)
{
    return gpume_vectors_writer_finish(((struct vectors_sink *)sink)->writer);
}

int gpume_sink_vectors_check(const struct gpume_vectors_format *format, const char *path,
    bool single, bool both, const struct gpume_log *log)
{
    const char *what = NULL;
    if (gpume_text_check_file(
            path, "vectors", format->extension ? format->extension : ".csv", log) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (format->numbered && !gpume_text_is_special(path)) {
        const enum gpume_pattern_kind kind = gpume_pattern_kind(path);
        what = kind == GPUME_PATTERN_WRONG
                   ? "give one %d or %0Nd in the file's own name, or two with more than digits "
                     "between them (%% is a percent sign)"
               : both && format->one_field && kind != GPUME_PATTERN_PAIR
                   ? "a frame has two fields; put two %d in the name, such as name%05d-%05d.flo, "
                     "for the numbers of the frame and of its reference"
               : kind == GPUME_PATTERN_PLAIN && !single
                   ? "there will be many files; put %d in the name, such as name%05d.flo"
                   : NULL;
    }
    if (what) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: %s", path, what);
        return GPUME_INVALID;
    }
    return GPUME_OK;
}

bool gpume_sink_vectors_is_series(const struct gpume_vectors_format *format, const char *path)
{
    const enum gpume_pattern_kind kind =
        format->numbered ? gpume_pattern_kind(path) : GPUME_PATTERN_PLAIN;
    return kind == GPUME_PATTERN_NUMBERED || kind == GPUME_PATTERN_PAIR;
}

bool gpume_sink_vectors_exists(const struct gpume_vectors_format *format, const char *path)
{
    uint64_t lowest;
    return gpume_sink_vectors_is_series(format, path) ? gpume_pattern_find(path, &lowest)
                                                      : gpume_text_exists(path);
}

bool gpume_sink_vectors_can_continue(const struct gpume_vectors_format *format, const char *path)
{
    return gpume_sink_vectors_is_series(format, path) || gpume_text_can_continue(path);
}

void gpume_sink_vectors_clear(const struct gpume_vectors_format *format, const char *path)
{
    if (gpume_sink_vectors_is_series(format, path)) {
        gpume_pattern_clear(path);
    } else if (gpume_text_can_continue(path)) {
        gpume_text_clear(path);
    }
}

static int csv_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run)
{
    return vectors_open(sink, path, run, &gpume_vectors_csv, &gpume_sink_vectors_csv);
}

static int csv_check(const char *path, bool single, const struct gpume_log *log)
{
    return gpume_sink_vectors_check(&gpume_vectors_csv, path, single, false, log);
}

static bool csv_exists(const char *path)
{
    return gpume_sink_vectors_exists(&gpume_vectors_csv, path);
}

const struct gpume_sink_ops gpume_sink_vectors_csv = {
    .name = "vectors.csv",
    .check = csv_check,
    .exists = csv_exists,
    .can_continue = gpume_text_can_continue,
    .open = csv_open,
    .field = vectors_field,
    .finish = vectors_finish,
    .close = vectors_close,
};

static int any_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run)
{
    return vectors_open(sink, path, run, run->vectors_format, &gpume_sink_vectors);
}

const struct gpume_sink_ops gpume_sink_vectors = {
    .name = "vectors",
    .open = any_open,
    .field = vectors_field,
    .settle = vectors_settle,
    .finish = vectors_finish,
    .close = vectors_close,
};
