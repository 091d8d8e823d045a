/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of frames under one mutex, and swscale, which converts them. The number of waiting frames
 * is bounded by the pool of the library. A frame whose layout swscale cannot read is first split
 * into planes. Called through source_lavf.c.
 */
#include "media/colour.h"
#include "base/status.h"
#include "media/luma.h"
#include "media/source_y4m.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* The same values on every processor; chroma at every pixel rather than at every other. */
#define RGB_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT)

#define ROW_ALIGN 64u /* bytes that swscale may write past the end of a row */

struct kept {
    struct kept *next;
    uint64_t index;
    AVFrame *frame;
    int64_t at; /* in a Y4M file, in place of samples */
};

struct gpume_colour {
    pthread_mutex_t mutex;
    struct kept *oldest, *newest; /* guarded by the mutex */
    uint64_t first;

    struct SwsContext *context;
    int matrix;
    bool full_range;
    AVFrame *planes; /* a frame taken apart */
    uint8_t *bytes;  /* of a Y4M frame */
    struct gpume_plane rgb;
    uint64_t taken; /* what rgb holds */
    bool any;
};

static void drop(struct kept *kept)
{
    av_frame_free(&kept->frame);
    free(kept);
}

int gpume_colour_create(struct gpume_colour **result, uint64_t first)
{
    struct gpume_colour *colour = calloc(1, sizeof *colour);
    if (!colour) {
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&colour->mutex, NULL);
    colour->first = first;
    colour->planes = av_frame_alloc();
    if (!colour->planes) {
        gpume_colour_destroy(&colour);
        return GPUME_NOMEM;
    }
    *result = colour;
    return GPUME_OK;
}

void gpume_colour_destroy(struct gpume_colour **pointer)
{
    struct gpume_colour *colour = *pointer;
    if (!colour) {
        return;
    }
    *pointer = NULL;
    while (colour->oldest) {
        struct kept *kept = colour->oldest;
        colour->oldest = kept->next;
        drop(kept);
    }
    sws_freeContext(colour->context);
    av_frame_free(&colour->planes);
    av_free(colour->bytes);
    av_free(colour->rgb.data);
    pthread_mutex_destroy(&colour->mutex);
    free(colour);
}

/* --- the queue */

static int append(struct gpume_colour *colour, uint64_t index, const AVFrame *frame, int64_t at)
{
    if (index < colour->first) {
        return GPUME_OK;
    }
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept) {
        return GPUME_NOMEM;
    }
    kept->index = index;
    kept->at = at;
    kept->frame = frame ? av_frame_clone(frame) : av_frame_alloc();
    if (!kept->frame) {
        free(kept);
        return GPUME_NOMEM;
    }
    pthread_mutex_lock(&colour->mutex);
    *(colour->newest ? &colour->newest->next : &colour->oldest) = kept;
    colour->newest = kept;
    pthread_mutex_unlock(&colour->mutex);
    return GPUME_OK;
}

int gpume_colour_keep(struct gpume_colour *colour, uint64_t index, const AVFrame *frame)
{
    return append(colour, index, frame, 0);
}

int gpume_colour_keep_y4m(
    struct gpume_colour *colour, uint64_t index, const struct gpume_source_y4m *y4m)
{
    return append(colour, index, NULL, gpume_source_y4m_place(y4m));
}

/* Removes the frame from the queue and returns it, and drops those before it. NULL: not found. */
static struct kept *find(struct gpume_colour *colour, uint64_t index)
{
    struct kept *gone = NULL, *found = NULL;
    pthread_mutex_lock(&colour->mutex);
    while (colour->oldest && colour->oldest->index <= index) {
        struct kept *kept = colour->oldest;
        colour->oldest = kept->next;
        if (kept->index == index) {
            found = kept;
        } else {
            kept->next = gone;
            gone = kept;
        }
    }
    colour->newest = colour->oldest ? colour->newest : NULL;
    pthread_mutex_unlock(&colour->mutex);
    while (gone) {
        struct kept *kept = gone;
        gone = kept->next;
        drop(kept);
    }
    return found;
}

/* --- a frame's samples */

/* Wraps the bytes of a Y4M frame in the frame that FFmpeg would make of so large a file. */
static int load_y4m(
    struct gpume_colour *colour, struct gpume_source_y4m *y4m, const struct kept *kept)
{
    const struct gpume_y4m_header *header = gpume_source_y4m_header(y4m, kept->index);
    AVFrame *frame = kept->frame;
    av_free(colour->bytes);
    colour->bytes = av_malloc(gpume_y4m_frame_bytes(header) + ROW_ALIGN);
    if (!colour->bytes) {
        return GPUME_NOMEM;
    }
    uint64_t row = header->width * (header->bits > 8 ? 2 : 1);
    uint64_t mask_x = (UINT64_C(1) << header->shift_x) - 1;
    uint64_t mask_y = (UINT64_C(1) << header->shift_y) - 1;
    uint64_t row_c = ((header->width + mask_x) >> header->shift_x) * (header->bits > 8 ? 2 : 1);
    uint64_t rows_c = (header->height + mask_y) >> header->shift_y;
    frame->format = av_get_pix_fmt(header->pixel_format);
    frame->width = (int)header->width;
    frame->height = (int)header->height;
    frame->color_range = header->full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    frame->data[0] = colour->bytes;
    frame->linesize[0] = (int)row;
    for (uint32_t i = 1; i <= header->others; i++) {
        bool whole = i == 3; /* alpha */
        frame->data[i] = frame->data[i - 1] + (i == 1 ? row * header->height : row_c * rows_c);
        frame->linesize[i] = (int)(whole ? row : row_c);
    }
    return gpume_source_y4m_load(y4m, kept->index, kept->at, colour->bytes);
}

/* Planes of the same subsampling and depth. */
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
    if (depth > 8) {
        snprintf(name, sizeof name, "%s%dle", space, depth);
    } else {
        snprintf(name, sizeof name, "%s", space);
    }
    return av_get_pix_fmt(name);
}

/* Splits a frame whose layout swscale does not know into planes. */
static int split(struct gpume_colour *colour, const AVFrame *frame)
{
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(frame->format);
    enum AVPixelFormat format = from ? planar_format(from) : AV_PIX_FMT_NONE;
    AVFrame *planes = colour->planes;
    av_frame_unref(planes);
    if (format == AV_PIX_FMT_NONE || (from->flags & AV_PIX_FMT_FLAG_HWACCEL)) {
        return GPUME_UNSUPPORTED;
    }
    const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(format);
    planes->format = format;
    planes->width = frame->width;
    planes->height = frame->height;
    uint16_t *row = av_malloc_array((size_t)frame->width, sizeof *row);
    if (!row || av_frame_get_buffer(planes, 0) < 0 || av_frame_copy_props(planes, frame) < 0) {
        av_free(row);
        return GPUME_NOMEM;
    }
    for (int i = 0; i < AV_NUM_DATA_POINTERS && planes->buf[i]; i++) {
        memset(planes->buf[i]->data, 0, planes->buf[i]->size); /* writing a line only sets bits */
    }
    for (int c = 0; c < 3; c++) {
        int width = c ? AV_CEIL_RSHIFT(frame->width, to->log2_chroma_w) : frame->width;
        int height = c ? AV_CEIL_RSHIFT(frame->height, to->log2_chroma_h) : frame->height;
        for (int y = 0; y < height; y++) {
            av_read_image_line2(row, (const uint8_t **)(void *)(uintptr_t)frame->data,
                frame->linesize, from, 0, y, c, width, 0, sizeof *row);
            av_write_image_line2(
                row, planes->data, planes->linesize, to, 0, y, c, width, sizeof *row);
        }
    }
    av_free(row);
    return GPUME_OK;
}

/* --- conversion */

static int fit(struct gpume_colour *colour, uint32_t width, uint32_t height)
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

static int convert(struct gpume_colour *colour, const AVFrame *frame)
{
    const struct gpume_plane *rgb = &colour->rgb;
    const int matrix = gpume_luma_matrix(frame);
    const bool full = gpume_luma_full_range(frame);
    const struct SwsContext *before = colour->context;
    colour->context =
        sws_getCachedContext(colour->context, frame->width, frame->height, frame->format,
            (int)rgb->width, (int)rgb->height, AV_PIX_FMT_RGB24, RGB_FLAGS, NULL, NULL, NULL);
    if (!colour->context) {
        return GPUME_UNSUPPORTED;
    }
    if (colour->context != before || matrix != colour->matrix || full != colour->full_range) {
        (void)sws_setColorspaceDetails(colour->context, sws_getCoefficients(matrix), full,
            sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
        colour->matrix = matrix;
        colour->full_range = full;
    }
    uint8_t *const data[4] = {rgb->data};
    const int strides[4] = {(int)rgb->stride};
    int rows = sws_scale(colour->context, (const uint8_t *const *)frame->data, frame->linesize, 0,
        frame->height, data, strides);
    return rows == (int)rgb->height ? GPUME_OK : GPUME_UNSUPPORTED;
}

int gpume_colour_take(struct gpume_colour *colour, uint64_t index, struct gpume_source_y4m *y4m,
    uint32_t width, uint32_t height, struct gpume_plane *rgb)
{
    int status = GPUME_OK;
    if (colour->any && index == colour->taken) {
        *rgb = colour->rgb;
        return GPUME_OK;
    }
    struct kept *kept = find(colour, index);
    if (!kept) {
        return GPUME_INVALID;
    }
    const AVFrame *frame = kept->frame;
    if (y4m) {
        GPUME_TRY(load_y4m(colour, y4m, kept));
    }
    if (!sws_isSupportedInput(frame->format)) {
        GPUME_TRY(split(colour, frame));
        frame = colour->planes;
    }
    colour->any = false;
    GPUME_TRY(fit(colour, width, height));
    GPUME_TRY(convert(colour, frame));
    colour->any = true;
    colour->taken = index;
    *rgb = colour->rgb;
fail:
    drop(kept);
    return status;
}
