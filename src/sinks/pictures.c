/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures of a field: the predicted frame, the difference |target - reference|, and the residual
 * target - predicted, absolute or signed. Called by the thread that receives fields. A table made
 * at opening maps differences of samples to samples, with gain, clipping and gamma, rounded once.
 */
#include "base/base.h"
#include "draw/overlay.h"
#include "media/picture.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct pictures {
    struct gpume_sink sink;
    struct gpume_picture *picture;
    uint32_t peak;
    uint16_t *table;               /* entry peak + d: the sample for a difference d */
    struct gpume_plane plane;      /* the current picture; data is NULL for predicted frames */
    struct gpume_overlay *overlay; /* NULL: of other sinks */
};

static void pictures_close(struct gpume_sink *sink)
{
    struct pictures *self = (struct pictures *)sink;
    gpume_picture_close(&self->picture);
    gpume_overlay_destroy(&self->overlay);
    free(self->table);
    free(self->plane.data);
}

static int pictures_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    return gpume_picture_check_name(path, shape->single, 0, false, log);
}

/* The sample for a difference. Signed differences are shown around 2^(bits-1); gamma is applied to
 * the resulting sample. */
static uint16_t shown(int64_t difference, uint32_t bits, bool is_signed, double gain, double gamma)
{
    const double peak = (double)((1u << bits) - 1);
    double value = is_signed ? (double)(1u << (bits - 1)) + gain * (double)difference
                             : gain * fabs((double)difference);
    value = value < 0 ? 0 : value > peak ? peak : value;
    if (gamma != 1) {
        value = peak * pow(value / peak, 1 / gamma);
    }
    return (uint16_t)lround(value);
}

static int make_table(struct pictures *self, const struct gpume_run *run, bool is_signed)
{
    const uint32_t bits = run->params.bits;
    const size_t sample_bytes = bits > 8 ? 2 : 1;
    self->peak = (1u << bits) - 1;
    self->table = malloc((2 * (size_t)self->peak + 1) * sizeof(*self->table));
    self->plane = (struct gpume_plane){
        .data = malloc(sample_bytes * run->params.width * run->params.height),
        .stride = (ptrdiff_t)(sample_bytes * run->params.width),
        .width = run->params.width,
        .height = run->params.height,
        .bits = bits,
    };
    if (!self->table || !self->plane.data) {
        return GPUME_NOMEM;
    }
    const int64_t peak = self->peak;
    for (int64_t d = -peak; d <= peak; d++) {
        self->table[peak + d] = shown(d, bits, is_signed, run->asked->gain, run->asked->gamma);
    }
    return GPUME_OK;
}

/* scale: pixels of the picture per pixel of a frame, on each axis. */
static int open_picture(
    struct gpume_sink *sink, struct gpume_picture **picture, bool colour, uint32_t scale)
{
    const struct gpume_run *run = sink->run;
    const struct gpume_picture_options options = {
        .path = sink->path,
        .width = run->params.width * scale,
        .height = run->params.height * scale,
        .bits = colour ? 8 : run->params.bits,
        .colour = colour,
        .video = run->video,
        .set = run->set,
        .log = run->log,
    };
    return gpume_picture_open(picture, &options);
}

static int predicted_open(struct gpume_sink *sink)
{
    return open_picture(sink, &((struct pictures *)sink)->picture, false, 1);
}

static int open_with_table(struct gpume_sink *sink, bool is_signed)
{
    const int status = make_table((struct pictures *)sink, sink->run, is_signed);
    return status == GPUME_OK ? predicted_open(sink) : gpume_log_nomem(&sink->run->log, sink->path);
}

static int residual_open(struct gpume_sink *sink)
{
    return open_with_table(sink, sink->run->asked->residual_signed);
}

static int difference_open(struct gpume_sink *sink)
{
    return open_with_table(sink, false);
}

/* 8-bit samples cannot leave the table. */
static void subtract_8(
    const struct pictures *self, const struct gpume_plane *a, const struct gpume_plane *b)
{
    const uint16_t *const zero = self->table + self->peak;
    for (uint32_t y = 0; y < self->plane.height; y++) {
        const uint8_t *const from = gpume_plane_row(a, y), *const minus = gpume_plane_row(b, y);
        uint8_t *const to = gpume_plane_row(&self->plane, y);
        for (uint32_t x = 0; x < self->plane.width; x++) {
            to[x] = (uint8_t)zero[from[x] - minus[x]];
        }
    }
}

/* The mask keeps invalid samples, above the peak, inside the table. */
static void subtract_16(
    const struct pictures *self, const struct gpume_plane *a, const struct gpume_plane *b)
{
    const uint16_t *const zero = self->table + self->peak;
    const int peak = (int)self->peak;
    for (uint32_t y = 0; y < self->plane.height; y++) {
        const uint16_t *const from = gpume_plane_row(a, y), *const minus = gpume_plane_row(b, y);
        uint16_t *const to = gpume_plane_row(&self->plane, y);
        for (uint32_t x = 0; x < self->plane.width; x++) {
            to[x] = zero[(from[x] & peak) - (minus[x] & peak)];
        }
    }
}

static int write_difference(
    struct gpume_sink *sink, const struct gpume_field *field, const struct gpume_plane *minus)
{
    struct pictures *self = (struct pictures *)sink;
    if (self->plane.bits > 8) {
        subtract_16(self, &field->target, minus);
    } else {
        subtract_8(self, &field->target, minus);
    }
    return gpume_picture_write(self->picture, &self->plane, field->frame, field->time_us);
}

static int predicted_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    return gpume_picture_write(
        ((struct pictures *)sink)->picture, &field->predicted, field->frame, field->time_us);
}

static int residual_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    return write_difference(sink, field, &field->predicted);
}

static int difference_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    return write_difference(sink, field, &field->reference);
}

static int pictures_finish(struct gpume_sink *sink)
{
    return gpume_picture_finish(((struct pictures *)sink)->picture);
}

#define PICTURE_OPS                                                                                \
    .bytes = sizeof(struct pictures), .can_continue = gpume_picture_can_continue,                  \
    .is_series = gpume_picture_is_series, .finish = pictures_finish, .close = pictures_close,      \
    .one_per_frame = true

const struct gpume_sink_ops gpume_sink_predicted = {
    PICTURE_OPS,
    .check = pictures_check,
    .name = "predicted",
    .help = "predicted frames, as a video (.y4m .mkv .nut .mp4 .webm .gif; on standard output - "
            "for Y4M, -.nut "
            "for NUT), or as pictures if the name is a pattern such as p%03d.png (.png .pgm .bmp "
            ".jpg)",
    .open = predicted_open,
    .field = predicted_field,
    .want_predicted = true,
};

const struct gpume_sink_ops gpume_sink_residual = {
    PICTURE_OPS,
    .check = pictures_check,
    .name = "residual",
    .help = "target minus predicted frames, in the same formats as --predicted",
    .brief = "target minus predicted frames",
    .open = residual_open,
    .field = residual_field,
    .want_predicted = true,
    .want_frames = true,
};

const struct gpume_sink_ops gpume_sink_difference = {
    PICTURE_OPS,
    .check = pictures_check,
    .name = "difference",
    .help = "absolute difference between target and reference, in the same formats as --predicted",
    .open = difference_open,
    .field = difference_field,
    .want_frames = true,
};

/* --- the target frames in colour with their motion drawn over them; the run has the colours */

static int overlay_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    return gpume_picture_check_name(path, shape->single, 0, true, log);
}

/* The block that marks must fit into: the run's, or the smallest that a partition can choose. */
static struct gpume_block_size smallest_block(const struct gpume_run *run)
{
    struct gpume_block_size size = gpume_run_block(run);
    for (uint32_t i = 0; run->params.partition && i < run->params.shape_count; i++) {
        const struct gpume_block_size shape = run->params.shapes[i];
        size.width = shape.width < size.width ? shape.width : size.width;
        size.height = shape.height < size.height ? shape.height : size.height;
    }
    return size;
}

static int make_overlay(struct pictures *self)
{
    const struct gpume_run *run = self->sink.run;
    const struct gpume_block_size smallest = smallest_block(run);
    const struct gpume_overlay_options options = {
        .width = run->params.width,
        .height = run->params.height,
        .bits = run->params.bits,
        .block_w = smallest.width,
        .block_h = smallest.height,
        .parts = run->params.partition,
        .window_x = run->params.window_x,
        .window_y = run->params.window_y,
        .look = run->asked->look,
    };
    const int status = gpume_overlay_create(&self->overlay, &options);
    if (status == GPUME_INVALID) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR,
            "%s: pictures of %" PRIu64 "x%" PRIu64 " have more than %" PRIu64
            " pixels; give a smaller --scale or crop them with --vf",
            self->sink.path, (uint64_t)options.width * options.look.scale,
            (uint64_t)options.height * options.look.scale, GPUME_OVERLAY_PIXELS_MAX);
    }
    return status;
}

static int overlay_open(struct gpume_sink *sink)
{
    struct pictures *self = (struct pictures *)sink;
    const int status = make_overlay(self);
    if (status == GPUME_NOMEM) {
        return gpume_log_nomem(&sink->run->log, sink->path);
    }
    return status == GPUME_OK
               ? open_picture(sink, &self->picture, true, sink->run->asked->look.scale)
               : status;
}

static int overlay_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    int status = GPUME_OK;
    struct pictures *self = (struct pictures *)sink;
    struct gpume_plane rgb, drawn;
    if (sink->run->asked->look.style == GPUME_OVERLAY_RETURN && !sink->run->params.best_reference &&
        field->ref > field->frame) {
        return GPUME_OK; /* of a target's two pairs, the one with the past reference is drawn */
    }
    GPUME_TRY(sink->run->colours.take(sink->run->colours.source, field->frame, &rgb));
    status = gpume_overlay_draw(self->overlay, &rgb, field, &drawn);
    if (status != GPUME_OK) {
        return gpume_log_fail(&sink->run->log, status,
            "the overlay of frame %" PRIu64 ": out of memory", field->frame);
    }
    return gpume_picture_write(self->picture, &drawn, field->frame, field->time_us);
fail:
    return status;
}

const struct gpume_sink_ops gpume_sink_overlay = {
    PICTURE_OPS,
    .name = "overlay",
    .help = "target frames in colour with their motion drawn on top: .y4m .mkv .nut .mp4 .webm "
            ".gif, - for "
            "standard output, or a pattern (.png .ppm .bmp .jpg)",
    .brief = "target frames with their motion drawn on top",
    .check = overlay_check,
    .open = overlay_open,
    .field = overlay_field,
    .want_colour = true,
};
