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
#include <stdlib.h>

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

struct gpume_mestimate {
    const struct gpume_params *params;
    char graph[80];
    struct gpume_filter *filter;
    struct gpume_log log;
    AVFrame *result;
    int64_t taken; /* frames */
};

int gpume_mestimate_open(
    struct gpume_mestimate **filter, const struct gpume_params *params, const char *method)
{
    struct gpume_mestimate *self = calloc(1, sizeof(*self));
    const struct gpume_log log = {.fn = params->log, .opaque = params->log_opaque};
    int status;
    if (!self) {
        return gpume_log_nomem(&log, "FFmpeg's mestimate");
    }
    *self = (struct gpume_mestimate){.params = params, .log = log, .result = av_frame_alloc()};
    snprintf(self->graph, sizeof(self->graph), "mestimate=method=%s:mb_size=%u:search_param=%u",
        method, params->block, params->window_x);
    const struct gpume_source_info info = {
        .time_num = 1, .time_den = 25, .rate_den = 1}; /* rate: unknown */
    GPUME_TRY(self->result ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(gpume_filter_open(&self->filter, self->graph, &info, 1, &log));
    *filter = self;
    return GPUME_OK;
fail:
    gpume_mestimate_close(&self);
    return status == GPUME_NOMEM ? gpume_log_nomem(&log, "FFmpeg's mestimate") : status;
}

int gpume_mestimate_next(struct gpume_mestimate *self, const struct gpume_plane *frame,
    struct gpume_vector *vectors, uint64_t *ns)
{
    const struct gpume_params *params = self->params;
    const uint64_t start = gpume_clock_ns();
    int status;
    GPUME_TRY(push(self->filter, params, frame, self->taken++));
    if (self->taken == 1) {
        return GPUME_OK;
    }
    av_frame_unref(self->result);
    GPUME_TRY(gpume_filter_pull(self->filter, self->result));
    if (self->taken > 2) {
        *ns += gpume_clock_ns() - start;
        const uint32_t blocks =
            frame->width / params->block * (uint32_t)(frame->height / params->block);
        status = take_vectors(&self->log, self->result, blocks, vectors);
    }
fail:
    return status == GPUME_NOMEM ? gpume_log_nomem(&self->log, "FFmpeg's mestimate") : status;
}

void gpume_mestimate_close(struct gpume_mestimate **filter)
{
    if (*filter) {
        av_frame_free(&(*filter)->result);
        gpume_filter_close(&(*filter)->filter);
        free(*filter);
        *filter = NULL;
    }
}

int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane frames[3],
    struct gpume_vector *vectors, uint64_t *ns)
{
    struct gpume_mestimate *filter = NULL;
    int status = gpume_mestimate_open(&filter, params, "esa");
    for (uint32_t i = 0; i < 3 && status == GPUME_OK; i++) {
        status = gpume_mestimate_next(filter, &frames[i], vectors, ns);
    }
    gpume_mestimate_close(&filter);
    return status;
}
