/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codecview: draws gpume's motion vectors with FFmpeg's filter of that name.
 *
 *     codecview [-y] INPUT OUTPUT.y4m [BLOCK [WINDOW [LAMBDA]]]
 *
 * Decoders can export the motion vectors of a stream as side data of its frames. This program
 * attaches gpume's vectors in the same form, for any codec, so that everything that reads such side
 * data (codecview, your own filter, a Python binding of libav) works without knowing gpume. It
 * shows:
 *
 * - gpume_avframe_attach of gpume/avframe.h, which takes one line;
 * - how to match fields with frames, which arrive earlier: frames wait in a queue for the field
 * with their number. The first frame has no field, since it has no reference.
 *
 * With LAMBDA, blocks have variable sizes and vectors quarter pixels: each square of BLOCK pixels
 * is divided down to 8x8 wherever that costs less (partition.c says more). gpume_avframe_attach
 * then gives one vector per chosen block, and its motion_scale says 4.
 *
 * The output is 8-bit 4:2:0. It appears when it is complete, and replaces a file only with -y.
 * Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include "video.h"
#include "y4m.h"

#include <gpume/avframe.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/fifo.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTERS "format=yuv420p,codecview=mv_type=fp+bp"

struct drawing {
    struct video video;
    gpume *ctx;
    struct gpume_params params;
    AVFifo *waiting; /* AVFrame *, oldest first, not yet filtered */
    uint64_t number; /* of the oldest waiting frame */
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    AVFrame *drawn;
    const char *path;
    struct y4m y4m;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "codecview: %s: %s\n", what, why);
    return -1;
}

static int fail_libav(const char *what, int error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, why, sizeof why);
    return fail(what, why);
}

static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "codecview: %s\n", line);
    }
}

static int open_filters(struct drawing *drawing)
{
    const struct video *video = &drawing->video;
    const AVRational unit = video->format->streams[video->stream]->time_base;
    AVFilterInOut *from = avfilter_inout_alloc(), *to = avfilter_inout_alloc();
    char shape[128];
    int error = AVERROR(ENOMEM);
    snprintf(shape, sizeof shape, "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d", video->width,
        video->height, video->pixel_format, unit.num, unit.den);
    drawing->graph = avfilter_graph_alloc();
    drawing->drawn = av_frame_alloc();
    if (from && to && drawing->graph && drawing->drawn) {
        from->name = av_strdup("in");
        to->name = av_strdup("out");
        error = avfilter_graph_create_filter(
            &drawing->source, avfilter_get_by_name("buffer"), "in", shape, NULL, drawing->graph);
    }
    if (error >= 0) {
        error = avfilter_graph_create_filter(
            &drawing->sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL, drawing->graph);
    }
    if (error >= 0) {
        from->filter_ctx = drawing->source;
        to->filter_ctx = drawing->sink;
        error = avfilter_graph_parse_ptr(drawing->graph, FILTERS, &to, &from, NULL);
    }
    if (error >= 0) {
        error = avfilter_graph_config(drawing->graph, NULL);
    }
    avfilter_inout_free(&from);
    avfilter_inout_free(&to);
    return error < 0 ? fail_libav(FILTERS, error) : 0;
}

/* Opens everything that depends on the first frame. */
static int open_outputs(struct drawing *drawing)
{
    const struct video *video = &drawing->video;
    AVRational rate = video->format->streams[video->stream]->avg_frame_rate;
    rate = rate.num > 0 ? rate : (AVRational){25, 1};
    drawing->params.width = (uint32_t)video->width;
    drawing->params.height = (uint32_t)video->height;
    drawing->params.bits = video->bits;
    drawing->waiting = av_fifo_alloc2(8, sizeof(AVFrame *), AV_FIFO_FLAG_AUTO_GROW);
    if (!drawing->waiting) {
        return fail("frames", "out of memory");
    }
    if (open_filters(drawing) < 0 || gpume_open(&drawing->ctx, &drawing->params) != GPUME_OK) {
        return -1;
    }
    fprintf(drawing->y4m.out, "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C420mpeg2\n", video->width,
        video->height, rate.num, rate.den);
    return 0;
}

static void write_picture(const struct drawing *drawing)
{
    const AVFrame *frame = drawing->drawn;
    fputs("FRAME\n", drawing->y4m.out);
    for (int plane = 0; plane < 3; plane++) {
        const int width = plane > 0 ? (frame->width + 1) / 2 : frame->width;
        const int height = plane > 0 ? (frame->height + 1) / 2 : frame->height;
        for (int y = 0; y < height; y++) {
            const uint8_t *row = frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane];
            fwrite(row, 1, (size_t)width, drawing->y4m.out);
        }
    }
}

/* Filters and writes the oldest waiting frame, with its field if it has one. */
static int draw_oldest(struct drawing *drawing, const struct gpume_field *field)
{
    AVFrame *frame = NULL;
    int error = av_fifo_read(drawing->waiting, &frame, 1);
    drawing->number++;
    if (error >= 0 && field) {
        error = gpume_avframe_attach(frame, field, &drawing->params);
    }
    if (error >= 0) {
        error = av_buffersrc_add_frame(drawing->source, frame);
    }
    av_frame_free(&frame);
    while (error >= 0) {
        error = av_buffersink_get_frame(drawing->sink, drawing->drawn);
        if (error >= 0) {
            write_picture(drawing);
            av_frame_unref(drawing->drawn);
        }
    }
    return error == AVERROR(EAGAIN) || error == AVERROR_EOF ? 0 : fail_libav("drawing", error);
}

/* Receives a field and draws all frames up to its target; those before the target have no field. */
static int receive(struct drawing *drawing)
{
    const struct gpume_field *field = NULL;
    int status = gpume_receive(drawing->ctx, &field, 0);
    if (status != GPUME_OK) {
        return status;
    }
    int drawn = 0;
    while (drawn == 0 && drawing->number <= field->frame) {
        drawn = draw_oldest(drawing, drawing->number == field->frame ? field : NULL);
    }
    gpume_field_release(&field);
    return drawn < 0 ? GPUME_CANCELLED : GPUME_OK;
}

/* Acquires a frame; while the pool is empty, receives fields. */
static int acquire(struct drawing *drawing, gpume_frame **frame, struct gpume_plane *plane)
{
    int status = gpume_frame_acquire(drawing->ctx, frame, plane, 0);
    while (status == GPUME_AGAIN) {
        status = receive(drawing);
        if (status == GPUME_OK) {
            status = gpume_frame_acquire(drawing->ctx, frame, plane, 0);
        }
    }
    return status;
}

static int send(struct drawing *drawing)
{
    if (!drawing->ctx && open_outputs(drawing) < 0) {
        return -1;
    }
    gpume_frame *pooled = NULL;
    struct gpume_plane plane;
    int status = acquire(drawing, &pooled, &plane);
    if (status == GPUME_OK) {
        video_fill(&drawing->video, &plane);
        status = gpume_send(drawing->ctx, &pooled, video_time_us(&drawing->video));
    }
    if (status != GPUME_OK) {
        return status == GPUME_CANCELLED ? -1 : fail("estimating", gpume_status_text(status));
    }
    AVFrame *frame = av_frame_clone(drawing->video.frame);
    if (!frame || av_fifo_write(drawing->waiting, &frame, 1) < 0) {
        av_frame_free(&frame);
        return fail("frames", "out of memory");
    }
    return 0;
}

static int run(struct drawing *drawing)
{
    int got = video_next(&drawing->video);
    while (got > 0) {
        const int sent = send(drawing);
        got = sent < 0 ? sent : video_next(&drawing->video);
    }
    if (got < 0 || !drawing->ctx) {
        return got < 0 ? got : fail("the video", "it has no frames");
    }
    int status = gpume_finish(drawing->ctx);
    while (status == GPUME_OK) {
        status = receive(drawing);
    }
    if (status != GPUME_EOF) {
        return status == GPUME_CANCELLED ? -1 : fail("estimating", gpume_status_text(status));
    }
    while (av_fifo_can_read(drawing->waiting) > 0) { /* a video of one frame has no field */
        if (draw_oldest(drawing, NULL) < 0) {
            return -1;
        }
    }
    return ferror(drawing->y4m.out) != 0 ? fail(drawing->path, "cannot be written") : 0;
}

/* complete: the output gets its name. */
static int close_all(struct drawing *drawing, bool complete)
{
    AVFrame *frame = NULL;
    while (drawing->waiting && av_fifo_read(drawing->waiting, &frame, 1) >= 0) {
        av_frame_free(&frame);
    }
    av_fifo_freep2(&drawing->waiting);
    avfilter_graph_free(&drawing->graph);
    av_frame_free(&drawing->drawn);
    video_close(&drawing->video);
    const bool closed = gpume_close(&drawing->ctx) == GPUME_OK;
    return y4m_close(&drawing->y4m, complete && closed) == 0 && complete && closed ? 0 : -1;
}

/* Squares by halves from params.block to 8, and the halves of all but the smallest. */
static void divide_blocks(struct gpume_params *params)
{
    for (uint32_t side = params->block; side >= 8; side /= 2) {
        const struct gpume_block_size shapes[] = {{side, side}, {side, side / 2}, {side / 2, side}};
        const uint32_t count = side >= 16 ? 3 : 1;
        memcpy(params->shapes + params->shape_count, shapes, count * sizeof(shapes[0]));
        params->shape_count += count;
    }
    params->partition = true;
    params->subpel = 4;
    params->rate = true;
    params->predictor = GPUME_PREDICTOR_MEDIAN;
}

static bool parse(const char *text, uint32_t *value)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == '\0' && number <= GPUME_WINDOW_MAX;
}

int main(int argc, char **argv)
{
    struct drawing drawing = {.video = {.program = "codecview"}, .y4m = {.program = "codecview"}};
    gpume_params_default(&drawing.params);
    drawing.params.log = print_log;
    if (argc > 1 && strcmp(argv[1], "-y") == 0) {
        drawing.y4m.overwrite = true;
        argv++;
        argc--;
    }
    bool usable = argc >= 3 && argc <= 6;
    if (usable && argc > 3) {
        usable = parse(argv[3], &drawing.params.block);
    }
    if (usable && argc > 4) {
        usable = parse(argv[4], &drawing.params.window_x);
        drawing.params.window_y = drawing.params.window_x;
    }
    if (usable && argc > 5) {
        usable = parse(argv[5], &drawing.params.lambda);
        drawing.params.lambda *= 256;
        divide_blocks(&drawing.params);
    }
    if (!usable) {
        fprintf(stderr, "usage: codecview [-y] INPUT OUTPUT.y4m [BLOCK [WINDOW [LAMBDA]]]\n");
        return 2;
    }
    if (gpume_api_version() < GPUME_API_VERSION) {
        fail("libgpume", "older than the version that this program was built for");
        return 1;
    }
    drawing.path = argv[2];
    int result = y4m_open_output(&drawing.y4m, argv[1], argv[2]);
    result = result < 0 ? result : video_open(&drawing.video, argv[1]);
    result = result < 0 ? result : run(&drawing);
    return close_all(&drawing, result == 0) == 0 ? 0 : 1;
}
