/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames kept for their colours: which ones are available, layouts that swscale cannot read, and
 * chroma out of any layout. */
#include "harness.h"
#include "media/luma.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>

#define WIDTH 22
#define HEIGHT 6

static AVFrame *make_frame(enum AVPixelFormat format, unsigned seed)
{
    AVFrame *frame = av_frame_alloc();
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    uint16_t row[WIDTH];
    frame->format = format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    REQUIRE(av_frame_get_buffer(frame, 0) >= 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
        memset(frame->buf[i]->data, 0, frame->buf[i]->size); /* writing a line only sets bits */
    }
    for (int c = 0; c < descriptor->nb_components; c++) {
        int width = c ? AV_CEIL_RSHIFT(WIDTH, descriptor->log2_chroma_w) : WIDTH;
        int height = c ? AV_CEIL_RSHIFT(HEIGHT, descriptor->log2_chroma_h) : HEIGHT;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                unsigned value = (seed + (unsigned)(c * 77 + y * 31 + x * 9)) % 200 + 20;
                row[x] = (uint16_t)(value << (descriptor->comp[0].depth - 8));
            }
            av_write_image_line2(
                row, frame->data, frame->linesize, descriptor, 0, y, c, width, sizeof *row);
        }
    }
    return frame;
}

/* The same samples in another layout give the same colours. */
static void check_layout(enum AVPixelFormat format, enum AVPixelFormat planar)
{
    struct gpume_colour_frames *a = NULL, *b = NULL;
    struct gpume_plane first, second;
    AVFrame *frame = make_frame(format, 5), *plain = make_frame(planar, 5);
    REQUIRE_EQUAL(gpume_colour_frames_create(&a, 0), GPUME_OK);
    REQUIRE_EQUAL(gpume_colour_frames_create(&b, 0), GPUME_OK);
    REQUIRE_EQUAL(gpume_colour_frames_keep(a, 0, frame), GPUME_OK);
    REQUIRE_EQUAL(gpume_colour_frames_keep(b, 0, plain), GPUME_OK);
    av_frame_free(&frame);
    av_frame_free(&plain);
    REQUIRE_EQUAL(gpume_colour_frames_take(a, 0, WIDTH, HEIGHT, &first), GPUME_OK);
    REQUIRE_EQUAL(gpume_colour_frames_take(b, 0, WIDTH, HEIGHT, &second), GPUME_OK);
    for (int y = 0; y < HEIGHT; y++) {
        REQUIRE(memcmp((char *)first.data + y * first.stride,
                    (char *)second.data + y * second.stride, (size_t)3 * WIDTH) == 0);
    }
    gpume_colour_frames_destroy(&a);
    gpume_colour_frames_destroy(&b);
}

static void check_queue(void)
{
    struct gpume_colour_frames *colour = NULL;
    struct gpume_plane rgb, again;
    REQUIRE_EQUAL(gpume_colour_frames_create(&colour, 2), GPUME_OK);
    for (unsigned i = 0; i < 7; i++) {
        AVFrame *frame = make_frame(AV_PIX_FMT_GRAY8, i * 20);
        REQUIRE_EQUAL(gpume_colour_frames_keep(colour, i, frame), GPUME_OK);
        av_frame_free(&frame);
    }
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 1, WIDTH, HEIGHT, &rgb), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 2, WIDTH, HEIGHT, &rgb), GPUME_OK);
    REQUIRE_EQUAL(((uint8_t *)rgb.data)[0], 60); /* gray is full range unless it says otherwise */
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 2, WIDTH, HEIGHT, &again), GPUME_OK);
    REQUIRE(again.data == rgb.data);
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 5, WIDTH, HEIGHT, &rgb), GPUME_OK);
    REQUIRE_EQUAL(((uint8_t *)rgb.data)[1], 120);
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 4, WIDTH, HEIGHT, &rgb), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_colour_frames_take(colour, 6, 2 * WIDTH, HEIGHT, &rgb), GPUME_OK);
    REQUIRE_EQUAL(rgb.width, 2 * WIDTH);
    gpume_colour_frames_destroy(&colour);
    gpume_colour_frames_destroy(&colour);
}

/* Chroma is the samples that were put into the frame. status: of taking it. */
static void check_chroma(enum AVPixelFormat format, int status)
{
    static uint16_t samples[2][WIDTH * HEIGHT];
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    const int depth = descriptor->comp[0].depth;
    const bool gray = descriptor->nb_components < 3;
    const uint32_t width = (uint32_t)AV_CEIL_RSHIFT(WIDTH, descriptor->log2_chroma_w);
    const uint32_t height = (uint32_t)AV_CEIL_RSHIFT(HEIGHT, descriptor->log2_chroma_h);
    struct gpume_colour_frames *colour = NULL;
    struct gpume_plane planes[2];
    for (int i = 0; i < 2; i++) {
        planes[i] = (struct gpume_plane){
            samples[i], (ptrdiff_t)width * (depth > 8 ? 2 : 1), width, height, (uint32_t)depth};
    }
    REQUIRE_EQUAL(gpume_colour_frames_create(&colour, 0), GPUME_OK);
    for (unsigned i = 0; i < 3; i++) {
        AVFrame *frame = make_frame(format, i);
        REQUIRE_EQUAL(gpume_colour_frames_keep(colour, i, frame), GPUME_OK);
        av_frame_free(&frame);
    }
    REQUIRE_EQUAL(gpume_colour_frames_take_chroma(colour, 1, planes), status);
    for (uint32_t i = 0; i < 2 * width * height && status == GPUME_OK; i++) {
        const uint32_t c = i / (width * height), at = i % (width * height);
        const uint32_t put = (1 + (c + 1) * 77 + at / width * 31 + at % width * 9) % 200 + 20;
        const uint32_t wanted = (gray ? 128 : put) << (depth - 8);
        REQUIRE_EQUAL(depth > 8 ? samples[c][at] : ((uint8_t *)samples[c])[at], wanted);
    }
    REQUIRE_EQUAL(gpume_colour_frames_take_chroma(colour, 0, planes), GPUME_INVALID);
    gpume_colour_frames_destroy(&colour);
}

int main(void)
{
    static const enum AVPixelFormat layouts[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P,
        AV_PIX_FMT_NV12, AV_PIX_FMT_NV21, AV_PIX_FMT_YUYV422, AV_PIX_FMT_UYVY422, AV_PIX_FMT_P010LE,
        AV_PIX_FMT_P010BE, AV_PIX_FMT_YUV422P10BE, AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_YUV444P16LE,
        AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY12LE};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        check_chroma(layouts[i], GPUME_OK);
    }
    check_chroma(AV_PIX_FMT_GBRP, GPUME_UNSUPPORTED);
    check_queue();
    check_layout(AV_PIX_FMT_NV16, AV_PIX_FMT_YUV422P);
    check_layout(AV_PIX_FMT_NV20LE, AV_PIX_FMT_YUV422P10LE);
    check_layout(AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P);
    return harness_verdict();
}
