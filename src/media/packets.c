/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libavformat reports a normal end for an incomplete Y4M frame, for an empty file among numbered
 * pictures, and for many truncated files. These cases are detected by the position in the input,
 * the number of pictures, the last packet, what headers promise, and libav's log.
 */
#include "media/packets.h"

#include "base/base.h"
#include "files/path.h"
#include "media/libav.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/intfloat.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>

#define Y4M_LINE 6           /* "FRAME\n"; longer with parameters, which are rare */
#define THEORA_COMMENT 0x81  /* the first byte of that header */
#define RIFF_CHUNKS_MAX 4096 /* bounds the time for crafted files */
#define OGG_PAGE_MAX 65307   /* bytes, header included */
#define OGG_HEADER 27
#define OGG_LAST_PAGE 4 /* flag: the last page of its stream */
#define OWN_BYTES 512u  /* of a packet besides its data */

/* --- packets that are kept, once, however many decoders take them */

static uint64_t packet_bytes(const AVPacket *packet)
{
    return OWN_BYTES + (uint64_t)(packet->size > 0 ? packet->size : 0);
}

static AVPacket **place_of(const struct gpume_backlog *backlog, uint64_t number)
{
    return &backlog->ring[number % backlog->capacity];
}

static int grow_backlog(struct gpume_backlog *backlog)
{
    struct gpume_backlog larger = *backlog;
    larger.capacity = backlog->capacity > 0 ? 2 * backlog->capacity : 256;
    larger.ring = calloc((size_t)larger.capacity, sizeof(AVPacket *));
    if (!larger.ring) {
        return GPUME_NOMEM;
    }
    for (uint64_t i = backlog->first; i < backlog->end; i++) {
        *place_of(&larger, i) = *place_of(backlog, i);
        *place_of(backlog, i) = NULL;
    }
    gpume_backlog_finish(backlog);
    *backlog = larger;
    return GPUME_OK;
}

int gpume_backlog_append(struct gpume_backlog *backlog, AVPacket *packet)
{
    GPUME_CHECK(
        backlog->end - backlog->first == backlog->capacity ? grow_backlog(backlog) : GPUME_OK);
    AVPacket **place = place_of(backlog, backlog->end);
    *place = *place ? *place : av_packet_alloc();
    if (!*place) {
        return GPUME_NOMEM;
    }
    backlog->bytes += packet_bytes(packet);
    av_packet_move_ref(*place, packet);
    backlog->end++;
    return GPUME_OK;
}

int gpume_backlog_get(const struct gpume_backlog *backlog, uint64_t number, AVPacket *packet)
{
    return av_packet_ref(packet, *place_of(backlog, number)) < 0 ? GPUME_NOMEM : GPUME_OK;
}

void gpume_backlog_drop(struct gpume_backlog *backlog, uint64_t number)
{
    for (; backlog->first < number && backlog->first < backlog->end; backlog->first++) {
        AVPacket *packet = *place_of(backlog, backlog->first);
        backlog->bytes -= packet_bytes(packet);
        av_packet_unref(packet);
    }
}

void gpume_backlog_finish(struct gpume_backlog *backlog)
{
    for (uint64_t i = 0; i < backlog->capacity; i++) {
        av_packet_free(&backlog->ring[i]);
    }
    free(backlog->ring);
    *backlog = (struct gpume_backlog){0};
}

/* --- inputs that end before their last frame */

void gpume_cut_warn(const struct gpume_cut *cut, const char *label, uint64_t taken,
    uint64_t decoded, uint64_t promised, const struct gpume_log *log)
{
    char of[32] = "";
    if (promised > decoded) {
        snprintf(of, sizeof of, " of %" PRIu64, promised);
    }
    if (cut->whole > 0) {
        gpume_log_write(log, GPUME_LOG_WARNING,
            "%s: frame %" PRIu64 " is incomplete: it has %" PRIu64 " of its %" PRIu64
            " bytes; only the frames before it are used",
            label, taken, cut->there, cut->whole);
    } else if (cut->reason[0]) {
        gpume_log_write(log, GPUME_LOG_WARNING,
            "%s: reading breaks off after %" PRIu64 "%s frame%s: %s; only that part is used", label,
            decoded, of, of[0] ? gpume_plural(promised) : gpume_plural(decoded), cut->reason);
    }
}

int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const char *codec,
    const char *remedy, const struct gpume_log *log)
{
    if (cut->whole > 0) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: contains no complete frame: the first has %" PRIu64 " of its %" PRIu64
            " bytes; give the whole file",
            label, cut->there, cut->whole);
    }
    return gpume_log_fail(log, GPUME_FORMAT,
        "%s: contains no complete frame of its %s video%s%s; %s", label, codec,
        cut->reason[0] ? ": " : "", cut->reason, remedy);
}

/* --- how an input ends */

/*
 * In several formats libavformat takes the end of the file for the end of the video. Here, what
 * headers, indexes and trailers promise is compared with what was read.
 */

/* What is checked, with the size of the input in bytes. */
struct end {
    const struct gpume_packets *packets;
    AVIOContext *io;
    int64_t size;
};

static const char cut_input[] = "the input is cut";

static bool read_bytes_at(AVIOContext *io, int64_t at, uint8_t *data, int bytes)
{
    return avio_seek(io, at, SEEK_SET) == at && avio_read(io, data, bytes) == bytes;
}

/* No list of frames ("movi") may extend past the end. Files of more than 1 GB have several. */
static const char *check_avi(const struct end *end)
{
    uint8_t head[12]; /* name, size of the rest, type */
    int64_t at = 0;
    for (int i = 0; i < RIFF_CHUNKS_MAX && read_bytes_at(end->io, at, head, sizeof head); i++) {
        const uint32_t bytes = AV_RL32(head + 4);
        const int64_t next = at + 8 + bytes;
        if (bytes == 0 || bytes == UINT32_MAX) {
            return NULL; /* written to a pipe: the size was never filled in */
        }
        if (memcmp(head, "LIST", 4) == 0 && memcmp(head + 8, "movi", 4) == 0 && next > end->size) {
            return cut_input;
        }
        at = memcmp(head, "RIFF", 4) == 0 ? at + (int64_t)sizeof head : next + (next & 1);
    }
    return NULL;
}

static void skip_colours(AVIOContext *io, int flags)
{
    avio_skip(io, flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
}

/* The file must have a trailer. */
static const char *check_gif(const struct end *end)
{
    uint8_t head[13]; /* signature, width, height, flags, background, aspect */
    if (!read_bytes_at(end->io, 0, head, sizeof head)) {
        return NULL;
    }
    skip_colours(end->io, head[10]);
    for (;;) {
        const int kind = avio_r8(end->io);
        if (avio_feof(end->io)) {
            return cut_input;
        }
        if (kind == '!') {
            avio_skip(end->io, 1); /* kind of extension */
        } else if (kind == ',') {
            avio_skip(end->io, 8); /* position and size */
            skip_colours(end->io, avio_r8(end->io));
            avio_skip(end->io, 1); /* size of the first codes */
        } else {
            return NULL; /* the trailer, or damage */
        }
        for (int bytes = avio_r8(end->io); bytes > 0; bytes = avio_r8(end->io)) {
            avio_skip(end->io, bytes);
        }
    }
}

/* The last page must be complete and marked as the last of its stream. */
static const char *check_ogg(const struct end *end)
{
    static const uint8_t name[] = "OggS"; /* the closing zero is the version */
    const int bytes = end->size < OGG_PAGE_MAX ? (int)end->size : OGG_PAGE_MAX;
    bool whole = true;
    uint8_t *tail = av_malloc((size_t)bytes);
    int at =
        tail && read_bytes_at(end->io, end->size - bytes, tail, bytes) ? bytes - OGG_HEADER : -1;
    while (at >= 0 && memcmp(tail + at, name, sizeof name) != 0) {
        at--;
    }
    if (at >= 0) {
        const int segments = tail[at + OGG_HEADER - 1];
        int next = at + OGG_HEADER + segments;
        for (int i = at + OGG_HEADER; i < at + OGG_HEADER + segments && i < bytes; i++) {
            next += tail[i];
        }
        whole = next <= bytes && (tail[at + 5] & OGG_LAST_PAGE);
    }
    av_free(tail);
    return whole ? NULL : cut_input;
}

/* The file must be as long as its metadata says. */
static const char *check_flv(const struct end *end)
{
    static const uint8_t key[] = "\0\10filesize"; /* the closing zero is the type: a number */
    uint8_t head[1024];
    const int bytes =
        avio_seek(end->io, 0, SEEK_SET) == 0 ? avio_read(end->io, head, sizeof head) : 0;
    for (int i = 0; i + (int)sizeof key + 8 <= bytes; i++) {
        if (memcmp(head + i, key, sizeof key) == 0) {
            const double size = av_int2double(AV_RB64(head + i + sizeof key));
            return size > (double)end->size ? cut_input : NULL;
        }
    }
    return NULL;
}

static bool is_index_past_end(const struct end *end)
{
    const int count = avformat_index_get_entries_count(end->packets->stream);
    for (int i = 0; i < count; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(end->packets->stream, i);
        if (entry->pos > end->size - entry->size) {
            return true;
        }
    }
    return false;
}

/* Number of packets in the stream's index if edit lists are ignored; -1: unknown. */
static int count_unedited(const struct end *end)
{
    int count = -1;
    AVDictionary *options = NULL;
    AVFormatContext *again = avformat_alloc_context();
    if (again && av_dict_set(&options, "advanced_editlist", "0", 0) >= 0 &&
        avio_seek(end->io, 0, SEEK_SET) == 0) {
        again->pb = end->io;
        again->opaque = end->packets->input.format->opaque;
        again->io_open = end->packets->input.format->io_open;
        again->interrupt_callback = end->packets->input.format->interrupt_callback;
        if (avformat_open_input(&again, NULL, end->packets->input.format->iformat, &options) == 0 &&
            end->packets->stream->index < (int)again->nb_streams) {
            count = avformat_index_get_entries_count(again->streams[end->packets->stream->index]);
        }
    }
    av_dict_free(&options);
    avformat_close_input(&again);
    return count;
}

/* The index must not name packets past the end of the file, nor fewer packets than the header
 * states. Packets that were read count as present: with --allow-files they may be in other files.
 */
static const char *check_mp4(const struct end *end)
{
    const int count = avformat_index_get_entries_count(end->packets->stream);
    if (end->packets->taken < (uint64_t)count && is_index_past_end(end)) {
        return cut_input;
    }
    if (end->packets->stream->nb_frames > count &&
        (uint64_t)end->packets->stream->nb_frames > end->packets->taken) {
        const int unedited = count_unedited(end);
        return unedited >= 0 && unedited < end->packets->stream->nb_frames
                   ? "its sample table is damaged"
                   : NULL;
    }
    return NULL;
}

static const struct ending_check {
    const char *format; /* the first of FFmpeg's names for it */
    const char *(*flaw)(const struct end *end);
    bool counts; /* the header states the number of frames */
} checks[] = {
    {"avi", check_avi, true},
    {"flv", check_flv, false},
    {"gif", check_gif, false},
    {"mov", check_mp4, true},
    {"ogg", check_ogg, false},
};

static const struct ending_check *check_of(const AVFormatContext *format)
{
    const char *name = format->iformat->name;
    const size_t length = strcspn(name, ",");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (strlen(checks[i].format) == length && strncmp(checks[i].format, name, length) == 0) {
            return &checks[i];
        }
    }
    return NULL;
}

/* After av_read_frame has returned the end: why more packets than were taken should exist, for a
 * message, or NULL if the video seems complete. Moves the format's position. */
static const char *ending_flaw(const struct gpume_packets *packets)
{
    AVFormatContext *format = packets->input.format;
    const struct ending_check *check = check_of(format);
    if (!check || !format->pb) {
        return NULL;
    }
    struct end end = {packets, format->pb, avio_size(format->pb)};
    end.size = end.size > 0 ? end.size : avio_tell(end.io); /* a pipe is at its end */
    return check->flaw(&end);
}

/* --- opening */

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

static int choose_stream(struct gpume_packets *packets)
{
    const int wanted = packets->options->stream;
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
            packets->info.stream = stream == chosen ? count : packets->info.stream;
            count++;
        }
    }
    if (count == 0) {
        return gpume_log_fail(&packets->options->log, GPUME_FORMAT,
            "%s: no video stream in it (%s, %u other stream%s); %s", packets->label,
            format->iformat->name, format->nb_streams, gpume_plural(format->nb_streams),
            gpume_input_remedy(&packets->input, "give a file with video"));
    }
    if (!chosen && wanted >= 0) {
        return gpume_log_fail(&packets->options->log, GPUME_INVALID,
            "%s: no video stream %d; it has %u, numbered from 0: choose with --stream",
            packets->label, wanted, count);
    }
    /* av_find_best_stream skips streams with unknown parameters, which may be decodable. */
    for (unsigned i = 0; !chosen && i < format->nb_streams; i++) {
        chosen = is_video(format->streams[i]) ? format->streams[i] : NULL;
    }
    chosen->discard = AVDISCARD_DEFAULT;
    packets->stream = chosen;
    packets->info.streams = count;
    return GPUME_OK;
}

static bool is_sane(AVRational value)
{
    return value.num > 0 && value.den > 0;
}

/* What the file says of the video; of Y4M also how its frames lie in it. */
static void learn_facts(struct gpume_packets *packets)
{
    AVFormatContext *format = packets->input.format;
    AVStream *stream = packets->stream;
    const AVCodecParameters *codec = stream->codecpar;
    struct gpume_source_info *info = &packets->info;
    const bool cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    const AVRational guess = cover ? (AVRational){0, 1} : av_guess_frame_rate(format, stream, NULL);
    const AVRational rate = is_sane(guess) ? guess : (AVRational){0, 1};
    const AVRational aspect = stream->sample_aspect_ratio;
    packets->time_base =
        is_sane(stream->time_base) ? stream->time_base : (AVRational){1, AV_TIME_BASE};
    int64_t frames = cover ? 1 : stream->nb_frames;
    if (frames <= 0 && rate.num > 0 && stream->duration > 0) {
        frames = av_rescale_q(stream->duration, packets->time_base, av_inv_q(rate));
    } else if (frames <= 0 && rate.num > 0 && format->duration > 0) {
        frames = av_rescale_q(format->duration, AV_TIME_BASE_Q, av_inv_q(rate));
    }
    snprintf(info->codec, sizeof(info->codec), "%s", avcodec_get_name(codec->codec_id));
    info->rate_num = (uint32_t)rate.num;
    info->rate_den = (uint32_t)rate.den;
    info->aspect_num = is_sane(aspect) ? (uint32_t)aspect.num : 0;
    info->aspect_den = is_sane(aspect) ? (uint32_t)aspect.den : 1;
    info->time_num = packets->time_base.num;
    info->time_den = packets->time_base.den;
    info->frames = frames > 0 ? (uint64_t)frames : 0;
    info->frame_bytes = gpume_limits_bytes(codec);
    info->start_us = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0;
    /* Where times may jump, as in MPEG-TS, the ffmpeg program counts from the first of the streams
     * that it uses, which need not be the first of all. */
    info->late = format->iformat->flags & AVFMT_TS_DISCONT &&
                 format->start_time != AV_NOPTS_VALUE && stream->start_time != AV_NOPTS_VALUE &&
                 av_compare_ts(
                     stream->start_time, stream->time_base, format->start_time, AV_TIME_BASE_Q) > 0;
    gpume_colours_of_stream(stream, &info->colours);
    info->rotation = gpume_rotation_of_stream(stream);
    info->picture = cover || gpume_input_has_pictures(&packets->input);
    info->list = strcmp(format->iformat->name, "concat") == 0;
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    info->lost_alpha = alpha && strcmp(alpha->value, "0") != 0;
    info->progressive = codec->field_order == AV_FIELD_PROGRESSIVE;
    if (strcmp(format->iformat->name, "yuv4mpegpipe") == 0) {
        const int bytes = av_image_get_buffer_size(
            (enum AVPixelFormat)codec->format, codec->width, codec->height, 1);
        packets->y4m_frame = bytes > 0 ? bytes : 0;
        packets->y4m_line = Y4M_LINE;
        packets->y4m_end = packets->input.data;
    }
}

int gpume_packets_open(struct gpume_packets *packets, const struct gpume_source_options *options,
    uint32_t input, atomic_bool *cancel)
{
    packets->options = options;
    packets->label = gpume_input_label(options->paths[input]);
    packets->next = av_packet_alloc();
    GPUME_CHECK(packets->next ? GPUME_OK : GPUME_NOMEM);
    GPUME_CHECK(gpume_input_open(&packets->input, options, input, cancel));
    GPUME_CHECK(choose_stream(packets));
    learn_facts(packets);
    return GPUME_OK;
}

/* --- reading */

/* Any bytes after the last complete Y4M frame are the beginning of another one. */
static void find_y4m_cut(struct gpume_packets *packets)
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

static void explain_error(struct gpume_packets *packets, bool numbered, int error)
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
        explain_error(packets, numbered, error);
    } else if (cut || (flaw = ending_flaw(packets)) != NULL) {
        snprintf(packets->cut.reason, sizeof packets->cut.reason, "%s", flaw);
    } else if (packets->y4m_frame > 0) {
        find_y4m_cut(packets);
    } else if (pictures > 0 && packets->taken < (uint64_t)pictures) {
        snprintf(packets->cut.reason, sizeof packets->cut.reason,
            "picture %" PRIu64 " of %" PRId64 " is empty", packets->taken + 1, pictures);
    }
}

/* Every link of a chained Theora file begins with three header packets. FFmpeg's decoder needs two
 * of them, and reports the comments as a damaged frame. */
static bool is_wanted(const struct gpume_packets *packets, const AVPacket *packet)
{
    const bool comment = packets->stream->codecpar->codec_id == AV_CODEC_ID_THEORA &&
                         packet->size > 0 && packet->data[0] == THEORA_COMMENT;
    return packet->stream_index == packets->stream->index && !comment;
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

int gpume_packets_next(struct gpume_packets *packets, AVPacket *packet)
{
    int status = GPUME_OK;
    av_packet_unref(packet);
    struct gpume_backlog *again = &packets->again;
    if (again->first < again->end) {
        status = gpume_backlog_get(again, again->first, packet);
        gpume_backlog_drop(again, again->first + 1);
        if (again->first == again->end) {
            gpume_backlog_finish(again);
        }
        return status;
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
    const struct ending_check *check = check_of(packets->input.format);
    const int64_t stated = check && check->counts ? packets->stream->nb_frames : 0;
    gpume_cut_warn(&packets->cut, packets->label, packets->taken, decoded,
        stated > 0 ? (uint64_t)stated : 0, &packets->options->log);
}

void gpume_packets_close(struct gpume_packets *packets)
{
    av_packet_free(&packets->next);
    gpume_backlog_finish(&packets->again);
    gpume_input_close(&packets->input);
}
