/* SPDX-License-Identifier: BSD-2-Clause */
/* .npy: one array of all blocks; its structured type has the columns of vectors.csv as members. */
#include "base/status.h"
#include "files/little_endian.h"
#include "vectors/block_row.h"
#include "vectors/formats/npy_header.h"

#include <stdio.h>
#include <string.h>

#define HEAD_BYTES 256u /* the type takes 160, the shape 26 */
#define ITEM_BYTES 40u  /* with all columns */

static const char *const types[GPUME_BLOCK_COLUMNS] = {
    [GPUME_BLOCK_FRAME] = "<i8",
    [GPUME_BLOCK_REF] = "<i8",
    [GPUME_BLOCK_X] = "<i4",
    [GPUME_BLOCK_Y] = "<i4",
    [GPUME_BLOCK_W] = "<i2",
    [GPUME_BLOCK_H] = "<i2",
    [GPUME_BLOCK_DX] = "<i2",
    [GPUME_BLOCK_DY] = "<i2",
    [GPUME_BLOCK_COST] = "<u4",
    [GPUME_BLOCK_RANK] = "<u4",
};

static size_t npy_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    char descr[HEAD_BYTES] = "[";
    size_t length = 1;
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        if ((kind->flag & target->info->columns) == kind->flag) {
            length += (size_t)snprintf(descr + length, sizeof(descr) - length, "%s('%s', '%s')",
                length > 1 ? ", " : "", kind->name, types[i]);
        }
    }
    snprintf(descr + length, sizeof(descr) - length, "]");
    gpume_npy_head(at, HEAD_BYTES, descr, rows, 0);
    return HEAD_BYTES;
}

static size_t npy_fixed_bytes(const struct gpume_vectors_target *target)
{
    const unsigned columns = target->info->columns;
    return ITEM_BYTES - (columns & GPUME_VECTORS_REF ? 0 : 8) -
           (columns & GPUME_VECTORS_COST ? 0 : 4) - (columns & GPUME_VECTORS_RANK ? 0 : 4);
}

static char *npy_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    const unsigned columns = target->info->columns;
    const bool refs = columns & GPUME_VECTORS_REF;
    const bool costs = columns & GPUME_VECTORS_COST;
    const bool ranks = columns & GPUME_VECTORS_RANK;
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        at = gpume_le_put64(at, target->field->frame);
        at = refs ? gpume_le_put64(at, target->field->ref) : at;
        at = gpume_le_put32(at, block->x);
        at = gpume_le_put32(at, block->y);
        at = gpume_le_put16(at, block->w);
        at = gpume_le_put16(at, block->h);
        at = gpume_le_put16(at, (uint16_t)block->dx);
        at = gpume_le_put16(at, (uint16_t)block->dy);
        at = costs ? gpume_le_put32(at, block->cost) : at;
        at = ranks ? gpume_le_put32(at, block->rank) : at;
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = ITEM_BYTES,
    .head = npy_head,
    .rows = npy_rows,
    .fixed_bytes = npy_fixed_bytes,
};

struct npy_input {
    struct gpume_npy npy;
    const struct gpume_npy_column *places[GPUME_BLOCK_COLUMNS]; /* NULL: missing */
    uint64_t left;                                              /* items */
    unsigned char item[GPUME_NPY_ITEM_BYTES_MAX];
};

/* The text of a structured type is a list. */
static bool npy_probe(const unsigned char *head, size_t bytes)
{
    static const char list[] = "'descr': [";
    const size_t length = sizeof(list) - 1;
    if (bytes < GPUME_NPY_MAGIC_BYTES || memcmp(head, GPUME_NPY_MAGIC, GPUME_NPY_MAGIC_BYTES)) {
        return false;
    }
    for (size_t at = 0; at + length <= bytes; at++) {
        if (memcmp(head + at, list, length) == 0) {
            return true;
        }
    }
    return false;
}

static int npy_input_open(struct gpume_vectors_input *input)
{
    struct npy_input *self = input->state;
    const int status = gpume_npy_read(input->stream, &self->npy);
    input->info.columns = 0;
    if (status != GPUME_OK) {
        return status;
    }
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        const struct gpume_npy_column *place = gpume_npy_find(&self->npy, kind->name);
        if (!place && kind->flag == 0) {
            return gpume_stream_refuse(
                input->stream, "the array's type has no member '%s'", kind->name);
        }
        self->places[i] = place;
        input->info.columns |= place ? kind->flag : 0;
    }
    if (self->npy.dimensions != 1) {
        return gpume_stream_refuse(input->stream, "the array has two dimensions, not one");
    }
    self->left = self->npy.shape[0];
    return GPUME_OK;
}

static int npy_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct npy_input *self = input->state;
    int64_t values[GPUME_BLOCK_COLUMNS] = {0};
    int status = GPUME_EOF;
    GPUME_TRY(self->left > 0 ? GPUME_OK : GPUME_EOF);
    GPUME_TRY(gpume_stream_read(input->stream, self->item, self->npy.item_bytes));
    self->left--;
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        int64_t *value = &values[i];
        if (self->places[i] && (!gpume_npy_int(self->places[i], self->item, value) ||
                                   *value < kind->min || *value > kind->max)) {
            return gpume_stream_refuse(input->stream,
                "'%s' of the item before this position is not an integer from %lld to %lld",
                kind->name, (long long)kind->min, (long long)kind->max);
        }
    }
    *row = gpume_block_row(values);
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct npy_input),
    .open = npy_input_open,
    .next = npy_input_next,
};

const struct gpume_vectors_format gpume_vectors_npy = {
    .name = "npy",
    .extension = ".npy",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK,
    .counted = true,
    .probe = npy_probe,
    .writer = &writer,
    .reader = &reader,
};
