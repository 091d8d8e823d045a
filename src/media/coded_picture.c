/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers of MPEG-2 and VP9 are simple enough to be read here. Of H.264 and HEVC, the units (NAL
 * units) of a packet are walked here for what FFmpeg's parsers do not tell: how many pictures
 * begin, and whether the first is a clean point to start at. The parser reads the rest.
 */
#include "media/packets.h"

#include "base/base.h"
#include "media/libav.h"
#include "media/luma.h"

#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/motion_vector.h>

/* What a packet says, summed up */
struct gpume_coded_packet {
    unsigned pictures; /* shown */
    bool restarts;     /* as in struct gpume_coded_picture */
    bool renumbers;    /* its picture begins a section */
    bool foreign;      /* something whose effect on the frames is not known here */
    int64_t number;    /* of its picture within the section */
    uint64_t sets;     /* hash of the parameters for all pictures; 0: it has none */
};

/* Adds a unit to the hash. */
static void add_set(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const uint64_t before = packet->sets ? packet->sets : GPUME_CHECKSUM_BEGIN;
    packet->sets = gpume_checksum(before, unit, bytes) | 1;
}

/* The next start code, 00 00 01, or the end. */
static const uint8_t *start_code(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 3; at++) {
        const uint8_t *one = memchr(at + 2, 1, (size_t)(end - at - 2));
        if (!one) {
            break;
        }
        at = one - 2;
        if (at[0] == 0 && at[1] == 0) {
            return at;
        }
    }
    return end;
}

/* --- MPEG-2 */

/* Start codes and extensions of ITU-T H.262, tables 6-1 and 6-2 */
enum {
    PICTURE = 0x00,
    LAST_SLICE = 0xaf,
    USER_DATA = 0xb2,
    SEQUENCE = 0xb3,
    EXTENSION = 0xb5,
    GROUP = 0xb8,
    OF_SEQUENCE = 1,
    OF_DISPLAY = 2,
    OF_COPYRIGHT = 4,
    OF_PAN_SCAN = 7,
    OF_PICTURE = 8,
    INTRA = 1,       /* picture_coding_type */
    WHOLE_FRAME = 3, /* picture_structure */
};

static void take_extension(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const unsigned kind = bytes > 1 ? unit[1] >> 4 : 0;
    if (kind == OF_SEQUENCE || kind == OF_DISPLAY) {
        add_set(packet, unit, bytes);
    } else if (kind == OF_PICTURE && bytes > 3) { /* no single fields */
        packet->foreign = packet->foreign || (unit[3] & 3) != WHOLE_FRAME;
    } else { /* matrices stay in force, and layers change everything */
        packet->foreign = packet->foreign || (kind != OF_COPYRIGHT && kind != OF_PAN_SCAN);
    }
}

/* A unit without its start code's 00 00 01. */
static void take_mpeg2_unit(struct gpume_coded_packet *packet, const uint8_t *unit, size_t bytes)
{
    const unsigned code = bytes > 0 ? unit[0] : LAST_SLICE + 1;
    if (code == PICTURE && bytes > 2) {
        packet->pictures++;
        packet->number = unit[1] << 2 | unit[2] >> 6;
        packet->restarts = packet->sets != 0 && (unit[2] >> 3 & 7) == INTRA;
    } else if (code == SEQUENCE) {
        add_set(packet, unit, bytes);
    } else if (code == EXTENSION) {
        take_extension(packet, unit, bytes);
    } else if (code == GROUP) {
        packet->renumbers = true;
    } else {
        packet->foreign =
            packet->foreign || code == PICTURE || (code > LAST_SLICE && code != USER_DATA);
    }
}

static void sum_up_mpeg2(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes)
{
    const uint8_t *end = data + bytes, *at = start_code(data, end);
    while (at < end && !packet->foreign) {
        const uint8_t *next = start_code(at + 3, end);
        take_mpeg2_unit(packet, at + 3, (size_t)(next - at - 3));
        at = next;
    }
}

/* --- VP9 */

/* A frame's first byte: VP9 bitstream specification, 6.2. Returns whether a key frame is shown. */
static bool take_vp9_frame(struct gpume_coded_packet *packet, const uint8_t *frame, size_t bytes)
{
    const unsigned head = bytes > 1 ? (unsigned)frame[0] << 8 | frame[1] : 0;
    const unsigned skipped = (head >> 12 & 3) == 3 ? 5 : 4; /* marker, profile, reserved */
    const unsigned flags = head << skipped;
    const bool exists = flags & 0x8000, inter = flags & 0x4000, shown = flags & 0x2000;
    const bool alone = bytes == 1 && (frame[0] & 0x08); /* shows a frame that exists */
    packet->foreign = packet->foreign || bytes == 0 || frame[0] >> 6 != 2 || (bytes == 1 && !alone);
    packet->pictures += alone || exists || shown;
    return !alone && !exists && !inter && shown;
}

/* A packet is a frame, or several with an index at the end: annex B. */
static void sum_up_vp9(struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes)
{
    const unsigned marker = bytes > 0 ? data[bytes - 1] : 0;
    const size_t count = (marker & 7) + 1, each = (marker >> 3 & 3) + 1, index = 2 + each * count;
    const bool several = marker >> 5 == 6 && bytes > index && data[bytes - index] == marker;
    if (!several) {
        packet->restarts = take_vp9_frame(packet, data, bytes);
        return;
    }
    const uint8_t *size = data + bytes - index + 1;
    size_t left = bytes - index;
    for (size_t i = 0; i < count; i++, size += each) {
        size_t own = 0;
        for (size_t j = 0; j < each; j++) {
            own |= (size_t)size[j] << 8 * j;
        }
        if (own > left) {
            packet->foreign = true;
            return;
        }
        const bool key = take_vp9_frame(packet, data, own);
        packet->restarts = packet->restarts || (key && i == 0);
        data += own;
        left -= own;
    }
}

/* --- H.264 and HEVC */

/* Types of units: ITU-T H.264 table 7-1, H.265 table 7-1 */
enum {
    H264_SLICE = 1,
    H264_IDR = 5,
    H264_SPS = 7,
    H264_PPS = 8,
    HEVC_LAST_SLICE = 9, /* of pictures that do not restart */
    HEVC_BLA_FIRST = 16,
    HEVC_BLA_LAST = 18,
    HEVC_IDR_FIRST = 19,
    HEVC_IDR_LAST = 20,
    HEVC_CRA = 21,
    HEVC_VPS = 32,
    HEVC_PPS = 34,
};

static bool within(unsigned type, unsigned first, unsigned last)
{
    return type >= first && type <= last;
}

static void take_h264(struct gpume_coded_packet *units, const uint8_t *unit, size_t bytes)
{
    const unsigned type = unit[0] & 31u;
    if (bytes >= 2 && (type == H264_SLICE || type == H264_IDR)) {
        units->pictures += (unit[1] & 0x80) != 0; /* first_mb_in_slice is 0 */
        units->restarts = units->renumbers = type == H264_IDR;
    } else if (type == H264_SPS || type == H264_PPS) {
        add_set(units, unit, bytes);
    } else { /* SEI, delimiter and filler do nothing */
        units->foreign = units->foreign || (type != 6 && type != 9 && type != 12);
    }
}

/* Moves *bit behind a number of H.265 9.2, ue(v). */
static void skip_number(const uint8_t *unit, size_t bytes, size_t *bit)
{
    size_t zeros = 0;
    while (*bit < 8 * bytes && !(unit[*bit / 8] & (0x80 >> *bit % 8))) {
        zeros++;
        ++*bit;
    }
    *bit += zeros + 1;
}

static void take_hevc(struct gpume_coded_packet *units, const uint8_t *unit, size_t bytes)
{
    const unsigned type = (unit[0] >> 1) & 63u;
    const bool restarts = within(type, HEVC_BLA_FIRST, HEVC_CRA);
    if (bytes >= 3 && (type <= HEVC_LAST_SLICE || restarts)) {
        units->pictures += (unit[2] & 0x80) != 0; /* first_slice_segment_in_pic_flag */
        units->restarts = restarts;
        units->renumbers = within(type, HEVC_BLA_FIRST, HEVC_IDR_LAST);
        /* no_output_of_prior_pics_flag drops frames */
        units->foreign = units->foreign || (restarts && (unit[2] & 0x40));
    } else if (within(type, HEVC_VPS, HEVC_PPS)) {
        size_t bit = 16;
        skip_number(unit, bytes, &bit); /* of a picture parameter set: its own number, */
        skip_number(unit, bytes, &bit); /* that of the sequence, */
        bit++;                          /* dependent_slice_segments_enabled_flag, */
        const bool may_hide =           /* output_flag_present_flag */
            bit >= 8 * bytes || (unit[bit / 8] & (0x80 >> bit % 8));
        add_set(units, unit, bytes);
        units->foreign = units->foreign || (type == HEVC_PPS && may_hide);
    } else { /* delimiter, filler and SEI do nothing */
        units->foreign = units->foreign || !(type == 35 || within(type, 38, 40));
    }
    units->foreign = units->foreign || bytes < 2 || (unit[0] & 1) || (unit[1] >> 3); /* layers */
}

static void take_unit(const struct gpume_coded_pictures *pictures, struct gpume_coded_packet *units,
    const uint8_t *unit, size_t bytes)
{
    if (bytes == 0) {
        units->foreign = true;
    } else if (pictures->hevc) {
        take_hevc(units, unit, bytes);
    } else {
        take_h264(units, unit, bytes);
    }
}

static void walk_sized(const struct gpume_coded_pictures *pictures,
    struct gpume_coded_packet *units, const uint8_t *at, size_t left)
{
    const size_t head = (size_t)pictures->length_bytes;
    while (left > 0 && !units->foreign) {
        size_t bytes = 0;
        for (size_t i = 0; i < head && i < left; i++) {
            bytes = bytes << 8 | at[i];
        }
        if (left < head || bytes > left - head) {
            units->foreign = true;
            return;
        }
        take_unit(pictures, units, at + head, bytes);
        at += head + bytes;
        left -= head + bytes;
    }
}

static void walk_started(const struct gpume_coded_pictures *pictures,
    struct gpume_coded_packet *units, const uint8_t *data, size_t left)
{
    const uint8_t *end = data + left, *at = start_code(data, end);
    while (at < end && !units->foreign) {
        const uint8_t *next = start_code(at + 3, end), *last = next;
        while (last > at + 3 && last[-1] == 0) { /* zeros may follow a unit */
            last--;
        }
        take_unit(pictures, units, at + 3, (size_t)(last - at - 3));
        at = next;
    }
}

/* How the container separates units: avcC and hvcC say so. */
static int find_length_bytes(const AVCodecParameters *codec, bool hevc)
{
    const uint8_t *data = codec->extradata;
    if (hevc) {
        const bool sized = codec->extradata_size >= 23 && (data[0] || data[1] || data[2] > 1);
        return sized ? (data[21] & 3) + 1 : 0;
    }
    return codec->extradata_size >= 7 && data[0] == 1 ? (data[4] & 3) + 1 : 0;
}

/* The parameter sets of hvcC: ISO/IEC 14496-15, 8.3.3.1 */
static bool walk_hvcc(const struct gpume_coded_pictures *pictures, struct gpume_coded_packet *units,
    const uint8_t *data, size_t bytes)
{
    size_t at = 23;
    for (unsigned arrays = data[22]; arrays > 0; arrays--) {
        if (bytes < at + 3) {
            return false;
        }
        unsigned count = (unsigned)data[at + 1] << 8 | data[at + 2];
        for (at += 3; count > 0; count--) {
            const size_t length = bytes < at + 2 ? bytes : (size_t)data[at] << 8 | data[at + 1];
            if (bytes < at + 2 + length) {
                return false;
            }
            take_unit(pictures, units, data + at + 2, length);
            at += 2 + length;
        }
    }
    return true;
}

static bool is_extradata_foreign(
    const struct gpume_coded_pictures *pictures, const AVCodecParameters *codec)
{
    struct gpume_coded_packet units = {0};
    bool whole = true;
    if (pictures->hevc && pictures->length_bytes > 0) {
        whole = walk_hvcc(pictures, &units, codec->extradata, (size_t)codec->extradata_size);
    } else if (pictures->hevc && codec->extradata_size > 0) {
        walk_started(pictures, &units, codec->extradata, (size_t)codec->extradata_size);
    }
    return !whole || units.foreign;
}

static int open_parser(struct gpume_coded_pictures *pictures, const AVCodecParameters *codec)
{
    pictures->hevc = codec->codec_id == AV_CODEC_ID_HEVC;
    pictures->length_bytes = find_length_bytes(codec, pictures->hevc);
    pictures->foreign = is_extradata_foreign(pictures, codec);
    pictures->parser = av_parser_init((int)codec->codec_id);
    pictures->codec = avcodec_alloc_context3(NULL);
    if (!pictures->parser) {
        return GPUME_UNSUPPORTED; /* this FFmpeg has none */
    }
    if (!pictures->codec || avcodec_parameters_to_context(pictures->codec, codec) < 0) {
        return GPUME_NOMEM;
    }
    pictures->parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    return GPUME_OK;
}

bool gpume_coded_pictures_know(const char *codec)
{
    static const char *const codecs[] = {"h264", "hevc", "mpeg2video", "vp9"};
    bool found = false;
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        found = found || strcmp(codec, codecs[i]) == 0;
    }
    return found;
}

int gpume_coded_pictures_open(struct gpume_coded_pictures *pictures, const AVCodecParameters *codec)
{
    switch (codec->codec_id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
        return open_parser(pictures, codec);
    case AV_CODEC_ID_MPEG2VIDEO:
        pictures->sum_up = sum_up_mpeg2;
        return GPUME_OK;
    case AV_CODEC_ID_VP9:
        pictures->sum_up = sum_up_vp9;
        return GPUME_OK;
    default:
        return GPUME_UNSUPPORTED;
    }
}

/* The size too. */
static bool is_steady(struct gpume_coded_pictures *pictures)
{
    const AVCodecParserContext *parser = pictures->parser;
    if (pictures->taken == 1) {
        pictures->width = parser->width;
        pictures->height = parser->height;
        pictures->format = parser->format;
    }
    return parser->width == pictures->width && parser->height == pictures->height &&
           parser->format == pictures->format;
}

/* The rest of what is known of a packet of H.264 and HEVC. */
static bool parse(
    struct gpume_coded_pictures *pictures, const AVPacket *packet, struct gpume_coded_packet *units)
{
    AVCodecParserContext *parser = pictures->parser;
    uint8_t *out;
    int bytes = 0;
    parser->pict_type = AV_PICTURE_TYPE_NONE;
    gpume_libav_quiet();
    (void)av_parser_parse2(parser, pictures->codec, &out, &bytes, packet->data, packet->size,
        packet->pts, packet->dts, packet->pos);
    const bool field = !pictures->hevc && parser->picture_structure != AV_PICTURE_STRUCTURE_FRAME;
    units->number = parser->output_picture_number;
    return !gpume_libav_complained() && parser->pict_type != AV_PICTURE_TYPE_NONE && !field &&
           is_steady(pictures);
}

int gpume_coded_pictures_take(struct gpume_coded_pictures *pictures, const AVPacket *packet,
    struct gpume_coded_picture *picture)
{
    struct gpume_coded_packet units = {.number = (int64_t)pictures->taken};
    const size_t bytes = (size_t)packet->size;
    if (pictures->sum_up) {
        pictures->sum_up(&units, packet->data, bytes);
    } else if (pictures->length_bytes > 0) {
        walk_sized(pictures, &units, packet->data, bytes);
    } else {
        walk_started(pictures, &units, packet->data, bytes);
    }
    /* The parameter sets stay those of the first packet, so that a decoder may start at any. */
    pictures->sets = pictures->taken++ == 0 ? units.sets : pictures->sets;
    if (pictures->foreign || units.foreign || units.pictures != 1 ||
        packet->flags & AV_PKT_FLAG_DISCARD || packet->flags & AV_PKT_FLAG_CORRUPT ||
        av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, NULL) ||
        av_packet_get_side_data(packet, AV_PKT_DATA_PARAM_CHANGE, NULL) ||
        (units.sets != 0 && units.sets != pictures->sets) ||
        (pictures->parser && !parse(pictures, packet, &units))) {
        return GPUME_UNSUPPORTED;
    }
    pictures->sections += units.renumbers;
    *picture = (struct gpume_coded_picture){
        .restarts = units.restarts, .section = pictures->sections, .number = units.number};
    return GPUME_OK;
}

void gpume_coded_pictures_close(struct gpume_coded_pictures *pictures)
{
    av_parser_close(pictures->parser);
    avcodec_free_context(&pictures->codec);
}

#define UNITS 4 /* vectors count in quarters of a pixel */

/* H.264, 7.3.1: the bits of a NAL unit's first byte. */
#define NAL_REF_IDC 0x60
#define NAL_TYPE 0x1f
#define NAL_SLICE 1 /* of a frame that is no instantaneous refresh */
#define NAL_IDR 5

/* Frame threads are left out: the vectors of a delayed frame are read while another thread may
 * still decode it. */
void gpume_motion_request(AVCodecContext *codec)
{
    codec->export_side_data |= AV_CODEC_EXPORT_DATA_MVS;
    codec->thread_type = FF_THREAD_SLICE;
#if LIBAVCODEC_VERSION_MAJOR >= 60
    codec->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#endif
}

/* --- reference frames of H.264 */

/* The first byte of the NAL unit at or after *at, which moves behind that byte; -1: there is no
 * other. length_bytes: of the length before each unit; 0: they begin with start codes. */
static int next_unit(const AVPacket *packet, int length_bytes, int64_t *at)
{
    const uint8_t *data = packet->data, *end = data + packet->size;
    const int64_t i = *at;
    if (length_bytes == 0) {
        const uint8_t *code = start_code(data + i, end);
        *at = code + 4 - data;
        return end - code > 3 ? code[3] : -1;
    }
    int64_t length = 0;
    if (i + length_bytes >= packet->size) {
        return -1;
    }
    for (int k = 0; k < length_bytes; k++) {
        length = length << 8 | data[i + k];
    }
    *at = i + length_bytes + length; /* beyond the packet: it is the last */
    return data[i + length_bytes];
}

/* What a packet tells of whether other frames are predicted from its frame. Codecs other than H.264
 * tell nothing, but none of their B frames is a reference. */
enum use { NOT_USED, USED, USED_UNLESS_B, USES };

static enum use use_of(const AVCodecParameters *stream, const AVPacket *packet)
{
    const bool lengths = stream->extradata_size > 6 && stream->extradata[0] == 1;
    const int length_bytes = lengths ? (stream->extradata[4] & 3) + 1 : 0;
    int64_t at = 0;
    int unit;
    if (stream->codec_id != AV_CODEC_ID_H264) {
        return USED_UNLESS_B;
    }
    while ((unit = next_unit(packet, length_bytes, &at)) >= 0) {
        const int type = unit & NAL_TYPE;
        if (type >= NAL_SLICE && type <= NAL_IDR) {
            return unit & NAL_REF_IDC ? USED : NOT_USED;
        }
    }
    return USED;
}

void gpume_motion_mark(
    AVCodecContext *codec, const AVCodecParameters *stream, AVPacket *packet, uint64_t number)
{
    const int64_t mark = (int64_t)(USES * number + (uint64_t)use_of(stream, packet));
#if LIBAVCODEC_VERSION_MAJOR >= 60
    (void)codec;
    packet->opaque = (void *)(intptr_t)mark;
#else
    codec->reordered_opaque = mark;
#endif
}

/* --- vectors */

static char type_of(const AVFrame *frame)
{
    switch (frame->pict_type) {
    case AV_PICTURE_TYPE_I:
    case AV_PICTURE_TYPE_SI:
        return 'I';
    case AV_PICTURE_TYPE_P:
    case AV_PICTURE_TYPE_S: /* of MPEG-4: predicted, with motion of the whole frame */
    case AV_PICTURE_TYPE_SP:
        return 'P';
    case AV_PICTURE_TYPE_B:
        return 'B';
    default:
        return '?';
    }
}

/* The exported place is the block's centre. */
static int take_vector(const AVMotionVector *from, struct gpume_motion_vector *to)
{
    const int32_t scale = from->motion_scale;
    if (scale == 0 || UNITS * from->motion_x % scale != 0 || UNITS * from->motion_y % scale != 0) {
        return GPUME_UNSUPPORTED;
    }
    *to = (struct gpume_motion_vector){
        .x = from->dst_x - from->w / 2,
        .y = from->dst_y - from->h / 2,
        .w = from->w,
        .h = from->h,
        .dx = UNITS * from->motion_x / scale,
        .dy = UNITS * from->motion_y / scale,
        .source = from->source,
    };
    return GPUME_OK;
}

int gpume_motion_take(struct gpume_motion_taker *taker, const AVFrame *frame)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *vectors = data ? (const AVMotionVector *)(const void *)data->data : NULL;
    const size_t count = data ? data->size / sizeof(*vectors) : 0;
#if LIBAVCODEC_VERSION_MAJOR >= 60
    const int64_t mark = (intptr_t)frame->opaque;
#else
    const int64_t mark = frame->reordered_opaque;
#endif
    const enum use use = (enum use)(mark % USES);
    const char type = type_of(frame);
    struct gpume_motion *motion = &taker->motion;
    *motion = (struct gpume_motion){
        .type = type,
        .interlaced = gpume_luma_is_interlaced(frame),
        .coded = (uint64_t)mark / USES,
        .reference = use == USED || (use == USED_UNLESS_B && type != 'B'),
    };
    if (count > taker->capacity) {
        struct gpume_motion_vector *more = realloc(taker->vectors, count * sizeof(*more));
        if (!more) {
            return GPUME_NOMEM;
        }
        taker->vectors = more;
        taker->capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        GPUME_CHECK(take_vector(&vectors[i], &taker->vectors[i]));
    }
    if (count > 0) {
        motion->units = vectors->motion_scale < UNITS ? vectors->motion_scale : UNITS;
    }
    motion->count = count;
    motion->vectors = taker->vectors;
    return GPUME_OK;
}

void gpume_motion_finish(struct gpume_motion_taker *taker)
{
    free(taker->vectors);
    *taker = (struct gpume_motion_taker){0};
}
