/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile input cannot cause an endless loop: every iteration either sends a packet, takes a frame
 * that a packet has made, or is one of a bounded number of consecutive refusals.
 */
#include "media/decoding.h"

#include "base/base.h"
#include "media/buffers.h"
#include "media/coded_picture.h"
#include "media/hwaccel.h"
#include "media/input.h"
#include "media/packets.h"

#include <stddef.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define DEVICE_THREADS 4 /* fill its queue; each occupies one of its few surfaces */
#define THREADS_MAX 16u  /* as FFmpeg itself: more gain little, and each holds frames */
#define REFUSALS_MAX 64  /* refusals in a row: more than threads in flight */

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    const char *faults = codec->opaque;
    const struct gpume_decoding *decoding =
        (const void *)(faults - offsetof(struct gpume_decoding, faults));
    return gpume_buffers_get(decoding->buffers, codec, frame, flags);
}

/* A new context for the stream, not yet opened. */
static int prepare_decoding(struct gpume_decoding *decoding, const AVCodec *codec)
{
    decoding->oversized = gpume_libav_oversized();
    decoding->first_pts = INT64_MIN;
    decoding->last_pts = AV_NOPTS_VALUE;
    decoding->codec = avcodec_alloc_context3(codec);
    if (!decoding->codec ||
        avcodec_parameters_to_context(decoding->codec, decoding->packets->stream->codecpar) < 0) {
        return GPUME_NOMEM;
    }
    /* With frame threads, FFmpeg's Theora decoder refuses everything after the first link of a
     * chained file: it accepts a new header only between two frames (vp3.c). */
    decoding->codec->thread_type =
        codec->id == AV_CODEC_ID_THEORA ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
    decoding->codec->pkt_timebase = decoding->packets->time_base;
    decoding->codec->max_pixels = gpume_limits_decoder(&decoding->packets->options->trust);
    decoding->codec->opaque = &decoding->faults;
    return GPUME_OK;
}

int gpume_decoding_open(struct gpume_decoding *decoding, uint32_t threads)
{
    const struct gpume_packets *packets = decoding->packets;
    const enum AVCodecID id = packets->stream->codecpar->codec_id;
    const AVCodec *codec = avcodec_find_decoder(id);
    if (id == AV_CODEC_ID_NONE) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: the codec of its video is unknown; %s", packets->label,
            gpume_input_remedy(&packets->input, "check the file"));
    }
    if (!codec) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: this FFmpeg has no decoder for %s; convert the file to another format",
            packets->label, avcodec_get_name(id));
    }
    GPUME_CHECK(prepare_decoding(decoding, codec));
    decoding->codec->thread_count = (int)(threads < THREADS_MAX ? threads : THREADS_MAX);
    if (decoding->buffers && codec->capabilities & AV_CODEC_CAP_DR1) {
        /* Only where FFmpeg calls it from any thread, which older versions have to be told. */
        decoding->codec->get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        decoding->codec->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
    }
    if (packets->options->motion) {
        gpume_motion_request(decoding->codec);
    }
    gpume_libav_quiet();
    const int error = avcodec_open2(decoding->codec, codec, NULL);
    if (error == AVERROR(EAGAIN)) { /* from pthread_create */
        return gpume_log_fail(&decoding->log, GPUME_AGAIN,
            "%s: the decoder's threads cannot be started: the limit on processes (ulimit -u) or on "
            "memory (ulimit -v) is reached; use fewer --threads or raise the limit",
            packets->label);
    }
    if (error < 0 && error != AVERROR(ENOMEM)) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: its %s video cannot be decoded: %s; check the file", packets->label,
            avcodec_get_name(id), gpume_libav_reason(error));
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

int gpume_decoding_open_device(struct gpume_decoding *decoding, const AVCodec *codec,
    struct gpume_hwaccel *hwaccel, uint32_t threads, bool own)
{
    if (prepare_decoding(decoding, codec) != GPUME_OK ||
        gpume_hwaccel_attach(hwaccel, decoding->codec, own) != GPUME_OK) {
        return AVERROR(ENOMEM);
    }
    decoding->codec->thread_count =
        threads > 0 && threads < DEVICE_THREADS ? (int)threads : DEVICE_THREADS;
    gpume_libav_quiet();
    return avcodec_open2(decoding->codec, codec, NULL);
}

/* Reports pictures that exceed the limit although the container states smaller ones. */
static int check_refusals(const struct gpume_decoding *decoding)
{
    return gpume_libav_oversized() == decoding->oversized
               ? GPUME_OK
               : gpume_limits_refuse(&decoding->packets->options->trust, decoding->packets->label,
                     decoding->delivered, &decoding->log);
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

static void set_time(struct gpume_decoding *decoding, AVFrame *frame)
{
    /* Since version 6.1 the program ffmpeg ignores times that are made up for raw streams, which
     * for MPEG-2 begin one frame late; before, it kept them. */
    const struct gpume_packets *packets = decoding->packets;
    const bool raw = packets->input.format->iformat->flags & AVFMT_NOTIMESTAMPS;
    int64_t pts = AV_NOPTS_VALUE;
    if (LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 16, 100) || !raw) {
        pts = frame->best_effort_timestamp == AV_NOPTS_VALUE ? frame->pts
                                                             : frame->best_effort_timestamp;
    }
    if (pts != AV_NOPTS_VALUE) {
        decoding->known_pts = pts;
        decoding->fields = 0;
    }
    const bool known = packets->info.rate_num > 0;
    const AVRational field = {known ? (int)packets->info.rate_den : 1,
        known ? (int)packets->info.rate_num : 25}; /* two of them */
    const int64_t after =
        av_rescale_q(decoding->fields, av_mul_q(field, (AVRational){1, 2}), packets->time_base);
    decoding->fields += 2 + (frame->repeat_pict > 0 ? frame->repeat_pict : 0);
    bool fits = after > 0 && decoding->known_pts < INT64_MAX - after;
    frame->pts = fits ? decoding->known_pts + after : decoding->known_pts;
}

/* Where the packet of a frame says no duration, the program ffmpeg takes that of the codec's rate
 * or, since version 6.1, the time since the frame before. Filters such as fps need that of the last
 * frame. */
static void set_duration(const struct gpume_decoding *decoding, AVFrame *frame, int64_t before)
{
    const struct gpume_packets *packets = decoding->packets;
    const AVRational own = decoding->codec->framerate;
    const AVRational rate = own.num > 0 && own.den > 0 ? own : packets->stream->avg_frame_rate;
    const bool known = rate.num > 0 && rate.den > 0;
    int64_t duration = known ? av_rescale_q(1, av_inv_q(rate), packets->time_base) : 0;
    if (LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100) && before != AV_NOPTS_VALUE &&
        before < frame->pts) {
        duration = av_sat_sub64(frame->pts, before);
    }
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    frame->duration = frame->duration > 0 ? frame->duration : duration;
#else
    frame->pkt_duration = frame->pkt_duration > 0 ? frame->pkt_duration : duration;
#endif
}

/* Whether the frame is to be delivered. */
static bool count_frame(struct gpume_decoding *decoding, AVFrame *frame)
{
    if (frame->width <= 0 || frame->height <= 0 || !frame->data[0]) {
        return false;
    }
    set_time(decoding, frame);
    set_duration(decoding, frame, decoding->last_pts);
    decoding->last_pts = frame->pts;
    if (frame->pts < decoding->first_pts) {
        return false;
    }
    decoding->first_pts = INT64_MIN;
    decoding->delivered++;
    decoding->damaged +=
        frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
    return true;
}

static int end_decoding(const struct gpume_decoding *decoding)
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
            return end_decoding(decoding);
        }
        if (error == AVERROR(ENOMEM)) {
            return GPUME_NOMEM;
        }
        if (error >= 0) {
            decoding->refusals = 0;
            GPUME_CHECK(gpume_limits_check_size(&decoding->packets->options->trust,
                decoding->packets->label, NULL, frame->width, frame->height, &decoding->log));
            if (count_frame(decoding, frame)) {
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
        return decoding->draining ? end_decoding(decoding) : GPUME_AGAIN;
    }
}

void gpume_decoding_restart(struct gpume_decoding *decoding, uint64_t number, int64_t pts)
{
    avcodec_flush_buffers(decoding->codec);
    decoding->draining = false;
    decoding->known_pts = decoding->fields = 0;
    decoding->first_pts = pts;
    decoding->last_pts = AV_NOPTS_VALUE;
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
