/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes libav functions that create, read or write something fail with NULL or AVERROR(ENOMEM) if
 * gpume calls them.
 */
#include "fault_calls.h"

#include <errno.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>

#define MAKES(type, name, parameters, arguments, ...)                                              \
    MAY_FAIL(type, name, "libav", ENOMEM, NULL, parameters, arguments, __VA_ARGS__)
#define DOES(name, parameters, arguments, ...)                                                     \
    MAY_FAIL(int, name, "libav", ENOMEM, AVERROR(ENOMEM), parameters, arguments, __VA_ARGS__)

/* What libavformat writes is const from FFmpeg 7 on. */
#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define WRITTEN const uint8_t
#else
#define WRITTEN uint8_t
#endif

/* clang-format off */
MAKES(void *, av_malloc, (size_t n), (n), size_t)
MAKES(void *, av_malloc_array, (size_t n, size_t size), (n, size), size_t, size_t)
MAKES(char *, av_strdup, (const char *text), (text), const char *)
MAKES(AVFrame *, av_frame_alloc, (void), (), void)
MAKES(AVFrame *, av_frame_clone, (const AVFrame *frame), (frame), const AVFrame *)
MAKES(AVPacket *, av_packet_alloc, (void), (), void)
MAKES(AVPacket *, av_packet_clone, (const AVPacket *packet), (packet), const AVPacket *)
MAKES(AVFormatContext *, avformat_alloc_context, (void), (), void)
MAKES(AVStream *, avformat_new_stream, (AVFormatContext *format, const AVCodec *codec),
    (format, codec), AVFormatContext *, const AVCodec *)
MAKES(AVCodecContext *, avcodec_alloc_context3, (const AVCodec *codec), (codec), const AVCodec *)
MAKES(AVFilterGraph *, avfilter_graph_alloc, (void), (), void)
MAKES(AVFilterInOut *, avfilter_inout_alloc, (void), (), void)
MAKES(AVFilterContext *, avfilter_graph_alloc_filter,
    (AVFilterGraph *graph, const AVFilter *filter, const char *name), (graph, filter, name),
    AVFilterGraph *, const AVFilter *, const char *)
MAKES(AVBufferSrcParameters *, av_buffersrc_parameters_alloc, (void), (), void)
MAKES(struct SwsContext *, sws_getContext,
    (int w, int h, enum AVPixelFormat from, int to_w, int to_h, enum AVPixelFormat to, int flags,
        SwsFilter *in, SwsFilter *out, const double *param),
    (w, h, from, to_w, to_h, to, flags, in, out, param),
    int, int, enum AVPixelFormat, int, int, enum AVPixelFormat, int, SwsFilter *, SwsFilter *,
    const double *)
MAKES(AVIOContext *, avio_alloc_context,
    (unsigned char *buffer, int size, int write, void *opaque,
        int (*reads)(void *, uint8_t *, int), int (*writes)(void *, WRITTEN *, int),
        int64_t (*seeks)(void *, int64_t, int)),
    (buffer, size, write, opaque, reads, writes, seeks),
    unsigned char *, int, int, void *, int (*)(void *, uint8_t *, int),
    int (*)(void *, WRITTEN *, int), int64_t (*)(void *, int64_t, int))

DOES(av_frame_get_buffer, (AVFrame *frame, int align), (frame, align), AVFrame *, int)
DOES(av_frame_make_writable, (AVFrame *frame), (frame), AVFrame *)
DOES(av_read_frame, (AVFormatContext *format, AVPacket *packet), (format, packet),
    AVFormatContext *, AVPacket *)
DOES(av_interleaved_write_frame, (AVFormatContext *format, AVPacket *packet), (format, packet),
    AVFormatContext *, AVPacket *)
DOES(av_write_trailer, (AVFormatContext *format), (format), AVFormatContext *)
DOES(avformat_write_header, (AVFormatContext *format, AVDictionary **options), (format, options),
    AVFormatContext *, AVDictionary **)
DOES(avformat_find_stream_info, (AVFormatContext *format, AVDictionary **options),
    (format, options), AVFormatContext *, AVDictionary **)
DOES(avcodec_open2, (AVCodecContext *context, const AVCodec *codec, AVDictionary **options),
    (context, codec, options), AVCodecContext *, const AVCodec *, AVDictionary **)
DOES(avcodec_parameters_to_context, (AVCodecContext *context, const AVCodecParameters *parameters),
    (context, parameters), AVCodecContext *, const AVCodecParameters *)
DOES(avcodec_parameters_from_context,
    (AVCodecParameters *parameters, const AVCodecContext *context), (parameters, context),
    AVCodecParameters *, const AVCodecContext *)
DOES(avcodec_send_packet, (AVCodecContext *context, const AVPacket *packet), (context, packet),
    AVCodecContext *, const AVPacket *)
DOES(avcodec_receive_frame, (AVCodecContext *context, AVFrame *frame), (context, frame),
    AVCodecContext *, AVFrame *)
DOES(avcodec_send_frame, (AVCodecContext *context, const AVFrame *frame), (context, frame),
    AVCodecContext *, const AVFrame *)
DOES(avcodec_receive_packet, (AVCodecContext *context, AVPacket *packet), (context, packet),
    AVCodecContext *, AVPacket *)
DOES(avfilter_graph_config, (AVFilterGraph *graph, void *log), (graph, log), AVFilterGraph *,
    void *)
DOES(av_buffersrc_add_frame, (AVFilterContext *filter, AVFrame *frame), (filter, frame),
    AVFilterContext *, AVFrame *)
DOES(av_buffersink_get_frame, (AVFilterContext *filter, AVFrame *frame), (filter, frame),
    AVFilterContext *, AVFrame *)
DOES(sws_scale,
    (struct SwsContext *context, const uint8_t *const from[], const int from_strides[], int y,
        int rows, uint8_t *const to[], const int to_strides[]),
    (context, from, from_strides, y, rows, to, to_strides),
    struct SwsContext *, const uint8_t *const[], const int[], int, int, uint8_t *const[],
    const int[])
/* clang-format on */
