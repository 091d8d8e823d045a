/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Luma samples are copied into a frame of the encoder's format: unscaled if that format is deep
 * enough, shifted down if it has 8 bits. Chroma, if the format has it, is neutral. swscale converts
 * colours: to BT.709 where the encoder states its matrix, and to BT.601 in JPEG, which supports no
 * other.
 */
#include "media/libav.h"

#include <inttypes.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#define RGB_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP)

#define NEUTRAL 128 /* chroma of gray, 8 bits */

int gpume_encoding_refuse(const struct gpume_encoding *encode, const char *what, int error)
{
    if (error == AVERROR(ENOMEM)) {
        return gpume_log_nomem(&encode->log, encode->label);
    }
    return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED, "%s: %s: %s; %s", encode->label, what,
        gpume_libav_reason(error), encode->remedy);
}

static bool is_rgb(enum AVPixelFormat format)
{
    return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

static bool is_jpeg(enum AVPixelFormat format)
{
    return strncmp(av_get_pix_fmt_name(format), "yuvj", 4) == 0;
}

/* How its colours are meant, and the order of its fields. */
static void describe_video(AVCodecContext *codec, const struct gpume_source_info *video)
{
    codec->color_primaries = (enum AVColorPrimaries)video->primaries;
    codec->color_trc = (enum AVColorTransferCharacteristic)video->transfer;
    codec->colorspace = (enum AVColorSpace)video->matrix;
    codec->chroma_sample_location = (enum AVChromaLocation)video->chroma_place;
    codec->field_order = !video->interlaced ? AV_FIELD_PROGRESSIVE
                         : video->top_first ? AV_FIELD_TT
                                            : AV_FIELD_BB;
}

static int try_format(struct gpume_encoding *encode, const AVCodec *encoder,
    const struct gpume_encoding_options *options, enum AVPixelFormat format)
{
    avcodec_free_context(&encode->codec);
    AVCodecContext *codec = avcodec_alloc_context3(encoder);
    encode->codec = codec;
    if (!codec) {
        return AVERROR(ENOMEM);
    }
    codec->width = (int)(options->pad ? (options->width + 1) & ~1u : options->width);
    codec->height = (int)(options->pad ? (options->height + 1) & ~1u : options->height);
    codec->pix_fmt = format;
    codec->time_base = options->time_base;
    codec->framerate = options->rate;
    if (options->aspect.num > 0) {
        codec->sample_aspect_ratio = options->aspect;
    }
    codec->thread_count = options->threads;
    codec->color_range = options->full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (options->colour && !is_rgb(codec->pix_fmt) && !is_jpeg(codec->pix_fmt)) {
        codec->colorspace = AVCOL_SPC_BT709;
        codec->color_primaries = AVCOL_PRI_BT709;
        codec->color_trc = AVCOL_TRC_BT709;
    }
    if (options->video) {
        describe_video(codec, options->video);
    }
    codec->flags |= AV_CODEC_FLAG_BITEXACT; /* equal pictures give equal files */
    if (options->global_header) {
        codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    AVDictionary *settings = NULL;
    int error = av_dict_parse_string(&settings, options->settings, "=", ":", 0);
    gpume_libav_quiet();
    if (error >= 0) {
        error = avcodec_open2(codec, encoder, &settings);
    }
    av_dict_free(&settings);
    return error;
}

static int make_encoder_frame(struct gpume_encoding *encode)
{
    const AVCodecContext *codec = encode->codec;
    encode->packet = av_packet_alloc();
    encode->frame = av_frame_alloc();
    if (!encode->packet || !encode->frame) {
        return AVERROR(ENOMEM);
    }
    encode->frame->format = codec->pix_fmt;
    encode->frame->width = codec->width;
    encode->frame->height = codec->height;
    encode->frame->color_range = codec->color_range;
    return av_frame_get_buffer(encode->frame, 0);
}

/* Makes the converter from R, G, B to the encoder's format. */
static int make_converter(struct gpume_encoding *encode)
{
    const AVCodecContext *codec = encode->codec;
    encode->rgb = av_frame_alloc();
    encode->from_rgb = sws_getContext(codec->width, codec->height, AV_PIX_FMT_RGB24, codec->width,
        codec->height, codec->pix_fmt, RGB_FLAGS, NULL, NULL, NULL);
    if (!encode->rgb || !encode->from_rgb) {
        return AVERROR(ENOMEM);
    }
    if (!is_rgb(codec->pix_fmt)) {
        const int space = is_jpeg(codec->pix_fmt) ? SWS_CS_ITU601 : SWS_CS_ITU709;
        (void)sws_setColorspaceDetails(encode->from_rgb, sws_getCoefficients(SWS_CS_DEFAULT), 1,
            sws_getCoefficients(space), codec->color_range == AVCOL_RANGE_JPEG, 0, 1 << 16,
            1 << 16);
    }
    encode->rgb->format = AV_PIX_FMT_RGB24;
    encode->rgb->width = codec->width;
    encode->rgb->height = codec->height;
    const int error = av_frame_get_buffer(encode->rgb, 0);
    if (error >= 0) {
        /* swscale reads past the end of rows shorter than a vector; the values do not matter. */
        memset(encode->rgb->buf[0]->data, 0, encode->rgb->buf[0]->size);
    }
    return error;
}

/* FFmpeg's limit for any picture, 16255 squared; some encoders have lower limits. */
static bool is_too_large(const struct gpume_encoding_options *options)
{
    uint64_t pad = options->pad;
    uint64_t width = (options->width + pad) & ~pad, height = (options->height + pad) & ~pad;
    gpume_libav_quiet();
    return width > INT32_MAX || height > INT32_MAX ||
           av_image_check_size2(
               (unsigned)width, (unsigned)height, INT64_MAX, AV_PIX_FMT_NONE, 0, NULL) < 0;
}

int gpume_encoding_open(struct gpume_encoding *encode, const struct gpume_encoding_options *options)
{
    encode->label = options->label;
    encode->remedy = options->remedy;
    encode->log = options->log;
    encode->chroma = options->video && options->video->chroma == GPUME_CHROMA_PLANES;
    const AVCodec *encoder = avcodec_find_encoder_by_name(options->encoder);
    if (!encoder) {
        return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED,
            "%s: this FFmpeg has no %s encoder; %s", encode->label, options->encoder,
            encode->remedy);
    }
    if (is_too_large(options)) {
        return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED,
            "%s: pictures of %" PRIu32 "x%" PRIu32
            " are too large for FFmpeg's encoders; write a .y4m file",
            encode->label, options->width, options->height);
    }
    int error = try_format(encode, encoder, options, options->formats[0]);
    if (error < 0 && error != AVERROR(ENOMEM) && options->formats[1] != AV_PIX_FMT_NONE) {
        error = try_format(encode, encoder, options, options->formats[1]);
    }
    if (error >= 0) {
        error = make_encoder_frame(encode);
    }
    if (error >= 0 && options->colour) {
        error = make_converter(encode);
    }
    return error < 0 ? gpume_encoding_refuse(encode, "cannot be encoded", error) : GPUME_OK;
}

/* Fills one row of a plane of the frame; columns beyond the plane repeat its last one. */
static void fill_row(AVFrame *frame, int index, int y, int width, const struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    bool big = (format->flags & AV_PIX_FMT_FLAG_BE) != 0;
    bool deep = format->comp[0].depth > 8;
    unsigned shift = !deep && plane->bits > 8 ? plane->bits - 8 : 0;
    uint8_t *to = frame->data[index] + (ptrdiff_t)y * frame->linesize[index];
    const uint32_t from = (uint32_t)y < plane->height ? (uint32_t)y : plane->height - 1;
    const uint8_t *row = (const uint8_t *)plane->data + (ptrdiff_t)from * plane->stride;
    const uint16_t *wide = (const uint16_t *)(const void *)row;
    for (uint32_t x = 0; x < (uint32_t)width; x++) {
        const uint32_t column = x < plane->width ? x : plane->width - 1;
        const uint16_t value =
            (uint16_t)((unsigned)(plane->bits > 8 ? wide[column] : row[column]) >> shift);
        if (!deep) {
            to[x] = (uint8_t)value;
        } else if (big) {
            AV_WB16(to + 2 * x, value);
        } else {
            AV_WL16(to + 2 * x, value);
        }
    }
}

static void fill_luma(AVFrame *frame, const struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    bool plain = format->comp[0].depth == 8 && plane->bits == 8 &&
                 frame->width == (int)plane->width && frame->height == (int)plane->height;
    if (plain) {
        av_image_copy_plane(frame->data[0], frame->linesize[0], plane->data, (int)plane->stride,
            frame->width, frame->height);
    }
    for (int y = 0; y < frame->height && !plain; y++) {
        fill_row(frame, 0, y, frame->width, plane);
    }
    int rows = AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h);
    for (int i = 1; i < 3 && frame->data[i]; i++) {
        memset(frame->data[i], NEUTRAL, (size_t)rows * (size_t)frame->linesize[i]);
    }
}

/* Columns and rows beyond the plane repeat its last ones. */
static int fill_colours(const struct gpume_encoding *encode, const struct gpume_plane *plane)
{
    const AVFrame *rgb = encode->rgb;
    const size_t bytes = 3 * (size_t)plane->width;
    for (int y = 0; y < rgb->height; y++) {
        const uint32_t from = (uint32_t)y < plane->height ? (uint32_t)y : plane->height - 1;
        uint8_t *to = rgb->data[0] + (ptrdiff_t)y * rgb->linesize[0];
        memcpy(to, (const uint8_t *)plane->data + (ptrdiff_t)from * plane->stride, bytes);
        for (size_t x = bytes; x < 3 * (size_t)rgb->width; x++) {
            to[x] = to[x - 3];
        }
    }
    const int rows = sws_scale(encode->from_rgb, (const uint8_t *const *)rgb->data, rgb->linesize,
        0, rgb->height, encode->frame->data, encode->frame->linesize);
    return rows < 0 ? rows : 0;
}

int gpume_encoding_send(
    struct gpume_encoding *encode, const struct gpume_plane *planes, int64_t pts)
{
    AVFrame *frame = planes ? encode->frame : NULL;
    gpume_libav_quiet();
    int error = frame ? av_frame_make_writable(frame) : 0; /* the encoder may hold the last one */
    if (frame && error >= 0) {
        frame->pts = pts;
        if (encode->rgb) {
            error = fill_colours(encode, planes);
        } else {
            fill_luma(frame, planes);
        }
        for (int i = 1; encode->chroma && i < 3; i++) { /* of the frame's own size */
            for (uint32_t y = 0; y < planes[i].height; y++) {
                fill_row(frame, i, (int)y, (int)planes[i].width, &planes[i]);
            }
        }
    }
    error = error < 0 ? error : avcodec_send_frame(encode->codec, frame);
    return error < 0 ? gpume_encoding_refuse(encode, "cannot be encoded", error) : GPUME_OK;
}

int gpume_encoding_receive(struct gpume_encoding *encode)
{
    gpume_libav_quiet();
    int error = avcodec_receive_packet(encode->codec, encode->packet);
    return error == AVERROR(EAGAIN) ? GPUME_AGAIN
           : error == AVERROR_EOF   ? GPUME_EOF
           : error < 0              ? gpume_encoding_refuse(encode, "cannot be encoded", error)
                                    : GPUME_OK;
}

void gpume_encoding_close(struct gpume_encoding *encode)
{
    avcodec_free_context(&encode->codec);
    av_packet_free(&encode->packet);
    av_frame_free(&encode->frame);
    av_frame_free(&encode->rgb);
    sws_freeContext(encode->from_rgb);
    encode->from_rgb = NULL;
}
