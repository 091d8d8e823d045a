/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/trial.h"

#include "base/clock.h"
#include "base/status.h"
#include "media/encode.h"

#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>

/* A frame that the encoder has and the decoder has not returned yet. */
struct held {
    struct held *next;
    unsigned char luma[];
};

struct gpume_trial {
    struct gpume_trial_options options;
    struct gpume_encode encode;
    AVCodecContext *decoder; /* NULL: packets are only counted */
    AVFrame *decoded;
    struct held *oldest, **newest;
    struct gpume_trial_result result;
};

bool gpume_trial_has(const char *encoder)
{
    return avcodec_find_encoder_by_name(encoder) != NULL;
}

static int open_decoder(struct gpume_trial *trial)
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
    const struct gpume_encode_options encode = {
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
    GPUME_CHECK(gpume_encode_open(&trial->encode, &encode));
    return options->decode ? open_decoder(trial) : GPUME_OK;
}

static int hold(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    const size_t width = plane->width;
    struct held *held = malloc(sizeof(*held) + width * plane->height);
    if (!held) {
        return gpume_log_nomem(&trial->options.log, "a frame");
    }
    for (uint32_t y = 0; y < plane->height; y++) {
        const unsigned char *row =
            (const unsigned char *)plane->data + (ptrdiff_t)y * plane->stride;
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
static int compare(struct gpume_trial *trial)
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
static int decode(struct gpume_trial *trial, const AVPacket *packet)
{
    if (!trial->decoder) {
        return GPUME_OK;
    }
    int error = avcodec_send_packet(trial->decoder, packet);
    while (error >= 0 && (error = avcodec_receive_frame(trial->decoder, trial->decoded)) >= 0) {
        GPUME_CHECK(compare(trial));
    }
    return error == AVERROR(EAGAIN) || error == AVERROR_EOF ? GPUME_OK : refuse_frames(trial);
}

/* plane NULL: there are no more. */
static int encode(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    uint64_t start = gpume_clock_ns();
    GPUME_CHECK(gpume_encode_send(&trial->encode, plane, (int64_t)trial->result.frames));
    trial->result.frames += plane != NULL;
    for (;;) {
        const int status = gpume_encode_receive(&trial->encode);
        trial->result.ns += gpume_clock_ns() - start;
        if (status != GPUME_OK) {
            return status == GPUME_AGAIN || status == GPUME_EOF ? GPUME_OK : status;
        }
        trial->result.bytes += (uint64_t)trial->encode.packet->size;
        const int decoded = decode(trial, trial->encode.packet);
        av_packet_unref(trial->encode.packet);
        GPUME_CHECK(decoded);
        start = gpume_clock_ns();
    }
}

int gpume_trial_put(struct gpume_trial *trial, const struct gpume_plane *plane)
{
    if (trial->decoder) {
        GPUME_CHECK(hold(trial, plane));
    }
    return encode(trial, plane);
}

int gpume_trial_finish(struct gpume_trial *trial, struct gpume_trial_result *result)
{
    GPUME_CHECK(encode(trial, NULL));
    GPUME_CHECK(decode(trial, NULL));
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
    gpume_encode_close(&trial->encode);
    avcodec_free_context(&trial->decoder);
    av_frame_free(&trial->decoded);
    while (trial->oldest) {
        struct held *held = trial->oldest;
        trial->oldest = held->next;
        free(held);
    }
    free(trial);
}
