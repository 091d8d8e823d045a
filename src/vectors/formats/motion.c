/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of two programs, whose rows are FFmpeg's AVMotionVector (libavutil/motion_vector.h): a
 * block has its centre in this frame (dst) and in the reference (src), with src = dst + motion /
 * scale, rounded towards 0; the sign is the same as ours. Centres are rounded down: dst = position
 * + length / 2.
 */
#include "base/base.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* In the order of mv-extractor's columns. */
enum motion_column {
    MOTION_SOURCE, /* -1: the reference is an earlier frame; 1: a later one */
    MOTION_W,
    MOTION_H,
    MOTION_SRC_X,
    MOTION_SRC_Y,
    MOTION_DST_X,
    MOTION_DST_Y,
    MOTION_X,
    MOTION_Y,
    MOTION_SCALE,
    MOTION_COLUMNS
};

/* The most rows that a block becomes: one for each of its matches. */
#define MOTION_ROWS 2u

static const char *const names[MOTION_COLUMNS] = {"source", "block width", "block height", "src_x",
    "src_y", "dst_x", "dst_y", "motion_x", "motion_y", "motion_scale"};

static const int64_t limits[MOTION_COLUMNS][2] = {
    [MOTION_SOURCE] = {INT32_MIN, INT32_MAX},
    [MOTION_W] = {1, GPUME_READ_BLOCK_MAX},
    [MOTION_H] = {1, GPUME_READ_BLOCK_MAX},
    [MOTION_SRC_X] = {INT32_MIN, INT32_MAX},
    [MOTION_SRC_Y] = {INT32_MIN, INT32_MAX},
    [MOTION_DST_X] = {-GPUME_READ_BLOCK_MAX, GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX},
    [MOTION_DST_Y] = {-GPUME_READ_BLOCK_MAX, GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX},
    [MOTION_X] = {INT32_MIN, INT32_MAX},
    [MOTION_Y] = {INT32_MIN, INT32_MAX},
    [MOTION_SCALE] = {1, UINT16_MAX},
};

static void put_axis(
    int32_t values[MOTION_COLUMNS], int axis, uint32_t position, uint32_t side, int32_t motion)
{
    const int32_t to = (int32_t)(position + side / 2);
    values[MOTION_W + axis] = (int32_t)side;
    values[MOTION_SRC_X + axis] = to + motion / values[MOTION_SCALE];
    values[MOTION_DST_X + axis] = to;
    values[MOTION_X + axis] = motion;
}

/* Writes the rows of a block, vectors in units of info, and returns how many. */
static size_t motion_from_block(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *block, int32_t rows[MOTION_ROWS][MOTION_COLUMNS])
{
    const struct gpume_vectors_info *info = target->info;
    const int32_t motions[][2] = {{block->dx, block->dy}, {block->dx2, block->dy2}};
    const uint64_t refs[] = {block->ref, block->ref2};
    const int32_t scale = (int32_t)info->units, divisor = GPUME_VECTORS_UNITS / scale;
    const bool known = target->field->columns & GPUME_VECTORS_REF;
    const bool two =
        (target->field->columns & GPUME_VECTORS_REF2) && block->ref2 != GPUME_VECTORS_ONE;
    for (size_t i = 0; i < (two ? 2 : 1); i++) {
        rows[i][MOTION_SOURCE] = known && refs[i] > target->field->frame ? 1 : -1;
        rows[i][MOTION_SCALE] = scale;
        put_axis(rows[i], 0, block->x, block->w, motions[i][0] / divisor);
        put_axis(rows[i], 1, block->y, block->h, motions[i][1] / divisor);
    }
    return two ? 2 : 1;
}

static int check_limits(struct gpume_stream *stream, const int64_t values[MOTION_COLUMNS])
{
    for (size_t i = 0; i < MOTION_COLUMNS; i++) {
        if (values[i] < limits[i][0] || values[i] > limits[i][1]) {
            return gpume_stream_refuse(stream,
                "%s is %" PRId64 ", not from %" PRId64 " to %" PRId64, names[i], values[i],
                limits[i][0], limits[i][1]);
        }
    }
    return GPUME_OK;
}

/* Whether the block ends where the picture begins, or before. */
static bool is_outside(const int64_t values[MOTION_COLUMNS], int axis)
{
    const int64_t side = values[MOTION_W + axis];
    return values[MOTION_DST_X + axis] - side / 2 + side <= 0;
}

/* Position and vector along one axis. */
static int take_axis(struct gpume_stream *stream, const int64_t values[MOTION_COLUMNS], int axis,
    uint32_t *position, int32_t *vector)
{
    const int64_t side = values[MOTION_W + axis], to = values[MOTION_DST_X + axis];
    const int64_t from = values[MOTION_SRC_X + axis], scale = values[MOTION_SCALE];
    const int64_t motion = values[MOTION_X + axis];
    if (GPUME_VECTORS_UNITS * motion % scale != 0) {
        return gpume_stream_refuse(stream,
            "%s %" PRId64 " over motion_scale %" PRId64
            " is not a multiple of a quarter of a pixel",
            names[MOTION_X + axis], motion, scale);
    }
    if (from - to != motion / scale) {
        return gpume_stream_refuse(stream,
            "%s %" PRId64 " is not %s %" PRId64 " + motion %" PRId64 " / %" PRId64,
            names[MOTION_SRC_X + axis], from, names[MOTION_DST_X + axis], to, motion, scale);
    }
    if (to < side / 2 || to - side / 2 >= GPUME_READ_SIDE_MAX) {
        return gpume_stream_refuse(stream, "%s %" PRId64 " puts the block outside the picture",
            names[MOTION_DST_X + axis], to);
    }
    if (from - to < INT16_MIN || from - to > INT16_MAX) {
        return gpume_stream_refuse(
            stream, "the vector component %" PRId64 " does not fit 16 bits", from - to);
    }
    *position = (uint32_t)(to - side / 2);
    *vector = (int32_t)(GPUME_VECTORS_UNITS * motion / scale);
    return GPUME_OK;
}

/* The reverse. The format does not state the distance of the reference, so row->ref becomes the
 * neighbour of row->frame in the source's direction. Refuses invalid blocks, and vectors that
 * are no multiples of a quarter of a pixel. GPUME_AGAIN: the block lies to the left of the picture
 * or above it, as FFmpeg's Snow decoder exports some; the row is to be skipped. */
static int motion_to_row(struct gpume_stream *stream, const int64_t values[MOTION_COLUMNS],
    struct gpume_vectors_row *row)
{
    struct gpume_vectors_block block = {
        .w = (uint16_t)values[MOTION_W],
        .h = (uint16_t)values[MOTION_H],
    };
    const int64_t source = values[MOTION_SOURCE];
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

/* --- mv-extractor --dump: one .npy array per frame, of N rows of ten integers: the members without
 * flags */

#define HEAD_BYTES 128u
#define ITEM_BYTES (4u * MOTION_COLUMNS)

static size_t dump_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    char shape[32];
    (void)target;
    snprintf(shape, sizeof(shape), "(%" PRIu64 ", %u)", rows, MOTION_COLUMNS);
    gpume_npy_head(at, HEAD_BYTES, "'<i4'", shape);
    return HEAD_BYTES;
}

static size_t dump_fixed_bytes(const struct gpume_vectors_target *target)
{
    (void)target;
    return ITEM_BYTES;
}

static char *dump_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < count; i++) {
        int32_t rows[MOTION_ROWS][MOTION_COLUMNS];
        const size_t numbers = motion_from_block(target, &blocks[i], rows) * MOTION_COLUMNS;
        for (size_t c = 0; c < numbers; c++) {
            at = gpume_le_put32(at, (uint32_t)rows[c / MOTION_COLUMNS][c % MOTION_COLUMNS]);
        }
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops dump_writer = {
    .row_bytes = MOTION_ROWS * ITEM_BYTES,
    .head = dump_head,
    .rows = dump_rows,
    .fixed_bytes = dump_fixed_bytes,
};

struct dump_input {
    struct gpume_npy_column column;
    uint64_t left; /* items */
};

static int dump_input_open(struct gpume_vectors_input *input)
{
    struct dump_input *self = input->state;
    struct gpume_npy npy;
    int status;
    GPUME_TRY(gpume_npy_read(input->stream, &npy));
    if (npy.count != 1 || npy.columns[0].name[0] != '\0' || npy.dimensions != 2 ||
        npy.shape[1] != MOTION_COLUMNS) {
        return gpume_stream_refuse(
            input->stream, "the array does not consist of rows of ten numbers");
    }
    self->column = npy.columns[0];
    self->left = npy.shape[0];
    input->info.columns = GPUME_VECTORS_REF;
fail:
    return status;
}

static int dump_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct dump_input *self = input->state;
    unsigned char item[8 * MOTION_COLUMNS];
    int64_t values[MOTION_COLUMNS];
    int status;
    GPUME_TRY(self->left > 0 ? GPUME_OK : GPUME_EOF);
    GPUME_TRY(gpume_stream_read(input->stream, item, (size_t)self->column.bytes * MOTION_COLUMNS));
    self->left--;
    for (size_t i = 0; i < MOTION_COLUMNS; i++) {
        if (!gpume_npy_int(&self->column, item + i * self->column.bytes, &values[i])) {
            return gpume_stream_refuse(input->stream,
                "the row before this position holds a number that is not an integer");
        }
    }
    row->frame = input->frame;
    GPUME_TRY(motion_to_row(input->stream, values, row));
fail:
    return status;
}

static const struct gpume_vectors_reader_ops dump_reader = {
    .state_bytes = sizeof(struct dump_input),
    .open = dump_input_open,
    .next = dump_input_next,
};

const struct gpume_vectors_format gpume_vectors_mv_extractor = {
    .name = "mv-extractor",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_REF2,
    .any_order = true,
    .numbered = true,
    .counted = true,
    .binary = true,
    .begins = GPUME_NPY_MAGIC,
    .fixed_units = true,
    .writer = &dump_writer,
    .reader = &dump_reader,
};

/* --- the table that FFmpeg's doc/examples/extract_mvs.c prints, byte for byte: frames are counted
 * from 1, numbers are padded with blanks, flags are 0x0 */

/* Of each match: a frame of 20 digits, ten numbers of up to 11 characters, "0x0", eleven separators
 * and the end.
 */
#define MVS_ROW_BYTES (MOTION_ROWS * 150u)

static const char mvs_header[] = "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,"
                                 "motion_y,motion_scale\n";

static size_t mvs_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    (void)target;
    (void)rows;
    memcpy(at, mvs_header, sizeof(mvs_header) - 1);
    return sizeof(mvs_header) - 1;
}

static char *mvs_put_row(const int32_t values[MOTION_COLUMNS], char *at)
{
    static const struct {
        unsigned char column, width;
    } cells[] = {{MOTION_SOURCE, 2}, {MOTION_W, 2}, {MOTION_H, 2}, {MOTION_SRC_X, 4},
        {MOTION_SRC_Y, 4}, {MOTION_DST_X, 4}, {MOTION_DST_Y, 4}, {MOTION_COLUMNS, 0}, {MOTION_X, 4},
        {MOTION_Y, 4}, {MOTION_SCALE, 4}};
    for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
        if (cells[c].column == MOTION_COLUMNS) { /* the flags, always 0 */
            memcpy(at, "0x0", 3);
            at += 3;
        } else {
            at = gpume_digits_put_padded(at, values[cells[c].column], cells[c].width);
        }
        *at++ = ',';
    }
    at[-1] = '\n';
    return at;
}

static char *mvs_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    char prefix[32] = ""; /* "framenum,": a number of 20 digits and a comma */
    const size_t length =
        (size_t)snprintf(prefix, sizeof(prefix), "%" PRIu64 ",", target->field->frame + 1);
    for (size_t i = 0; i < count; i++) {
        int32_t rows[MOTION_ROWS][MOTION_COLUMNS];
        const size_t matches = motion_from_block(target, &blocks[i], rows);
        for (size_t k = 0; k < matches; k++) {
            memcpy(at, prefix, sizeof(prefix));
            at = mvs_put_row(rows[k], at + length);
        }
    }
    return at;
}

static const struct gpume_vectors_writer_ops mvs_writer = {
    .row_bytes = MVS_ROW_BYTES,
    .head = mvs_head,
    .rows = mvs_rows,
};

/* The columns of a motion row, then the frame. Tables of older versions end with the flags. */
static const struct gpume_csv_column mvs_columns[MOTION_COLUMNS + 1] = {
    [MOTION_SOURCE] = {"source", false},
    [MOTION_W] = {"blockw", false},
    [MOTION_H] = {"blockh", false},
    [MOTION_SRC_X] = {"srcx", false},
    [MOTION_SRC_Y] = {"srcy", false},
    [MOTION_DST_X] = {"dstx", false},
    [MOTION_DST_Y] = {"dsty", false},
    [MOTION_X] = {"motion_x", true},
    [MOTION_Y] = {"motion_y", true},
    [MOTION_SCALE] = {"motion_scale", true},
    [MOTION_COLUMNS] = {"framenum", false},
};

struct mvs_input {
    struct gpume_csv_reader csv;
    bool has_motion;
};

static int mvs_input_open(struct gpume_vectors_input *input)
{
    struct mvs_input *self = input->state;
    const int status =
        gpume_csv_reader_init(&self->csv, input->stream, mvs_columns, MOTION_COLUMNS + 1);
    input->info.columns = GPUME_VECTORS_REF;
    if (status == GPUME_OK) {
        self->has_motion = gpume_csv_reader_has(&self->csv, MOTION_X) &&
                           gpume_csv_reader_has(&self->csv, MOTION_Y) &&
                           gpume_csv_reader_has(&self->csv, MOTION_SCALE);
    }
    return status;
}

static int mvs_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct mvs_input *self = input->state;
    int64_t values[MOTION_COLUMNS + 1];
    int status;
    GPUME_TRY(gpume_csv_reader_next(&self->csv));
    for (size_t i = 0; i < MOTION_COLUMNS; i++) {
        if (i < MOTION_X || self->has_motion) {
            GPUME_TRY(gpume_csv_reader_int(&self->csv, i, INT32_MIN, INT32_MAX, &values[i]));
        }
    }
    GPUME_TRY(gpume_csv_reader_int(
        &self->csv, MOTION_COLUMNS, 1, GPUME_READ_NUMBER_MAX, &values[MOTION_COLUMNS]));
    if (!self->has_motion) {
        values[MOTION_X] = values[MOTION_SRC_X] - values[MOTION_DST_X];
        values[MOTION_Y] = values[MOTION_SRC_Y] - values[MOTION_DST_Y];
        values[MOTION_SCALE] = 1;
    }
    row->frame = (uint64_t)values[MOTION_COLUMNS] - 1;
    GPUME_TRY(motion_to_row(input->stream, values, row));
fail:
    return status;
}

static const struct gpume_vectors_reader_ops mvs_reader = {
    .state_bytes = sizeof(struct mvs_input),
    .open = mvs_input_open,
    .next = mvs_input_next,
};

const struct gpume_vectors_format gpume_vectors_extract_mvs = {
    .name = "extract_mvs",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_REF2,
    .any_order = true,
    .begins = "framenum,",
    .fixed_units = true,
    .writer = &mvs_writer,
    .reader = &mvs_reader,
};
