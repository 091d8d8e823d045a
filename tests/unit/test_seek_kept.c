/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * media/timeline keeps packets only up to a limit, which is small here. The video is MPEG-2 with a
 * key frame every 50 frames; its file is called seek_kept.mkv, in the current folder.
 */
#include <stdint.h>

static uint64_t limit;
#define KEPT_MAX limit
#include "media/timeline.c"

#include "harness.h"
#include "logged.h"

#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 200, GROUP = 50, PACKET_BYTES = 512 /* besides data */ };

static const char path[] = "seek_kept.mkv";

static uint64_t sizes[FRAMES];

/* Frames 60 to 89 take more bytes. */
static void draw(AVFrame *frame, int number)
{
    static uint32_t noise = 1;
    frame->pts = number;
    REQUIRE(av_frame_make_writable(frame) >= 0);
    for (int plane = 0; plane < 3; plane++) {
        for (int at = 0; at < frame->linesize[plane] * (plane > 0 ? HEIGHT / 2 : HEIGHT); at++) {
            noise = noise * 1664525u + 1013904223u;
            frame->data[plane][at] = number >= 60 && number < 90 ? (uint8_t)(noise >> 24) : 99;
        }
    }
}

static void encode(AVCodecContext *codec, AVFormatContext *file, const AVFrame *frame)
{
    AVPacket *packet = av_packet_alloc();
    REQUIRE(packet && avcodec_send_frame(codec, frame) >= 0);
    while (avcodec_receive_packet(codec, packet) >= 0) {
        REQUIRE((packet->flags & AV_PKT_FLAG_KEY) == (packet->pts % GROUP == 0));
        sizes[packet->pts] = (uint64_t)packet->size;
        av_packet_rescale_ts(packet, codec->time_base, file->streams[0]->time_base);
        REQUIRE(av_interleaved_write_frame(file, packet) >= 0);
    }
    av_packet_free(&packet);
}

static void make_video(void)
{
    AVFormatContext *file = NULL;
    AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO));
    AVFrame *frame = av_frame_alloc();
    codec->width = frame->width = WIDTH;
    codec->height = frame->height = HEIGHT;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    frame->format = AV_PIX_FMT_YUV420P;
    codec->time_base = (AVRational){1, 25};
    codec->gop_size = GROUP;
    codec->flags = (int)AV_CODEC_FLAG_CLOSED_GOP;
    codec->thread_count = 1;
    REQUIRE(av_opt_set(codec->priv_data, "sc_threshold", "1000000000", 0) >= 0);
    REQUIRE(avcodec_open2(codec, NULL, NULL) >= 0);
    REQUIRE(avformat_alloc_output_context2(&file, NULL, NULL, path) >= 0);
    AVStream *stream = avformat_new_stream(file, NULL);
    stream->time_base = codec->time_base;
    REQUIRE(avcodec_parameters_from_context(stream->codecpar, codec) >= 0);
    REQUIRE(avio_open(&file->pb, path, AVIO_FLAG_WRITE) >= 0);
    REQUIRE(avformat_write_header(file, NULL) >= 0);
    REQUIRE(av_frame_get_buffer(frame, 0) >= 0);
    for (int i = 0; i < FRAMES; i++) {
        draw(frame, i);
        encode(codec, file, frame);
    }
    encode(codec, file, NULL);
    REQUIRE(av_write_trailer(file) >= 0);
    avio_closep(&file->pb);
    avformat_free_context(file);
    avcodec_free_context(&codec);
    av_frame_free(&frame);
}

/* What the packets from `first` to `last` take. */
static uint64_t bytes_of(int first, int last)
{
    uint64_t bytes = 0;
    for (int i = first; i <= last && i < FRAMES; i++) {
        bytes += PACKET_BYTES + sizes[i];
    }
    return bytes;
}

/* Seeks the frame with this limit: the frame at which decoding begins, which is that of the next
 * packet; 0: none was found. */
static uint64_t start_of(uint64_t frame, uint64_t bytes)
{
    struct gpume_seek seek = {0};
    struct gpume_packets packets = {0};
    const struct gpume_source_options options = {
        .paths = {path}, .path_count = 1, .stream = -1, .log = counting_log};
    atomic_bool cancel;
    atomic_init(&cancel, false);
    AVPacket *packet = av_packet_alloc();
    limit = bytes;
    REQUIRE_EQUAL(gpume_packets_open(&packets, &options, 0, &cancel), GPUME_OK);
    const int status = gpume_seek_find(&seek, &packets, frame, 0);
    if (status == GPUME_OK) {
        REQUIRE_EQUAL(gpume_packets_next(&packets, packet), GPUME_OK);
        REQUIRE_EQUAL((uint64_t)packet->size, sizes[seek.first]);
        REQUIRE_EQUAL(av_rescale_q(packet->pts, packets.stream->time_base, AV_TIME_BASE_Q),
            (int64_t)seek.first * 40000);
    } else {
        REQUIRE_EQUAL(status, GPUME_UNSUPPORTED);
        REQUIRE(strstr(logged.last, "takes too much memory") != NULL);
    }
    gpume_seek_finish(&seek);
    gpume_packets_close(&packets);
    av_packet_free(&packet);
    return status == GPUME_OK ? seek.first : 0;
}

int main(void)
{
    if (!avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO)) {
        printf("SKIPPED: this FFmpeg has no encoder for MPEG-2\n");
        return 77;
    }
    make_video();
    /* Frame 130 may be shown before 162 packets have come, and key frame 100 after 131. So packets
     * are kept from key frame 50 on. */
    const uint64_t kept = bytes_of(50, 162);
    REQUIRE_EQUAL(start_of(130, UINT64_MAX), 100);
    REQUIRE_EQUAL(start_of(130, kept), 100);
    REQUIRE_EQUAL(start_of(130, kept - 1), 0);
    REQUIRE_EQUAL(start_of(130, 0), 0);
    /* What was dropped before a key frame does not matter: here the packets of 60 to 89. */
    const uint64_t last = bytes_of(150, FRAMES - 1);
    REQUIRE(last < bytes_of(60, 89));
    REQUIRE_EQUAL(start_of(185, last), 150);
    REQUIRE_EQUAL(start_of(185, last - 1), 0);
    REQUIRE(unlink(path) == 0);
    return harness_verdict();
}
