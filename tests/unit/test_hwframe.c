/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames in the layouts of video hardware become what software decoding returns: the same luma,
 * depth and visible part, and on request the same planes. The test makes them from software frames;
 * in tests/cli/test_hwaccel.sh they come from a device.
 */
#include "base/base.h"
#include "harness.h"
#include "media/decode.h"
#include "media/luma.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>

enum { WIDTH = 150, HEIGHT = 38, LEFT_MAX = 64 };

struct layout {
    enum AVPixelFormat device, software;
    uint32_t bits;
};

static const struct layout layouts[] = {
    {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, 8},
    {AV_PIX_FMT_NV12, AV_PIX_FMT_YUVJ420P, 8},
    {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 8},
    {AV_PIX_FMT_NV16, AV_PIX_FMT_YUV422P, 8},
    {AV_PIX_FMT_YUYV422, AV_PIX_FMT_YUV422P, 8},
    {AV_PIX_FMT_P010, AV_PIX_FMT_YUV420P10, 10},
    {AV_PIX_FMT_P016, AV_PIX_FMT_YUV420P10, 10},
    {AV_PIX_FMT_P016, AV_PIX_FMT_YUV420P12, 12}, /* with its bits in the positions of P012 */
    {AV_PIX_FMT_P210, AV_PIX_FMT_YUV422P10, 10},
    {AV_PIX_FMT_YUV444P16, AV_PIX_FMT_YUV444P10, 10},
    {AV_PIX_FMT_NV12, AV_PIX_FMT_GRAY8, 8},
};

/* Address of component c of the pixel at (x,y), in any format. */
static uint8_t *place(const AVFrame *frame, int c, int x, int y)
{
    const AVComponentDescriptor *sample = &av_pix_fmt_desc_get(frame->format)->comp[c];
    return frame->data[sample->plane] + (ptrdiff_t)y * frame->linesize[sample->plane] +
           sample->offset + (ptrdiff_t)x * sample->step;
}

static unsigned get(const AVFrame *frame, int c, int x, int y)
{
    const AVComponentDescriptor *sample = &av_pix_fmt_desc_get(frame->format)->comp[c];
    const uint8_t *at = place(frame, c, x, y);
    return sample->depth > 8 ? (unsigned)(at[0] | at[1] << 8) >> sample->shift : at[0];
}

/* Left-aligned in 16 bits in deep formats, as devices do. */
static void put(AVFrame *frame, int c, int x, int y, unsigned value, unsigned bits)
{
    const AVComponentDescriptor *sample = &av_pix_fmt_desc_get(frame->format)->comp[c];
    uint8_t *at = place(frame, c, x, y);
    at[0] = (uint8_t)value;
    if (sample->depth > 8) {
        const unsigned high = value << (sample->shift + sample->depth - (int)bits);
        at[0] = (uint8_t)high;
        at[1] = (uint8_t)(high >> 8);
    }
}

static int columns(const AVFrame *frame, int c)
{
    return c == 0 ? frame->width
                  : AV_CEIL_RSHIFT(frame->width, av_pix_fmt_desc_get(frame->format)->log2_chroma_w);
}

static int rows(const AVFrame *frame, int c)
{
    return c == 0
               ? frame->height
               : AV_CEIL_RSHIFT(frame->height, av_pix_fmt_desc_get(frame->format)->log2_chroma_h);
}

static AVFrame *make(enum AVPixelFormat format)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = (int)format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    frame->pts = 77;
    REQUIRE(av_frame_get_buffer(frame, 0) >= 0);
    return frame;
}

/* A software frame with random samples, and a device's frame with the same. */
static void make_pair(const struct layout *layout, AVFrame **software, AVFrame **device)
{
    uint64_t seed = 1 + (uint64_t)layout->device;
    *software = make(layout->software);
    *device = make(layout->device);
    if (av_pix_fmt_desc_get(layout->software)->nb_components < 3) { /* meaningless chroma */
        memset((*device)->data[1], 0x80, (size_t)(*device)->linesize[1] * HEIGHT / 2);
    }
    for (int c = 0; c < av_pix_fmt_desc_get(layout->software)->nb_components; c++) {
        for (int y = 0; y < rows(*software, c); y++) {
            for (int x = 0; x < columns(*software, c); x++) {
                const unsigned value = harness_random(&seed) & ((1u << layout->bits) - 1);
                put(*software, c, x, y, value, layout->bits);
                put(*device, c, x, y, value, layout->bits);
            }
        }
    }
}

/* Requires the same planes, which filters see. */
static void require_whole(const AVFrame *software, const AVFrame *device)
{
    unsigned different = 0;
    REQUIRE_EQUAL(device->format, software->format);
    REQUIRE(device->width == software->width && device->height == software->height);
    for (int c = 0; c < av_pix_fmt_desc_get(software->format)->nb_components; c++) {
        for (int y = 0; y < rows(software, c); y++) {
            for (int x = 0; x < columns(software, c); x++) {
                different += get(software, c, x, y) != get(device, c, x, y);
            }
        }
    }
    REQUIRE_EQUAL(different, 0);
    REQUIRE_EQUAL(device->pts, 77);
}

/* Requires the same luma, which the search sees. */
static void require_luma(const AVFrame *software, const AVFrame *device)
{
    static uint16_t want[WIDTH * HEIGHT], is[WIDTH * HEIGHT];
    struct gpume_luma luma = {0};
    const uint32_t bits = gpume_luma_bits(software);
    struct gpume_plane plane = {
        .data = want,
        .stride = software->width * (bits > 8 ? 2 : 1),
        .width = (uint32_t)software->width,
        .height = (uint32_t)software->height,
        .bits = bits,
    };
    REQUIRE_EQUAL(gpume_luma_bits(device), bits);
    REQUIRE_EQUAL(gpume_luma_full_range(device), gpume_luma_full_range(software));
    REQUIRE(device->width == software->width && device->height == software->height);
    REQUIRE_EQUAL(gpume_luma_write(&luma, software, &plane), GPUME_OK);
    plane.data = is;
    REQUIRE_EQUAL(gpume_luma_write(&luma, device, &plane), GPUME_OK);
    REQUIRE(memcmp(want, is, (size_t)plane.stride * plane.height) == 0);
    gpume_luma_close(&luma);
}

/* Cropping: libav crops right and bottom, and leaves left and top to gpume. */
static void check(const struct layout *layout, size_t cut_left, size_t cut_top, bool whole)
{
    AVFrame *software = NULL, *device = NULL;
    make_pair(layout, &software, &device);
    software->crop_left = device->crop_left = cut_left;
    software->crop_top = device->crop_top = cut_top;
    if (av_frame_apply_cropping(software, 0) < 0) { /* libav cannot crop some formats */
        REQUIRE_EQUAL(gpume_hwframe_settle(device, layout->software, whole), GPUME_UNSUPPORTED);
        av_frame_unref(software);
        av_frame_unref(device);
    } else {
        REQUIRE_EQUAL(gpume_hwframe_settle(device, layout->software, whole), GPUME_OK);
    }
    if (whole && software->width > 0) {
        require_whole(software, device);
    }
    if (software->width > 0 && (layout->software != AV_PIX_FMT_GRAY8 || whole)) {
        require_luma(software, device);
    }
    av_frame_free(&software);
    av_frame_free(&device);
}

static void test_layouts(void)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        for (size_t cut = 0; cut <= LEFT_MAX; cut += cut < 4 ? 2 : 10) {
            check(&layouts[i], cut, cut / 8 * 2, false);
            check(&layouts[i], cut, cut / 8 * 2, true);
        }
    }
}

static void test_refusals(void)
{
    static const struct {
        enum AVPixelFormat device, software;
    } cases[] = {
        {AV_PIX_FMT_NV12, AV_PIX_FMT_NONE},
        {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P10}, /* more bits than the source has */
        {AV_PIX_FMT_P010, AV_PIX_FMT_YUV422P},   /* another depth, other chroma */
        {AV_PIX_FMT_P016, AV_PIX_FMT_GBRP12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AVFrame *frame = make(cases[i].device);
        REQUIRE_EQUAL(gpume_hwframe_settle(frame, cases[i].software, false), GPUME_UNSUPPORTED);
        REQUIRE_EQUAL(frame->format, cases[i].device);
        av_frame_free(&frame);
    }
}

int main(void)
{
    av_log_set_level(AV_LOG_QUIET);
    test_layouts();
    test_refusals();
    return harness_verdict();
}
