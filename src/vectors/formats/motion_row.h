/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A block as FFmpeg's AVMotionVector represents it (libavutil/motion_vector.h): its centre in this
 * frame (dst) and in the reference (src), with src = dst + motion / scale; the sign is the same as
 * ours. Centres are rounded down: dst = position + length / 2.
 */
#ifndef GPUME_VECTORS_FORMATS_MOTION_ROW_H
#define GPUME_VECTORS_FORMATS_MOTION_ROW_H

#include "files/byte_stream.h"
#include "vectors/format.h"

/* In the order of mv-extractor's columns. */
enum gpume_motion_column {
    GPUME_MOTION_SOURCE, /* -1: the reference is an earlier frame; 1: a later one */
    GPUME_MOTION_W,
    GPUME_MOTION_H,
    GPUME_MOTION_SRC_X,
    GPUME_MOTION_SRC_Y,
    GPUME_MOTION_DST_X,
    GPUME_MOTION_DST_Y,
    GPUME_MOTION_X,
    GPUME_MOTION_Y,
    GPUME_MOTION_SCALE,
    GPUME_MOTION_COLUMNS
};

static inline int32_t gpume_motion_source(const struct gpume_vectors_field *field)
{
    return (field->columns & GPUME_VECTORS_REF) && field->ref > field->frame ? 1 : -1;
}

static inline void gpume_motion_from_block(
    const struct gpume_vectors_block *block, int32_t source, int32_t values[GPUME_MOTION_COLUMNS])
{
    const int32_t x = (int32_t)block->x + block->w / 2, y = (int32_t)block->y + block->h / 2;
    values[GPUME_MOTION_SOURCE] = source;
    values[GPUME_MOTION_W] = block->w;
    values[GPUME_MOTION_H] = block->h;
    values[GPUME_MOTION_SRC_X] = x + block->dx;
    values[GPUME_MOTION_SRC_Y] = y + block->dy;
    values[GPUME_MOTION_DST_X] = x;
    values[GPUME_MOTION_DST_Y] = y;
    values[GPUME_MOTION_X] = block->dx;
    values[GPUME_MOTION_Y] = block->dy;
    values[GPUME_MOTION_SCALE] = 1;
}

/* The reverse. The format does not state the distance of the reference, so row->ref becomes the
 * neighbour of row->frame in the source's direction. Refuses invalid blocks and fractional vectors.
 */
int gpume_motion_to_row(struct gpume_stream *stream, const int64_t values[GPUME_MOTION_COLUMNS],
    struct gpume_vectors_row *row);

#endif
