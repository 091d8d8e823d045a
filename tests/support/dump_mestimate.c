/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_mestimate INPUT BLOCK WINDOW FRAMES [GRAPH]: runs FFmpeg's mestimate=method=esa after GRAPH,
 * through libavfilter as ffmpeg would, on the first FRAMES frames of a video. Prints one row
 * "frame,ref,x,y,w,h,dx,dy" per vector, like the first columns of vectors.csv. Shares no code with
 * the program. Exit status 77: this FFmpeg has no such filter; 1: any other failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/motion_vector.h>

struct run {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    int stream;
    long taken, wanted; /* frames pushed, and how many to push */
    long given;         /* frames received */
};

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "dump_mestimate: %s\n", what);
        exit(1);
    }
}

static void open_input(struct run *run, const char *path)
{
    const AVCodec *decoder = NULL;
    must(avformat_open_input(&run->format, path, NULL, NULL) >= 0, "the input cannot be opened");
    must(avformat_find_stream_info(run->format, NULL) >= 0, "no stream");
    run->stream = av_find_best_stream(run->format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    must(run->stream >= 0 && decoder, "no video");
    run->codec = avcodec_alloc_context3(decoder);
    must(run->codec && avcodec_parameters_to_context(
                           run->codec, run->format->streams[run->stream]->codecpar) >= 0,
        "no decoder");
    must(avcodec_open2(run->codec, decoder, NULL) >= 0, "the decoder does not open");
}

static void open_graph(struct run *run, const AVFrame *frame, char **argv)
{
    char text[256];
    AVFilterInOut *in = avfilter_inout_alloc(), *out = avfilter_inout_alloc();
    run->graph = avfilter_graph_alloc();
    must(run->graph && in && out, "out of memory");
    snprintf(text, sizeof(text), "video_size=%dx%d:pix_fmt=%d:time_base=1/25:pixel_aspect=1/1",
        frame->width, frame->height, frame->format);
    must(avfilter_graph_create_filter(
             &run->source, avfilter_get_by_name("buffer"), "in", text, NULL, run->graph) >= 0 &&
             avfilter_graph_create_filter(&run->sink, avfilter_get_by_name("buffersink"), "out",
                 NULL, NULL, run->graph) >= 0,
        "no graph");
    *out = (AVFilterInOut){.name = av_strdup("in"), .filter_ctx = run->source};
    *in = (AVFilterInOut){.name = av_strdup("out"), .filter_ctx = run->sink};
    snprintf(text, sizeof(text), "%s%smestimate=method=esa:mb_size=%s:search_param=%s",
        argv[5] ? argv[5] : "", argv[5] ? "," : "", argv[2], argv[3]);
    must(avfilter_graph_parse_ptr(run->graph, text, &in, &out, NULL) >= 0 &&
             avfilter_graph_config(run->graph, NULL) >= 0,
        "the filter refuses");
    avfilter_inout_free(&in);
    avfilter_inout_free(&out);
}

/* The filter's order is that of vectors.csv: all blocks of the past, then all of the future. */
static void print_frame(const struct run *run, const AVFrame *frame)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    must(data != NULL, "a frame without vectors");
    const AVMotionVector *vectors = (const AVMotionVector *)(const void *)data->data;
    const size_t count = data->size / sizeof(*vectors);
    for (size_t i = 0; i < count; i++) {
        const AVMotionVector *v = &vectors[i];
        const long ref = run->given + v->source;
        printf("%ld,%ld,%d,%d,%d,%d,%d,%d\n", run->given, ref < 0 ? 0 : ref, v->dst_x - v->w / 2,
            v->dst_y - v->h / 2, v->w, v->h, v->src_x - v->dst_x, v->src_y - v->dst_y);
    }
}

static void pull(struct run *run)
{
    AVFrame *frame = av_frame_alloc();
    must(frame != NULL, "out of memory");
    while (av_buffersink_get_frame(run->sink, frame) >= 0) {
        print_frame(run, frame);
        run->given++;
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
}

static void take_frames(struct run *run, char **argv)
{
    AVFrame *frame = av_frame_alloc();
    must(frame != NULL, "out of memory");
    while (run->taken < run->wanted && avcodec_receive_frame(run->codec, frame) >= 0) {
        if (!run->graph) {
            open_graph(run, frame, argv);
        }
        frame->pts = run->taken++; /* a frame without a time would go unnoticed */
        must(av_buffersrc_add_frame(run->source, frame) >= 0, "the filter takes no frame");
        pull(run);
    }
    av_frame_free(&frame);
}

int main(int argc, char **argv)
{
    must(argc == 5 || argc == 6, "INPUT BLOCK WINDOW FRAMES [GRAPH]");
    if (!avfilter_get_by_name("mestimate")) {
        fprintf(stderr, "dump_mestimate: this FFmpeg has no mestimate\n");
        return 77;
    }
    struct run run = {.wanted = strtol(argv[4], NULL, 10)};
    AVPacket *packet = av_packet_alloc();
    must(packet != NULL, "out of memory");
    open_input(&run, argv[1]);
    while (run.taken < run.wanted && av_read_frame(run.format, packet) >= 0) {
        if (packet->stream_index == run.stream) {
            (void)avcodec_send_packet(
                run.codec, packet); /* damaged frames are skipped, as the program does */
            take_frames(&run, argv);
        }
        av_packet_unref(packet);
    }
    (void)avcodec_send_packet(run.codec, NULL);
    take_frames(&run, argv);
    if (run.source) {
        must(av_buffersrc_add_frame(run.source, NULL) >= 0, "the filter does not end");
        pull(&run);
    }
    av_packet_free(&packet);
    avfilter_graph_free(&run.graph);
    avcodec_free_context(&run.codec);
    avformat_close_input(&run.format);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
