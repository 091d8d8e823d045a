/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/ffmpeg.h"

#include "base/base.h"
#include "base/os.h"
#include "media/libav.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/motion_vector.h>
#include <libavutil/pixfmt.h>
#include <libswscale/swscale.h>

#define BLOCK_MIN 8u /* of mb_size; WINDOW_MIN: of search_param */
#define WINDOW_MIN 4u

/* --- searches */

/*
 * The filter searches every frame but the last in its predecessor and its successor, once the
 * successor has arrived: of three frames, pushing the third searches the second both ways. The
 * first frame is compared with itself, which takes one candidate per block and is not timed.
 */

const char *gpume_mestimate_obstacle(const struct gpume_params *params)
{
    if (!gpume_graph_exists("mestimate")) {
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

/* Into an empty frame. */
static int copy_plane(
    const struct gpume_params *params, const struct gpume_plane *plane, AVFrame *frame)
{
    frame->format = AV_PIX_FMT_GRAY8;
    frame->width = (int)(plane->width / params->block * params->block);
    frame->height = (int)(plane->height / params->block * params->block);
    if (av_frame_get_buffer(frame, 0) < 0) {
        return GPUME_NOMEM;
    }
    av_image_copy_plane(frame->data[0], frame->linesize[0], plane->data, (int)plane->stride,
        frame->width, frame->height);
    return GPUME_OK;
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
    struct gpume_graph *filter;
    struct gpume_log log;
    AVFrame *pushed, *result;
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
    *self = (struct gpume_mestimate){.params = params, .log = log};
    self->pushed = av_frame_alloc();
    self->result = av_frame_alloc();
    snprintf(self->graph, sizeof(self->graph), "mestimate=method=%s:mb_size=%u:search_param=%u",
        method, params->block, params->window_x);
    const struct gpume_source_info info = {
        .time_num = 1, .time_den = 25, .rate_den = 1}; /* rate: unknown */
    GPUME_TRY(self->pushed && self->result ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(gpume_graph_open(&self->filter, self->graph, &info, 1, &log));
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
    GPUME_TRY(copy_plane(params, frame, self->pushed));
    self->pushed->pts = self->taken++;
    GPUME_TRY(gpume_graph_push(self->filter, self->pushed));
    if (self->taken == 1) {
        return GPUME_OK;
    }
    av_frame_unref(self->result);
    GPUME_TRY(gpume_graph_pull(self->filter, self->result));
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
        av_frame_free(&(*filter)->pushed);
        av_frame_free(&(*filter)->result);
        gpume_graph_close(&(*filter)->filter);
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

/* --- encoders */

/* A frame that the encoder has and the decoder has not returned yet. */
struct held {
    struct held *next;
    unsigned char luma[];
};

struct gpume_trial {
    struct gpume_trial_options options;
    struct gpume_encoding encode;
    AVCodecContext *decoder; /* NULL: packets are only counted */
    AVFrame *decoded;
    struct held *oldest, **newest;
    struct gpume_trial_result result;
};

bool gpume_trial_has(const char *encoder)
{
    return avcodec_find_encoder_by_name(encoder) != NULL;
}

static int open_trial_decoder(struct gpume_trial *trial)
{
    const AVCodec *codec = avcodec_find_decoder(trial->encode.codec->codec_id);
    trial->decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    trial->decoded = av_frame_alloc();
    if (!trial->decoder || !trial->decoded || avcodec_open2(trial->decoder, codec, NULL) < 0) {
        return gpume_log_fail(&trial->options.log, GPUME_UNSUPPORTED,
            "%s: this FFmpeg cannot decode what %s writes", trial->options.label,
            trial->options.encoder);
    }
    return GPUME_OK;
}

int gpume_trial_open(struct gpume_trial **result, const struct gpume_trial_options *options)
{
    struct gpume_trial *trial = calloc(1, sizeof(*trial));
    const struct gpume_encoding_options encode = {
        .label = options->label,
        .encoder = options->encoder,
        .settings = options->settings,
        .remedy = "leave out --verify",
        .formats = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NONE},
        .width = options->width,
        .height = options->height,
        .time_base = {(int)options->rate_den, (int)options->rate_num},
        .rate = {(int)options->rate_num, (int)options->rate_den},
        .log = options->log,
    };
    *result = trial;
    if (!trial) {
        return gpume_log_nomem(&options->log, "a trial of an encoder");
    }
    trial->options = *options;
    trial->newest = &trial->oldest;
    GPUME_CHECK(gpume_encoding_open(&trial->encode, &encode));
    return options->decode ? open_trial_decoder(trial) : GPUME_OK;
}

static int hold_plane(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    const size_t width = plane->width;
    struct held *held = malloc(sizeof(*held) + width * plane->height);
    if (!held) {
        return gpume_log_nomem(&trial->options.log, "a frame");
    }
    for (uint32_t y = 0; y < plane->height; y++) {
        const unsigned char *row = gpume_plane_row(plane, y);
        memcpy(held->luma + y * width, row, width);
    }
    held->next = NULL;
    *trial->newest = held;
    trial->newest = &held->next;
    return GPUME_OK;
}

static int refuse_frames(const struct gpume_trial *trial)
{
    return gpume_log_fail(&trial->options.log, GPUME_FORMAT,
        "%s: the decoder returns other frames than %s got", trial->options.label,
        trial->options.encoder);
}

/* Compares the decoded frame with the oldest one that is held. */
static int compare_decoded(struct gpume_trial *trial)
{
    struct held *held = trial->oldest;
    const AVFrame *frame = trial->decoded;
    const uint32_t width = trial->options.width, height = trial->options.height;
    if (!held || frame->width != (int)width || frame->height != (int)height) {
        return refuse_frames(trial);
    }
    for (uint32_t y = 0; y < height; y++) {
        const unsigned char *row = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        const unsigned char *luma = held->luma + (size_t)y * width;
        uint64_t sse = 0;
        for (uint32_t x = 0; x < width; x++) {
            const int difference = row[x] - luma[x];
            sse += (uint64_t)(difference * difference);
        }
        trial->result.sse += sse;
    }
    trial->oldest = held->next;
    trial->newest = trial->oldest ? trial->newest : &trial->oldest;
    free(held);
    return GPUME_OK;
}

/* packet NULL: there are no more. */
static int decode_packet(struct gpume_trial *trial, const AVPacket *packet)
{
    if (!trial->decoder) {
        return GPUME_OK;
    }
    int error = avcodec_send_packet(trial->decoder, packet);
    while (error >= 0 && (error = avcodec_receive_frame(trial->decoder, trial->decoded)) >= 0) {
        GPUME_CHECK(compare_decoded(trial));
    }
    return error == AVERROR(EAGAIN) || error == AVERROR_EOF ? GPUME_OK : refuse_frames(trial);
}

/* plane NULL: there are no more. */
static int encode_plane(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    uint64_t start = gpume_clock_ns();
    GPUME_CHECK(gpume_encoding_send(&trial->encode, plane, (int64_t)trial->result.frames));
    trial->result.frames += plane != NULL;
    for (;;) {
        const int status = gpume_encoding_receive(&trial->encode);
        trial->result.ns += gpume_clock_ns() - start;
        if (status != GPUME_OK) {
            return status == GPUME_AGAIN || status == GPUME_EOF ? GPUME_OK : status;
        }
        trial->result.bytes += (uint64_t)trial->encode.packet->size;
        const int decoded = decode_packet(trial, trial->encode.packet);
        av_packet_unref(trial->encode.packet);
        GPUME_CHECK(decoded);
        start = gpume_clock_ns();
    }
}

int gpume_trial_put(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    if (trial->decoder) {
        GPUME_CHECK(hold_plane(trial, plane));
    }
    return encode_plane(trial, plane);
}

int gpume_trial_finish(struct gpume_trial *trial, struct gpume_trial_result *result)
{
    GPUME_CHECK(encode_plane(trial, NULL));
    GPUME_CHECK(decode_packet(trial, NULL));
    *result = trial->result;
    return trial->oldest ? refuse_frames(trial) : GPUME_OK;
}

void gpume_trial_close(struct gpume_trial **pointer)
{
    struct gpume_trial *trial = *pointer;
    if (!trial) {
        return;
    }
    *pointer = NULL;
    gpume_encoding_close(&trial->encode);
    avcodec_free_context(&trial->decoder);
    av_frame_free(&trial->decoded);
    while (trial->oldest) {
        struct held *held = trial->oldest;
        trial->oldest = held->next;
        free(held);
    }
    free(trial);
}

#define ROW_ALIGN 64u /* bytes that swscale may read and write past the end of a row */
#define DEEP_BITS 16u /* of samples of more than 8 bits while they are scaled */
/* The same values on every processor */
#define FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT)

/* A scaled picture, whose samples are allocated. */
struct scaled {
    uint8_t *samples;
    int stride; /* bytes */
};

struct gpume_rescale {
    uint32_t width, height, bits, to_height;
    struct SwsContext *down, *up;
    struct scaled source, small, restored;
};

static bool make_scaled(struct scaled *scaled, uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t bytes = (size_t)width * (bits > 8 ? 2 : 1) + ROW_ALIGN;
    const size_t stride = (bytes + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    scaled->samples = av_malloc(stride * height + ROW_ALIGN);
    scaled->stride = (int)stride;
    if (scaled->samples) { /* what is read past the end of rows has a value */
        memset(scaled->samples, 0, stride * height + ROW_ALIGN);
    }
    return scaled->samples != NULL;
}

static struct SwsContext *open_scaler(
    uint32_t width, uint32_t height, uint32_t to_width, uint32_t to_height, uint32_t bits)
{
    const enum AVPixelFormat format = bits > 8 ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
    return sws_getContext((int)width, (int)height, format, (int)to_width, (int)to_height, format,
        FLAGS, NULL, NULL, NULL);
}

int gpume_rescale_open(struct gpume_rescale **result, uint32_t width, uint32_t height,
    uint32_t bits, uint32_t to_width, uint32_t to_height, const struct gpume_log *log)
{
    struct gpume_rescale *rescale = *result = calloc(1, sizeof(*rescale));
    if (!rescale) {
        return gpume_log_nomem(log, "scaled pictures");
    }
    rescale->width = width;
    rescale->height = height;
    rescale->bits = bits;
    rescale->to_height = to_height;
    if (!make_scaled(&rescale->source, width, height, bits) ||
        !make_scaled(&rescale->small, to_width, to_height, bits) ||
        !make_scaled(&rescale->restored, width, height, bits)) {
        return gpume_log_nomem(log, "scaled pictures");
    }
    rescale->down = open_scaler(width, height, to_width, to_height, bits);
    rescale->up = open_scaler(to_width, to_height, width, height, bits);
    return rescale->down && rescale->up
               ? GPUME_OK
               : gpume_log_fail(log, GPUME_UNSUPPORTED,
                     "FFmpeg does not scale pictures of %ux%u to %ux%u and back", (unsigned)width,
                     (unsigned)height, (unsigned)to_width, (unsigned)to_height);
}

/* Copies the picture, since swscale reads past the end of rows. */
static void take(struct gpume_rescale *rescale, const struct gpume_plane *luma)
{
    for (uint32_t y = 0; y < rescale->height; y++) {
        const uint8_t *from = gpume_plane_row(luma, y);
        uint8_t *to = rescale->source.samples + (ptrdiff_t)y * rescale->source.stride;
        if (rescale->bits == 8) {
            memcpy(to, from, rescale->width);
            continue;
        }
        for (uint32_t x = 0; x < rescale->width; x++) {
            ((uint16_t *)to)[x] =
                (uint16_t)(((const uint16_t *)from)[x] << (DEEP_BITS - rescale->bits));
        }
    }
}

static void rescale_to(
    struct SwsContext *scaler, const struct scaled *from, uint32_t height, const struct scaled *to)
{
    const uint8_t *const planes[4] = {from->samples};
    const int strides[4] = {from->stride}, to_strides[4] = {to->stride};
    uint8_t *const to_planes[4] = {to->samples};
    (void)sws_scale(scaler, planes, strides, 0, (int)height, to_planes, to_strides);
}

static uint64_t row_error(const struct gpume_rescale *rescale, const uint8_t *a, const uint8_t *b)
{
    const uint16_t *deep_a = (const uint16_t *)a, *deep_b = (const uint16_t *)b;
    uint64_t sum = 0;
    for (uint32_t x = 0; x < rescale->width && rescale->bits == 8; x++) {
        const int32_t apart = a[x] - b[x];
        sum += (uint64_t)(apart * apart) << 16;
    }
    for (uint32_t x = 0; x < rescale->width && rescale->bits > 8; x++) {
        const int64_t apart = deep_a[x] - deep_b[x];
        sum += (uint64_t)(apart * apart); /* 2^8 squared is 65536 */
    }
    return sum;
}

uint64_t gpume_rescale_error(struct gpume_rescale *rescale, const struct gpume_plane *luma)
{
    const struct scaled *source = &rescale->source, *restored = &rescale->restored;
    uint64_t sum = 0;
    take(rescale, luma);
    rescale_to(rescale->down, source, rescale->height, &rescale->small);
    rescale_to(rescale->up, &rescale->small, rescale->to_height, restored);
    for (uint32_t y = 0; y < rescale->height; y++) {
        sum += row_error(rescale, source->samples + (ptrdiff_t)y * source->stride,
            restored->samples + (ptrdiff_t)y * restored->stride);
    }
    return sum;
}

void gpume_rescale_close(struct gpume_rescale **pointer)
{
    struct gpume_rescale *rescale = *pointer;
    if (rescale) {
        sws_freeContext(rescale->down);
        sws_freeContext(rescale->up);
        av_free(rescale->source.samples);
        av_free(rescale->small.samples);
        av_free(rescale->restored.samples);
        free(rescale);
        *pointer = NULL;
    }
}
