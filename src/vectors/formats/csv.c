/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vectors.csv: one row per block, named columns. For speed, a row is assembled from pieces that are
 * copied with a fixed size, each overwriting the excess of the one before; text that repeats within
 * a field or a row of blocks is formatted once.
 */
#include "base/status.h"
#include "files/csv_reader.h"
#include "files/digits.h"
#include "vectors/block_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The longest row: two 20-digit frame numbers, x and y of 10 digits, w and h of 5, dx and dy
 * of 6, cost and rank of 10, ten separators. */
#define ROW_BYTES 112u

/* "y,w,h,": a number of up to 10 digits and two of up to 5. */
struct middle {
    char text[31];
    uint8_t length;
};

struct csv_writer {
    size_t prefix_length;
    char prefix[48]; /* "frame,ref,": two numbers of 20 digits and two commas are 42 bytes */
    struct gpume_digits_piece vectors[2 * GPUME_WINDOW_MAX + 1]; /* "-512," to "512," */
    struct gpume_digits digits;
};

static int csv_open(const struct gpume_vectors_target *target)
{
    struct csv_writer *self = target->state;
    gpume_digits_init(&self->digits);
    for (int i = -GPUME_WINDOW_MAX; i <= GPUME_WINDOW_MAX; i++) {
        char text[16];
        struct gpume_digits_piece *piece = &self->vectors[i + GPUME_WINDOW_MAX];
        piece->length = (uint8_t)snprintf(text, sizeof(text), "%d,", i);
        memcpy(piece->text, text, piece->length);
    }
    return GPUME_OK;
}

static size_t csv_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    const unsigned columns = target->info->columns;
    (void)rows;
    return (size_t)snprintf(at, GPUME_VECTORS_HEAD_BYTES, "frame,%sx,y,w,h,dx,dy%s%s\n",
        columns & GPUME_VECTORS_REF ? "ref," : "", columns & GPUME_VECTORS_COST ? ",cost" : "",
        columns & GPUME_VECTORS_RANK ? ",rank" : "");
}

static size_t csv_begin(
    const struct gpume_vectors_target *target, char at[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_field *field = target->field;
    struct csv_writer *self = target->state;
    (void)at;
    int length = snprintf(self->prefix, sizeof(self->prefix), "%" PRIu64 ",", field->frame);
    if (target->info->columns & GPUME_VECTORS_REF) {
        length = snprintf(self->prefix, sizeof(self->prefix), "%" PRIu64 ",%" PRIu64 ",",
            field->frame, field->ref);
    }
    self->prefix_length = (size_t)length;
    return 0;
}

static struct middle make_middle(
    const struct gpume_digits *digits, const struct gpume_vectors_block *block)
{
    struct middle middle = {0};
    char text[48], *at = text; /* writing a number may touch 7 bytes after it */
    const uint32_t values[] = {block->y, block->w, block->h};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        at = gpume_digits_put(digits, at, values[i]);
        *at++ = ',';
    }
    middle.length = (uint8_t)(at - text);
    memcpy(middle.text, text, middle.length);
    return middle;
}

/* "dx,", from a table for vectors within the largest window. */
static inline char *put_vector(const struct csv_writer *self, char *at, int value)
{
    if (value >= -GPUME_WINDOW_MAX && value <= GPUME_WINDOW_MAX) {
        return gpume_digits_copy(at, &self->vectors[value + GPUME_WINDOW_MAX]);
    }
    at = gpume_digits_put_signed(&self->digits, at, value);
    *at++ = ',';
    return at;
}

static char *csv_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    const struct csv_writer *self = target->state;
    const bool costs = target->info->columns & GPUME_VECTORS_COST;
    const bool ranks = target->info->columns & GPUME_VECTORS_RANK;
    struct middle middle = make_middle(&self->digits, &blocks[0]);
    uint32_t y = blocks[0].y;
    uint16_t w = blocks[0].w, h = blocks[0].h;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        if (block->y != y || block->w != w || block->h != h) {
            middle = make_middle(&self->digits, block);
            y = block->y;
            w = block->w;
            h = block->h;
        }
        memcpy(at, self->prefix, sizeof(self->prefix));
        at = gpume_digits_put(&self->digits, at + self->prefix_length, block->x);
        *at++ = ',';
        memcpy(at, &middle, sizeof(middle));
        at = put_vector(self, at + middle.length, block->dx);
        at = put_vector(self, at, block->dy);
        if (costs) {
            at = gpume_digits_put(&self->digits, at, block->cost);
            *at++ = ',';
        }
        if (ranks) {
            at = gpume_digits_put(&self->digits, at, block->rank);
            *at++ = ',';
        }
        at[-1] = '\n';
    }
    return at;
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(struct csv_writer),
    .row_bytes = ROW_BYTES,
    .open = csv_open,
    .head = csv_head,
    .begin = csv_begin,
    .rows = csv_rows,
};

struct csv_input {
    struct gpume_csv_reader csv;
    struct gpume_csv_column columns[GPUME_BLOCK_COLUMNS];
};

static int csv_input_open(struct gpume_vectors_input *input)
{
    struct csv_input *self = input->state;
    input->info.columns = 0;
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        self->columns[i] = (struct gpume_csv_column){kind->name, kind->flag != 0};
    }
    const int status =
        gpume_csv_reader_init(&self->csv, input->stream, self->columns, GPUME_BLOCK_COLUMNS);
    for (size_t i = 0; status == GPUME_OK && i < GPUME_BLOCK_COLUMNS; i++) {
        bool has = gpume_csv_reader_has(&self->csv, i);
        input->info.columns |= has ? gpume_block_columns[i].flag : 0;
    }
    return status;
}

static int csv_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct csv_input *self = input->state;
    int64_t values[GPUME_BLOCK_COLUMNS] = {0};
    int status;
    GPUME_TRY(gpume_csv_reader_next(&self->csv));
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        if (gpume_csv_reader_has(&self->csv, i)) {
            GPUME_TRY(gpume_csv_reader_int(&self->csv, i, kind->min, kind->max, &values[i]));
        }
    }
    *row = gpume_block_row(values);
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct csv_input),
    .open = csv_input_open,
    .next = csv_input_next,
};

const struct gpume_vectors_format gpume_vectors_csv = {
    .name = "csv",
    .extension = ".csv",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK,
    .writer = &writer,
    .reader = &reader,
};
