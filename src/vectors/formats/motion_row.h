/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A block as FFmpeg's AVMotionVector represents it (libavutil/motion_vector.h): its centre in this
 * frame (dst) and in the reference (src), with src = dst + motion / scale, rounded towards 0; the
 * sign is the same as ours. Centres are rounded down: dst = position + length / 2.
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

/* The most rows that a block becomes: one for each of its matches. */
#define GPUME_MOTION_ROWS 2u

/* Writes the rows of a block, vectors in units of info, and returns how many. */
size_t gpume_motion_from_block(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *block, int32_t rows[GPUME_MOTION_ROWS][GPUME_MOTION_COLUMNS]);

/* The reverse. The format does not state the distance of the reference, so row->ref becomes the
 * neighbour of row->frame in the source's direction. Refuses invalid blocks, and vectors that
 * are no multiples of a quarter of a pixel. GPUME_AGAIN: the block lies to the left of the picture
 * or above it, as FFmpeg's Snow decoder exports some; the row is to be skipped. */
int gpume_motion_to_row(struct gpume_stream *stream, const int64_t values[GPUME_MOTION_COLUMNS],
    struct gpume_vectors_row *row);

#endif
