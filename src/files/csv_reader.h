/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a CSV table row by row. Columns are found by the names in its first line, each of which
 * must be unique; others are ignored, and so are blanks around a cell. Errors are logged in one
 * line with the file and the line number. One thread per reader.
 */
#ifndef GPUME_FILES_CSV_READER_H
#define GPUME_FILES_CSV_READER_H

#include "files/byte_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_CSV_COLUMNS_MAX 24u /* that a caller may request */

/* A column that the caller requests. Must outlive the reader. */
struct gpume_csv_column {
    const char *name;
    bool optional; /* its cells are "" if the table lacks it */
};

struct gpume_csv_reader {
    struct gpume_stream *stream;
    const struct gpume_csv_column *columns;
    size_t count;
    size_t width;                             /* cells of the first line */
    size_t places[GPUME_CSV_COLUMNS_MAX];     /* in the row; gpume_csv_reader_has */
    const char *cells[GPUME_CSV_COLUMNS_MAX]; /* of the current row, by column */
};

/* Reads the first line. The stream stays the caller's and must outlive the reader. GPUME_INVALID: a
 * column is missing. */
int gpume_csv_reader_init(struct gpume_csv_reader *reader, struct gpume_stream *stream,
    const struct gpume_csv_column *columns, size_t count);

bool gpume_csv_reader_has(const struct gpume_csv_reader *reader, size_t column);

/* GPUME_EOF after the last row. */
int gpume_csv_reader_next(struct gpume_csv_reader *reader);

/* The column's cell in the current row, as a whole number from min to max. GPUME_INVALID after one
 * line: it is not one. */
int gpume_csv_reader_int(
    const struct gpume_csv_reader *reader, size_t column, int64_t min, int64_t max, int64_t *value);

#endif
