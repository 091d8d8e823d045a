/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the time of a picture of --overlay before encoding: converting a 1920x1080 frame to
 * colours, and drawing on it, by style and block, with random vectors in a window of 16.
 *
 *     bench_overlay [FRAMES]     20; the median counts
 *
 * Prints the thread's processor time in milliseconds per frame.
 */
#include "draw/overlay.h"
#include "base/os.h"
#include "media/luma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>

enum { WIDTH = 1920, HEIGHT = 1080, BLOCK_MIN = 4, FRAMES_MAX = 1000 };
enum { BLOCKS = WIDTH / BLOCK_MIN * (HEIGHT / BLOCK_MIN) };

static struct gpume_vector vectors[BLOCKS];
static uint32_t costs[BLOCKS], ranks[BLOCKS];
static uint64_t times[FRAMES_MAX];

static int by_time(const void *a, const void *b)
{
    const uint64_t *const left = a, *const right = b;
    return (*left > *right) - (*left < *right);
}

static double median_ms(unsigned frames)
{
    qsort(times, frames, sizeof(times[0]), by_time);
    return (double)times[frames / 2] / 1e6;
}

static int measure_colours(enum AVPixelFormat format, unsigned frames)
{
    struct gpume_colour_frames *colour = NULL;
    struct gpume_plane rgb;
    AVFrame *frame = av_frame_alloc();
    int status = gpume_colour_frames_create(&colour, 0);
    if (!frame || status != 0) {
        return 1;
    }
    frame->format = format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    status = av_frame_get_buffer(frame, 0) < 0 ? GPUME_NOMEM : GPUME_OK;
    for (int i = 0; status == 0 && i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
        memset(frame->buf[i]->data, 1, frame->buf[i]->size);
    }
    for (unsigned i = 0; i < frames && status == 0; i++) {
        status = gpume_colour_frames_keep(colour, i, frame);
        const uint64_t before = gpume_clock_thread_ns();
        status = status ? status : gpume_colour_frames_take(colour, i, WIDTH, HEIGHT, &rgb);
        times[i] = gpume_clock_thread_ns() - before;
    }
    printf("colours of %-12s %6.1f ms\n", av_get_pix_fmt_name(format), median_ms(frames));
    gpume_colour_frames_destroy(&colour);
    av_frame_free(&frame);
    return status;
}

static int measure_drawing(enum gpume_overlay_style style, uint32_t block, unsigned frames)
{
    static const char *const names[] = {"arrows", "flow", "cost", "blocks"};
    static uint8_t samples[3 * WIDTH * HEIGHT];
    const struct gpume_overlay_options options = {.width = WIDTH,
        .height = HEIGHT,
        .bits = 8,
        .block_w = block,
        .block_h = block,
        .window_x = 16,
        .window_y = 16,
        .look = {.style = style, .scale = 1}};
    const struct gpume_plane rgb = {
        .data = samples, .stride = 3 * WIDTH, .width = WIDTH, .height = HEIGHT, .bits = 8};
    const struct gpume_layer layer = {.block_w = block,
        .block_h = block,
        .blocks_x = (WIDTH + block - 1) / block,
        .blocks_y = (HEIGHT + block - 1) / block,
        .vectors = vectors,
        .costs = costs,
        .ranks = ranks};
    const struct gpume_layer *const layers[] = {&layer};
    const struct gpume_field field = {.vector_units = 1, .layer_count = 1, .layers = layers};
    struct gpume_overlay *overlay = NULL;
    struct gpume_plane picture;
    int status = gpume_overlay_create(&overlay, &options);
    for (unsigned i = 0; i < frames && status == 0; i++) {
        const uint64_t before = gpume_clock_thread_ns();
        status = gpume_overlay_draw(overlay, &rgb, &field, &picture);
        times[i] = gpume_clock_thread_ns() - before;
    }
    printf("%-6s block %-8u %6.1f ms\n", names[style], block, median_ms(frames));
    gpume_overlay_destroy(&overlay);
    return status;
}

int main(int argc, char **argv)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24};
    static const uint32_t blocks[] = {4, 8, 16, 64};
    long frames = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    frames = frames < 1 ? 1 : frames > FRAMES_MAX ? FRAMES_MAX : frames;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t mix = i * 2654435761u;
        vectors[i].dx = (int16_t)((int32_t)(mix >> 27) - 16);
        vectors[i].dy = (int16_t)((int32_t)(mix >> 22 & 31) - 16);
        costs[i] = mix >> 20;
        ranks[i] = i % 400;
    }
    for (size_t i = 0; i < 4; i++) {
        status = status ? status : measure_colours(formats[i], (unsigned)frames);
    }
    for (size_t i = 0; i < 16; i++) {
        status = status ? status
                        : measure_drawing(
                              (enum gpume_overlay_style)(i / 4), blocks[i % 4], (unsigned)frames);
    }
    return status != GPUME_OK;
}
