/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume's vectors in FFmpeg's frames: attaches a field to its frame as
 * AV_FRAME_DATA_MOTION_VECTORS, the side data that decoders with export_mvs and the filter
 * mestimate produce, and that codecview and other consumers read.
 *
 *     gpume_receive(ctx, &field, 0);
 *     gpume_avframe_attach(frame, field, &params);     frame: the AVFrame of field->frame
 *     gpume_field_release(&field);                     the frame has a copy
 *
 * Everything is in this header: libgpume does not link FFmpeg. A program that includes it links
 * libavutil. C11 and C++11.
 *
 * A block becomes one AVMotionVector (libavutil/motion_vector.h): dst is the block's centre, or the
 * pixel below and to the right of the middle where a side is odd; src = dst + (dx,dy);
 * motion = (dx,dy) with motion_scale = 1; source is -1 if the reference is an earlier frame and 1
 * if it is a later one; flags are 0.
 *
 * Threads: both functions are [free], as in gpume.h; one thread at a time may use the AVFrame.
 */
#ifndef GPUME_AVFRAME_H
#define GPUME_AVFRAME_H

#include "gpume/gpume.h"

#ifdef __cplusplus
extern "C" {
#endif

#include <libavutil/buffer.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/motion_vector.h>

#include <string.h>

/* [free] Converts the field's block at (column,row) of its grid. */
static inline void gpume_avframe_vector(AVMotionVector *vector, const struct gpume_field *field,
    const struct gpume_params *params, uint32_t column, uint32_t row)
{
    const uint32_t x = column * params->block, y = row * params->block;
    const uint32_t right = params->width - x, below = params->height - y;
    const struct gpume_vector found = field->vectors[(size_t)row * field->blocks_x + column];
    memset(vector, 0, sizeof(*vector));
    vector->source = field->ref > field->frame ? 1 : -1;
    vector->w = (uint8_t)(right < params->block ? right : params->block);
    vector->h = (uint8_t)(below < params->block ? below : params->block);
    vector->dst_x = (int16_t)(x + vector->w / 2u);
    vector->dst_y = (int16_t)(y + vector->h / 2u);
    vector->src_x = (int16_t)(vector->dst_x + found.dx);
    vector->src_y = (int16_t)(vector->dst_y + found.dy);
    vector->motion_x = found.dx;
    vector->motion_y = found.dy;
    vector->motion_scale = 1;
}

/* [free] Appends the field's vectors, in raster order, to those that the frame already has, such as
 * those of another reference. params: the parameters that the context was opened with. Returns 0 or
 * a negative AVERROR: EINVAL, the field does not belong to such a context; ERANGE, the picture is
 * wider or higher than 32767 less the window, the largest position that fits FFmpeg's 16 bits;
 * ENOMEM. */
static inline int gpume_avframe_attach(
    AVFrame *frame, const struct gpume_field *field, const struct gpume_params *params)
{
    const AVFrameSideData *old = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t kept = old ? (size_t)old->size / sizeof(AVMotionVector) : 0;
    const size_t count = (size_t)field->blocks_x * field->blocks_y;
    if (params->block == 0 || params->width == 0 || params->height == 0 ||
        field->blocks_x != (params->width - 1) / params->block + 1 ||
        field->blocks_y != (params->height - 1) / params->block + 1) {
        return AVERROR(EINVAL);
    }
    if (params->width > INT16_MAX - params->window_x ||
        params->height > INT16_MAX - params->window_y) {
        return AVERROR(ERANGE);
    }
    AVBufferRef *buffer = av_buffer_alloc((kept + count) * sizeof(AVMotionVector));
    if (!buffer) {
        return AVERROR(ENOMEM);
    }
    AVMotionVector *vectors = (AVMotionVector *)(void *)buffer->data;
    if (kept > 0) {
        memcpy(vectors, old->data, kept * sizeof(AVMotionVector));
    }
    for (size_t i = 0; i < count; i++) {
        gpume_avframe_vector(&vectors[kept + i], field, params, (uint32_t)(i % field->blocks_x),
            (uint32_t)(i / field->blocks_x));
    }
    av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!av_frame_new_side_data_from_buf(frame, AV_FRAME_DATA_MOTION_VECTORS, buffer)) {
        av_buffer_unref(&buffer);
        return AVERROR(ENOMEM);
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif
