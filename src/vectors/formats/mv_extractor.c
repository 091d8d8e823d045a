/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of mv-extractor's --dump: one .npy array per frame, of N rows of ten integers, which
 * are the members of FFmpeg's AVMotionVector without flags.
 */
#include "base/status.h"
#include "files/little_endian.h"
#include "vectors/format.h"
#include "vectors/formats/motion_row.h"
#include "vectors/formats/npy_header.h"

#include <inttypes.h>
#include <stdio.h>

#define HEAD_BYTES 128u
#define ITEM_BYTES (4u * GPUME_MOTION_COLUMNS)

static size_t dump_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    char shape[32];
    (void)target;
    snprintf(shape, sizeof(shape), "(%" PRIu64 ", %u)", rows, GPUME_MOTION_COLUMNS);
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
        int32_t rows[GPUME_MOTION_ROWS][GPUME_MOTION_COLUMNS];
        const size_t numbers =
            gpume_motion_from_block(target, &blocks[i], rows) * GPUME_MOTION_COLUMNS;
        for (size_t c = 0; c < numbers; c++) {
            at = gpume_le_put32(
                at, (uint32_t)rows[c / GPUME_MOTION_COLUMNS][c % GPUME_MOTION_COLUMNS]);
        }
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = GPUME_MOTION_ROWS * ITEM_BYTES,
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
        npy.shape[1] != GPUME_MOTION_COLUMNS) {
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
    unsigned char item[8 * GPUME_MOTION_COLUMNS];
    int64_t values[GPUME_MOTION_COLUMNS];
    int status;
    GPUME_TRY(self->left > 0 ? GPUME_OK : GPUME_EOF);
    GPUME_TRY(
        gpume_stream_read(input->stream, item, (size_t)self->column.bytes * GPUME_MOTION_COLUMNS));
    self->left--;
    for (size_t i = 0; i < GPUME_MOTION_COLUMNS; i++) {
        if (!gpume_npy_int(&self->column, item + i * self->column.bytes, &values[i])) {
            return gpume_stream_refuse(input->stream,
                "the row before this position holds a number that is not an integer");
        }
    }
    row->frame = input->frame;
    GPUME_TRY(gpume_motion_to_row(input->stream, values, row));
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
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
    .writer = &writer,
    .reader = &reader,
};
