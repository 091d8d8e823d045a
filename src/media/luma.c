/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YUV and gray samples are moved, never computed: rows are copied if the layout is the
 * destination's, else av_read_image_line2 extracts them from packed, shifted or foreign-endian
 * layouts. All other formats are converted by swscale, with flags that give the same values on
 * every processor, into an intermediate picture, because swscale may write past the width of a row.
 */
#include "media/luma.h"

#include "base/base.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/fifo.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* The same values on every processor; colours with chroma interpolated for every pixel, not every
 * other one. */
#define SCALE_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT)
#define RGB_FLAGS (SCALE_FLAGS | SWS_FULL_CHR_H_INT)
#define ROW_ALIGN 64u /* bytes that swscale may write past the end of a row */

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

/* Whether the first component is luma, in samples of 8 to 16 bits. */
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
    const enum AVPixelFormat gray = gpume_luma_gray_format(deepest(descriptor));
    return (uint32_t)av_pix_fmt_desc_get(gray)->comp[0].depth;
}

bool gpume_luma_is_interlaced(const AVFrame *frame)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame != 0;
#endif
}

bool gpume_luma_is_top_first(const AVFrame *frame)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
    return frame->top_field_first != 0;
#endif
}

void gpume_luma_set_interlaced(AVFrame *frame, bool interlaced, bool top_first)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    frame->flags |= interlaced ? AV_FRAME_FLAG_INTERLACED : 0;
    frame->flags |= top_first ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0;
#else
    frame->interlaced_frame = interlaced;
    frame->top_field_first = top_first;
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

struct luma_rows {
    const AVFrame *frame;
    const AVPixFmtDescriptor *descriptor;
    int component; /* 0 luma, 1 and 2 chroma */
    const struct gpume_plane *plane;
    uint16_t *row; /* of any layout that is not the destination's */
};

/* Whether rows are copied, sample by sample. */
static bool is_same_layout(const AVPixFmtDescriptor *descriptor, int component)
{
    const AVComponentDescriptor *luma = &descriptor->comp[component];
    const bool whole = luma->offset == 0 && !(descriptor->flags & AV_PIX_FMT_FLAG_BITSTREAM);
    const bool native = (descriptor->flags & AV_PIX_FMT_FLAG_BE) == AV_NE(AV_PIX_FMT_FLAG_BE, 0);
    const bool deep = luma->depth > 8 && luma->step == 2 && native &&
                      (luma->shift == 0 || luma->shift + luma->depth == 16);
    return whole && (deep || (luma->depth == 8 && luma->step == 1 && luma->shift == 0));
}

bool gpume_luma_find(const AVFrame *frame, struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    const AVComponentDescriptor *luma = &descriptor->comp[0];
    if (!frame->buf[0] || !has_luma(descriptor) || !is_same_layout(descriptor, 0) ||
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
    const struct luma_rows *rows = opaque;
    const AVComponentDescriptor *luma = &rows->descriptor->comp[rows->component];
    const ptrdiff_t stride = rows->frame->linesize[luma->plane];
    for (uint32_t y = begin; y < end; y++) {
        uint8_t *to = gpume_plane_row(rows->plane, y);
        const uint8_t *from = rows->frame->data[luma->plane] + (ptrdiff_t)y * stride;
        if (luma->depth == 8) {
            memcpy(to, from, rows->plane->width);
        } else {
            copy_deep_row((uint16_t *)(void *)to, (const uint16_t *)(const void *)from,
                rows->plane->width, luma);
        }
    }
}

static void extract_row(const struct luma_rows *rows, uint32_t y)
{
    const AVComponentDescriptor *luma = &rows->descriptor->comp[rows->component];
    const uint32_t width = rows->plane->width;
    uint8_t *to = gpume_plane_row(rows->plane, y);
    uint16_t *samples = luma->depth > 8 ? (uint16_t *)(void *)to : rows->row;
    av_read_image_line2(samples, (const uint8_t **)(void *)(uintptr_t)rows->frame->data,
        rows->frame->linesize, rows->descriptor, 0, (int)y, rows->component, (int)width, 0,
        sizeof *samples);
    for (uint32_t x = 0; luma->depth == 8 && x < width; x++) {
        to[x] = (uint8_t)samples[x];
    }
}

static int copy_component(
    struct gpume_luma *luma, const AVFrame *frame, int component, const struct gpume_plane *plane)
{
    struct luma_rows rows = {frame, av_pix_fmt_desc_get(frame->format), component, plane, NULL};
    if (is_same_layout(rows.descriptor, component)) {
        const size_t row_bytes = gpume_plane_row_bytes(plane);
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
static int fit_picture(
    AVFrame **pointer, uint32_t width, uint32_t height, enum AVPixelFormat format)
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

/* Makes scaler->context convert the frame, by its own matrix and range, to the given size and
 * format. False: swscale cannot. */
static bool prepare_scaler(struct gpume_scaler *scaler, const AVFrame *frame, int width, int height,
    enum AVPixelFormat format, int flags)
{
    /* in swscale's numbering, and its default if it is unknown */
    const int space = (int)frame->colorspace, full = gpume_luma_full_range(frame);
    const bool known = space >= 1 && space <= 10 && space != AVCOL_SPC_UNSPECIFIED && space != 8;
    const int matrix = known ? space : SWS_CS_DEFAULT;
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

/* Scales the frame into scaler->out, as gray with this size and depth. */
static int scale(struct gpume_scaler *scaler, const AVFrame *frame, uint32_t width, uint32_t height,
    uint32_t bits)
{
    GPUME_CHECK(fit_picture(&scaler->out, width, height, gpume_luma_gray_format((int)bits)));
    AVFrame *out = scaler->out;
    return prepare_scaler(scaler, frame, out->width, out->height, out->format, SCALE_FLAGS) &&
                   sws_scale(scaler->context, (const uint8_t *const *)frame->data, frame->linesize,
                       0, frame->height, out->data, out->linesize) == out->height
               ? GPUME_OK
               : GPUME_UNSUPPORTED;
}

static int resize(struct gpume_luma *luma, const AVFrame *gray, const struct gpume_plane *plane)
{
    GPUME_CHECK(scale(&luma->resize, gray, plane->width, plane->height, plane->bits));
    return copy_component(luma, luma->resize.out, 0, plane);
}

/* Moves a component, which has this size and depth, and resizes it if the plane has others. */
static int write_component(struct gpume_luma *luma, const AVFrame *frame, int component,
    uint32_t width, uint32_t height, const struct gpume_plane *plane)
{
    const uint32_t bits = (uint32_t)av_pix_fmt_desc_get(frame->format)->comp[component].depth;
    if (width == plane->width && height == plane->height && bits == plane->bits) {
        return copy_component(luma, frame, component, plane);
    }
    GPUME_CHECK(fit_picture(&luma->plain, width, height, gpume_luma_gray_format((int)bits)));
    const struct gpume_plane plain = {
        .data = luma->plain->data[0],
        .stride = luma->plain->linesize[0],
        .width = width,
        .height = height,
        .bits = bits,
    };
    GPUME_CHECK(copy_component(luma, frame, component, &plain));
    return resize(luma, luma->plain, plane);
}

int gpume_luma_write(struct gpume_luma *luma, const AVFrame *frame, const struct gpume_plane *plane)
{
    const uint32_t bits = gpume_luma_bits(frame);
    const uint32_t width = (uint32_t)frame->width, height = (uint32_t)frame->height;
    if (bits == 0) {
        return GPUME_UNSUPPORTED;
    }
    if (!has_luma(av_pix_fmt_desc_get(frame->format))) {
        GPUME_CHECK(scale(&luma->gray, frame, width, height, bits));
        frame = luma->gray.out;
    }
    return write_component(luma, frame, 0, width, height, plane);
}

static void fill_neutral(const struct gpume_plane *plane)
{
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = gpume_plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            if (plane->bits == 8) {
                row[x] = 128;
            } else {
                ((uint16_t *)(void *)row)[x] = (uint16_t)(1u << (plane->bits - 1));
            }
        }
    }
}

/* Writes chroma, 1 or 2, into a plane. That of a gray frame is neutral. GPUME_UNSUPPORTED: a format
 * that is converted to gray; not logged. */
static int luma_write_chroma(
    struct gpume_luma *luma, const AVFrame *frame, int component, const struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(frame->format);
    if (!descriptor || !has_luma(descriptor)) {
        return GPUME_UNSUPPORTED;
    }
    if (descriptor->nb_components < 3) {
        fill_neutral(plane);
        return GPUME_OK;
    }
    return write_component(luma, frame, component,
        (uint32_t)AV_CEIL_RSHIFT(frame->width, descriptor->log2_chroma_w),
        (uint32_t)AV_CEIL_RSHIFT(frame->height, descriptor->log2_chroma_h), plane);
}

/* --- colours */

/* A queue of frames under one mutex, and swscale, which converts them. The library's frame pool
 * bounds the number of frames in the queue. A frame whose layout swscale cannot read is first split
 * into planes. */

struct kept_frame {
    uint64_t index;
    AVFrame *frame;
};

struct gpume_colour_frames {
    pthread_mutex_t mutex;
    AVFifo *queue; /* of struct kept_frame; guarded by the mutex */
    uint64_t first;

    struct gpume_luma chroma; /* what writes it */
    struct gpume_scaler scaler;
    struct gpume_plane rgb;
    uint64_t taken; /* index of the frame in rgb */
    bool any;       /* rgb holds a frame */
};

int gpume_colour_frames_create(struct gpume_colour_frames **result, uint64_t first)
{
    struct gpume_colour_frames *colour = calloc(1, sizeof *colour);
    AVFifo *queue = av_fifo_alloc2(8, sizeof(struct kept_frame), AV_FIFO_FLAG_AUTO_GROW);
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
static AVFrame *take_kept(struct gpume_colour_frames *colour, uint64_t index)
{
    AVFrame *found = NULL;
    struct kept_frame kept;
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
    AVFrame *last = take_kept(colour, UINT64_MAX);
    av_frame_free(&last);
    av_fifo_freep2(&colour->queue);
    sws_freeContext(colour->scaler.context);
    gpume_luma_close(&colour->chroma);
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
    struct kept_frame kept = {index, av_frame_clone(frame)};
    pthread_mutex_lock(&colour->mutex);
    const bool done = kept.frame && av_fifo_write(colour->queue, &kept, 1) >= 0;
    pthread_mutex_unlock(&colour->mutex);
    if (!done) {
        av_frame_free(&kept.frame);
    }
    return done ? GPUME_OK : GPUME_NOMEM;
}

/* The planar format of a subsampling and a depth, or NONE. */
static enum AVPixelFormat planar_format(int x, int y, int depth)
{
    static const char *const spaces[3][2] = {
        {"yuv444p", NULL}, {"yuv422p", "yuv420p"}, {"yuv411p", "yuv410p"}};
    const char *space = x < 3 && y < 2 ? spaces[x][y] : NULL;
    char name[32];
    if (!space) {
        return AV_PIX_FMT_NONE;
    }
    snprintf(name, sizeof name, depth > 8 ? "%s%dle" : "%s", space, depth);
    return av_get_pix_fmt(name);
}

enum AVPixelFormat gpume_luma_yuv_format(uint32_t chroma_x, uint32_t chroma_y, uint32_t bits)
{
    return planar_format((int)chroma_x, (int)chroma_y, (int)bits);
}

/* Whether samples can be moved from one to the other, component by component, without computing
 * any.
 */
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

int gpume_frame_to_planar(AVFrame *frame, enum AVPixelFormat planar)
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

static int fit_rgb(struct gpume_colour_frames *colour, uint32_t width, uint32_t height)
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

static int convert_to_rgb(struct gpume_colour_frames *colour, const AVFrame *frame)
{
    const struct gpume_plane *rgb = &colour->rgb;
    if (!prepare_scaler(&colour->scaler, frame, (int)rgb->width, (int)rgb->height, AV_PIX_FMT_RGB24,
            RGB_FLAGS)) {
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
        AVFrame *before = index > 0 ? take_kept(colour, index - 1) : NULL;
        av_frame_free(&before);
        return GPUME_OK;
    }
    if (colour->any && index == colour->taken) {
        *rgb = colour->rgb;
        return GPUME_OK;
    }
    AVFrame *frame = take_kept(colour, index);
    if (!frame) {
        return GPUME_INVALID;
    }
    if (!sws_isSupportedInput(frame->format)) {
        const AVPixFmtDescriptor *is = av_pix_fmt_desc_get(frame->format);
        const enum AVPixelFormat planar =
            is->nb_components < 3
                ? AV_PIX_FMT_NONE
                : planar_format(is->log2_chroma_w, is->log2_chroma_h, is->comp[0].depth);
        GPUME_TRY(
            planar == AV_PIX_FMT_NONE ? GPUME_UNSUPPORTED : gpume_frame_to_planar(frame, planar));
    }
    colour->any = false;
    GPUME_TRY(fit_rgb(colour, width, height));
    GPUME_TRY(convert_to_rgb(colour, frame));
    colour->any = true;
    colour->taken = index;
    *rgb = colour->rgb;
fail:
    av_frame_free(&frame);
    return status;
}

int gpume_colour_frames_take_chroma(
    struct gpume_colour_frames *colour, uint64_t index, const struct gpume_plane *planes)
{
    AVFrame *frame = take_kept(colour, index);
    int status = frame ? GPUME_OK : GPUME_INVALID;
    for (int i = 0; i < 2 && status == GPUME_OK; i++) {
        status = luma_write_chroma(&colour->chroma, frame, i + 1, &planes[i]);
    }
    av_frame_free(&frame);
    return status;
}
