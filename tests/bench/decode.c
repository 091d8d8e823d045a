/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast a video can be read without any search: by libavcodec alone, and by src/media, which
 * also copies the luma. The libraries and threads are the command's. Time is measured from the
 * first frame to the last, as for the "whole" stage of summary.json.
 *
 *     bench_decode INPUT [THREADS [TYPE[:DEVICE]]]     threads: 0 = all; type: as of --hwaccel
 *
 * Prints one line for each: NAME FRAMES SECONDS FRAMES-PER-SECOND CPU-SECONDS.
 */
#include "media/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#define PLANES 64  /* as many as the command's frame pool, so that caches are as cold */
#define PAGE 4096u /* what mapped memory is aligned to */

struct timing {
    double wall, cpu;
};

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct timing start(void)
{
    return (struct timing){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void report(const char *name, uint64_t frames, struct timing since)
{
    const struct timing now = start();
    const double wall = now.wall - since.wall;
    printf("%s %" PRIu64 " %.3f %.1f %.3f\n", name, frames, wall, (double)frames / wall,
        now.cpu - since.cpu);
}

/* --- libavcodec alone */

static int open_raw(
    const char *path, int threads, AVFormatContext **format, AVCodecContext **codec, int *stream)
{
    const AVCodec *decoder = NULL;
    if (avformat_open_input(format, path, NULL, NULL) < 0 ||
        avformat_find_stream_info(*format, NULL) < 0) {
        return -1;
    }
    *stream = av_find_best_stream(*format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (*stream < 0) {
        return -1;
    }
    const AVCodecParameters *parameters = (*format)->streams[*stream]->codecpar;
    decoder = avcodec_find_decoder(parameters->codec_id);
    *codec = avcodec_alloc_context3(decoder);
    if (!decoder || !*codec || avcodec_parameters_to_context(*codec, parameters) < 0) {
        return -1;
    }
    (*codec)->thread_count = threads;
    return avcodec_open2(*codec, decoder, NULL);
}

static uint64_t drain_raw(AVCodecContext *codec, AVFrame *frame)
{
    uint64_t frames = 0;
    while (avcodec_receive_frame(codec, frame) >= 0) {
        av_frame_unref(frame);
        frames++;
    }
    return frames;
}

static int run_raw(const char *path, int threads)
{
    AVFormatContext *format = NULL;
    AVCodecContext *codec = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int stream = -1, error = -1;
    uint64_t frames = 0;
    if (packet && frame && (error = open_raw(path, threads, &format, &codec, &stream)) >= 0) {
        const struct timing since = start();
        while (av_read_frame(format, packet) >= 0) {
            if (packet->stream_index == stream && avcodec_send_packet(codec, packet) >= 0) {
                frames += drain_raw(codec, frame);
            }
            av_packet_unref(packet);
        }
        (void)avcodec_send_packet(codec, NULL);
        frames += drain_raw(codec, frame);
        report("libavcodec", frames, since);
    }
    avcodec_free_context(&codec);
    avformat_close_input(&format);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return error < 0 || frames == 0;
}

/* --- src/media */

static void tell(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level != GPUME_LOG_INFO) {
        fprintf(stderr, "%s\n", line);
    }
}

static int run_source(const char *path, uint32_t threads, const char *hwaccel)
{
    const struct gpume_source_options options = {
        .paths = {path},
        .path_count = 1,
        .stream = -1,
        .threads = threads,
        .hwaccel = hwaccel,
        .log = {tell, NULL},
    };
    struct gpume_source *source = NULL;
    struct gpume_source_info info;
    if (gpume_source_open(&source, &options, &info) != GPUME_OK) {
        return 1;
    }
    const size_t stride = (size_t)info.width * (info.bits > 8 ? 2 : 1);
    const size_t bytes = (stride * info.height + PAGE - 1) / PAGE * PAGE;
    char *memory = aligned_alloc(PAGE, PLANES * bytes);
    uint64_t frames = 0;
    int64_t time_us = 0;
    int status = memory ? GPUME_OK : GPUME_NOMEM;
    const struct timing since = start();
    while (status == GPUME_OK) {
        const struct gpume_plane plane = {
            .data = memory + frames % PLANES * bytes,
            .stride = (ptrdiff_t)stride,
            .width = info.width,
            .height = info.height,
            .bits = info.bits,
        };
        status = gpume_source_read(source, &plane, &time_us);
        frames += status == GPUME_OK;
    }
    report("source", frames, since);
    gpume_source_close(&source);
    free(memory);
    return status != GPUME_EOF;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: %s INPUT [THREADS [TYPE[:DEVICE]]]\n", argv[0]);
        return 2;
    }
    const unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    const int failed = run_source(argv[1], (uint32_t)threads, argc > 3 ? argv[3] : NULL);
    /* src/media now handles libav's log: damage is counted, not printed. */
    return run_raw(argv[1], (int)threads) || failed;
}
