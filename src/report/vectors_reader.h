/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A vectors.csv, of this program or of another, a field at a time: columns frame, x, y, w, h, dx,
 * dy, cost, and ref where it is there; rows by frame, then by ref, then in raster order. Memory is
 * that of a field. What is wrong is one line in the log. One thread a reader.
 */
#ifndef GPUME_REPORT_VECTORS_READER_H
#define GPUME_REPORT_VECTORS_READER_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_READ_SIDE_MAX 1048576 /* pixels, of a picture: what the library takes */
#define GPUME_READ_BLOCK_MAX 1024   /* pixels, of a block: more than any codec has */

struct gpume_read_block {
    uint32_t x, y;
    uint16_t w, h;
    int32_t dx, dy;
    uint32_t cost;
};

struct gpume_read_field {
    uint64_t frame, ref;
    bool has_ref;
    const struct gpume_read_block *blocks;
    size_t count;           /* 1 or more */
    uint32_t width, height; /* of the picture, as far as blocks cover it */
};

/* Where the file does not say, fields look back. */
static inline bool gpume_read_field_looks_ahead(const struct gpume_read_field *field)
{
    return field->has_ref && field->ref > field->frame;
}

struct gpume_vectors_reader;

/* As gpume_csv_reader_open. A file without a row is GPUME_INVALID. */
int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const char *path, const struct gpume_log *log);

/* The next field, with a higher frame than the last, or the same one and a higher ref; until the
 * next call. NULL after the last. */
int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_read_field **field);

/* Sets *reader to NULL. NULL is fine. */
void gpume_vectors_reader_close(struct gpume_vectors_reader **reader);

#endif
