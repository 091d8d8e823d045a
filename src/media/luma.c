/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YUV and gray samples are moved, never computed: rows are copied if the layout is the
 * destination's, else av_read_image_line2 extracts them from packed, shifted or foreign-endian
 * layouts. All other formats are converted by swscale, with flags that give the same values on
 * every processor, into an intermediate picture, because swscale may write past the width of a row.
 */
#include "media/luma.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#define SCALE_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT)

static void close_scaler(struct gpume_scaler *scaler)
{
    sws_freeContext(scaler->context);
    av_frame_free(&scaler->out);
}

void gpume_luma_close(struct gpume_luma *luma)
{
    close_scaler(&luma->gray);
    close_scaler(&luma->resize);
    av_frame_free(&luma->plain);
    gpume_bands_finish(&luma->bands);
    free(luma->row);
}

/* Is the first component luma, in samples of 8 to 16 bits? */
static bool has_luma(const AVPixFmtDescriptor *descriptor)
{
    const uint64_t others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER |
                            AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_HWACCEL;
    int depth = descriptor->comp[0].depth;
    return !(descriptor->flags & others) && descriptor->nb_components > 0 && depth >= 8 &&
           depth <= 16 && strncmp(descriptor->name, "xyz", 3) != 0 &&
           strcmp(descriptor->name, "uyyvyy411") != 0; /* its luma has no even step */
}

bool gpume_luma_is_there(const AVFrame *frame)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    return descriptor && has_luma(descriptor);
}

enum AVPixelFormat gpume_luma_gray_format(int bits)
{
    return bits <= 8    ? AV_PIX_FMT_GRAY8
           : bits <= 9  ? AV_PIX_FMT_GRAY9
           : bits <= 10 ? AV_PIX_FMT_GRAY10
           : bits <= 12 ? AV_PIX_FMT_GRAY12
           : bits <= 14 ? AV_PIX_FMT_GRAY14
                        : AV_PIX_FMT_GRAY16;
}

static int depth_of(enum AVPixelFormat format)
{
    return av_pix_fmt_desc_get(format)->comp[0].depth;
}

static int deepest(const AVPixFmtDescriptor *descriptor)
{
    if (descriptor->flags & AV_PIX_FMT_FLAG_BAYER) {
        return av_get_bits_per_pixel(
            descriptor); /* one sample per pixel; component depths are fractions of it */
    }
    int depth = 0;
    for (int i = 0; i < descriptor->nb_components; i++) {
        depth = descriptor->comp[i].depth > depth ? descriptor->comp[i].depth : depth;
    }
    return depth;
}

uint32_t gpume_luma_bits(const AVFrame *frame)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    if (!descriptor) {
        return 0;
    }
    if (has_luma(descriptor)) {
        return (uint32_t)descriptor->comp[0].depth;
    }
    if ((descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) || !sws_isSupportedInput(frame->format)) {
        return 0;
    }
    return (uint32_t)depth_of(gpume_luma_gray_format(deepest(descriptor)));
}

bool gpume_luma_is_interlaced(const AVFrame *frame)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame != 0;
#endif
}

void gpume_luma_set_interlaced(AVFrame *frame, bool interlaced)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    frame->flags |= interlaced ? AV_FRAME_FLAG_INTERLACED : 0;
#else
    frame->interlaced_frame = interlaced;
#endif
}

bool gpume_luma_full_range(const AVFrame *frame)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    if (!descriptor || !has_luma(descriptor)) {
        return true; /* RGB is full range, and so is the gray that swscale makes of it */
    }
    return frame->color_range == AVCOL_RANGE_JPEG || strncmp(descriptor->name, "yuvj", 4) == 0 ||
           (descriptor->nb_components < 3 && frame->color_range != AVCOL_RANGE_MPEG);
}

/* --- moving samples */

/* Formats of video hardware hold samples in the upper bits. Raw files may hold more than their
 * depth allows. */
static void copy_deep_row(
    uint16_t *to, const uint16_t *from, uint32_t count, const AVComponentDescriptor *luma)
{
    const uint16_t peak = (uint16_t)((1u << luma->depth) - 1);
    for (uint32_t x = 0; x < count; x++) {
        const uint16_t value = (uint16_t)(from[x] >> luma->shift);
        to[x] = value < peak ? value : peak;
    }
}

static bool native_endian(const AVPixFmtDescriptor *descriptor)
{
    return (descriptor->flags & AV_PIX_FMT_FLAG_BE) == AV_NE(AV_PIX_FMT_FLAG_BE, 0);
}

struct rows {
    const AVFrame *frame;
    const AVPixFmtDescriptor *descriptor;
    const struct gpume_plane *plane;
    uint16_t *row; /* of any layout that is not the destination's */
};

/* Are rows copied, sample by sample? */
static bool is_same_layout(const AVPixFmtDescriptor *descriptor)
{
    const AVComponentDescriptor *luma = &descriptor->comp[0];
    const bool whole = luma->offset == 0 && !(descriptor->flags & AV_PIX_FMT_FLAG_BITSTREAM);
    const bool deep = luma->depth > 8 && luma->step == 2 && native_endian(descriptor) &&
                      (luma->shift == 0 || luma->shift + luma->depth == 16);
    return whole && (deep || (luma->depth == 8 && luma->step == 1 && luma->shift == 0));
}

bool gpume_luma_find(const AVFrame *frame, struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    const AVComponentDescriptor *luma = &descriptor->comp[0];
    if (!frame->buf[0] || !has_luma(descriptor) || !is_same_layout(descriptor) ||
        luma->depth != 8 || plane->bits != 8 || (uint32_t)frame->width != plane->width ||
        (uint32_t)frame->height != plane->height) {
        return false;
    }
    plane->data = frame->data[luma->plane];
    plane->stride = frame->linesize[luma->plane];
    return true;
}

static void copy_rows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct rows *rows = opaque;
    const AVComponentDescriptor *luma = &rows->descriptor->comp[0];
    const ptrdiff_t stride = rows->frame->linesize[luma->plane];
    for (uint32_t y = begin; y < end; y++) {
        uint8_t *to = (uint8_t *)rows->plane->data + (ptrdiff_t)y * rows->plane->stride;
        const uint8_t *from = rows->frame->data[luma->plane] + (ptrdiff_t)y * stride;
        if (luma->depth == 8) {
            memcpy(to, from, rows->plane->width);
        } else {
            copy_deep_row((uint16_t *)(void *)to, (const uint16_t *)(const void *)from,
                rows->plane->width, luma);
        }
    }
}

static void extract_row(const struct rows *rows, uint32_t y)
{
    const AVComponentDescriptor *luma = &rows->descriptor->comp[0];
    const uint32_t width = rows->plane->width;
    uint8_t *to = (uint8_t *)rows->plane->data + (ptrdiff_t)y * rows->plane->stride;
    uint16_t *samples = luma->depth > 8 ? (uint16_t *)(void *)to : rows->row;
    av_read_image_line2(samples, (const uint8_t **)(void *)(uintptr_t)rows->frame->data,
        rows->frame->linesize, rows->descriptor, 0, (int)y, 0, (int)width, 0, sizeof *samples);
    for (uint32_t x = 0; luma->depth == 8 && x < width; x++) {
        to[x] = (uint8_t)samples[x];
    }
}

static int move_luma(struct gpume_luma *luma, const AVFrame *frame, const struct gpume_plane *plane)
{
    struct rows rows = {frame, av_pix_fmt_desc_get(frame->format), plane, NULL};
    if (is_same_layout(rows.descriptor)) {
        const size_t row_bytes = (size_t)plane->width * (plane->bits > 8 ? 2 : 1);
        gpume_bands_run(&luma->bands, plane->height, row_bytes, copy_rows, &rows);
        return GPUME_OK;
    }
    if (luma->row_samples < plane->width) {
        uint16_t *row = realloc(luma->row, plane->width * sizeof *row);
        if (!row) {
            return GPUME_NOMEM;
        }
        luma->row = row;
        luma->row_samples = plane->width;
    }
    rows.row = luma->row;
    for (uint32_t y = 0; y < plane->height; y++) {
        extract_row(&rows, y);
    }
    return GPUME_OK;
}

/* --- swscale */

/* Gives a picture that size and format; keeps its memory if they are unchanged. */
static int fit(AVFrame **pointer, uint32_t width, uint32_t height, enum AVPixelFormat format)
{
    AVFrame *picture = *pointer = *pointer ? *pointer : av_frame_alloc();
    if (!picture) {
        return GPUME_NOMEM;
    }
    if (picture->buf[0] && picture->width == (int)width && picture->height == (int)height &&
        picture->format == (int)format) {
        return GPUME_OK;
    }
    av_frame_unref(picture);
    picture->width = (int)width;
    picture->height = (int)height;
    picture->format = (int)format;
    return av_frame_get_buffer(picture, 0) < 0 ? GPUME_NOMEM : GPUME_OK;
}

/* The frame's matrix in swscale's numbering, or swscale's default if it is unknown. */
static int matrix_of(const AVFrame *frame)
{
    int space = (int)frame->colorspace;
    bool known = space >= 1 && space <= 10 && space != AVCOL_SPC_UNSPECIFIED && space != 8;
    return known ? space : SWS_CS_DEFAULT;
}

bool gpume_scaler_prepare(struct gpume_scaler *scaler, const AVFrame *frame, int width, int height,
    enum AVPixelFormat format, int flags)
{
    const int matrix = matrix_of(frame), full = gpume_luma_full_range(frame);
    const int wanted[8] = {
        frame->width, frame->height, frame->format, matrix, full, width, height, format};
    if (scaler->context && memcmp(wanted, scaler->made_for, sizeof wanted) == 0) {
        return true;
    }
    sws_freeContext(scaler->context);
    scaler->context = sws_getContext(
        frame->width, frame->height, frame->format, width, height, format, flags, NULL, NULL, NULL);
    if (!scaler->context) {
        return false;
    }
    const bool rgb = (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    (void)sws_setColorspaceDetails(scaler->context, sws_getCoefficients(matrix), full,
        sws_getCoefficients(rgb ? SWS_CS_DEFAULT : matrix), rgb || full, 0, 1 << 16, 1 << 16);
    memcpy(scaler->made_for, wanted, sizeof wanted);
    return true;
}

/* Scales the frame into scaler->out at the given size, as gray with so many bits. */
static int scale(struct gpume_scaler *scaler, const AVFrame *frame, uint32_t width, uint32_t height,
    uint32_t bits)
{
    int status = GPUME_OK;
    GPUME_TRY(fit(&scaler->out, width, height, gpume_luma_gray_format((int)bits)));
    AVFrame *out = scaler->out;
    if (!gpume_scaler_prepare(scaler, frame, out->width, out->height, out->format, SCALE_FLAGS)) {
        return GPUME_UNSUPPORTED;
    }
    int rows = sws_scale(scaler->context, (const uint8_t *const *)frame->data, frame->linesize, 0,
        frame->height, out->data, out->linesize);
    status = rows == out->height ? GPUME_OK : GPUME_UNSUPPORTED;
fail:
    return status;
}

static int resize(struct gpume_luma *luma, const AVFrame *gray, const struct gpume_plane *plane)
{
    int status = scale(&luma->resize, gray, plane->width, plane->height, plane->bits);
    return status == GPUME_OK ? move_luma(luma, luma->resize.out, plane) : status;
}

static struct gpume_plane plane_of(const AVFrame *gray)
{
    return (struct gpume_plane){
        .data = gray->data[0],
        .stride = gray->linesize[0],
        .width = (uint32_t)gray->width,
        .height = (uint32_t)gray->height,
        .bits = (uint32_t)depth_of(gray->format),
    };
}

int gpume_luma_write(struct gpume_luma *luma, const AVFrame *frame, const struct gpume_plane *plane)
{
    int status = GPUME_OK;
    uint32_t bits = gpume_luma_bits(frame);
    uint32_t width = (uint32_t)frame->width, height = (uint32_t)frame->height;
    bool same = width == plane->width && height == plane->height && bits == plane->bits;
    if (bits == 0) {
        return GPUME_UNSUPPORTED;
    }
    if (has_luma(av_pix_fmt_desc_get(frame->format))) {
        if (same) {
            return move_luma(luma, frame, plane);
        }
        GPUME_TRY(fit(&luma->plain, width, height, gpume_luma_gray_format((int)bits)));
        struct gpume_plane plain = plane_of(luma->plain);
        GPUME_TRY(move_luma(luma, frame, &plain));
        return resize(luma, luma->plain, plane);
    }
    GPUME_TRY(scale(&luma->gray, frame, width, height, bits));
    return same ? move_luma(luma, luma->gray.out, plane) : resize(luma, luma->gray.out, plane);
fail:
    return status;
}
