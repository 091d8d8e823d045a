/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile input cannot cause an endless loop: every iteration either reads a packet from the file
 * or is one of a bounded number of consecutive refusals. Video hardware is on trial until its first
 * frame is in memory. During the trial all packets are kept; if the device fails, software starts
 * over with the first of them, so that nothing is lost.
 */
#include "media/decode.h"
#include "base/status.h"
#include "media/hwaccel.h"
#include "media/hwframe.h"
#include "media/libav.h"
#include "media/motion.h"
#include "media/packets.h"
#include "media/seek.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define THREADS_MAX 64     /* FFmpeg's decoders gain nothing from more, and each holds frames */
#define REFUSALS_MAX 64    /* refusals in a row: more than threads in flight */
#define HARDWARE_THREADS 4 /* fill its queue; each occupies one of its few surfaces */
#define TRIAL_PACKETS 64   /* more than any decoder holds before its first frame */

struct decode {
    struct gpume_decode_options options;
    struct gpume_packets packets;
    AVCodecContext *codec;
    AVPacket *packet;
    bool accelerated; /* codec uses the device, or did until the stream changed */
    bool on_trial;
    AVPacket *kept[TRIAL_PACKETS];   /* packets read during the trial */
    uint32_t kept_count, kept_taken; /* kept_taken: sent to software */
    AVRational time_base, rate;
    /* A frame without a time gets the last known time plus `since` frames, so that rounding errors
     * do not add up. */
    int64_t known_pts, since;
    int64_t first_pts; /* frames before this time are dropped: a seek may find some */
    uint64_t sent;     /* packets */
    uint64_t delivered, refused;
    uint64_t damaged; /* of those delivered */
    struct gpume_libav_faults faults;
    uint32_t refusals;  /* in a row */
    uint64_t oversized; /* gpume_libav_oversized() at opening */
    bool draining, ended;
    const char *label;
};

/* With frame threads, FFmpeg's Theora decoder refuses everything after the first link of a chained
 * file: it accepts a new header only between two frames (vp3.c). */
static int thread_type(enum AVCodecID id)
{
    return id == AV_CODEC_ID_THEORA ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
}

static int open_context(struct decode *decode, const AVCodec *codec, bool accelerated)
{
    uint32_t threads =
        decode->options.threads < THREADS_MAX ? decode->options.threads : THREADS_MAX;
    decode->codec = avcodec_alloc_context3(codec);
    if (!decode->codec ||
        avcodec_parameters_to_context(decode->codec, decode->packets.stream->codecpar) < 0) {
        return AVERROR(ENOMEM);
    }
    if (accelerated) {
        threads = threads > 0 && threads < HARDWARE_THREADS ? threads : HARDWARE_THREADS;
        if (gpume_hwaccel_attach(decode->options.hwaccel, decode->codec) != GPUME_OK) {
            return AVERROR(ENOMEM);
        }
    }
    decode->codec->thread_count = (int)threads;
    decode->codec->thread_type = thread_type(codec->id);
    decode->codec->pkt_timebase = decode->time_base;
    /* With a device, errors are not counted: they may be about formats that it does not support. */
    decode->codec->opaque = accelerated ? NULL : &decode->faults;
    decode->codec->max_pixels = gpume_limits_decoder(&decode->options.trust);
    if (decode->options.motion) {
        gpume_motion_request(decode->codec);
    }
    gpume_libav_quiet();
    return avcodec_open2(decode->codec, codec, NULL);
}

static int open_software(struct decode *decode)
{
    const enum AVCodecID id = decode->packets.stream->codecpar->codec_id;
    const AVCodec *codec = avcodec_find_decoder(id);
    if (id == AV_CODEC_ID_NONE) {
        return gpume_log_fail(&decode->options.log, GPUME_FORMAT,
            "%s: the codec of its video is unknown; %s", decode->label,
            gpume_input_remedy(&decode->packets.input, "check the file"));
    }
    if (!codec) {
        return gpume_log_fail(&decode->options.log, GPUME_FORMAT,
            "%s: this FFmpeg has no decoder for %s; convert the file to another format",
            decode->label, avcodec_get_name(id));
    }
    int error = open_context(decode, codec, false);
    if (error == AVERROR(EAGAIN)) { /* from pthread_create */
        return gpume_log_fail(&decode->options.log, GPUME_AGAIN,
            "%s: the decoder's threads cannot be started: the limit on processes (ulimit -u) or on "
            "memory (ulimit -v) is reached; use fewer --threads or raise the limit",
            decode->label);
    }
    if (error < 0 && error != AVERROR(ENOMEM)) {
        return gpume_log_fail(&decode->options.log, GPUME_FORMAT,
            "%s: its %s video cannot be decoded: %s; check the file", decode->label,
            avcodec_get_name(id), gpume_libav_reason(error));
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

static int open_codec(struct decode *decode)
{
    const AVCodec *codec = NULL;
    decode->packet = av_packet_alloc();
    if (!decode->packet) {
        return GPUME_NOMEM;
    }
    if (decode->options.hwaccel) {
        codec = gpume_hwaccel_choose(
            decode->options.hwaccel, decode->packets.stream->codecpar->codec_id, decode->label);
    }
    if (!codec) {
        return open_software(decode);
    }
    int error = open_context(decode, codec, true);
    decode->accelerated = decode->on_trial = error >= 0;
    if (error < 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, gpume_libav_reason(error));
        avcodec_free_context(&decode->codec);
        return open_software(decode);
    }
    return GPUME_OK;
}

/* Reports pictures that exceed the limit although the container states smaller ones. */
static int check_refusals(const struct decode *decode)
{
    return gpume_libav_oversized() == decode->oversized
               ? GPUME_OK
               : gpume_limits_refuse(&decode->options.trust, decode->label, decode->delivered,
                     &decode->options.log);
}

static bool sane(AVRational value)
{
    return value.num > 0 && value.den > 0;
}

static void learn_facts(struct decode *decode, struct gpume_decode_facts *facts)
{
    AVFormatContext *format = decode->packets.input.format;
    AVStream *stream = decode->packets.stream;
    bool cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    AVRational rate = cover ? (AVRational){0, 1} : av_guess_frame_rate(format, stream, NULL);
    decode->time_base = sane(stream->time_base) ? stream->time_base : (AVRational){1, AV_TIME_BASE};
    decode->rate = sane(rate) ? rate : (AVRational){0, 1};
    int64_t frames = cover ? 1 : stream->nb_frames;
    if (frames <= 0 && sane(rate) && stream->duration > 0) {
        frames = av_rescale_q(stream->duration, decode->time_base, av_inv_q(rate));
    } else if (frames <= 0 && sane(rate) && format->duration > 0) {
        frames = av_rescale_q(format->duration, AV_TIME_BASE_Q, av_inv_q(rate));
    }
    *facts = (struct gpume_decode_facts){
        .codec = avcodec_get_name(stream->codecpar->codec_id),
        .time_base = decode->time_base,
        .rate = decode->rate,
        .frames = frames > 0 ? (uint64_t)frames : 0,
        .picture = cover || gpume_input_has_pictures(&decode->packets.input),
        .frame_bytes = gpume_limits_bytes(stream->codecpar),
    };
}

static void drop_kept(struct decode *decode)
{
    for (uint32_t i = 0; i < decode->kept_count; i++) {
        av_packet_free(&decode->kept[i]);
    }
    decode->kept_count = decode->kept_taken = 0;
    decode->on_trial = false;
}

static void decode_close(void *state)
{
    struct decode *decode = state;
    drop_kept(decode);
    av_packet_free(&decode->packet);
    avcodec_free_context(&decode->codec);
    gpume_packets_close(&decode->packets);
}

static int decode_open(
    void *state, const struct gpume_decode_options *options, struct gpume_decode_facts *facts)
{
    int status = GPUME_OK;
    struct decode *decode = state;
    decode->options = *options;
    decode->first_pts = INT64_MIN;
    decode->packets.input.max_pixels = gpume_limits_decoder(&options->trust);
    decode->packets.input.reach =
        (struct gpume_reach){.network = options->trust.network, .files = options->trust.files};
    GPUME_TRY(gpume_packets_open(
        &decode->packets, options->path, options->stream, options->cancel, &decode->options.log));
    decode->label = decode->packets.label;
    const AVCodecParameters *codec = decode->packets.stream->codecpar;
    GPUME_TRY(gpume_limits_check_size(&decode->options.trust, decode->label, NULL, codec->width,
        codec->height, &decode->options.log));
    decode->oversized = gpume_libav_oversized();
    learn_facts(decode, facts);
    GPUME_TRY(open_codec(decode));
fail:
    return status;
}

/* Starts over in software from the first packet. */
static int start_over(struct decode *decode)
{
    gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, "it delivers no frames");
    avcodec_free_context(&decode->codec);
    decode->accelerated = decode->on_trial = decode->draining = false;
    decode->refused = 0;
    decode->refusals = 0;
    atomic_store(&decode->faults.errors, 0);
    atomic_store(&decode->faults.starved, 0);
    return open_software(decode);
}

/* Takes the next packet of the stream. GPUME_EOF, GPUME_CANCELLED, GPUME_NOMEM. */
static int take_packet(struct decode *decode)
{
    if (!decode->on_trial && decode->kept_taken < decode->kept_count) {
        av_packet_unref(decode->packet);
        av_packet_move_ref(decode->packet, decode->kept[decode->kept_taken++]);
        return GPUME_OK;
    }
    const int status = gpume_packets_next(&decode->packets, decode->packet);
    if (status != GPUME_OK || !decode->on_trial) {
        return status;
    }
    decode->kept[decode->kept_count] = av_packet_clone(decode->packet);
    return decode->kept[decode->kept_count++] ? GPUME_OK : GPUME_NOMEM;
}

/* Sends the next packet, or the end, to the decoder. */
static int feed(struct decode *decode)
{
    const int status = take_packet(decode);
    if (status != GPUME_OK && status != GPUME_EOF) {
        return status;
    }
    decode->draining = status == GPUME_EOF;
    if (decode->options.motion && !decode->draining) {
        gpume_motion_mark(
            decode->codec, decode->packets.stream->codecpar, decode->packet, ++decode->sent);
    }
    /* Some decoders report only at the end that they refused a packet. */
    const int error = avcodec_send_packet(decode->codec, decode->draining ? NULL : decode->packet);
    av_packet_unref(decode->packet);
    decode->refusals = 0;
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM;
    }
    decode->refused += error < 0;
    return GPUME_OK;
}

static void set_time(struct decode *decode, AVFrame *frame)
{
    int64_t pts = frame->best_effort_timestamp;
    if (pts == AV_NOPTS_VALUE) {
        pts = frame->pts;
    }
    if (pts != AV_NOPTS_VALUE) {
        decode->known_pts = pts;
        decode->since = 0;
    }
    AVRational rate = decode->rate.num > 0 ? decode->rate : (AVRational){25, 1};
    int64_t after = av_rescale_q(decode->since++, av_inv_q(rate), decode->time_base);
    bool fits = after > 0 && decode->known_pts < INT64_MAX - after;
    frame->pts = fits ? decode->known_pts + after : decode->known_pts;
}

/* Copies the device's frame to memory. A failure that ends the trial becomes AVERROR(EAGAIN). */
static int download(struct decode *decode, AVFrame *frame, int *error)
{
    int status = GPUME_DEVICE;
    const bool on_device = *error >= 0 && frame->hw_frames_ctx;
    if (on_device) {
        status = gpume_hwframe_download(frame, decode->codec->sw_pix_fmt, decode->options.whole);
    }
    if (status == GPUME_OK) {
        if (decode->on_trial) {
            gpume_hwaccel_accept(
                decode->options.hwaccel, decode->packets.stream->codecpar->codec_id, decode->label);
            drop_kept(decode);
        }
        return GPUME_OK;
    }
    const bool failed = *error >= 0 || *error == AVERROR_EOF || decode->kept_count == TRIAL_PACKETS;
    if (decode->on_trial && failed) {
        av_frame_unref(frame);
        *error = AVERROR(EAGAIN);
        return start_over(decode);
    }
    if (on_device) {
        av_frame_unref(frame);
        return gpume_log_fail(&decode->options.log, status,
            "%s: frame %" PRIu64 " cannot be copied from %s; try --hwaccel none", decode->label,
            decode->delivered, gpume_hwaccel_name(decode->options.hwaccel));
    }
    if (*error >= 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, "the stream changes");
    }
    return GPUME_OK;
}

static bool is_damaged(const AVFrame *frame)
{
    return frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}

static int end(struct decode *decode)
{
    if (atomic_load(&decode->faults.starved) > 0) {
        return GPUME_NOMEM; /* decoders report it as damage */
    }
    const int status = check_refusals(decode);
    decode->ended = status == GPUME_OK;
    return decode->ended ? GPUME_EOF : status;
}

static int decode_next(void *state, AVFrame *frame)
{
    struct decode *decode = state;
    for (;;) {
        if (atomic_load(decode->options.cancel)) {
            return GPUME_CANCELLED;
        }
        int error = avcodec_receive_frame(decode->codec, frame);
        int status = decode->accelerated ? download(decode, frame, &error) : GPUME_OK;
        if (status != GPUME_OK) {
            return status;
        }
        if (error == AVERROR_EOF) {
            return end(decode);
        }
        if (error == AVERROR(ENOMEM)) {
            return GPUME_NOMEM;
        }
        if (error >= 0) {
            decode->refusals = 0;
            status = gpume_limits_check_size(&decode->options.trust, decode->label, NULL,
                frame->width, frame->height, &decode->options.log);
            if (status != GPUME_OK) {
                return status;
            }
            if (frame->width > 0 && frame->height > 0 && frame->data[0]) {
                set_time(decode, frame);
                if (frame->pts >= decode->first_pts) {
                    decode->delivered++;
                    decode->damaged += is_damaged(frame);
                    return GPUME_OK;
                }
            }
            av_frame_unref(frame);
            continue;
        }
        if (error != AVERROR(EAGAIN)) {
            decode->refused++;
            if (++decode->refusals < REFUSALS_MAX) {
                continue;
            }
        }
        if (decode->draining) {
            return end(decode); /* the decoder returns neither frames nor the end */
        }
        status = feed(decode);
        status = status == GPUME_OK ? check_refusals(decode) : status;
        if (status != GPUME_OK) {
            return status;
        }
    }
}

/* Whether decoding has met damage, after which frames may depend on where it began. */
static bool is_flawed(const struct decode *decode)
{
    return decode->refused > 0 || decode->damaged > 0 || atomic_load(&decode->faults.errors) > 0;
}

/* The frames up to the one wanted must have the times that the packets promise. */
static int decode_to(struct decode *decode, const struct gpume_seek *seek, AVFrame *frame)
{
    decode->first_pts = seek->times[0];
    decode->delivered = seek->first;
    for (uint64_t i = 0; i < seek->count; i++) {
        av_frame_unref(frame);
        const int status = decode_next(decode, frame);
        if (status != GPUME_OK && status != GPUME_EOF) {
            return status;
        }
        if (status == GPUME_EOF || is_flawed(decode) || frame->pts != seek->times[i]) {
            return gpume_seek_refuse(
                &decode->packets, "damage, or frames at other times than their packets");
        }
    }
    return GPUME_OK;
}

static int decode_seek(void *state, uint64_t index, int64_t start, AVFrame *frame)
{
    struct decode *decode = state;
    struct gpume_seek seek = {0};
    int status = gpume_seek_find(&seek, &decode->packets, index, start);
    status = status == GPUME_OK ? decode_to(decode, &seek, frame) : status;
    gpume_seek_finish(&seek);
    return status;
}

static int decode_describe(const void *state, char *text, size_t bytes)
{
    const struct decode *decode = state;
    const char *device = decode->accelerated ? gpume_hwaccel_name(decode->options.hwaccel) : NULL;
    snprintf(text, bytes, "%s%s%s", decode->codec->codec->name, device ? " on " : "",
        device ? device : "");
    return decode->codec->thread_count;
}

static uint64_t decode_refused(const void *state)
{
    const struct decode *decode = state;
    return decode->refused + decode->packets.lost;
}

/* Appends "TEXT COUNT NOUN[s]", with a comma before it unless it is the first. */
static void add_count(char *list, size_t bytes, const char *text, uint64_t count, const char *noun)
{
    const size_t used = strlen(list);
    if (count > 0) {
        snprintf(list + used, bytes - used, "%s%s %" PRIu64 " %s%s", used > 0 ? ", " : "", text,
            count, noun, count == 1 ? "" : "s");
    }
}

static void decode_warn(const void *state)
{
    const struct decode *decode = state;
    char list[192] = "";
    if (decode->ended) {
        gpume_packets_warn(&decode->packets, decode->delivered);
    }
    add_count(list, sizeof list, "reported", atomic_load(&decode->faults.errors), "error");
    add_count(list, sizeof list, "refused", decode->refused, "packet");
    add_count(list, sizeof list, "concealed damage in", decode->damaged, "frame");
    if (list[0]) {
        gpume_log_write(&decode->options.log, GPUME_LOG_WARNING,
            "%s: damaged: the decoder %s; what it could decode is used%s%s", decode->label, list,
            decode->accelerated ? ", and --hwaccel none may decode more" : "",
            decode->codec->active_thread_type && !decode->accelerated
                ? "; results may differ from run to run: --threads 1 makes them repeatable"
                : "");
    }
}

static int decode_no_frame(const void *state)
{
    const struct decode *decode = state;
    const struct gpume_packets *packets = &decode->packets;
    const char *codec = avcodec_get_name(packets->stream->codecpar->codec_id);
    if (packets->cut.whole == 0 && decode->refused > 0) {
        return gpume_log_fail(&decode->options.log, GPUME_FORMAT,
            "%s: no frame of its %s video could be decoded: the decoder refused %" PRIu64
            " packet%s as damaged, incomplete or of an unsupported kind; check the file",
            decode->label, codec, decode->refused, decode->refused == 1 ? "" : "s");
    }
    return gpume_cut_refuse(&packets->cut, decode->label, codec,
        packets->failed ? gpume_input_remedy(&packets->input, "check the file") : "check the file",
        &decode->options.log);
}

const struct gpume_decoder gpume_decode_lavf = {
    .bytes = sizeof(struct decode),
    .open = decode_open,
    .next = decode_next,
    .seek = decode_seek,
    .describe = decode_describe,
    .refused = decode_refused,
    .warn = decode_warn,
    .no_frame = decode_no_frame,
    .close = decode_close,
};
