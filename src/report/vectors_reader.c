/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/vectors_reader.h"

#include "base/status.h"
#include "report/csv_reader.h"

#include <stdlib.h>

#define BLOCKS_FIRST 4096u                    /* room for so many at first */
#define BLOCKS_MAX ((size_t)1 << 28)          /* 2^32 pixels in blocks of 4x4 */
#define NUMBER_MAX INT64_C(99999999999999999) /* of a frame */

enum column { FRAME, X, Y, W, H, DX, DY, COST, REF, COLUMNS };

static const struct gpume_csv_column columns[COLUMNS] = {
    {"frame", false},
    {"x", false},
    {"y", false},
    {"w", false},
    {"h", false},
    {"dx", false},
    {"dy", false},
    {"cost", false},
    {"ref", true},
};

struct row {
    uint64_t frame, ref;
    struct gpume_read_block block;
};

struct gpume_vectors_reader {
    struct gpume_csv_reader *csv;
    struct gpume_log log;
    struct gpume_read_field field;
    struct gpume_read_block *blocks;
    size_t room;
    struct row ahead; /* the row after the field's last */
    bool has_ahead;
};

static int read_row(struct gpume_vectors_reader *reader)
{
    static const int64_t limits[COLUMNS][2] = {
        [FRAME] = {0, NUMBER_MAX},
        [X] = {0, GPUME_READ_SIDE_MAX - 1},
        [Y] = {0, GPUME_READ_SIDE_MAX - 1},
        [W] = {1, GPUME_READ_BLOCK_MAX},
        [H] = {1, GPUME_READ_BLOCK_MAX},
        [DX] = {-GPUME_READ_SIDE_MAX, GPUME_READ_SIDE_MAX},
        [DY] = {-GPUME_READ_SIDE_MAX, GPUME_READ_SIDE_MAX},
        [COST] = {0, UINT32_MAX},
        [REF] = {0, NUMBER_MAX},
    };
    const char *cells[COLUMNS];
    int64_t values[COLUMNS] = {0};
    int status = gpume_csv_reader_next(reader->csv, cells);
    reader->has_ahead = false;
    if (status == GPUME_EOF) {
        return GPUME_OK;
    }
    GPUME_TRY(status);
    for (size_t i = 0; i < (reader->field.has_ref ? COLUMNS : REF); i++) {
        GPUME_TRY(gpume_csv_reader_int(reader->csv, i, limits[i][0], limits[i][1], &values[i]));
    }
    reader->ahead = (struct row){
        .frame = (uint64_t)values[FRAME],
        .ref = (uint64_t)values[REF],
        .block = {(uint32_t)values[X], (uint32_t)values[Y], (uint16_t)values[W],
            (uint16_t)values[H], (int32_t)values[DX], (int32_t)values[DY], (uint32_t)values[COST]},
    };
    reader->has_ahead = true;
fail:
    return status;
}

static int make_room(struct gpume_vectors_reader *reader)
{
    if (reader->field.count < reader->room) {
        return GPUME_OK;
    }
    if (reader->room >= BLOCKS_MAX) {
        return gpume_csv_reader_refuse(reader->csv, "more blocks than a field can have");
    }
    const size_t room = reader->room > 0 ? 2 * reader->room : BLOCKS_FIRST;
    struct gpume_read_block *blocks = realloc(reader->blocks, room * sizeof(*blocks));
    if (!blocks) {
        gpume_log_write(&reader->log, GPUME_LOG_ERROR, "a field of vectors: out of memory");
        return GPUME_NOMEM;
    }
    reader->blocks = blocks;
    reader->room = room;
    return GPUME_OK;
}

/* Does the row ahead belong to the field, at its end? */
static int check_order(struct gpume_vectors_reader *reader, bool *belongs)
{
    const struct gpume_read_field *field = &reader->field;
    const struct row *row = &reader->ahead;
    *belongs = row->frame == field->frame && row->ref == field->ref;
    if (row->frame < field->frame) {
        return gpume_csv_reader_refuse(reader->csv, "frames are not in rising order");
    }
    if (row->frame == field->frame && row->ref < field->ref) {
        return gpume_csv_reader_refuse(
            reader->csv, "references of a frame are not in rising order");
    }
    if (!*belongs || field->count == 0) {
        return GPUME_OK;
    }
    const struct gpume_read_block *last = &reader->blocks[field->count - 1];
    if (row->block.y < last->y || (row->block.y == last->y && row->block.x <= last->x)) {
        return gpume_csv_reader_refuse(reader->csv, "blocks are not in raster order");
    }
    return GPUME_OK;
}

int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_read_field **result)
{
    int status = GPUME_OK;
    struct gpume_read_field *field = &reader->field;
    bool belongs = reader->has_ahead;
    *result = NULL;
    if (!belongs) {
        return GPUME_OK;
    }
    field->frame = reader->ahead.frame;
    field->ref = reader->ahead.ref;
    field->count = 0;
    field->width = field->height = 0;
    while (belongs) {
        const struct gpume_read_block *block = &reader->ahead.block;
        GPUME_TRY(make_room(reader));
        reader->blocks[field->count++] = *block;
        const uint32_t right = block->x + block->w, bottom = block->y + block->h;
        field->width = right > field->width ? right : field->width;
        field->height = bottom > field->height ? bottom : field->height;
        GPUME_TRY(read_row(reader));
        belongs = false;
        if (reader->has_ahead) {
            GPUME_TRY(check_order(reader, &belongs));
        }
    }
    field->blocks = reader->blocks;
    *result = field;
fail:
    return status;
}

int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const char *path, const struct gpume_log *log)
{
    int status = GPUME_NOMEM;
    struct gpume_vectors_reader *self = calloc(1, sizeof(*self));
    if (!self) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: out of memory", path);
        return status;
    }
    self->log = *log;
    GPUME_TRY(gpume_csv_reader_open(&self->csv, path, columns, COLUMNS, log));
    self->field.has_ref = gpume_csv_reader_has(self->csv, REF);
    GPUME_TRY(read_row(self));
    if (!self->has_ahead) {
        GPUME_TRY(gpume_csv_reader_refuse(self->csv, "there are no vectors below the header"));
    }
    *reader = self;
    return GPUME_OK;
fail:
    gpume_vectors_reader_close(&self);
    return status;
}

void gpume_vectors_reader_close(struct gpume_vectors_reader **reader)
{
    struct gpume_vectors_reader *self = *reader;
    if (self) {
        gpume_csv_reader_close(&self->csv);
        free(self->blocks);
        free(self);
        *reader = NULL;
    }
}
