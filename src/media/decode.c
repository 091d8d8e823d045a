/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile input cannot cause an endless loop: every iteration either reads a packet from the file
 * or is one of a bounded number of consecutive refusals. Video hardware is on trial until its first
 * frame is in memory. During the trial all packets are kept; if the device fails, software starts
 * over with the first of them, so that nothing is lost.
 */
#include "media/decode.h"
#include "base/status.h"
#include "media/decoding.h"
#include "media/hwaccel.h"
#include "media/hwdecoding.h"
#include "media/motion.h"
#include "media/packets.h"
#include "media/seek.h"
#include "media/segments/buffers.h"
#include "media/segments/scan.h"
#include "media/segments/segments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define TRIAL_PACKETS 64 /* more than any decoder holds before its first frame */

struct decode {
    struct gpume_decode_options options;
    struct gpume_packets packets;
    struct gpume_decoding decoding;
    AVPacket *packet;
    bool accelerated; /* decoding uses the device, or did until the stream changed */
    bool on_trial;
    AVPacket *kept[TRIAL_PACKETS];   /* packets read during the trial */
    uint32_t kept_count, kept_taken; /* kept_taken: sent to software */
    uint64_t sent;                   /* packets */
    uint64_t first_frame;            /* number of the first frame that is delivered */
    struct gpume_scan *scan;         /* of all packets that were sent; NULL: not to be divided */
    uint64_t frame_bytes;            /* of a decoded frame */
    struct gpume_division division;
    struct gpume_segments *segments; /* NULL: one decoder */
    bool ended;
    const char *label;
};

static int open_software(struct decode *decode)
{
    return gpume_decoding_open(&decode->decoding, decode->options.threads, decode->options.motion);
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
    int error = gpume_hwdecoding_open(&decode->decoding, &decode->options, codec);
    decode->accelerated = decode->on_trial = error >= 0;
    if (error < 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, gpume_libav_reason(error));
        gpume_decoding_close(&decode->decoding);
        return open_software(decode);
    }
    return GPUME_OK;
}

static bool sane(AVRational value)
{
    return value.num > 0 && value.den > 0;
}

/* Where times may jump, as in MPEG-TS, the ffmpeg program counts from the first of the streams that
 * it uses, which need not be the first of all. */
static bool starts_late(const AVFormatContext *format, const AVStream *stream)
{
    return format->iformat->flags & AVFMT_TS_DISCONT && format->start_time != AV_NOPTS_VALUE &&
           stream->start_time != AV_NOPTS_VALUE &&
           av_compare_ts(
               stream->start_time, stream->time_base, format->start_time, AV_TIME_BASE_Q) > 0;
}

static void learn_facts(struct decode *decode, struct gpume_decode_facts *facts)
{
    AVFormatContext *format = decode->packets.input.format;
    AVStream *stream = decode->packets.stream;
    bool cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    AVRational rate = cover ? (AVRational){0, 1} : av_guess_frame_rate(format, stream, NULL);
    struct gpume_decoding *decoding = &decode->decoding;
    decoding->time_base =
        sane(stream->time_base) ? stream->time_base : (AVRational){1, AV_TIME_BASE};
    decoding->rate = sane(rate) ? rate : (AVRational){0, 1};
    int64_t frames = cover ? 1 : stream->nb_frames;
    if (frames <= 0 && sane(rate) && stream->duration > 0) {
        frames = av_rescale_q(stream->duration, decoding->time_base, av_inv_q(rate));
    } else if (frames <= 0 && sane(rate) && format->duration > 0) {
        frames = av_rescale_q(format->duration, AV_TIME_BASE_Q, av_inv_q(rate));
    }
    *facts = (struct gpume_decode_facts){
        .codec = avcodec_get_name(stream->codecpar->codec_id),
        .time_base = decoding->time_base,
        .rate = decoding->rate,
        .frames = frames > 0 ? (uint64_t)frames : 0,
        .start_us = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0,
        .late = starts_late(format, stream),
        .picture = cover || gpume_input_has_pictures(&decode->packets.input),
        .frame_bytes = gpume_limits_bytes(stream->codecpar),
        .progressive = stream->codecpar->field_order == AV_FIELD_PROGRESSIVE,
        .stream = decode->packets.number,
        .streams = decode->packets.count,
        .list = strcmp(format->iformat->name, "concat") == 0,
        .aspect = stream->sample_aspect_ratio,
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
    gpume_segments_close(&decode->segments);
    gpume_scan_close(&decode->scan);
    av_packet_free(&decode->packet);
    gpume_decoding_close(&decode->decoding);
    gpume_buffers_close(&decode->decoding.buffers);
    gpume_packets_close(&decode->packets);
}

static int take_from_device(struct gpume_decoding *decoding, AVFrame *frame, int *error);

static int decode_open(
    void *state, const struct gpume_decode_options *options, struct gpume_decode_facts *facts)
{
    int status = GPUME_OK;
    struct decode *decode = state;
    decode->options = *options;
    GPUME_TRY(gpume_packets_open(&decode->packets, options->path, options->stream, &options->trust,
        options->cancel, &decode->options.log));
    decode->label = decode->packets.label;
    decode->decoding = (struct gpume_decoding){
        .packets = &decode->packets,
        .label = decode->label,
        .trust = options->trust,
        .log = options->log,
        .fetch = options->hwaccel ? take_from_device : NULL,
        .opaque = decode,
    };
    const AVCodecParameters *codec = decode->packets.stream->codecpar;
    GPUME_TRY(gpume_limits_check_size(&decode->options.trust, decode->label, NULL, codec->width,
        codec->height, &decode->options.log));
    learn_facts(decode, facts);
    GPUME_TRY(options->divisible ? gpume_scan_open(&decode->scan, codec) : GPUME_OK);
    GPUME_TRY(decode->scan ? gpume_buffers_open(&decode->decoding.buffers) : GPUME_OK);
    GPUME_TRY(open_codec(decode));
fail:
    return status;
}

/* Starts over in software from the first packet. */
static int start_over(struct decode *decode)
{
    struct gpume_decoding *decoding = &decode->decoding;
    gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, "it delivers no frames");
    gpume_decoding_close(decoding);
    decode->accelerated = decode->on_trial = decoding->draining = false;
    decoding->refused = 0;
    decoding->refusals = 0;
    atomic_store(&decoding->faults.errors, 0);
    atomic_store(&decoding->faults.starved, 0);
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
    if (status == GPUME_OK && decode->scan) {
        gpume_scan_take(decode->scan, decode->packet);
    }
    if (status != GPUME_OK || !decode->on_trial) {
        return status;
    }
    decode->kept[decode->kept_count] = av_packet_clone(decode->packet);
    return decode->kept[decode->kept_count++] ? GPUME_OK : GPUME_NOMEM;
}

/* Sends the next packet, or the end, to the decoder. */
static int feed(struct decode *decode)
{
    int status = take_packet(decode);
    const bool end = status == GPUME_EOF;
    if (status != GPUME_OK && !end) {
        return status;
    }
    if (decode->options.motion && !end) {
        gpume_motion_mark(decode->decoding.codec, decode->packets.stream->codecpar, decode->packet,
            ++decode->sent);
    }
    status = gpume_decoding_send(&decode->decoding, end ? NULL : decode->packet);
    av_packet_unref(decode->packet);
    return status;
}

/* The first decoder's frames. A failure that ends the trial becomes AVERROR(EAGAIN). */
static int take_from_device(struct gpume_decoding *decoding, AVFrame *frame, int *error)
{
    struct decode *decode = decoding->opaque;
    int status = GPUME_DEVICE;
    if (!decode->accelerated) {
        return GPUME_OK;
    }
    const bool on_device = *error >= 0 && frame->hw_frames_ctx;
    if (on_device) {
        status = gpume_hwdecoding_download(decoding, frame, decode->options.whole);
    }
    if (status == GPUME_OK) {
        if (decode->on_trial) {
            gpume_hwaccel_accept(
                decode->options.hwaccel, decode->packets.stream->codecpar->codec_id, decode->label);
            atomic_store(&decoding->faults.errors, 0);
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
        return status;
    }
    if (*error >= 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->label, "the stream changes");
    }
    return GPUME_OK;
}

/* Another decoder like the first. */
static int open_another(void *opaque, struct gpume_decoding *another, uint32_t threads)
{
    struct decode *decode = opaque;
    return decode->accelerated ? gpume_hwdecoding_open_another(
                                     another, &decode->options, decode->decoding.codec->codec)
                               : gpume_decoding_open(another, threads, false);
}

/* The next frame of one decoder. */
static int next_of_one(struct decode *decode, AVFrame *frame)
{
    for (;;) {
        if (atomic_load(decode->options.cancel)) {
            return GPUME_CANCELLED;
        }
        const int status = gpume_decoding_next(&decode->decoding, frame);
        if (status != GPUME_AGAIN) {
            return status;
        }
        GPUME_CHECK(feed(decode));
    }
}

/* Bytes of the buffers of a frame. */
static uint64_t bytes_of(const AVFrame *frame)
{
    uint64_t bytes = 0;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
        bytes += frame->buf[i]->size;
    }
    return bytes;
}

/* How many decoders suit what decodes, and so many frames. */
static uint32_t suitable(const struct decode *decode, uint64_t frames)
{
    return decode->accelerated ? gpume_hwaccel_decoders(decode->options.hwaccel, frames)
                               : gpume_segments_decoders(decode->options.threads);
}

static void decode_divide(void *state, struct gpume_division *division)
{
    struct decode *decode = state;
    if (decode->accelerated) {
        gpume_hwaccel_spread(decode->options.hwaccel, division->gpus);
    }
    const uint32_t most = division->asked ? division->decoders : suitable(decode, division->length);
    if (!decode->scan || decode->on_trial || !gpume_scan_is_certain(decode->scan)) {
        division->decoders = 1;
    } else if (division->decoders > most) {
        division->bytes = division->bytes / division->decoders * most;
        division->decoders = most;
    }
    gpume_segments_plan(division, decode->options.threads, decode->frame_bytes);
    decode->division = *division;
}

/* What was one decoder is the first of several from now on. */
static int divide(struct decode *decode)
{
    const struct gpume_segments_options options = {
        .division = decode->division,
        .first = &decode->decoding,
        .open = open_another,
        .opaque = decode,
        .first_frame = decode->first_frame,
        .packets = &decode->packets,
        .scan = decode->scan,
        .cancel = decode->options.cancel,
        .log = decode->options.log,
    };
    decode->division.decoders = 1;
    return gpume_segments_open(&decode->segments, &options);
}

static uint64_t delivered_by(const struct decode *decode)
{
    return decode->segments ? gpume_segments_delivered(decode->segments)
                            : decode->decoding.delivered;
}

static int decode_next(void *state, AVFrame *frame)
{
    struct decode *decode = state;
    GPUME_CHECK(decode->division.decoders > 1 ? divide(decode) : GPUME_OK);
    const int status = decode->segments ? gpume_segments_next(decode->segments, frame)
                                        : next_of_one(decode, frame);
    decode->ended = status == GPUME_EOF;
    if (status == GPUME_DEVICE) {
        return gpume_log_fail(&decode->options.log, status,
            "%s: frame %" PRIu64 " cannot be copied from %s; try --hwaccel none", decode->label,
            delivered_by(decode), gpume_hwaccel_name(decode->options.hwaccel));
    }
    if (status == GPUME_OK && decode->frame_bytes == 0) {
        decode->frame_bytes = bytes_of(frame);
    }
    return status;
}

/* The frames up to the one wanted must have the times that the packets promise. */
static int decode_to(struct decode *decode, const struct gpume_seek *seek, AVFrame *frame)
{
    decode->decoding.first_pts = seek->times[0];
    decode->decoding.delivered = decode->first_frame = seek->first;
    for (uint64_t i = 0; i < seek->count; i++) {
        av_frame_unref(frame);
        const int status = decode_next(decode, frame);
        if (status != GPUME_OK && status != GPUME_EOF) {
            return status;
        }
        if (status == GPUME_EOF || gpume_decoding_is_flawed(&decode->decoding) ||
            frame->pts != seek->times[i]) {
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
    const AVCodecContext *codec = decode->decoding.codec;
    const char *device = decode->accelerated ? gpume_hwaccel_name(decode->options.hwaccel) : NULL;
    snprintf(text, bytes, "%s%s%s", codec->codec->name, device ? " on " : "", device ? device : "");
    return codec->thread_count;
}

static struct gpume_damage damage_of(const struct decode *decode)
{
    struct gpume_damage damage = decode->segments ? gpume_segments_damage(decode->segments)
                                                  : gpume_decoding_damage(&decode->decoding);
    if (decode->accelerated) {
        damage.errors = 0; /* may be about formats that the device does not support */
    }
    return damage;
}

static uint64_t decode_refused(const void *state)
{
    const struct decode *decode = state;
    const bool is_read = !decode->segments || decode->ended; /* else by other threads */
    return damage_of(decode).refused + (is_read ? decode->packets.lost : 0);
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
    const struct gpume_damage damage = damage_of(decode);
    const AVCodecContext *codec = decode->decoding.codec;
    char list[192] = "";
    if (decode->ended) {
        gpume_packets_warn(&decode->packets, delivered_by(decode));
    }
    add_count(list, sizeof list, "reported", damage.errors, "error");
    add_count(list, sizeof list, "refused", damage.refused, "packet");
    add_count(list, sizeof list, "concealed damage in", damage.frames, "frame");
    if (list[0]) {
        gpume_log_write(&decode->options.log, GPUME_LOG_WARNING,
            "%s: damaged: the decoder %s; what it could decode is used%s%s", decode->label, list,
            decode->accelerated ? ", and --hwaccel none may decode more" : "",
            codec->active_thread_type && !decode->accelerated
                ? "; results may differ from run to run: --threads 1 makes them repeatable"
                : "");
    }
}

static int decode_no_frame(const void *state)
{
    const struct decode *decode = state;
    const struct gpume_packets *packets = &decode->packets;
    const char *codec = avcodec_get_name(packets->stream->codecpar->codec_id);
    if (packets->cut.whole == 0 && decode->decoding.refused > 0) {
        return gpume_log_fail(&decode->options.log, GPUME_FORMAT,
            "%s: no frame of its %s video could be decoded: the decoder refused %" PRIu64
            " packet%s as damaged, incomplete or of an unsupported kind; check the file",
            decode->label, codec, decode->decoding.refused,
            decode->decoding.refused == 1 ? "" : "s");
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
    .divide = decode_divide,
    .describe = decode_describe,
    .refused = decode_refused,
    .warn = decode_warn,
    .no_frame = decode_no_frame,
    .close = decode_close,
};
