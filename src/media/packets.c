/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libavformat reports a normal end for an incomplete Y4M frame, for an empty file among numbered
 * pictures, and for many truncated files. These cases are detected by the position in the input,
 * the number of pictures, the last packet, ending.c, and libav's log.
 */
#include "media/packets.h"
#include "base/status.h"
#include "files/path.h"
#include "files/pattern.h"
#include "media/ending.h"
#include "media/libav.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>

#define Y4M_LINE 6          /* "FRAME\n"; longer with parameters, which are rare */
#define THEORA_COMMENT 0x81 /* the first byte of that header */

static bool is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
}

/* The best stream; a cover picture only if the input has no other video. */
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

static int choose_stream(struct gpume_packets *packets, int wanted)
{
    AVFormatContext *format = packets->input.format;
    uint32_t count = 0;
    AVStream *chosen = wanted < 0 ? best_stream(format) : NULL;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *stream = format->streams[i];
        stream->discard = AVDISCARD_ALL;
        if (is_video(stream)) {
            if (wanted >= 0 && count == (unsigned)wanted) {
                chosen = stream;
            }
            packets->number = stream == chosen ? count : packets->number;
            count++;
        }
    }
    if (count == 0) {
        return gpume_log_fail(&packets->log, GPUME_FORMAT,
            "%s: no video stream in it (%s, %u other streams); %s", packets->label,
            format->iformat->name, format->nb_streams,
            gpume_input_remedy(&packets->input, "give a file with video"));
    }
    if (!chosen && wanted >= 0) {
        return gpume_log_fail(&packets->log, GPUME_INVALID,
            "%s: no video stream %d; it has %u, numbered from 0: choose with --stream",
            packets->label, wanted, count);
    }
    /* av_find_best_stream skips streams with unknown parameters, which may be decodable. */
    for (unsigned i = 0; !chosen && i < format->nb_streams; i++) {
        chosen = is_video(format->streams[i]) ? format->streams[i] : NULL;
    }
    chosen->discard = AVDISCARD_DEFAULT;
    packets->stream = chosen;
    packets->count = count;
    return GPUME_OK;
}

static void learn_y4m(struct gpume_packets *packets)
{
    const AVCodecParameters *codec = packets->stream->codecpar;
    if (strcmp(packets->input.format->iformat->name, "yuv4mpegpipe") == 0) {
        const int bytes = av_image_get_buffer_size(
            (enum AVPixelFormat)codec->format, codec->width, codec->height, 1);
        packets->y4m_frame = bytes > 0 ? bytes : 0;
        packets->y4m_line = Y4M_LINE;
        packets->y4m_end = packets->input.data;
    }
}

int gpume_packets_open(struct gpume_packets *packets, const char *path, int stream,
    const struct gpume_trust *trust, atomic_bool *cancel, const struct gpume_log *log)
{
    int status = GPUME_OK;
    packets->input.max_pixels = gpume_limits_decoder(trust);
    packets->input.reach = (struct gpume_reach){.network = trust->network, .files = trust->files};
    packets->label = gpume_input_label(path);
    packets->log = *log;
    packets->next = av_packet_alloc();
    GPUME_TRY(packets->next ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(gpume_input_open(&packets->input, path, cancel, &packets->log));
    GPUME_TRY(choose_stream(packets, stream));
    learn_y4m(packets);
fail:
    return status;
}

/* Any bytes after the last complete Y4M frame are the beginning of another one. */
static void find_cut(struct gpume_packets *packets)
{
    const int64_t left = avio_tell(packets->input.format->pb) - packets->y4m_end;
    const int64_t there = left > packets->y4m_line ? left - packets->y4m_line : 0;
    if (left <= 0 && packets->taken > 0) {
        return;
    }
    packets->lost = left > 0;
    if (there < packets->y4m_frame) {
        packets->cut.there = (uint64_t)there;
        packets->cut.whole = (uint64_t)packets->y4m_frame;
    } else { /* its FRAME line has parameters of unknown length */
        snprintf(packets->cut.reason, sizeof packets->cut.reason, "the next frame is cut");
    }
}

/* One of the numbered pictures may be missing, for which libavformat returns EIO, that of FFmpeg 9
 * ENOENT. */
static bool find_missing(struct gpume_packets *packets)
{
    const char *path = gpume_path_of_input(packets->label);
    uint64_t first = 0;
    if (gpume_pattern_kind(path) != GPUME_PATTERN_NUMBERED || !gpume_pattern_find(path, &first)) {
        return false;
    }
    char *name = gpume_pattern_name(path, first + packets->taken);
    const bool missing = name && access(name, F_OK) != 0;
    if (missing) {
        const char *slash = strrchr(name, '/');
        snprintf(packets->cut.reason, sizeof packets->cut.reason, "%s is missing",
            slash ? slash + 1 : name);
    }
    free(name);
    return missing;
}

static void explain(struct gpume_packets *packets, bool numbered, int error)
{
    if (error == AVERROR(EPIPE)) { /* from aviobuf.c */
        snprintf(packets->cut.reason, sizeof packets->cut.reason, "a pipe cannot go back");
    } else if (error == AVERROR_INVALIDDATA) {
        snprintf(
            packets->cut.reason, sizeof packets->cut.reason, "the data that follow are damaged");
    } else if (!(numbered && (error == AVERROR(EIO) || error == AVERROR(ENOENT)) &&
                   find_missing(packets))) {
        (void)av_strerror(error, packets->cut.reason, sizeof packets->cut.reason);
    }
}

static void find_end(struct gpume_packets *packets, int error)
{
    AVFormatContext *format = packets->input.format;
    const bool numbered = strcmp(format->iformat->name, "image2") == 0;
    const int64_t pictures = numbered ? packets->stream->duration : 0; /* one per tick */
    const bool cut = packets->partial || packets->input.cut || gpume_libav_cut();
    const char *flaw = "the input is cut";
    packets->ended = true;
    if (error != AVERROR_EOF && !(gpume_libav_cut() && avio_feof(format->pb))) {
        packets->failed = true;
        explain(packets, numbered, error);
    } else if (cut || (flaw = gpume_ending_flaw(format, packets->stream, packets->taken)) != NULL) {
        snprintf(packets->cut.reason, sizeof packets->cut.reason, "%s", flaw);
    } else if (packets->y4m_frame > 0) {
        find_cut(packets);
    } else if (pictures > 0 && packets->taken < (uint64_t)pictures) {
        snprintf(packets->cut.reason, sizeof packets->cut.reason,
            "picture %" PRIu64 " of %" PRId64 " is empty", packets->taken + 1, pictures);
    }
}

/* Every link of a chained Theora file begins with three header packets. FFmpeg's decoder needs two
 * of them, and reports this one, the comments, as a damaged frame. */
static bool is_comment(const AVStream *stream, const AVPacket *packet)
{
    return stream->codecpar->codec_id == AV_CODEC_ID_THEORA && packet->size > 0 &&
           packet->data[0] == THEORA_COMMENT;
}

static bool is_wanted(const struct gpume_packets *packets, const AVPacket *packet)
{
    return packet->stream_index == packets->stream->index && !is_comment(packets->stream, packet);
}

static int read_packet(struct gpume_packets *packets, AVPacket *packet)
{
    int error = 0;
    if (packets->ended) {
        return GPUME_EOF;
    }
    gpume_libav_quiet();
    do {
        av_packet_unref(packet);
        error = gpume_libav_check_memory(av_read_frame(packets->input.format, packet));
        if (atomic_load(packets->input.cancel)) {
            return GPUME_CANCELLED;
        }
    } while (error >= 0 && !is_wanted(packets, packet));
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM; /* not the fault of the file; logged by source.c */
    }
    if (error < 0) {
        find_end(packets, error);
        return GPUME_EOF;
    }
    packets->taken++;
    packets->partial = (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
    if (packets->y4m_frame > 0) {
        packets->y4m_line = packet->pos - packets->y4m_end;
        packets->y4m_end = packet->pos + packet->size;
    }
    return GPUME_OK;
}

static int repeat_packet(struct gpume_packets *packets, AVPacket *packet)
{
    struct gpume_backlog *again = &packets->again;
    const int status = gpume_backlog_get(again, again->first, packet);
    gpume_backlog_drop(again, again->first + 1);
    if (again->first == again->end) {
        gpume_backlog_finish(again);
    }
    return status;
}

int gpume_packets_next(struct gpume_packets *packets, AVPacket *packet)
{
    int status = GPUME_OK;
    av_packet_unref(packet);
    if (packets->again.first < packets->again.end) {
        return repeat_packet(packets, packet);
    }
    if (packets->has_next) {
        av_packet_move_ref(packet, packets->next);
        packets->has_next = false;
    } else {
        status = read_packet(packets, packet);
    }
    if (status == GPUME_OK && packet->flags & AV_PKT_FLAG_CORRUPT) {
        /* In mid-input the decoder conceals it; at the end it is an incomplete frame. */
        status = read_packet(packets, packets->next);
        packets->has_next = status == GPUME_OK;
        if (status == GPUME_EOF) {
            packets->lost++;
            av_packet_unref(packet);
        }
    }
    return status;
}

void gpume_packets_repeat(struct gpume_packets *packets, struct gpume_backlog *kept, uint64_t first)
{
    gpume_backlog_finish(&packets->again);
    packets->again = *kept;
    *kept = (struct gpume_backlog){0};
    gpume_backlog_drop(&packets->again, first);
}

bool gpume_packets_are_cut(const struct gpume_packets *packets)
{
    return packets->failed || packets->lost > 0 || packets->cut.whole > 0 ||
           packets->cut.reason[0] != '\0';
}

void gpume_packets_warn(const struct gpume_packets *packets, uint64_t decoded)
{
    gpume_cut_warn(&packets->cut, packets->label, packets->taken, decoded,
        gpume_ending_promised(packets->input.format, packets->stream), &packets->log);
}

void gpume_packets_close(struct gpume_packets *packets)
{
    av_packet_free(&packets->next);
    gpume_backlog_finish(&packets->again);
    gpume_input_close(&packets->input);
}
