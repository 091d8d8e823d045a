/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of frames under one mutex, and swscale, which converts them. The library's frame pool
 * bounds the number of frames in the queue. A frame whose layout swscale cannot read is first split
 * into planes.
 */
#include "media/colour.h"
#include "base/status.h"
#include "media/hwaccel.h"
#include "media/luma.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavutil/fifo.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* The same values on every processor; chroma interpolated for every pixel, not every other one. */
#define RGB_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT)

#define ROW_ALIGN 64u /* bytes that swscale may write past the end of a row */

struct kept {
    uint64_t index;
    AVFrame *frame;
};

struct gpume_colour_frames {
    pthread_mutex_t mutex;
    AVFifo *queue; /* of struct kept; guarded by the mutex */
    uint64_t first;

    struct gpume_scaler scaler;
    struct gpume_plane rgb;
    uint64_t taken; /* index of the frame in rgb */
    bool any;       /* rgb holds a frame */
};

int gpume_colour_frames_create(struct gpume_colour_frames **result, uint64_t first)
{
    struct gpume_colour_frames *colour = calloc(1, sizeof *colour);
    AVFifo *queue = av_fifo_alloc2(8, sizeof(struct kept), AV_FIFO_FLAG_AUTO_GROW);
    if (!colour || !queue) {
        free(colour);
        av_fifo_freep2(&queue);
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&colour->mutex, NULL);
    colour->queue = queue;
    colour->first = first;
    *result = colour;
    return GPUME_OK;
}

/* Removes the frame from the queue and returns it; drops earlier frames. NULL: not found. */
static AVFrame *find(struct gpume_colour_frames *colour, uint64_t index)
{
    AVFrame *found = NULL;
    struct kept kept;
    pthread_mutex_lock(&colour->mutex);
    while (!found && av_fifo_peek(colour->queue, &kept, 1, 0) >= 0 && kept.index <= index) {
        av_fifo_drain2(colour->queue, 1);
        if (kept.index == index) {
            found = kept.frame;
        } else {
            av_frame_free(&kept.frame);
        }
    }
    pthread_mutex_unlock(&colour->mutex);
    return found;
}

void gpume_colour_frames_destroy(struct gpume_colour_frames **pointer)
{
    struct gpume_colour_frames *colour = *pointer;
    if (!colour) {
        return;
    }
    *pointer = NULL;
    AVFrame *last = find(colour, UINT64_MAX);
    av_frame_free(&last);
    av_fifo_freep2(&colour->queue);
    sws_freeContext(colour->scaler.context);
    av_free(colour->rgb.data);
    pthread_mutex_destroy(&colour->mutex);
    free(colour);
}

int gpume_colour_frames_keep(
    struct gpume_colour_frames *colour, uint64_t index, const AVFrame *frame)
{
    if (index < colour->first) {
        return GPUME_OK;
    }
    struct kept kept = {index, av_frame_clone(frame)};
    pthread_mutex_lock(&colour->mutex);
    const bool done = kept.frame && av_fifo_write(colour->queue, &kept, 1) >= 0;
    pthread_mutex_unlock(&colour->mutex);
    if (!done) {
        av_frame_free(&kept.frame);
    }
    return done ? GPUME_OK : GPUME_NOMEM;
}

/* --- conversion */

/* The planar format of the same subsampling and depth. */
static enum AVPixelFormat planar_format(const AVPixFmtDescriptor *descriptor)
{
    static const char *const spaces[3][2] = {
        {"yuv444p", NULL}, {"yuv422p", "yuv420p"}, {"yuv411p", "yuv410p"}};
    int x = descriptor->log2_chroma_w, y = descriptor->log2_chroma_h;
    int depth = descriptor->comp[0].depth;
    const char *space = x < 3 && y < 2 ? spaces[x][y] : NULL;
    char name[32];
    if (!space || descriptor->nb_components < 3) {
        return AV_PIX_FMT_NONE;
    }
    snprintf(name, sizeof name, depth > 8 ? "%s%dle" : "%s", space, depth);
    return av_get_pix_fmt(name);
}

static int fit(struct gpume_colour_frames *colour, uint32_t width, uint32_t height)
{
    struct gpume_plane *rgb = &colour->rgb;
    if (rgb->data && rgb->width == width && rgb->height == height) {
        return GPUME_OK;
    }
    size_t stride = (3 * (size_t)width + 2 * ROW_ALIGN - 1) & ~(size_t)(ROW_ALIGN - 1);
    av_free(rgb->data);
    *rgb = (struct gpume_plane){
        .data = av_malloc(stride * height),
        .stride = (ptrdiff_t)stride,
        .width = width,
        .height = height,
        .bits = 8,
    };
    return rgb->data ? GPUME_OK : GPUME_NOMEM;
}

static int convert(struct gpume_colour_frames *colour, const AVFrame *frame)
{
    const struct gpume_plane *rgb = &colour->rgb;
    if (!gpume_scaler_prepare(&colour->scaler, frame, (int)rgb->width, (int)rgb->height,
            AV_PIX_FMT_RGB24, RGB_FLAGS)) {
        return GPUME_UNSUPPORTED;
    }
    uint8_t *const data[4] = {rgb->data};
    const int strides[4] = {(int)rgb->stride};
    int rows = sws_scale(colour->scaler.context, (const uint8_t *const *)frame->data,
        frame->linesize, 0, frame->height, data, strides);
    return rows == (int)rgb->height ? GPUME_OK : GPUME_UNSUPPORTED;
}

int gpume_colour_frames_take(struct gpume_colour_frames *colour, uint64_t index, uint32_t width,
    uint32_t height, struct gpume_plane *rgb)
{
    int status = GPUME_OK;
    if (!rgb) {
        AVFrame *before = index > 0 ? find(colour, index - 1) : NULL;
        av_frame_free(&before);
        return GPUME_OK;
    }
    if (colour->any && index == colour->taken) {
        *rgb = colour->rgb;
        return GPUME_OK;
    }
    AVFrame *frame = find(colour, index);
    if (!frame) {
        return GPUME_INVALID;
    }
    if (!sws_isSupportedInput(frame->format)) {
        const enum AVPixelFormat planar = planar_format(av_pix_fmt_desc_get(frame->format));
        GPUME_TRY(
            planar == AV_PIX_FMT_NONE ? GPUME_UNSUPPORTED : gpume_hwframe_move(frame, planar));
    }
    colour->any = false;
    GPUME_TRY(fit(colour, width, height));
    GPUME_TRY(convert(colour, frame));
    colour->any = true;
    colour->taken = index;
    *rgb = colour->rgb;
fail:
    av_frame_free(&frame);
    return status;
}
