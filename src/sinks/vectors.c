/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors, in any format of vectors/format.h. */
#include "vectors/vectors.h"
#include "files/path.h"
#include "sinks/sink.h"
#include "vectors/format.h"

#include <unistd.h>

struct vectors_sink {
    struct gpume_sink sink;
    struct gpume_vectors_info info;
    struct gpume_vectors_writer *writer;
};

static void vectors_close(struct gpume_sink *sink)
{
    gpume_vectors_writer_close(&((struct vectors_sink *)sink)->writer);
}

/* What the run asks for, in addition to what every run writes. */
static unsigned columns_of(const struct gpume_params *p)
{
    const bool confidence = p->confidence, both = p->direction == GPUME_DIRECTION_BOTH;
    const struct {
        bool wanted;
        unsigned columns;
    } all[] = {{p->shape_count > 1, GPUME_VECTORS_SHAPE}, {p->rate, GPUME_VECTORS_BITS},
        {p->bidirectional, GPUME_VECTORS_REF2}, {p->candidates > 1, GPUME_VECTORS_CANDIDATE},
        {confidence, GPUME_VECTORS_SECOND | GPUME_VECTORS_TIES | GPUME_VECTORS_TEXTURE},
        {confidence && both, GPUME_VECTORS_RETURN}};
    unsigned columns =
        GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        columns |= all[i].wanted ? all[i].columns : 0;
    }
    return columns;
}

static int open_as(struct gpume_sink *sink, const struct gpume_vectors_format *format)
{
    struct vectors_sink *self = (struct vectors_sink *)sink;
    const struct gpume_run *run = sink->run;
    const bool one = run->params.shape_count < 2;
    self->info = (struct gpume_vectors_info){
        .columns = columns_of(&run->params),
        .width = run->params.width,
        .height = run->params.height,
        .block_w = one ? gpume_run_block(run).width : 0,
        .block_h = one ? gpume_run_block(run).height : 0,
        .units = run->params.subpel,
        .joined = run->params.best_reference,
        .overlaps = run->params.shape_count > 1 && !run->params.partition,
        .candidates = run->params.candidates,
        .has_search = true,
        .bits = run->params.bits,
        .window_x = run->params.window_x,
        .window_y = run->params.window_y,
        .edge = run->params.edge,
        .metric = gpume_cost_metric(&run->params),
        .prefilter = run->asked->prefilter.text,
    };
    const struct gpume_vectors_output output = {
        .path = sink->path,
        .format = format,
        .set = run->set,
        .processors = run->params.threads,
        .log = run->log,
    };
    return gpume_vectors_writer_open(&self->writer, &output, &self->info);
}

static int vectors_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct vectors_sink *self = (struct vectors_sink *)sink;
    const struct gpume_vectors_field vectors = {
        .frame = field->frame,
        .ref = field->ref,
        .time_us = field->time_us,
        .columns = self->info.columns,
        .count = gpume_vectors_blocks(field),
        .width = self->info.width,
        .height = self->info.height,
        .results = self->sink.run->fields_last ? gpume_field_ref(field) : field,
        .release = self->sink.run->fields_last ? gpume_field_release : NULL,
    };
    return gpume_vectors_writer_field(self->writer, &vectors);
}

static int vectors_let_go(struct gpume_sink *sink)
{
    return gpume_vectors_writer_wait(((struct vectors_sink *)sink)->writer);
}

static int vectors_settle(struct gpume_sink *sink)
{
    return gpume_vectors_writer_settle(((struct vectors_sink *)sink)->writer);
}

static int vectors_finish(struct gpume_sink *sink)
{
    return gpume_vectors_writer_finish(((struct vectors_sink *)sink)->writer);
}

static int vectors_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    const struct gpume_vectors_format *format = shape->format;
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
               : shape->both && format->one_field && kind != GPUME_PATTERN_PAIR
                   ? "a frame has two motion fields; put two %d in the name, such as "
                     "name%05d-%05d.flo, "
                     "for the numbers of the frame and of its reference"
               : kind == GPUME_PATTERN_PLAIN && !shape->single
                   ? "every frame has its own file; put %d in the name, such as name%05d.flo"
                   : NULL;
    }
    const bool is_text = !format->binary && format->packing == GPUME_PACKING_NONE;
    if (!is_text && gpume_text_is_stdout(path) && isatty(STDOUT_FILENO)) {
        what = "a terminal cannot show binary vectors; name a file, or pipe them to a program";
    }
    if (what) {
        return gpume_log_fail(log, GPUME_INVALID, "%s: %s", path, what);
    }
    return GPUME_OK;
}

static int csv_open(struct gpume_sink *sink)
{
    return open_as(sink, &gpume_vectors_csv);
}

static int csv_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    struct gpume_sink_shape csv = *shape;
    csv.format = &gpume_vectors_csv;
    return vectors_check(path, &csv, log);
}

const struct gpume_sink_ops gpume_sink_vectors_csv = {
    .name = "vectors.csv",
    .bytes = sizeof(struct vectors_sink),
    .check = csv_check,
    .can_continue = gpume_text_can_continue,
    .open = csv_open,
    .field = vectors_field,
    .let_go = vectors_let_go,
    .finish = vectors_finish,
    .close = vectors_close,
};

static const struct gpume_sink_ops vectors_file, vectors_series, vectors_at_end;

const struct gpume_sink_ops *gpume_sink_vectors(const struct gpume_vectors_format *format)
{
    return format->numbered ? &vectors_series : format->at_end ? &vectors_at_end : &vectors_file;
}

static int vectors_open(struct gpume_sink *sink)
{
    return open_as(sink, sink->run->format);
}

#define VECTORS_OPS                                                                                \
    .name = "vectors", .bytes = sizeof(struct vectors_sink), .check = vectors_check,               \
    .open = vectors_open, .field = vectors_field, .let_go = vectors_let_go,                        \
    .settle = vectors_settle, .finish = vectors_finish, .close = vectors_close

/* One file. */
static const struct gpume_sink_ops vectors_file = {
    VECTORS_OPS,
    .can_continue = gpume_text_can_continue,
};

/* One file, which cannot be continued: its bytes come when all fields are known. */
static const struct gpume_sink_ops vectors_at_end = {
    VECTORS_OPS,
};

/* One file per field, if the name has a number in it. */
static const struct gpume_sink_ops vectors_series = {
    VECTORS_OPS,
    .can_continue = gpume_text_can_continue,
    .is_series = gpume_pattern_is_numbered,
};
