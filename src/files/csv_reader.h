/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a table for programs row by row: columns are found by the names in its first line, each of
 * which is there once; others are passed over. Blanks about a cell do not count. What is wrong is
 * one line in the log with the file and its line. One thread a reader.
 */
#ifndef GPUME_FILES_CSV_READER_H
#define GPUME_FILES_CSV_READER_H

#include "base/log.h"
#include "files/byte_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_csv_reader;

#define GPUME_CSV_COLUMNS_MAX 16u /* that a caller asks for */

/* What the caller wants of each row. Lives as long as the reader. */
struct gpume_csv_column {
    const char *name;
    bool optional; /* its cells are "" where the table has none */
};

/* The stream stays the caller's and outlives the reader. GPUME_INVALID: no such table. */
int gpume_csv_reader_open(struct gpume_csv_reader **reader, struct gpume_stream *stream,
    const struct gpume_csv_column *columns, size_t count, const struct gpume_log *log);

bool gpume_csv_reader_has(const struct gpume_csv_reader *reader, size_t column);

/* cells[i]: of the column i, until the next call. GPUME_EOF after the last row. */
int gpume_csv_reader_next(struct gpume_csv_reader *reader, const char **cells);

/* The cell, of the row last read, as a whole number from min to max, blanks before it passed over;
 * GPUME_INVALID, logged, if it is none. */
int gpume_csv_reader_int(
    struct gpume_csv_reader *reader, size_t column, int64_t min, int64_t max, int64_t *value);

/* GPUME_INVALID after one line: file, line, and what is wrong with it. */
int gpume_csv_reader_refuse(struct gpume_csv_reader *reader, const char *what);

/* Sets *reader to NULL. NULL is fine. */
void gpume_csv_reader_close(struct gpume_csv_reader **reader);

#endif
