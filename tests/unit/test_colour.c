/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames kept for their colours: which ones are available, and layouts that swscale cannot read. */
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

int main(void)
{
    check_queue();
    check_layout(AV_PIX_FMT_NV16, AV_PIX_FMT_YUV422P);
    check_layout(AV_PIX_FMT_NV20LE, AV_PIX_FMT_YUV422P10LE);
    check_layout(AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P);
    return harness_verdict();
}
