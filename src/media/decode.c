/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demultiplexing and decoding. In: an input and a choice of stream. Out: frames as the decoder
 * gives them, each with a pts. Hostile input ends: every turn of the loop either takes a packet
 * from the file or is one of a bounded number of refusals in a row. Called by source_lavf.c.
 */
#include "media/decode.h"
#include "base/status.h"
#include "media/input.h"
#include "media/libav.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define THREADS_MAX 64 /* FFmpeg's decoders gain nothing beyond, and each holds frames */
#define REFUSALS_MAX                                                                               \
    64 /* answers in a row without taking a packet: more than threads in flight                    \
        */
#define PIXELS_MAX (INT64_C(1) << 28) /* 16384 x 16384; a forged header must not eat the memory */

struct gpume_decode {
    struct gpume_input input;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    AVRational time_base, rate;
    int64_t next_pts; /* where a frame without a time belongs */
    uint64_t delivered, refused;
    uint32_t refusals; /* in a row */
    bool draining;
    const char *label;
    atomic_bool *cancel;
    struct gpume_log log;
};

static bool is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
}

/* The best stream, but no cover picture while there is a film. */
static AVStream *best_stream(AVFormatContext *format)
{
    int best = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    AVStream *chosen = best < 0 ? NULL : format->streams[best];
    for (unsigned i = 0; chosen && i < format->nb_streams; i++) {
        bool cover = (chosen->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
        AVStream *stream = format->streams[i];
        if (cover && is_video(stream) && !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC)) {
            chosen = stream;
        }
    }
    return chosen;
}

static int choose_stream(struct gpume_decode *decode, int wanted)
{
    AVFormatContext *format = decode->input.format;
    unsigned count = 0;
    AVStream *chosen = wanted < 0 ? best_stream(format) : NULL;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *stream = format->streams[i];
        stream->discard = AVDISCARD_ALL;
        if (is_video(stream)) {
            if (wanted >= 0 && count == (unsigned)wanted) {
                chosen = stream;
            }
            count++;
        }
    }
    if (count == 0) {
        gpume_log_write(&decode->log, GPUME_LOG_ERROR,
            "%s: no video stream in it (%s, %u other streams); give a file with video",
            decode->label, format->iformat->name, format->nb_streams);
        return GPUME_FORMAT;
    }
    if (!chosen && wanted >= 0) {
        gpume_log_write(&decode->log, GPUME_LOG_ERROR,
            "%s: no video stream %d; it has %u, numbered from 0: choose with --stream",
            decode->label, wanted, count);
        return GPUME_INVALID;
    }
    /* av_find_best_stream passes over streams without facts; the decoder may still know. */
    for (unsigned i = 0; !chosen && i < format->nb_streams; i++) {
        chosen = is_video(format->streams[i]) ? format->streams[i] : NULL;
    }
    chosen->discard = AVDISCARD_DEFAULT;
    decode->stream = chosen;
    return GPUME_OK;
}

static int open_codec(struct gpume_decode *decode, uint32_t threads)
{
    const AVCodecParameters *parameters = decode->stream->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec) {
        gpume_log_write(&decode->log, GPUME_LOG_ERROR,
            "%s: this FFmpeg has no decoder for %s; convert the file to another format",
            decode->label, avcodec_get_name(parameters->codec_id));
        return GPUME_FORMAT;
    }
    decode->codec = avcodec_alloc_context3(codec);
    decode->packet = av_packet_alloc();
    if (!decode->codec || !decode->packet ||
        avcodec_parameters_to_context(decode->codec, parameters) < 0) {
        return GPUME_NOMEM;
    }
    decode->codec->thread_count = (int)(threads < THREADS_MAX ? threads : THREADS_MAX);
    decode->codec->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
    decode->codec->pkt_timebase = decode->time_base;
    decode->codec->max_pixels = PIXELS_MAX;
    gpume_libav_quiet();
    int error = avcodec_open2(decode->codec, codec, NULL);
    if (error < 0) {
        char reason[256];
        gpume_log_write(&decode->log, GPUME_LOG_ERROR,
            "%s: its %s video cannot be decoded: %s; check the file", decode->label,
            avcodec_get_name(parameters->codec_id),
            gpume_libav_reason(error, reason, sizeof reason));
        return error == AVERROR(ENOMEM) ? GPUME_NOMEM : GPUME_FORMAT;
    }
    return GPUME_OK;
}

static bool sane(AVRational value)
{
    return value.num > 0 && value.den > 0;
}

static void learn_facts(struct gpume_decode *decode, struct gpume_decode_facts *facts)
{
    AVFormatContext *format = decode->input.format;
    AVStream *stream = decode->stream;
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
    };
}

int gpume_decode_open(struct gpume_decode **result, const struct gpume_decode_options *options,
    struct gpume_decode_facts *facts)
{
    int status = GPUME_OK;
    struct gpume_decode *decode = calloc(1, sizeof *decode);
    if (!decode) {
        return GPUME_NOMEM;
    }
    struct gpume_decode_facts found;
    decode->label = gpume_input_label(options->path);
    decode->log = options->log;
    decode->cancel = options->cancel;
    GPUME_TRY(gpume_input_open(&decode->input, options->path, options->cancel, &decode->log));
    GPUME_TRY(choose_stream(decode, options->stream));
    learn_facts(decode, &found);
    GPUME_TRY(open_codec(decode, options->threads));
    *result = decode;
    *facts = found;
    return GPUME_OK;
fail:
    gpume_decode_close(&decode);
    return status;
}

/* Gives the decoder its next packet, or the end. */
static int feed(struct gpume_decode *decode)
{
    int error = 0;
    do {
        av_packet_unref(decode->packet);
        error = av_read_frame(decode->input.format, decode->packet);
        if (atomic_load(decode->cancel)) {
            return GPUME_CANCELLED;
        }
    } while (error >= 0 && decode->packet->stream_index != decode->stream->index);
    if (error < 0) {
        if (error != AVERROR_EOF) {
            char reason[AV_ERROR_MAX_STRING_SIZE] = "unknown error";
            (void)av_strerror(error, reason, sizeof reason);
            gpume_log_write(&decode->log, GPUME_LOG_WARNING,
                "%s: reading breaks off after frame %" PRIu64 ": %s; what came before is used",
                decode->label, decode->delivered, reason);
        }
        decode->draining = true;
        (void)avcodec_send_packet(decode->codec, NULL);
        return GPUME_OK;
    }
    error = avcodec_send_packet(decode->codec, decode->packet);
    av_packet_unref(decode->packet);
    decode->refusals = 0;
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM;
    }
    decode->refused += error < 0;
    return GPUME_OK;
}

static void set_time(struct gpume_decode *decode, AVFrame *frame)
{
    int64_t pts = frame->best_effort_timestamp;
    if (pts == AV_NOPTS_VALUE) {
        pts = frame->pts != AV_NOPTS_VALUE ? frame->pts : decode->next_pts;
    }
    AVRational rate = decode->rate.num > 0 ? decode->rate : (AVRational){25, 1};
    int64_t step = av_rescale_q(1, av_inv_q(rate), decode->time_base);
    frame->pts = pts;
    decode->next_pts = pts < INT64_MAX / 2 && step > 0 ? pts + step : pts;
}

int gpume_decode_next(struct gpume_decode *decode, AVFrame *frame)
{
    for (;;) {
        if (atomic_load(decode->cancel)) {
            return GPUME_CANCELLED;
        }
        int error = avcodec_receive_frame(decode->codec, frame);
        if (error == AVERROR_EOF) {
            return GPUME_EOF;
        }
        if (error == AVERROR(ENOMEM)) {
            return GPUME_NOMEM;
        }
        if (error >= 0) {
            decode->refusals = 0;
            if (frame->width > 0 && frame->height > 0 && frame->data[0]) {
                set_time(decode, frame);
                decode->delivered++;
                return GPUME_OK;
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
            return GPUME_EOF; /* a decoder that has neither frames nor an end */
        }
        int status = feed(decode);
        if (status != GPUME_OK) {
            return status;
        }
    }
}

uint64_t gpume_decode_refused(const struct gpume_decode *decode)
{
    return decode->refused;
}

void gpume_decode_close(struct gpume_decode **pointer)
{
    struct gpume_decode *decode = *pointer;
    if (!decode) {
        return;
    }
    *pointer = NULL;
    av_packet_free(&decode->packet);
    avcodec_free_context(&decode->codec);
    gpume_input_close(&decode->input);
    free(decode);
}
