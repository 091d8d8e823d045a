/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table that FFmpeg's doc/examples/extract_mvs.c prints, byte for byte: frames are counted from
 * 1, numbers are padded with blanks, flags are 0x0.
 */
#include "base/status.h"
#include "files/csv_reader.h"
#include "files/digits.h"
#include "vectors/format.h"
#include "vectors/formats/motion_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of each match: a frame of 20 digits, ten numbers of up to 11 characters, "0x0", eleven separators
 * and the end.
 */
#define ROW_BYTES (GPUME_MOTION_ROWS * 150u)

static const char header[] = "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,"
                             "motion_y,motion_scale\n";

static size_t mvs_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    (void)target;
    (void)rows;
    memcpy(at, header, sizeof(header) - 1);
    return sizeof(header) - 1;
}

static char *mvs_put_row(const int32_t values[GPUME_MOTION_COLUMNS], char *at)
{
    static const struct {
        unsigned char column, width;
    } cells[] = {{GPUME_MOTION_SOURCE, 2}, {GPUME_MOTION_W, 2}, {GPUME_MOTION_H, 2},
        {GPUME_MOTION_SRC_X, 4}, {GPUME_MOTION_SRC_Y, 4}, {GPUME_MOTION_DST_X, 4},
        {GPUME_MOTION_DST_Y, 4}, {GPUME_MOTION_COLUMNS, 0}, {GPUME_MOTION_X, 4},
        {GPUME_MOTION_Y, 4}, {GPUME_MOTION_SCALE, 4}};
    for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
        if (cells[c].column == GPUME_MOTION_COLUMNS) { /* the flags, always 0 */
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
        int32_t rows[GPUME_MOTION_ROWS][GPUME_MOTION_COLUMNS];
        const size_t matches = gpume_motion_from_block(target, &blocks[i], rows);
        for (size_t k = 0; k < matches; k++) {
            memcpy(at, prefix, sizeof(prefix));
            at = mvs_put_row(rows[k], at + length);
        }
    }
    return at;
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = ROW_BYTES,
    .head = mvs_head,
    .rows = mvs_rows,
};

/* The columns of a motion row, then the frame. Tables of older versions end with the flags. */
static const struct gpume_csv_column columns[GPUME_MOTION_COLUMNS + 1] = {
    [GPUME_MOTION_SOURCE] = {"source", false},
    [GPUME_MOTION_W] = {"blockw", false},
    [GPUME_MOTION_H] = {"blockh", false},
    [GPUME_MOTION_SRC_X] = {"srcx", false},
    [GPUME_MOTION_SRC_Y] = {"srcy", false},
    [GPUME_MOTION_DST_X] = {"dstx", false},
    [GPUME_MOTION_DST_Y] = {"dsty", false},
    [GPUME_MOTION_X] = {"motion_x", true},
    [GPUME_MOTION_Y] = {"motion_y", true},
    [GPUME_MOTION_SCALE] = {"motion_scale", true},
    [GPUME_MOTION_COLUMNS] = {"framenum", false},
};

struct mvs_input {
    struct gpume_csv_reader csv;
    bool has_motion;
};

static int mvs_input_open(struct gpume_vectors_input *input)
{
    struct mvs_input *self = input->state;
    const int status =
        gpume_csv_reader_init(&self->csv, input->stream, columns, GPUME_MOTION_COLUMNS + 1);
    input->info.columns = GPUME_VECTORS_REF;
    if (status == GPUME_OK) {
        self->has_motion = gpume_csv_reader_has(&self->csv, GPUME_MOTION_X) &&
                           gpume_csv_reader_has(&self->csv, GPUME_MOTION_Y) &&
                           gpume_csv_reader_has(&self->csv, GPUME_MOTION_SCALE);
    }
    return status;
}

static int mvs_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct mvs_input *self = input->state;
    int64_t values[GPUME_MOTION_COLUMNS + 1];
    int status;
    GPUME_TRY(gpume_csv_reader_next(&self->csv));
    for (size_t i = 0; i < GPUME_MOTION_COLUMNS; i++) {
        if (i < GPUME_MOTION_X || self->has_motion) {
            GPUME_TRY(gpume_csv_reader_int(&self->csv, i, INT32_MIN, INT32_MAX, &values[i]));
        }
    }
    GPUME_TRY(gpume_csv_reader_int(
        &self->csv, GPUME_MOTION_COLUMNS, 1, GPUME_READ_NUMBER_MAX, &values[GPUME_MOTION_COLUMNS]));
    if (!self->has_motion) {
        values[GPUME_MOTION_X] = values[GPUME_MOTION_SRC_X] - values[GPUME_MOTION_DST_X];
        values[GPUME_MOTION_Y] = values[GPUME_MOTION_SRC_Y] - values[GPUME_MOTION_DST_Y];
        values[GPUME_MOTION_SCALE] = 1;
    }
    row->frame = (uint64_t)values[GPUME_MOTION_COLUMNS] - 1;
    GPUME_TRY(gpume_motion_to_row(input->stream, values, row));
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
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
    .writer = &writer,
    .reader = &reader,
};
