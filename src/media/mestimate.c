/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter searches every frame but the last in its predecessor and its successor, once the
 * successor has arrived: of three frames, pushing the third searches the second both ways. The
 * first frame is compared with itself, which takes one candidate per block and is not timed.
 */
#include "media/mestimate.h"

#include "base/clock.h"
#include "base/status.h"
#include "media/filter.h"

#include <stdio.h>

#include <libavfilter/avfilter.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/motion_vector.h>
#include <libavutil/pixfmt.h>

#define BLOCK_MIN 8u /* of mb_size; WINDOW_MIN: of search_param */
#define WINDOW_MIN 4u

const char *gpume_mestimate_obstacle(const struct gpume_params *params)
{
    if (!avfilter_get_by_name("mestimate")) {
        return "this FFmpeg has no such filter";
    }
    if (params->bits != 8) {
        return "it supports 8 bits only";
    }
    if (params->shape_count > 0 || params->subpel > 1 || params->rate ||
        params->metric != GPUME_METRIC_SAD || params->best_reference || params->candidates > 1 ||
        params->ref_distance > 1) {
        return "it finds one whole-pixel vector by SAD for each block of one size";
    }
    if (params->block < BLOCK_MIN || (params->block & (params->block - 1)) != 0) {
        return "its block sides are powers of two from 8";
    }
    if (params->window_x != params->window_y || params->window_x < WINDOW_MIN) {
        return "its window is the same in x and y, 4 or more";
    }
    if (params->width < params->block || params->height < params->block) {
        return "it searches whole blocks only";
    }
    return NULL;
}

static int make_frame(
    const struct gpume_params *params, const struct gpume_plane *plane, AVFrame **out)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame) {
        return GPUME_NOMEM;
    }
    frame->format = AV_PIX_FMT_GRAY8;
    frame->width = (int)(plane->width / params->block * params->block);
    frame->height = (int)(plane->height / params->block * params->block);
    if (av_frame_get_buffer(frame, 0) < 0) {
        av_frame_free(&frame);
        return GPUME_NOMEM;
    }
    av_image_copy_plane(frame->data[0], frame->linesize[0], plane->data, (int)plane->stride,
        frame->width, frame->height);
    *out = frame;
    return GPUME_OK;
}

static int push(struct gpume_filter *filter, const struct gpume_params *params,
    const struct gpume_plane *plane, int64_t pts)
{
    AVFrame *frame = NULL;
    int status = make_frame(params, plane, &frame);
    if (status == GPUME_OK) {
        frame->pts = pts;
        status = gpume_filter_push(filter, frame);
    }
    av_frame_free(&frame);
    return status;
}

/* Copies both halves of the frame's side data: past, then future. */
static int take_vectors(const struct gpume_log *log, const AVFrame *frame, uint32_t blocks,
    struct gpume_vector *vectors)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!data || data->size != 2 * blocks * sizeof(AVMotionVector)) {
        return gpume_log_fail(log, GPUME_UNSUPPORTED,
            "mestimate: this FFmpeg does not return a vector for every block");
    }
    const AVMotionVector *from = (const AVMotionVector *)(const void *)data->data;
    for (uint32_t i = 0; i < 2 * blocks; i++) {
        vectors[i] = (struct gpume_vector){
            (int16_t)(from[i].src_x - from[i].dst_x), (int16_t)(from[i].src_y - from[i].dst_y)};
    }
    return GPUME_OK;
}

/* Pushes three frames; *result is the second one, with its vectors. */
static int search(struct gpume_filter *filter, const struct gpume_params *params,
    const struct gpume_plane frames[3], AVFrame *result, uint64_t *ns)
{
    int status;
    GPUME_TRY(push(filter, params, &frames[0], 0));
    GPUME_TRY(push(filter, params, &frames[1], 1));
    GPUME_TRY(gpume_filter_pull(filter, result));
    av_frame_unref(result);
    uint64_t start = gpume_clock_ns();
    GPUME_TRY(push(filter, params, &frames[2], 2));
    GPUME_TRY(gpume_filter_pull(filter, result));
    *ns += gpume_clock_ns() - start;
fail:
    return status;
}

int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane frames[3],
    struct gpume_vector *vectors, uint64_t *ns)
{
    char graph[80];
    snprintf(graph, sizeof(graph), "mestimate=method=esa:mb_size=%u:search_param=%u", params->block,
        params->window_x);
    struct gpume_filter_options options = {
        .graph = graph,
        .time_base = {1, 25},
        .threads = 1,
        .log = {.fn = params->log, .opaque = params->log_opaque},
    };
    struct gpume_filter *filter = NULL;
    AVFrame *result = av_frame_alloc();
    int status = result ? gpume_filter_open(&filter, &options) : GPUME_NOMEM;
    if (status == GPUME_OK) {
        status = search(filter, params, frames, result, ns);
    }
    if (status == GPUME_OK) {
        uint32_t blocks =
            frames[0].width / params->block * (uint32_t)(frames[0].height / params->block);
        status = take_vectors(&options.log, result, blocks, vectors);
    }
    av_frame_free(&result);
    gpume_filter_close(&filter);
    return status == GPUME_NOMEM ? gpume_log_nomem(&options.log, "FFmpeg's mestimate") : status;
}
