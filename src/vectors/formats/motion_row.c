/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/formats/motion_row.h"

#include <inttypes.h>
#include <stdbool.h>

static const char *const names[GPUME_MOTION_COLUMNS] = {"source", "block width", "block height",
    "src_x", "src_y", "dst_x", "dst_y", "motion_x", "motion_y", "motion_scale"};

static const int64_t limits[GPUME_MOTION_COLUMNS][2] = {
    [GPUME_MOTION_SOURCE] = {INT32_MIN, INT32_MAX},
    [GPUME_MOTION_W] = {1, GPUME_READ_BLOCK_MAX},
    [GPUME_MOTION_H] = {1, GPUME_READ_BLOCK_MAX},
    [GPUME_MOTION_SRC_X] = {INT32_MIN, INT32_MAX},
    [GPUME_MOTION_SRC_Y] = {INT32_MIN, INT32_MAX},
    [GPUME_MOTION_DST_X] = {-GPUME_READ_BLOCK_MAX, GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX},
    [GPUME_MOTION_DST_Y] = {-GPUME_READ_BLOCK_MAX, GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX},
    [GPUME_MOTION_X] = {INT32_MIN, INT32_MAX},
    [GPUME_MOTION_Y] = {INT32_MIN, INT32_MAX},
    [GPUME_MOTION_SCALE] = {1, UINT16_MAX},
};

static void put_axis(int32_t values[GPUME_MOTION_COLUMNS], int axis, uint32_t position,
    uint32_t side, int32_t motion)
{
    const int32_t to = (int32_t)(position + side / 2);
    values[GPUME_MOTION_W + axis] = (int32_t)side;
    values[GPUME_MOTION_SRC_X + axis] = to + motion / values[GPUME_MOTION_SCALE];
    values[GPUME_MOTION_DST_X + axis] = to;
    values[GPUME_MOTION_X + axis] = motion;
}

size_t gpume_motion_from_block(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *block, int32_t rows[GPUME_MOTION_ROWS][GPUME_MOTION_COLUMNS])
{
    const struct gpume_vectors_info *info = target->info;
    const int32_t motions[][2] = {{block->dx, block->dy}, {block->dx2, block->dy2}};
    const uint64_t refs[] = {block->ref, block->ref2};
    const int32_t scale = (int32_t)info->units, divisor = GPUME_VECTORS_UNITS / scale;
    const bool known = target->field->columns & GPUME_VECTORS_REF;
    const bool two =
        (target->field->columns & GPUME_VECTORS_REF2) && block->ref2 != GPUME_VECTORS_ONE;
    for (size_t i = 0; i < (two ? 2 : 1); i++) {
        rows[i][GPUME_MOTION_SOURCE] = known && refs[i] > target->field->frame ? 1 : -1;
        rows[i][GPUME_MOTION_SCALE] = scale;
        put_axis(rows[i], 0, block->x, block->w, motions[i][0] / divisor);
        put_axis(rows[i], 1, block->y, block->h, motions[i][1] / divisor);
    }
    return two ? 2 : 1;
}

static int check_limits(struct gpume_stream *stream, const int64_t values[GPUME_MOTION_COLUMNS])
{
    for (size_t i = 0; i < GPUME_MOTION_COLUMNS; i++) {
        if (values[i] < limits[i][0] || values[i] > limits[i][1]) {
            return gpume_stream_refuse(stream,
                "%s is %" PRId64 ", not from %" PRId64 " to %" PRId64, names[i], values[i],
                limits[i][0], limits[i][1]);
        }
    }
    return GPUME_OK;
}

/* Whether the block ends where the picture begins, or before. */
static bool is_outside(const int64_t values[GPUME_MOTION_COLUMNS], int axis)
{
    const int64_t side = values[GPUME_MOTION_W + axis];
    return values[GPUME_MOTION_DST_X + axis] - side / 2 + side <= 0;
}

/* Position and vector along one axis. */
static int take_axis(struct gpume_stream *stream, const int64_t values[GPUME_MOTION_COLUMNS],
    int axis, uint32_t *position, int32_t *vector)
{
    const int64_t side = values[GPUME_MOTION_W + axis], to = values[GPUME_MOTION_DST_X + axis];
    const int64_t from = values[GPUME_MOTION_SRC_X + axis], scale = values[GPUME_MOTION_SCALE];
    const int64_t motion = values[GPUME_MOTION_X + axis];
    if (GPUME_VECTORS_UNITS * motion % scale != 0) {
        return gpume_stream_refuse(stream,
            "%s %" PRId64 " over motion_scale %" PRId64
            " is not a multiple of a quarter of a pixel",
            names[GPUME_MOTION_X + axis], motion, scale);
    }
    if (from - to != motion / scale) {
        return gpume_stream_refuse(stream,
            "%s %" PRId64 " is not %s %" PRId64 " + motion %" PRId64 " / %" PRId64,
            names[GPUME_MOTION_SRC_X + axis], from, names[GPUME_MOTION_DST_X + axis], to, motion,
            scale);
    }
    if (to < side / 2 || to - side / 2 >= GPUME_READ_SIDE_MAX) {
        return gpume_stream_refuse(stream, "%s %" PRId64 " puts the block outside the picture",
            names[GPUME_MOTION_DST_X + axis], to);
    }
    if (from - to < INT16_MIN || from - to > INT16_MAX) {
        return gpume_stream_refuse(
            stream, "the vector component %" PRId64 " does not fit 16 bits", from - to);
    }
    *position = (uint32_t)(to - side / 2);
    *vector = (int32_t)(GPUME_VECTORS_UNITS * motion / scale);
    return GPUME_OK;
}

int gpume_motion_to_row(struct gpume_stream *stream, const int64_t values[GPUME_MOTION_COLUMNS],
    struct gpume_vectors_row *row)
{
    struct gpume_vectors_block block = {
        .w = (uint16_t)values[GPUME_MOTION_W],
        .h = (uint16_t)values[GPUME_MOTION_H],
    };
    const int64_t source = values[GPUME_MOTION_SOURCE];
    int status = check_limits(stream, values);
    if (status == GPUME_OK && (is_outside(values, 0) || is_outside(values, 1))) {
        return GPUME_AGAIN;
    }
    status = status ? status : take_axis(stream, values, 0, &block.x, &block.dx);
    status = status ? status : take_axis(stream, values, 1, &block.y, &block.dy);
    if (status != GPUME_OK) {
        return status;
    }
    if (source == 0) {
        return gpume_stream_refuse(stream,
            "source of frame %" PRIu64 " (counted from 0) is 0, the frame itself", row->frame);
    }
    /* Like FFmpeg's mestimate, the first frame refers to itself. */
    row->ref = source > 0 ? row->frame + 1 : row->frame > 0 ? row->frame - 1 : 0;
    block.ref = row->ref;
    block.ref2 = GPUME_VECTORS_ONE;
    row->block = block;
    return GPUME_OK;
}
