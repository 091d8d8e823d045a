/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices use formats that software decoders do not: NV12 for yuv420p, P010 with its samples in the
 * upper bits for yuv420p10, and P016 for every depth above 10, so that luma seems deeper than the
 * stream's. Decoders also leave it to the caller to crop the left and upper margin of such frames.
 */
#include "media/hwframe.h"
#include "base/status.h"
#include "media/segments/buffers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>

#define MODEL_STRIDE 4096 /* aligned at least as well as the strides of any decoder */

/* How many columns a software decoder crops at the left: only as many as keep the planes aligned,
 * which depends on their layout. A dummy picture makes libavutil compute it. */
static int software_left(const AVFrame *frame, enum AVPixelFormat software, size_t *left)
{
    AVFrame *model = av_frame_alloc();
    if (!model) {
        return GPUME_NOMEM;
    }
    model->format = software;
    model->width = frame->width;
    model->height = frame->height;
    model->crop_left = frame->crop_left;
    model->crop_top = frame->crop_top;
    for (int i = 0; i < av_pix_fmt_count_planes(software); i++) {
        model->data[i] = frame->data[0];
        model->linesize[i] = MODEL_STRIDE;
    }
    int error = av_frame_apply_cropping(model, 0);
    *left = (size_t)(frame->width - model->width);
    av_frame_free(&model);
    return error < 0 ? GPUME_UNSUPPORTED : GPUME_OK;
}

static int crop_margins(AVFrame *frame, enum AVPixelFormat software)
{
    int status = GPUME_OK;
    if (frame->crop_left > 0 || frame->crop_top > 0) {
        size_t left = 0;
        GPUME_TRY(software_left(frame, software, &left));
        frame->crop_left = left;
        GPUME_TRY(av_frame_apply_cropping(frame, AV_FRAME_CROP_UNALIGNED) < 0 ? GPUME_UNSUPPORTED
                                                                              : GPUME_OK);
    }
fail:
    return status;
}

/* Can samples be moved from one to the other, component by component, without computing any? */
static bool movable(const AVPixFmtDescriptor *from, const AVPixFmtDescriptor *to)
{
    const uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    bool movable =
        ((from->flags | to->flags) & other) == 0 && (to->flags & AV_PIX_FMT_FLAG_BE) == 0 &&
        from->nb_components >= to->nb_components &&
        (to->nb_components < 3 ||
            (from->log2_chroma_w == to->log2_chroma_w && from->log2_chroma_h == to->log2_chroma_h));
    for (int c = 0; c < to->nb_components && movable; c++) {
        const AVComponentDescriptor *sample = &to->comp[c];
        movable = sample->plane == c && sample->shift == 0 && sample->offset == 0 &&
                  sample->step == (sample->depth > 8 ? 2 : 1) &&
                  from->comp[c].depth >= sample->depth;
    }
    return movable;
}

/* Moves component c; a deeper source holds its samples in the upper bits. */
static void move_component(const AVFrame *from, AVFrame *to, int c, uint16_t *row)
{
    const AVPixFmtDescriptor *source = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *target = av_pix_fmt_desc_get(to->format);
    const int spare = source->comp[c].depth - target->comp[c].depth;
    const bool chroma = c == 1 || c == 2;
    const int width = chroma ? AV_CEIL_RSHIFT(to->width, target->log2_chroma_w) : to->width;
    const int height = chroma ? AV_CEIL_RSHIFT(to->height, target->log2_chroma_h) : to->height;
    for (int y = 0; y < height; y++) {
        uint8_t *data = to->data[c] + (ptrdiff_t)y * to->linesize[c];
        uint16_t *deep = (uint16_t *)(void *)data;
        av_read_image_line2(row, (const uint8_t **)(void *)(uintptr_t)from->data, from->linesize,
            source, 0, y, c, width, 0, sizeof *row);
        for (int x = 0; x < width; x++) {
            if (target->comp[c].depth > 8) {
                deep[x] = (uint16_t)(row[x] >> spare);
            } else {
                data[x] = (uint8_t)(row[x] >> spare);
            }
        }
    }
}

int gpume_hwframe_move(AVFrame *frame, enum AVPixelFormat planar)
{
    int status = GPUME_OK;
    const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(planar);
    uint16_t *row = malloc((size_t)frame->width * sizeof *row);
    AVFrame *moved = av_frame_alloc();
    GPUME_TRY(row && moved ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(movable(av_pix_fmt_desc_get(frame->format), to) ? GPUME_OK : GPUME_UNSUPPORTED);
    moved->format = planar;
    moved->width = frame->width;
    moved->height = frame->height;
    GPUME_TRY(av_frame_get_buffer(moved, 0) < 0 || av_frame_copy_props(moved, frame) < 0
                  ? GPUME_NOMEM
                  : GPUME_OK);
    for (int c = 0; c < to->nb_components; c++) {
        move_component(frame, moved, c, row);
    }
    av_frame_unref(frame);
    av_frame_move_ref(frame, moved);
fail:
    av_frame_free(&moved);
    free(row);
    return status;
}

int gpume_hwframe_settle(AVFrame *frame, enum AVPixelFormat software, bool whole)
{
    int status = GPUME_OK;
    const AVPixFmtDescriptor *is = av_pix_fmt_desc_get(frame->format);
    const AVPixFmtDescriptor *wanted = av_pix_fmt_desc_get(software);
    GPUME_TRY(is && wanted ? GPUME_OK : GPUME_UNSUPPORTED);
    GPUME_TRY(crop_margins(frame, software));
    if (strncmp(wanted->name, "yuvj", 4) == 0) {
        frame->color_range = AVCOL_RANGE_JPEG; /* the device's format does not imply it */
    }
    if (is != wanted && (whole || is->comp[0].depth != wanted->comp[0].depth)) {
        GPUME_TRY(gpume_hwframe_move(frame, software));
    }
fail:
    return status;
}

/* Prepares a frame in memory for what is on the device. False: libavutil is to do it. */
static bool prepare_copy(AVFrame *copy, const AVHWFramesContext *frames, AVCodecContext *codec,
    struct gpume_buffers *buffers)
{
    copy->format = frames->sw_format;
    copy->width = frames->width;
    copy->height = frames->height;
    return buffers && gpume_buffers_take(buffers, codec, copy) == GPUME_OK;
}

static int transfer(
    AVFrame *copy, const AVFrame *frame, AVCodecContext *codec, struct gpume_buffers *buffers)
{
    const AVHWFramesContext *frames = (const void *)frame->hw_frames_ctx->data;
    const bool prepared = prepare_copy(copy, frames, codec, buffers);
    if (!prepared || av_hwframe_transfer_data(copy, frame, 0) < 0) {
        av_frame_unref(copy);
        return av_hwframe_transfer_data(copy, frame, 0) < 0 ? GPUME_DEVICE : GPUME_OK;
    }
    copy->width = frame->width; /* the visible part */
    copy->height = frame->height;
    return GPUME_OK;
}

int gpume_hwframe_download(
    AVFrame *frame, AVCodecContext *codec, struct gpume_buffers *buffers, bool whole)
{
    int status = GPUME_OK;
    AVFrame *copy = av_frame_alloc();
    GPUME_TRY(copy ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(transfer(copy, frame, codec, buffers));
    GPUME_TRY(av_frame_copy_props(copy, frame) < 0 ? GPUME_NOMEM : GPUME_OK);
    GPUME_TRY(gpume_hwframe_settle(copy, codec->sw_pix_fmt, whole));
    av_frame_unref(frame);
    av_frame_move_ref(frame, copy);
fail:
    av_frame_free(&copy);
    return status;
}
