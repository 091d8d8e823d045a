/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vectors.csv: one row a block. Called by the thread that receives fields. A field of a large
 * picture has a hundred thousand rows, so nothing is formatted twice: what repeats along a column,
 * a row or a field is text made once, and a row is put together from pieces that are copied 16
 * bytes at a time into a buffer with slack behind it.
 */
#include "base/out.h"
#include "base/status.h"
#include "report/sink.h"
#include "report/text_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes handed to the output at once: large enough that its cost a call is nothing, small enough
 * for a second-level cache. */
#define CHUNK_BYTES 262144u

/* A row at its longest: two 20-digit frame numbers, x and y of 10 digits, w and h of 3, dx and dy
 * of 4, cost and rank of 10, ten separators: 104 bytes; and 16 for the last piece's overhang. */
#define ROW_BYTES 128u

/* Up to 15 characters and how many; always copied whole. */
struct piece {
    char text[15];
    uint8_t length;
};
_Static_assert(sizeof(struct piece) == 16, "copied as 16 bytes");

struct vectors_csv {
    struct gpume_sink sink;
    struct gpume_out *out;
    uint32_t width, height, block;
    struct piece *columns;                          /* "x,", one a block column */
    struct piece vectors[2 * GPUME_WINDOW_MAX + 1]; /* "dx," for -512 to 512 */
    char quads[10000][4];                           /* "0000" to "9999" */
    size_t fill;
    char buffer[CHUNK_BYTES + ROW_BYTES];
};

static void piece_int(struct piece *piece, int64_t value)
{
    char text[32];
    const int length = snprintf(text, sizeof(text), "%" PRId64 ",", value);
    assert(length > 0 && length <= (int)sizeof(piece->text));
    memcpy(piece->text, text, (size_t)length);
    piece->length = (uint8_t)length;
}

static inline char *put_piece(char *at, const struct piece *piece)
{
    memcpy(at, piece, sizeof(*piece));
    return at + piece->length;
}

/* Writes up to 10 digits; may touch 16 bytes from at. */
static inline char *put_u32(const struct vectors_csv *self, char *at, uint32_t value)
{
    uint32_t high = value / 10000;
    const uint32_t low = value % 10000;
    if (high == 0) {
        const int skip = low < 10 ? 3 : low < 100 ? 2 : low < 1000 ? 1 : 0;
        char digits[8] = {0};
        memcpy(digits, self->quads[low], 4);
        memcpy(at, digits + skip, 4);
        return at + 4 - skip;
    }
    at = put_u32(self, at, high);
    memcpy(at, self->quads[low], 4);
    return at + 4;
}

static void vectors_close(struct gpume_sink **sink)
{
    struct vectors_csv *self = (struct vectors_csv *)*sink;
    if (self) {
        gpume_out_close(&self->out);
        free(self->columns);
        free(self);
        *sink = NULL;
    }
}

static int vectors_check(const char *path, bool single, const struct gpume_log *log)
{
    (void)single;
    return gpume_text_check(path, ".csv", log);
}

static int make_tables(struct vectors_csv *self)
{
    const uint32_t count = (self->width - 1) / self->block + 1;
    self->columns = malloc(count * sizeof(*self->columns));
    if (!self->columns) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        piece_int(&self->columns[i], (int64_t)i * self->block);
    }
    for (int i = -GPUME_WINDOW_MAX; i <= GPUME_WINDOW_MAX; i++) {
        piece_int(&self->vectors[i + GPUME_WINDOW_MAX], i);
    }
    for (unsigned i = 0; i < 10000; i++) {
        self->quads[i][0] = (char)('0' + i / 1000);
        self->quads[i][1] = (char)('0' + i / 100 % 10);
        self->quads[i][2] = (char)('0' + i / 10 % 10);
        self->quads[i][3] = (char)('0' + i % 10);
    }
    return GPUME_OK;
}

static int vectors_open(struct gpume_sink **sink, const char *path, const struct gpume_run *run)
{
    static const char header[] = "frame,ref,x,y,w,h,dx,dy,cost,rank\n";
    int status = GPUME_NOMEM;
    struct vectors_csv *self = malloc(sizeof(*self));
    struct gpume_sink *base = (struct gpume_sink *)self;
    if (self) {
        *self = (struct vectors_csv){
            .sink.ops = &gpume_sink_vectors_csv,
            .width = run->params.width,
            .height = run->params.height,
            .block = run->params.block,
        };
        status = make_tables(self);
    }
    if (status != GPUME_OK) {
        gpume_log_write(&run->log, GPUME_LOG_ERROR, "%s: out of memory", path);
        goto fail;
    }
    GPUME_TRY(gpume_out_open(&self->out, path, run->overwrite, &run->log));
    GPUME_TRY(gpume_out_write(self->out, header, sizeof(header) - 1));
    *sink = base;
    return GPUME_OK;
fail:
    vectors_close(&base);
    return status;
}

static int flush(struct vectors_csv *self)
{
    const size_t bytes = self->fill;
    self->fill = 0;
    return bytes ? gpume_out_write(self->out, self->buffer, bytes) : GPUME_OK;
}

static uint32_t visible(uint32_t block, uint32_t position, uint32_t size)
{
    return size - position < block ? size - position : block;
}

/* One row of blocks; prefix is "frame,ref,". */
static int put_block_row(struct vectors_csv *self, const struct gpume_field *field,
    const char prefix[48], size_t prefix_length, uint32_t row)
{
    const size_t first = (size_t)row * field->blocks_x;
    const uint32_t height = visible(self->block, row * self->block, self->height);
    struct piece y, w, h;
    piece_int(&y, (int64_t)row * self->block);
    piece_int(&w, self->block);
    piece_int(&h, height);
    for (uint32_t column = 0; column < field->blocks_x; column++) {
        if (self->fill > CHUNK_BYTES - ROW_BYTES) {
            const int status = flush(self);
            if (status != GPUME_OK) {
                return status;
            }
        }
        if (column == field->blocks_x - 1) {
            piece_int(&w, visible(self->block, column * self->block, self->width));
        }
        const struct gpume_vector vector = field->vectors[first + column];
        char *at = self->buffer + self->fill;
        memcpy(at, prefix, 48);
        at = put_piece(at + prefix_length, &self->columns[column]);
        at = put_piece(at, &y);
        at = put_piece(at, &w);
        at = put_piece(at, &h);
        at = put_piece(at, &self->vectors[vector.dx + GPUME_WINDOW_MAX]);
        at = put_piece(at, &self->vectors[vector.dy + GPUME_WINDOW_MAX]);
        at = put_u32(self, at, field->costs[first + column]);
        *at++ = ',';
        at = put_u32(self, at, field->ranks[first + column]);
        *at++ = '\n';
        self->fill = (size_t)(at - self->buffer);
    }
    return GPUME_OK;
}

static int vectors_field(struct gpume_sink *sink, const struct gpume_field *field)
{
    struct vectors_csv *self = (struct vectors_csv *)sink;
    char prefix[48] = {0}; /* two numbers of 20 digits and two commas are 42 bytes */
    const int length =
        snprintf(prefix, sizeof(prefix), "%" PRIu64 ",%" PRIu64 ",", field->frame, field->ref);
    for (uint32_t row = 0; row < field->blocks_y; row++) {
        const int status = put_block_row(self, field, prefix, (size_t)length, row);
        if (status != GPUME_OK) {
            return status;
        }
    }
    return GPUME_OK;
}

static int vectors_finish(struct gpume_sink *sink)
{
    struct vectors_csv *self = (struct vectors_csv *)sink;
    const int status = flush(self);
    return status == GPUME_OK ? gpume_out_finish(self->out) : status;
}

const struct gpume_sink_ops gpume_sink_vectors_csv = {
    .name = "vectors",
    .check = vectors_check,
    .exists = gpume_text_exists,
    .open = vectors_open,
    .field = vectors_field,
    .finish = vectors_finish,
    .close = vectors_close,
};
