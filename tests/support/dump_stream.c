/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_stream INPUT: prints the motion vectors that FFmpeg's decoder exports for the best video
 * stream, in the columns of FFmpeg's example extract_mvs. Decodes with one thread and shares no
 * code with the program. Exit status 1: any failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/motion_vector.h>

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "dump_stream: %s\n", what);
        exit(1);
    }
}

static void print_frame(const AVFrame *frame, long number)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!data) {
        return;
    }
    const AVMotionVector *vectors = (const AVMotionVector *)(const void *)data->data;
    for (size_t i = 0; i < data->size / sizeof(*vectors); i++) {
        const AVMotionVector *v = &vectors[i];
        printf("%ld,%2d,%2d,%2d,%4d,%4d,%4d,%4d,0x%" PRIx64 ",%4d,%4d,%4d\n", number, v->source,
            v->w, v->h, v->src_x, v->src_y, v->dst_x, v->dst_y, v->flags, v->motion_x, v->motion_y,
            v->motion_scale);
    }
}

static long take_frames(AVCodecContext *codec, long number)
{
    AVFrame *frame = av_frame_alloc();
    must(frame != NULL, "out of memory");
    while (avcodec_receive_frame(codec, frame) >= 0) {
        print_frame(frame, ++number);
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
    return number;
}

int main(int argc, char **argv)
{
    AVFormatContext *format = NULL;
    const AVCodec *decoder = NULL;
    long number = 0;
    must(argc == 2, "INPUT");
    must(avformat_open_input(&format, argv[1], NULL, NULL) >= 0, "the input cannot be opened");
    must(avformat_find_stream_info(format, NULL) >= 0, "no stream");
    const int stream = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    must(stream >= 0 && decoder, "no video");
    AVCodecContext *codec = avcodec_alloc_context3(decoder);
    AVPacket *packet = av_packet_alloc();
    must(packet && codec &&
             avcodec_parameters_to_context(codec, format->streams[stream]->codecpar) >= 0,
        "no decoder");
    codec->thread_count = 1;
    codec->export_side_data |= AV_CODEC_EXPORT_DATA_MVS;
    must(avcodec_open2(codec, decoder, NULL) >= 0, "the decoder does not open");
    printf("framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,motion_y,"
           "motion_scale\n");
    while (av_read_frame(format, packet) >= 0) {
        if (packet->stream_index == stream) {
            (void)avcodec_send_packet(codec, packet);
            number = take_frames(codec, number);
        }
        av_packet_unref(packet);
    }
    (void)avcodec_send_packet(codec, NULL);
    take_frames(codec, number);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    avformat_close_input(&format);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
