/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of H.264 and HEVC, the units (NAL units) of a packet are walked here for what FFmpeg's parsers do
 * not tell: how many pictures begin, and whether the first is a clean point to start at. The parser
 * reads the rest.
 */
#include "media/coded_picture.h"

#include "base/status.h"
#include "media/coded_other.h"
#include "media/libav.h"

#include <libavcodec/avcodec.h>

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
        gpume_coded_set(units, unit, bytes);
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

/* output_flag_present_flag of a picture parameter set: its pictures may be hidden. */
static bool may_hide(const uint8_t *unit, size_t bytes)
{
    size_t bit = 16;
    skip_number(unit, bytes, &bit); /* its own number */
    skip_number(unit, bytes, &bit); /* that of the sequence */
    bit++;                          /* dependent_slice_segments_enabled_flag */
    return bit >= 8 * bytes || (unit[bit / 8] & (0x80 >> bit % 8));
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
        gpume_coded_set(units, unit, bytes);
        units->foreign = units->foreign || (type == HEVC_PPS && may_hide(unit, bytes));
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
    const uint8_t *end = data + left, *at = gpume_start_code(data, end);
    while (at < end && !units->foreign) {
        const uint8_t *next = gpume_start_code(at + 3, end), *last = next;
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
    static const enum AVCodecID known[] = {
        AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_VP9};
    const AVCodecDescriptor *descriptor = avcodec_descriptor_get_by_name(codec);
    for (size_t i = 0; descriptor && i < sizeof(known) / sizeof(known[0]); i++) {
        if (descriptor->id == known[i]) {
            return true;
        }
    }
    return false;
}

int gpume_coded_pictures_open(struct gpume_coded_pictures *pictures, const AVCodecParameters *codec)
{
    switch (codec->codec_id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
        return open_parser(pictures, codec);
    case AV_CODEC_ID_MPEG2VIDEO:
        pictures->sum_up = gpume_coded_mpeg2;
        return GPUME_OK;
    case AV_CODEC_ID_VP9:
        pictures->sum_up = gpume_coded_vp9;
        return GPUME_OK;
    default:
        return GPUME_UNSUPPORTED;
    }
}

/* The parameter sets stay those of the first packet, so that a decoder may start at any. */
static bool has_same_sets(
    struct gpume_coded_pictures *pictures, const struct gpume_coded_packet *units)
{
    pictures->sets = pictures->taken++ == 0 ? units->sets : pictures->sets;
    return units->sets == 0 || units->sets == pictures->sets;
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
    if (pictures->foreign || units.foreign || units.pictures != 1 ||
        packet->flags & AV_PKT_FLAG_DISCARD || packet->flags & AV_PKT_FLAG_CORRUPT ||
        av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, NULL) ||
        av_packet_get_side_data(packet, AV_PKT_DATA_PARAM_CHANGE, NULL) ||
        !has_same_sets(pictures, &units) ||
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
