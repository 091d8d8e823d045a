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
 * pixel below and to the right of the middle where a side is odd; motion = (dx,dy) with
 * motion_scale = params.subpel; src = dst + motion / motion_scale, rounded towards 0; source is -1
 * if the reference is an earlier frame and 1 if it is a later one; flags are 0. A block with two
 * matches becomes two of them.
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

#include <stdbool.h>
#include <string.h>

/* Of a block of w x h pixels at (x,y), which the picture's edge may cut. */
static inline void gpume_avframe_fill(AVMotionVector *vector, const struct gpume_params *params,
    uint32_t x, uint32_t y, struct gpume_block_size block)
{
    const uint32_t right = params->width - x, below = params->height - y;
    memset(vector, 0, sizeof(*vector));
    vector->w = (uint8_t)(right < block.width ? right : block.width);
    vector->h = (uint8_t)(below < block.height ? below : block.height);
    vector->dst_x = (int16_t)(x + vector->w / 2u);
    vector->dst_y = (int16_t)(y + vector->h / 2u);
}

static inline void gpume_avframe_move(AVMotionVector *vector, const struct gpume_field *field,
    struct gpume_vector found, uint64_t ref)
{
    const int units = field->vector_units > 0 ? (int)field->vector_units : 1;
    vector->source = ref > field->frame ? 1 : -1;
    vector->src_x = (int16_t)(vector->dst_x + found.dx / units);
    vector->src_y = (int16_t)(vector->dst_y + found.dy / units);
    vector->motion_x = found.dx;
    vector->motion_y = found.dy;
    vector->motion_scale = (uint16_t)units;
}

static inline struct gpume_block_size gpume_avframe_block(
    const struct gpume_params *params, uint32_t layer)
{
    const struct gpume_block_size square = {params->block, params->block};
    return params->shape_count > 0 ? params->shapes[layer] : square;
}

/* [free] Converts the best match of the block at (column,row) in the grid of the first shape. */
static inline void gpume_avframe_vector(AVMotionVector *vector, const struct gpume_field *field,
    const struct gpume_params *params, uint32_t column, uint32_t row)
{
    const struct gpume_block_size block = gpume_avframe_block(params, 0);
    const size_t index = (size_t)row * field->blocks_x + column;
    const uint32_t *refs = params->best_reference ? field->layers[0]->refs : NULL;
    gpume_avframe_fill(vector, params, column * block.width, row * block.height, block);
    gpume_avframe_move(
        vector, field, field->vectors[index], refs ? field->refs[refs[index]] : field->ref);
}

/* Writes the vectors of the part, one for each of its matches, and returns their number. */
static inline size_t gpume_avframe_part(AVMotionVector *vectors, const struct gpume_field *field,
    const struct gpume_params *params, struct gpume_part part)
{
    const struct gpume_layer *layer = field->layers[part.layer];
    const struct gpume_block_size block = gpume_avframe_block(params, part.layer);
    const uint32_t x = part.block % layer->blocks_x * block.width;
    const uint32_t y = part.block / layer->blocks_x * block.height;
    gpume_avframe_fill(&vectors[0], params, x, y, block);
    gpume_avframe_move(&vectors[0], field, layer->vectors[part.block],
        layer->refs ? field->refs[layer->refs[part.block]] : field->ref);
    if (!layer->refs2 || layer->refs2[part.block] == GPUME_NONE) {
        return 1;
    }
    gpume_avframe_fill(&vectors[1], params, x, y, block);
    gpume_avframe_move(
        &vectors[1], field, layer->vectors2[part.block], field->refs[layer->refs2[part.block]]);
    return 2;
}

/* [free] Appends the field's vectors to those that the frame already has, such as those of another
 * reference: the parts of a partition, else the blocks of the first shape in raster order. params:
 * the parameters that the context was opened with. Returns 0 or a negative AVERROR: EINVAL, the
 * field does not belong to such a context; ERANGE, the picture is wider or higher than 32767 less
 * the window, the largest position that fits FFmpeg's 16 bits; ENOMEM. */
static inline int gpume_avframe_attach(
    AVFrame *frame, const struct gpume_field *field, const struct gpume_params *params)
{
    const AVFrameSideData *old = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t kept = old ? (size_t)old->size / sizeof(AVMotionVector) : 0;
    const struct gpume_block_size block = gpume_avframe_block(params, 0);
    const bool listed = field->part_count > 0 || params->bidirectional;
    const size_t blocks =
        field->part_count > 0 ? field->part_count : (size_t)field->blocks_x * field->blocks_y;
    size_t count = listed ? 0 : blocks;
    if (block.width == 0 || block.height == 0 || params->width == 0 || params->height == 0 ||
        field->blocks_x != (params->width - 1) / block.width + 1 ||
        field->blocks_y != (params->height - 1) / block.height + 1) {
        return AVERROR(EINVAL);
    }
    if (params->width > INT16_MAX - params->window_x ||
        params->height > INT16_MAX - params->window_y) {
        return AVERROR(ERANGE);
    }
    for (size_t i = 0; listed && i < blocks; i++) {
        const struct gpume_part whole = {0, (uint32_t)i, 0};
        AVMotionVector unused[2];
        count += gpume_avframe_part(
            unused, field, params, field->part_count > 0 ? field->parts[i] : whole);
    }
    AVBufferRef *buffer = av_buffer_alloc((kept + count) * sizeof(AVMotionVector));
    if (!buffer) {
        return AVERROR(ENOMEM);
    }
    AVMotionVector *vectors = (AVMotionVector *)(void *)buffer->data;
    if (kept > 0) {
        memcpy(vectors, old->data, kept * sizeof(AVMotionVector));
    }
    for (size_t i = 0, at = kept; i < blocks; i++) {
        const struct gpume_part whole = {0, (uint32_t)i, 0};
        if (listed) {
            at += gpume_avframe_part(
                &vectors[at], field, params, field->part_count > 0 ? field->parts[i] : whole);
        } else {
            gpume_avframe_vector(&vectors[at++], field, params, (uint32_t)(i % field->blocks_x),
                (uint32_t)(i / field->blocks_x));
        }
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
