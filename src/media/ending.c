/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/ending.h"

#include <stdbool.h>
#include <string.h>

#include <libavformat/avformat.h>
#include <libavutil/intfloat.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>

#define RIFF_CHUNKS_MAX 4096 /* bounds the time for crafted files */
#define OGG_PAGE_MAX 65307   /* bytes, header included */
#define OGG_HEADER 27
#define OGG_LAST_PAGE 4 /* flag: the last page of its stream */

struct end {
    AVFormatContext *format;
    AVIOContext *io;
    AVStream *stream;
    int64_t size;   /* of the input in bytes */
    uint64_t taken; /* packets of the stream */
};

static const char cut[] = "the input is cut";

static bool read_at(AVIOContext *io, int64_t at, uint8_t *data, int bytes)
{
    return avio_seek(io, at, SEEK_SET) == at && avio_read(io, data, bytes) == bytes;
}

/* No list of frames ("movi") may extend past the end. Files of more than 1 GB have several. */
static const char *check_avi(const struct end *end)
{
    uint8_t head[12]; /* name, size of the rest, type */
    int64_t at = 0;
    for (int i = 0; i < RIFF_CHUNKS_MAX && read_at(end->io, at, head, sizeof head); i++) {
        const uint32_t bytes = AV_RL32(head + 4);
        const int64_t next = at + 8 + bytes;
        if (bytes == 0 || bytes == UINT32_MAX) {
            return NULL; /* written to a pipe: the size was never filled in */
        }
        if (memcmp(head, "LIST", 4) == 0 && memcmp(head + 8, "movi", 4) == 0 && next > end->size) {
            return cut;
        }
        at = memcmp(head, "RIFF", 4) == 0 ? at + (int64_t)sizeof head : next + (next & 1);
    }
    return NULL;
}

static void skip_colours(AVIOContext *io, int flags)
{
    avio_skip(io, flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
}

static void skip_blocks(AVIOContext *io)
{
    for (int bytes = avio_r8(io); bytes > 0; bytes = avio_r8(io)) {
        avio_skip(io, bytes);
    }
}

/* The file must have a trailer. */
static const char *check_gif(const struct end *end)
{
    uint8_t head[13]; /* signature, width, height, flags, background, aspect */
    if (!read_at(end->io, 0, head, sizeof head)) {
        return NULL;
    }
    skip_colours(end->io, head[10]);
    for (;;) {
        const int kind = avio_r8(end->io);
        if (avio_feof(end->io)) {
            return cut;
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
        skip_blocks(end->io);
    }
}

/* The last page must be complete and marked as the last of its stream. */
static const char *check_ogg(const struct end *end)
{
    static const uint8_t name[] = "OggS"; /* the closing zero is the version */
    const int bytes = end->size < OGG_PAGE_MAX ? (int)end->size : OGG_PAGE_MAX;
    bool whole = true;
    uint8_t *tail = av_malloc((size_t)bytes);
    int at = tail && read_at(end->io, end->size - bytes, tail, bytes) ? bytes - OGG_HEADER : -1;
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
    return whole ? NULL : cut;
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
            return size > (double)end->size ? cut : NULL;
        }
    }
    return NULL;
}

static bool is_index_past_end(const struct end *end)
{
    const int count = avformat_index_get_entries_count(end->stream);
    for (int i = 0; i < count; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(end->stream, i);
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
        again->opaque = end->format->opaque;
        again->io_open = end->format->io_open;
        again->interrupt_callback = end->format->interrupt_callback;
        if (avformat_open_input(&again, NULL, end->format->iformat, &options) == 0 &&
            end->stream->index < (int)again->nb_streams) {
            count = avformat_index_get_entries_count(again->streams[end->stream->index]);
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
    const int count = avformat_index_get_entries_count(end->stream);
    if (end->taken < (uint64_t)count && is_index_past_end(end)) {
        return cut;
    }
    if (end->stream->nb_frames > count && (uint64_t)end->stream->nb_frames > end->taken) {
        const int unedited = count_unedited(end);
        return unedited >= 0 && unedited < end->stream->nb_frames ? "its sample table is damaged"
                                                                  : NULL;
    }
    return NULL;
}

static const struct check {
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

static const struct check *find_check(const AVFormatContext *format)
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

const char *gpume_ending_flaw(AVFormatContext *format, AVStream *stream, uint64_t taken)
{
    const struct check *check = find_check(format);
    if (!check || !format->pb) {
        return NULL;
    }
    struct end end = {format, format->pb, stream, avio_size(format->pb), taken};
    end.size = end.size > 0 ? end.size : avio_tell(end.io); /* a pipe is at its end */
    return check->flaw(&end);
}

uint64_t gpume_ending_promised(const AVFormatContext *format, const AVStream *stream)
{
    const struct check *check = find_check(format);
    return check && check->counts && stream->nb_frames > 0 ? (uint64_t)stream->nb_frames : 0;
}
