/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/png16.h"

#include "base/status.h"
#include "files/byte_stream.h"
#include "media/libav.h"

#include <stdlib.h>

#include <libavcodec/avcodec.h>

#define PIXELS_MAX ((int64_t)1 << 28)
#define FILE_MAX ((size_t)PIXELS_MAX * 6) /* compression of random samples gains nothing */
#define CHANNELS 3u

/* The whole file as a packet. */
static int read_file(AVPacket *packet, const char *path, const struct gpume_log *log)
{
    struct gpume_stream *stream = NULL;
    const unsigned char *data;
    size_t got = 0;
    int status;
    GPUME_TRY(gpume_stream_open(&stream, path, log));
    do {
        GPUME_TRY(gpume_stream_peek(stream, GPUME_STREAM_PEEK_BYTES, &data, &got));
        if ((size_t)packet->size + got > FILE_MAX) {
            status = gpume_stream_refuse_whole(stream, "is too large for a flow field");
        } else if (got > 0 && av_grow_packet(packet, (int)got) < 0) {
            status = gpume_log_nomem(log, path);
        } else if (got > 0) {
            status = gpume_stream_read(stream, packet->data + packet->size - got, got);
        }
    } while (status == GPUME_OK && got > 0);
fail:
    gpume_stream_close(&stream);
    return status;
}

static int decode(AVCodecContext *codec, const AVPacket *packet, AVFrame *frame)
{
    codec->max_pixels = PIXELS_MAX;
    codec->thread_count = 1;
    codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    gpume_libav_quiet();
    int error = avcodec_open2(codec, codec->codec, NULL);
    error = error < 0 ? error : avcodec_send_packet(codec, packet);
    error = error < 0 ? error : avcodec_send_packet(codec, NULL);
    error = error < 0 ? error : avcodec_receive_frame(codec, frame);
    return gpume_libav_check_memory(error);
}

/* Samples of PNG are big endian. */
static int copy(struct gpume_png16 *picture, const AVFrame *frame, const char *path,
    const struct gpume_log *log)
{
    if (frame->format != AV_PIX_FMT_RGB48BE) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is not a flow field: it needs three channels of 16 bits, as KITTI's have", path);
    }
    const size_t width = (size_t)frame->width * CHANNELS;
    picture->width = (uint32_t)frame->width;
    picture->height = (uint32_t)frame->height;
    picture->samples = malloc(width * picture->height * sizeof(*picture->samples));
    if (!picture->samples) {
        return gpume_log_nomem(log, path);
    }
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint8_t *line = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (size_t i = 0; i < width; i++) {
            picture->samples[y * width + i] = (uint16_t)(line[2 * i] << 8 | line[2 * i + 1]);
        }
    }
    return GPUME_OK;
}

int gpume_png16_read(struct gpume_png16 *picture, const char *path, const struct gpume_log *log)
{
    const AVCodec *decoder = avcodec_find_decoder(AV_CODEC_ID_PNG);
    AVCodecContext *codec = decoder ? avcodec_alloc_context3(decoder) : NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int status = GPUME_OK;
    if (!decoder) {
        status = gpume_log_fail(log, GPUME_INVALID, "%s: this FFmpeg cannot read PNG", path);
    } else if (!codec || !packet || !frame) {
        status = gpume_log_nomem(log, path);
    }
    status = status ? status : read_file(packet, path, log);
    if (status == GPUME_OK) {
        const int error = decode(codec, packet, frame);
        status = error == AVERROR(ENOMEM) ? gpume_log_nomem(log, path)
                 : error < 0
                     ? gpume_log_fail(log, GPUME_INVALID, "%s: is not a complete PNG file: %s",
                           path, gpume_libav_reason(error))
                     : copy(picture, frame, path, log);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    return status;
}
