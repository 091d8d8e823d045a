/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target frames in colour with their motion drawn over them, as pictures or video. Called by
 * the thread that receives fields, which asks the run for the colours.
 */
#include "draw/overlay.h"
#include "base/status.h"
#include "media/picture.h"
#include "sinks/sink.h"

#include <inttypes.h>

struct overlay_sink {
    struct gpume_sink sink;
    struct gpume_picture *picture;
    struct gpume_overlay *overlay;
};

static void overlay_close(struct gpume_sink *sink)
{
    struct overlay_sink *self = (struct overlay_sink *)sink;
    gpume_picture_close(&self->picture);
    gpume_overlay_destroy(&self->overlay);
}

static int overlay_check(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    return gpume_picture_check_name(path, shape->single, 0, true, log);
}

/* The block that marks must fit into: the run's, or the smallest that a partition can choose. */
static struct gpume_block_size smallest_block(const struct gpume_run *run)
{
    struct gpume_block_size size = {run->block_w, run->block_h};
    for (uint32_t i = 0; run->params.partition && i < run->params.shape_count; i++) {
        const struct gpume_block_size shape = run->params.shapes[i];
        size.width = shape.width < size.width ? shape.width : size.width;
        size.height = shape.height < size.height ? shape.height : size.height;
    }
    return size;
}

static int make_overlay(struct overlay_sink *self)
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
        .look = run->look,
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
    int status;
    struct overlay_sink *self = (struct overlay_sink *)sink;
    const struct gpume_run *run = sink->run;
    status = make_overlay(self);
    GPUME_TRY(status == GPUME_NOMEM ? gpume_log_nomem(&run->log, sink->path) : status);
    const struct gpume_picture_options options = {
        .path = sink->path,
        .width = run->params.width * run->look.scale,
        .height = run->params.height * run->look.scale,
        .bits = 8,
        .colour = true,
        .video = run->video,
        .set = run->set,
        .log = run->log,
    };
    GPUME_TRY(gpume_picture_open(&self->picture, &options));
fail:
    return status;
}

static int overlay_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    int status = GPUME_OK;
    struct overlay_sink *self = (struct overlay_sink *)sink;
    struct gpume_plane rgb, drawn;
    GPUME_TRY(sink->run->take_colour(sink->run->colours, field->frame, &rgb));
    status = gpume_overlay_draw(self->overlay, &rgb, field, &drawn);
    if (status != GPUME_OK) {
        return gpume_log_fail(&sink->run->log, status,
            "the overlay of frame %" PRIu64 ": out of memory", field->frame);
    }
    return gpume_picture_write(self->picture, &drawn, field->frame, field->time_us);
fail:
    return status;
}

static int overlay_finish(struct gpume_sink *sink)
{
    return gpume_picture_finish(((struct overlay_sink *)sink)->picture);
}

const struct gpume_sink_ops gpume_sink_overlay = {
    .name = "overlay",
    .bytes = sizeof(struct overlay_sink),
    .check = overlay_check,
    .can_continue = gpume_picture_can_continue,
    .is_series = gpume_picture_is_series,
    .open = overlay_open,
    .field = overlay_field,
    .finish = overlay_finish,
    .close = overlay_close,
    .want_colour = true,
};
