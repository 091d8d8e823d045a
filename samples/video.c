/* SPDX-License-Identifier: BSD-2-Clause */
#include "video.h"

#include <libavutil/pixdesc.h>

#include <stdio.h>
#include <string.h>

static int fail(const struct video *video, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", video->program, what, why);
    return -1;
}

static int fail_libav(const struct video *video, const char *what, int error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, why, sizeof why);
    return fail(video, what, why);
}

int video_open(struct video *video, const char *path)
{
    int error = avformat_open_input(&video->format, path, NULL, NULL);
    if (error >= 0) {
        error = avformat_find_stream_info(video->format, NULL);
    }
    if (error < 0) {
        return fail_libav(video, path, error);
    }
    const AVCodec *decoder = NULL;
    video->stream = av_find_best_stream(video->format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (video->stream < 0) {
        return fail(video, path, "contains no video that this libav can decode");
    }
    const AVStream *stream = video->format->streams[video->stream];
    video->codec = avcodec_alloc_context3(decoder);
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    if (!video->codec || !video->packet || !video->frame) {
        return fail(video, path, "out of memory");
    }
    video->codec->pkt_timebase = stream->time_base;
    error = avcodec_parameters_to_context(video->codec, stream->codecpar);
    if (error >= 0) {
        error = avcodec_open2(video->codec, decoder, NULL);
    }
    return error < 0 ? fail_libav(video, path, error) : 0;
}

void video_close(struct video *video)
{
    av_frame_free(&video->frame);
    av_packet_free(&video->packet);
    avcodec_free_context(&video->codec);
    avformat_close_input(&video->format);
}

/* Sends the decoder its next packet, or the end of the stream. */
static int feed(struct video *video)
{
    int error = 0;
    do {
        av_packet_unref(video->packet);
        error = av_read_frame(video->format, video->packet);
    } while (error >= 0 && video->packet->stream_index != video->stream);
    if (error == AVERROR_EOF) {
        return avcodec_send_packet(video->codec, NULL);
    }
    if (error < 0) {
        return error;
    }
    error = avcodec_send_packet(video->codec, video->packet);
    /* A damaged packet loses its frame, but does not end the run. */
    return error == AVERROR_INVALIDDATA ? 0 : error;
}

/* The bit depth of formats whose first plane is plain luma as gpume reads it: one byte per sample,
 * or two in native order. 0 for any other layout, which a real program would convert. */
static uint32_t luma_bits(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *pixel = av_pix_fmt_desc_get(format);
    const uint64_t others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                            AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    if (!pixel || (pixel->flags & others)) {
        return 0;
    }
    const AVComponentDescriptor *luma = &pixel->comp[0];
    const int bytes = luma->depth > 8 ? 2 : 1;
    const uint16_t probe = 1;
    const bool little = *(const uint8_t *)&probe == 1;
    const bool swapped = bytes == 2 && little == ((pixel->flags & AV_PIX_FMT_FLAG_BE) != 0);
    const bool plain = luma->plane == 0 && luma->offset == 0 && luma->shift == 0;
    return plain && !swapped && luma->step == bytes && luma->depth >= 8 ? (uint32_t)luma->depth : 0;
}

/* The first frame sets the size and format of all. */
static int check_format(struct video *video)
{
    const AVFrame *frame = video->frame;
    if (video->bits == 0) {
        const enum AVPixelFormat format = (enum AVPixelFormat)frame->format;
        video->width = frame->width;
        video->height = frame->height;
        video->pixel_format = frame->format;
        video->bits = luma_bits(format);
        return video->bits > 0
                   ? 1
                   : fail(video, "this pixel format has no plain luma plane; convert the video",
                         av_get_pix_fmt_name(format));
    }
    if (frame->width != video->width || frame->height != video->height ||
        frame->format != video->pixel_format) {
        return fail(video, "the video changes its size or format", "not handled by this sample");
    }
    return 1;
}

int video_next(struct video *video)
{
    int error = avcodec_receive_frame(video->codec, video->frame);
    while (error == AVERROR(EAGAIN) || error == AVERROR_INVALIDDATA) {
        if (error == AVERROR(EAGAIN)) {
            const int fed = feed(video);
            if (fed < 0) {
                return fail_libav(video, "reading", fed);
            }
        }
        error = avcodec_receive_frame(video->codec, video->frame);
    }
    if (error == AVERROR_EOF) {
        return 0;
    }
    return error < 0 ? fail_libav(video, "decoding", error) : check_format(video);
}

int64_t video_time_us(const struct video *video)
{
    const int64_t pts = video->frame->best_effort_timestamp;
    const AVRational unit = video->format->streams[video->stream]->time_base;
    const AVRational microsecond = {1, 1000000};
    return pts == AV_NOPTS_VALUE ? 0 : av_rescale_q(pts, unit, microsecond);
}

/* In two-byte formats, samples of damaged files may exceed the bit depth; gpume must not get any,
 * so they are clipped. */
void video_fill(const struct video *video, const struct gpume_plane *plane)
{
    const AVFrame *frame = video->frame;
    const uint32_t peak = (1u << plane->bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *to = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        const uint8_t *from = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        if (plane->bits == 8) {
            memcpy(to, from, plane->width);
            continue;
        }
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t sample = ((const uint16_t *)(const void *)from)[x];
            ((uint16_t *)(void *)to)[x] = (uint16_t)(sample < peak ? sample : peak);
        }
    }
}
