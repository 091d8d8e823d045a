/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vectors.csv: one row per block, named columns. For speed, a row is assembled from pieces that are
 * copied with a fixed size, each overwriting the excess of the one before; text that repeats within
 * a field or a row of blocks is formatted once.
 */
#include "base/base.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "vectors/block_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The longest row: two 20-digit frame numbers, x and y of 10 digits, w and h of 5, dx and dy
 * of 9, cost and rank of 10, ten separators. */
#define ROW_BYTES 118u

/* "y,w,h,": a number of up to 10 digits and two of up to 5. */
struct middle {
    char text[31];
    uint8_t length;
};

struct csv_prefix {
    uint64_t ref;
    size_t length;
    char text[48]; /* "frame,ref,": two numbers of 20 digits and two commas are 42 bytes */
};

struct csv_writer {
    struct gpume_digits_piece vectors[2 * GPUME_WINDOW_MAX + 1]; /* "-512," to "512," */
};

static int csv_open(const struct gpume_vectors_target *target)
{
    struct csv_writer *self = target->state;
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
    size_t length = 0;
    (void)rows;
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(target->info->columns, i)) {
            length += (size_t)snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - length, "%s%s",
                i > 0 ? "," : "", gpume_block_columns[i].name);
        }
    }
    at[length++] = '\n';
    return length;
}

static struct csv_prefix csv_make_prefix(
    const struct gpume_vectors_target *target, const struct gpume_vectors_block *block)
{
    struct csv_prefix prefix = {.ref = block->ref};
    const uint64_t frame = target->field->frame;
    const bool has_ref = target->info->columns & GPUME_VECTORS_REF;
    prefix.length = has_ref
                        ? (size_t)snprintf(prefix.text, sizeof(prefix.text),
                              "%" PRIu64 ",%" PRIu64 ",", frame, block->ref)
                        : (size_t)snprintf(prefix.text, sizeof(prefix.text), "%" PRIu64 ",", frame);
    return prefix;
}

static struct middle make_middle(const struct gpume_vectors_block *block)
{
    struct middle middle = {0};
    char text[48], *at = text; /* writing a number may touch 7 bytes after it */
    const uint32_t values[] = {block->y, block->w, block->h};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        at = gpume_digits_put(at, values[i]);
        *at++ = ',';
    }
    middle.length = (uint8_t)(at - text);
    memcpy(middle.text, text, middle.length);
    return middle;
}

/* "dx,", from a table for whole pixels within the largest window. */
static inline char *put_vector(const struct csv_writer *self, char *at, int value)
{
    const int pixels = value / GPUME_VECTORS_UNITS;
    if (pixels * GPUME_VECTORS_UNITS == value && pixels >= -GPUME_WINDOW_MAX &&
        pixels <= GPUME_WINDOW_MAX) {
        return gpume_digits_copy(at, &self->vectors[pixels + GPUME_WINDOW_MAX]);
    }
    at = gpume_block_put(at, GPUME_BLOCK_PIXELS, value);
    *at++ = ',';
    return at;
}

static char *csv_put_further(unsigned columns, const struct gpume_vectors_block *block, char *at)
{
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(columns, i)) {
            const int64_t number = gpume_block_number(block, i);
            if (number != GPUME_BLOCK_EMPTY) {
                at = gpume_block_put(at, gpume_block_columns[i].type, number);
            }
            *at++ = ',';
        }
    }
    return at;
}

static char *csv_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    const struct csv_writer *self = target->state;
    const bool costs = target->info->columns & GPUME_VECTORS_COST;
    const bool ranks = target->info->columns & GPUME_VECTORS_RANK;
    const bool further = target->info->columns & GPUME_VECTORS_FURTHER;
    struct csv_prefix prefix = csv_make_prefix(target, &blocks[0]);
    struct middle middle = make_middle(&blocks[0]);
    uint32_t y = blocks[0].y;
    uint16_t w = blocks[0].w, h = blocks[0].h;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        if (block->y != y || block->w != w || block->h != h) {
            middle = make_middle(block);
            y = block->y;
            w = block->w;
            h = block->h;
        }
        if (block->ref != prefix.ref) {
            prefix = csv_make_prefix(target, block);
        }
        memcpy(at, prefix.text, sizeof(prefix.text));
        at = gpume_digits_put(at + prefix.length, block->x);
        *at++ = ',';
        memcpy(at, &middle, sizeof(middle));
        at = put_vector(self, at + middle.length, block->dx);
        at = put_vector(self, at, block->dy);
        if (costs) {
            at = gpume_digits_put(at, block->cost);
            *at++ = ',';
        }
        if (ranks) {
            at = gpume_digits_put(at, block->rank);
            *at++ = ',';
        }
        at = further ? csv_put_further(target->info->columns, block, at) : at;
        at[-1] = '\n';
    }
    return at;
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(struct csv_writer),
    .row_bytes = ROW_BYTES,
    .further = GPUME_BLOCK_FURTHER_BYTES,
    .open = csv_open,
    .head = csv_head,
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

static int take_cell(const struct csv_input *self, enum gpume_block_column column, int64_t *value)
{
    const char *cell = self->csv.cells[column];
    const bool optional = gpume_block_columns[column].optional;
    if (!gpume_csv_reader_has(&self->csv, column) || (optional && *cell == '\0')) {
        return GPUME_OK;
    }
    const char *end = gpume_block_parse(column, cell, value);
    if (!end || *end != '\0') {
        char wanted[96];
        gpume_block_describe(column, wanted, sizeof(wanted));
        return gpume_stream_refuse(self->csv.stream, "%s is '%.40s', not %s",
            gpume_block_columns[column].name, cell, wanted);
    }
    return GPUME_OK;
}

static int csv_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct csv_input *self = input->state;
    int64_t values[GPUME_BLOCK_COLUMNS];
    int status;
    gpume_block_clear(values);
    GPUME_TRY(gpume_csv_reader_next(&self->csv));
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        GPUME_TRY(take_cell(self, i, &values[i]));
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

#define CSV_FORMAT(ending, kind)                                                                   \
    {                                                                                              \
        .name = "csv" ending, .extension = ".csv" ending,                                          \
        .columns =                                                                                 \
            GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_FURTHER,   \
        .packing = kind, .writer = &writer, .reader = &reader,                                     \
    }

const struct gpume_vectors_format gpume_vectors_csv = CSV_FORMAT("", GPUME_PACKING_NONE);
const struct gpume_vectors_format gpume_vectors_csv_gz = CSV_FORMAT(".gz", GPUME_PACKING_GZIP);
const struct gpume_vectors_format gpume_vectors_csv_zst = CSV_FORMAT(".zst", GPUME_PACKING_ZSTD);
