/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FFmpeg's decoding of an input: by one decoder, or from the second frame on by several. Video
 * hardware is on trial until its first frame is in memory. During the trial all packets are kept;
 * if the device fails, software starts over with the first of them, so that nothing is lost.
 */
#include "media/decode.h"

#include "base/base.h"
#include "media/packets.h"
#include "media/source.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define TRIAL_PACKETS 64 /* more than any decoder holds before its first frame */

int64_t gpume_frame_time_next(struct gpume_frame_time *time, const AVFrame *frame)
{
    const AVRational time_base = frame->time_base;
    int64_t us = INT64_MIN;
    if (frame->pts != AV_NOPTS_VALUE && time_base.num > 0 && time_base.den > 0) {
        us = av_rescale_q(frame->pts, time_base, AV_TIME_BASE_Q);
    }
    if (us == INT64_MIN) { /* unknown, or beyond what 64 bits hold */
        const int64_t after = av_rescale_q(time->since, time->step, AV_TIME_BASE_Q);
        const bool fits = after >= 0 && time->known_us < INT64_MAX - after;
        us = fits ? time->known_us + after : time->known_us;
    } else {
        time->known_us = us;
        time->since = 0;
    }
    time->since++;
    return us;
}

struct decode {
    struct gpume_decode_options options;
    struct gpume_packets packets;
    struct gpume_decoding decoding; /* also has the log */
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
};

static void drop_kept(struct decode *decode)
{
    for (uint32_t i = 0; i < decode->kept_count; i++) {
        av_packet_free(&decode->kept[i]);
    }
    decode->kept_count = decode->kept_taken = 0;
    decode->on_trial = false;
}

static void lavf_close(void *state)
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

/* Starts over in software from the first packet. */
static int start_over(struct decode *decode)
{
    struct gpume_decoding *decoding = &decode->decoding;
    gpume_hwaccel_refuse(decode->options.hwaccel, decode->packets.label, "it delivers no frames");
    gpume_decoding_close(decoding);
    decode->accelerated = decode->on_trial = decoding->draining = false;
    decoding->refused = 0;
    decoding->refusals = 0;
    atomic_store(&decoding->faults.errors, 0);
    atomic_store(&decoding->faults.starved, 0);
    return gpume_decoding_open(decoding, decode->options.source->threads);
}

/* Takes the next packet of the stream. GPUME_EOF, GPUME_CANCELLED, GPUME_NOMEM. */
static int next_kept_packet(struct decode *decode)
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
static int send_next(struct decode *decode)
{
    int status = next_kept_packet(decode);
    const bool end = status == GPUME_EOF;
    if (status != GPUME_OK && !end) {
        return status;
    }
    if (decode->options.source->motion && !end) {
        gpume_motion_mark(decode->decoding.codec, decode->packets.stream->codecpar, decode->packet,
            ++decode->sent);
    }
    status = gpume_decoding_send(&decode->decoding, end ? NULL : decode->packet);
    av_packet_unref(decode->packet);
    return status;
}

/* The frames of a device. A failure that ends the trial becomes AVERROR(EAGAIN). The stream may go
 * on in software, but then in the first decoder alone. */
static int take_from_device(struct gpume_decoding *decoding, AVFrame *frame, int *error)
{
    struct decode *decode = decoding->opaque;
    int status = GPUME_DEVICE;
    if (!decode->accelerated) {
        return GPUME_OK;
    }
    const bool on_device = *error >= 0 && frame->hw_frames_ctx;
    if (on_device) {
        status = gpume_hwframe_download(
            frame, decoding->codec, decoding->buffers, decode->options.whole);
    }
    if (status == GPUME_OK && decode->on_trial) {
        gpume_hwaccel_accept(decode->options.hwaccel, decode->packets.stream->codecpar->codec_id,
            decode->packets.label);
        atomic_store(&decoding->faults.errors, 0);
        drop_kept(decode);
    }
    if (status == GPUME_OK) {
        return GPUME_OK;
    }
    const bool failed = *error >= 0 || *error == AVERROR_EOF || decode->kept_count == TRIAL_PACKETS;
    if (decode->on_trial && failed) {
        av_frame_unref(frame);
        *error = AVERROR(EAGAIN);
        return start_over(decode);
    }
    if (on_device || (*error >= 0 && decoding != &decode->decoding)) {
        av_frame_unref(frame);
        return status;
    }
    if (*error >= 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->packets.label, "the stream changes");
    }
    return GPUME_OK;
}

static int lavf_open(
    void *state, const struct gpume_decode_options *options, struct gpume_source_info *info)
{
    struct decode *decode = state;
    const struct gpume_source_options *source = options->source;
    struct gpume_hwaccel *hwaccel = options->hwaccel;
    decode->options = *options;
    decode->decoding = (struct gpume_decoding){
        .packets = &decode->packets,
        .log = source->log,
        .fetch = hwaccel ? take_from_device : NULL,
        .opaque = decode,
    };
    GPUME_CHECK(gpume_packets_open(&decode->packets, source, options->input, options->cancel));
    *info = decode->packets.info;
    const char *label = decode->packets.label;
    const AVCodecParameters *codec = decode->packets.stream->codecpar;
    GPUME_CHECK(gpume_limits_check_size(
        &source->trust, label, NULL, codec->width, codec->height, &source->log));
    GPUME_CHECK(options->divisible ? gpume_scan_open(&decode->scan, codec) : GPUME_OK);
    GPUME_CHECK(decode->scan ? gpume_buffers_open(&decode->decoding.buffers) : GPUME_OK);
    decode->packet = av_packet_alloc();
    GPUME_CHECK(decode->packet ? GPUME_OK : GPUME_NOMEM);
    const AVCodec *device = hwaccel ? gpume_hwaccel_choose(hwaccel, codec->codec_id, label) : NULL;
    if (device) {
        const int error =
            gpume_decoding_open_device(&decode->decoding, device, hwaccel, source->threads, false);
        decode->accelerated = decode->on_trial = error >= 0;
        if (error < 0) {
            gpume_hwaccel_refuse(hwaccel, label, gpume_libav_reason(error));
            gpume_decoding_close(&decode->decoding);
        }
    }
    return decode->accelerated ? GPUME_OK : gpume_decoding_open(&decode->decoding, source->threads);
}

/* Another decoder like the first. */
static int open_another(void *opaque, struct gpume_decoding *another, uint32_t threads)
{
    struct decode *decode = opaque;
    if (!decode->accelerated) {
        return gpume_decoding_open(another, threads);
    }
    another->fetch = take_from_device;
    another->opaque = decode;
    return gpume_decoding_open_device(another, decode->decoding.codec->codec,
               decode->options.hwaccel, decode->options.source->threads, true) < 0
               ? GPUME_DEVICE
               : GPUME_OK;
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
        GPUME_CHECK(send_next(decode));
    }
}

static void lavf_divide(void *state, struct gpume_division *division)
{
    struct decode *decode = state;
    if (decode->accelerated) {
        gpume_hwaccel_spread(decode->options.hwaccel, division->gpus);
    }
    const uint32_t most = division->asked ? division->decoders
                          : decode->accelerated
                              ? gpume_hwaccel_decoders(decode->options.hwaccel, division->length)
                              : gpume_segments_decoders(decode->options.source->threads);
    if (!decode->scan || decode->on_trial || !gpume_scan_is_certain(decode->scan)) {
        division->decoders = 1;
    } else if (division->decoders > most) {
        division->bytes = division->bytes / division->decoders * most;
        division->decoders = most;
    }
    gpume_segments_plan(division, decode->options.source->threads, decode->frame_bytes);
    decode->division = *division;
}

static uint64_t delivered_by(const struct decode *decode)
{
    return decode->segments ? gpume_segments_delivered(decode->segments)
                            : decode->decoding.delivered;
}

static int lavf_next(void *state, AVFrame *frame)
{
    struct decode *decode = state;
    if (decode->division.decoders > 1) { /* what was one is the first of several from now on */
        const struct gpume_segments_options options = {
            .division = decode->division,
            .first = &decode->decoding,
            .open = open_another,
            .opaque = decode,
            .first_frame = decode->first_frame,
            .packets = &decode->packets,
            .scan = decode->scan,
            .cancel = decode->options.cancel,
            .log = decode->decoding.log,
        };
        decode->division.decoders = 1;
        GPUME_CHECK(gpume_segments_open(&decode->segments, &options));
    }
    const int status = decode->segments ? gpume_segments_next(decode->segments, frame)
                                        : next_of_one(decode, frame);
    decode->ended = status == GPUME_EOF;
    if (status == GPUME_DEVICE) {
        return gpume_log_fail(&decode->decoding.log, status,
            "%s: frame %" PRIu64 " cannot be copied from %s; try --hwaccel none",
            decode->packets.label, delivered_by(decode),
            gpume_hwaccel_name(decode->options.hwaccel));
    }
    if (status == GPUME_OK && decode->frame_bytes == 0) {
        for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
            decode->frame_bytes += frame->buf[i]->size;
        }
    }
    return status;
}

/* The frames up to the one wanted must have the times that the packets promise. */
static int lavf_seek(void *state, uint64_t index, int64_t start, AVFrame *frame)
{
    int status = GPUME_OK;
    struct decode *decode = state;
    struct gpume_seek seek = {0};
    GPUME_TRY(gpume_seek_find(&seek, &decode->packets, index, start));
    decode->decoding.first_pts = seek.times[0];
    decode->decoding.delivered = decode->first_frame = seek.first;
    for (uint64_t i = 0; i < seek.count; i++) {
        av_frame_unref(frame);
        const int next = lavf_next(decode, frame);
        GPUME_TRY(next == GPUME_EOF ? GPUME_OK : next);
        if (next == GPUME_EOF || gpume_decoding_is_flawed(&decode->decoding) ||
            frame->pts != seek.times[i]) {
            GPUME_TRY(gpume_seek_refuse(
                &decode->packets, "damage, or frames at other times than their packets"));
        }
    }
fail:
    gpume_seek_finish(&seek);
    return status;
}

static int lavf_describe(const void *state, char *text, size_t bytes)
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

static uint64_t lavf_refused(const void *state)
{
    const struct decode *decode = state;
    const bool is_read = !decode->segments || decode->ended; /* else by other threads */
    return damage_of(decode).refused + (is_read ? decode->packets.lost : 0);
}

/* Appends "TEXT COUNT NOUN[s]", with a comma before it unless it is the first. */
static void add_count(char *list, size_t bytes, const char *text, uint64_t count, const char *noun)
{
    if (count > 0) {
        gpume_text_join(
            list, bytes, ", ", "%s %" PRIu64 " %s%s", text, count, noun, gpume_plural(count));
    }
}

static void lavf_warn(const void *state)
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
        gpume_log_write(&decode->decoding.log, GPUME_LOG_WARNING,
            "%s: damaged: the decoder %s; what it could decode is used%s%s", decode->packets.label,
            list, decode->accelerated ? ", and --hwaccel none may decode more" : "",
            codec->active_thread_type && !decode->accelerated
                ? "; results may differ from run to run: --threads 1 makes them repeatable"
                : "");
    }
}

static int lavf_no_frame(const void *state)
{
    const struct decode *decode = state;
    const struct gpume_packets *packets = &decode->packets;
    const char *codec = avcodec_get_name(packets->stream->codecpar->codec_id);
    if (packets->cut.whole == 0 && decode->decoding.refused > 0) {
        return gpume_log_fail(&decode->decoding.log, GPUME_FORMAT,
            "%s: no frame of its %s video could be decoded: the decoder refused %" PRIu64
            " packet%s as damaged, incomplete or of an unsupported kind; check the file",
            decode->packets.label, codec, decode->decoding.refused,
            gpume_plural(decode->decoding.refused));
    }
    return gpume_cut_refuse(&packets->cut, decode->packets.label, codec,
        packets->failed ? gpume_input_remedy(&packets->input, "check the file") : "check the file",
        &decode->decoding.log);
}

const struct gpume_decoder gpume_decode_lavf = {
    .bytes = sizeof(struct decode),
    .open = lavf_open,
    .next = lavf_next,
    .seek = lavf_seek,
    .divide = lavf_divide,
    .describe = lavf_describe,
    .refused = lavf_refused,
    .warn = lavf_warn,
    .no_frame = lavf_no_frame,
    .close = lavf_close,
};
