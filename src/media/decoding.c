/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile input cannot cause an endless loop: every iteration either takes a frame that a packet
 * has made or is one of a bounded number of consecutive refusals.
 */
#include "media/decoding.h"

#include "base/status.h"
#include "media/input.h"
#include "media/motion.h"
#include "media/packets.h"
#include "media/segments/buffers.h"

#include <stddef.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define THREADS_MAX 16u /* as FFmpeg itself: more gain little, and each holds frames */
#define REFUSALS_MAX 64 /* refusals in a row: more than threads in flight */

/* With frame threads, FFmpeg's Theora decoder refuses everything after the first link of a chained
 * file: it accepts a new header only between two frames (vp3.c). */
static int thread_type(enum AVCodecID id)
{
    return id == AV_CODEC_ID_THEORA ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
}

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    const char *faults = codec->opaque;
    const struct gpume_decoding *decoding =
        (const void *)(faults - offsetof(struct gpume_decoding, faults));
    return gpume_buffers_get(decoding->buffers, codec, frame, flags);
}

/* Only where FFmpeg calls it from any thread, which older versions have to be told. */
static void use_buffers(AVCodecContext *codec)
{
    if (!(codec->codec->capabilities & AV_CODEC_CAP_DR1)) {
        return;
    }
    codec->get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    codec->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

int gpume_decoding_prepare(struct gpume_decoding *decoding, const AVCodec *codec)
{
    decoding->oversized = gpume_libav_oversized();
    decoding->first_pts = INT64_MIN;
    decoding->codec = avcodec_alloc_context3(codec);
    if (!decoding->codec ||
        avcodec_parameters_to_context(decoding->codec, decoding->packets->stream->codecpar) < 0) {
        return GPUME_NOMEM;
    }
    decoding->codec->thread_type = thread_type(codec->id);
    decoding->codec->pkt_timebase = decoding->time_base;
    decoding->codec->max_pixels = gpume_limits_decoder(&decoding->trust);
    decoding->codec->opaque = &decoding->faults;
    return GPUME_OK;
}

int gpume_decoding_open(struct gpume_decoding *decoding, uint32_t threads, bool motion)
{
    const enum AVCodecID id = decoding->packets->stream->codecpar->codec_id;
    const AVCodec *codec = avcodec_find_decoder(id);
    if (id == AV_CODEC_ID_NONE) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: the codec of its video is unknown; %s", decoding->label,
            gpume_input_remedy(&decoding->packets->input, "check the file"));
    }
    if (!codec) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: this FFmpeg has no decoder for %s; convert the file to another format",
            decoding->label, avcodec_get_name(id));
    }
    GPUME_CHECK(gpume_decoding_prepare(decoding, codec));
    decoding->codec->thread_count = (int)(threads < THREADS_MAX ? threads : THREADS_MAX);
    if (decoding->buffers) {
        use_buffers(decoding->codec);
    }
    if (motion) {
        gpume_motion_request(decoding->codec);
    }
    gpume_libav_quiet();
    const int error = avcodec_open2(decoding->codec, codec, NULL);
    if (error == AVERROR(EAGAIN)) { /* from pthread_create */
        return gpume_log_fail(&decoding->log, GPUME_AGAIN,
            "%s: the decoder's threads cannot be started: the limit on processes (ulimit -u) or on "
            "memory (ulimit -v) is reached; use fewer --threads or raise the limit",
            decoding->label);
    }
    if (error < 0 && error != AVERROR(ENOMEM)) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: its %s video cannot be decoded: %s; check the file", decoding->label,
            avcodec_get_name(id), gpume_libav_reason(error));
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

/* Reports pictures that exceed the limit although the container states smaller ones. */
static int check_refusals(const struct gpume_decoding *decoding)
{
    return gpume_libav_oversized() == decoding->oversized
               ? GPUME_OK
               : gpume_limits_refuse(
                     &decoding->trust, decoding->label, decoding->delivered, &decoding->log);
}

int gpume_decoding_send(struct gpume_decoding *decoding, AVPacket *packet)
{
    decoding->draining = !packet;
    /* Some decoders report only at the end that they refused a packet. */
    const int error = avcodec_send_packet(decoding->codec, packet);
    decoding->refusals = 0;
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM;
    }
    decoding->refused += error < 0;
    return check_refusals(decoding);
}

/* Does the file say when its packets are shown? Since version 6.1 the program ffmpeg ignores times
 * that are made up for raw streams, which for MPEG-2 begin one frame late; before, it kept them. */
static bool has_times(const struct gpume_decoding *decoding)
{
    const int flags = decoding->packets->input.format->iformat->flags;
    return LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 16, 100) || !(flags & AVFMT_NOTIMESTAMPS);
}

static void set_time(struct gpume_decoding *decoding, AVFrame *frame)
{
    int64_t pts = AV_NOPTS_VALUE;
    if (has_times(decoding)) {
        pts = frame->best_effort_timestamp == AV_NOPTS_VALUE ? frame->pts
                                                             : frame->best_effort_timestamp;
    }
    if (pts != AV_NOPTS_VALUE) {
        decoding->known_pts = pts;
        decoding->fields = 0;
    }
    const AVRational rate = decoding->rate.num > 0 ? decoding->rate : (AVRational){25, 1};
    const AVRational field = av_mul_q(av_inv_q(rate), (AVRational){1, 2});
    const int64_t after = av_rescale_q(decoding->fields, field, decoding->time_base);
    decoding->fields += 2 + (frame->repeat_pict > 0 ? frame->repeat_pict : 0);
    bool fits = after > 0 && decoding->known_pts < INT64_MAX - after;
    frame->pts = fits ? decoding->known_pts + after : decoding->known_pts;
}

static bool is_damaged(const AVFrame *frame)
{
    return frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}

/* Whether the frame is to be delivered. */
static bool take(struct gpume_decoding *decoding, AVFrame *frame)
{
    if (frame->width <= 0 || frame->height <= 0 || !frame->data[0]) {
        return false;
    }
    set_time(decoding, frame);
    if (frame->pts < decoding->first_pts) {
        return false;
    }
    decoding->first_pts = INT64_MIN;
    decoding->delivered++;
    decoding->damaged += is_damaged(frame);
    return true;
}

static int end(const struct gpume_decoding *decoding)
{
    if (atomic_load(&decoding->faults.starved) > 0) {
        return GPUME_NOMEM; /* decoders report it as damage */
    }
    const int status = check_refusals(decoding);
    return status == GPUME_OK ? GPUME_EOF : status;
}

int gpume_decoding_next(struct gpume_decoding *decoding, AVFrame *frame)
{
    for (;;) {
        int error = avcodec_receive_frame(decoding->codec, frame);
        GPUME_CHECK(decoding->fetch ? decoding->fetch(decoding, frame, &error) : GPUME_OK);
        if (error == AVERROR_EOF) {
            return end(decoding);
        }
        if (error == AVERROR(ENOMEM)) {
            return GPUME_NOMEM;
        }
        if (error >= 0) {
            decoding->refusals = 0;
            GPUME_CHECK(gpume_limits_check_size(&decoding->trust, decoding->label, NULL,
                frame->width, frame->height, &decoding->log));
            if (take(decoding, frame)) {
                return GPUME_OK;
            }
            av_frame_unref(frame);
            continue;
        }
        if (error != AVERROR(EAGAIN)) {
            decoding->refused++;
            if (++decoding->refusals < REFUSALS_MAX) {
                continue;
            }
        }
        /* While draining: the decoder returns neither frames nor the end. */
        return decoding->draining ? end(decoding) : GPUME_AGAIN;
    }
}

void gpume_decoding_restart(struct gpume_decoding *decoding, uint64_t number, int64_t pts)
{
    avcodec_flush_buffers(decoding->codec);
    decoding->draining = false;
    decoding->known_pts = decoding->fields = 0;
    decoding->first_pts = pts;
    decoding->delivered = number;
}

bool gpume_decoding_is_flawed(const struct gpume_decoding *decoding)
{
    return decoding->refused > 0 || decoding->damaged > 0 ||
           atomic_load(&decoding->faults.errors) > 0;
}

struct gpume_damage gpume_decoding_damage(const struct gpume_decoding *decoding)
{
    return (struct gpume_damage){
        .errors = atomic_load(&decoding->faults.errors),
        .refused = decoding->refused,
        .frames = decoding->damaged,
    };
}

void gpume_decoding_close(struct gpume_decoding *decoding)
{
    avcodec_free_context(&decoding->codec);
}
