/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered input from a file or standard input, and tables of CSV that are read from it. Errors are
 * logged in one line with the name and the position, as a line number or a byte offset. One thread
 * per stream.
 */
#ifndef GPUME_FILES_BYTE_STREAM_H
#define GPUME_FILES_BYTE_STREAM_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_stream;

#define GPUME_STREAM_LINE_BYTES ((size_t)64 * 1024) /* longer lines are refused */
#define GPUME_STREAM_PEEK_BYTES ((size_t)64 * 1024)

/* path: "-" is standard input. GPUME_IO: cannot be opened. */
int gpume_stream_open(struct gpume_stream **stream, const char *path, const struct gpume_log *log);

/* Makes the stream's bytes of the file's (files/pack.h). */
struct gpume_stream_layer {
    /* Makes up to `room` bytes, *got, of those from *from to end, and moves *from behind those that
     * it has taken. *whole: the file may end here. GPUME_INVALID, GPUME_UNSUPPORTED, GPUME_NOMEM:
     * not logged. */
    int (*make)(void *opaque, const unsigned char **from, const unsigned char *end,
        unsigned char *to, size_t room, size_t *got, bool *whole);
    void (*close)(void *opaque);
    void *opaque;
};

/* From the next byte on, the stream delivers what the layer makes of the file's bytes. Once per
 * stream, which closes the layer, also after GPUME_NOMEM. */
int gpume_stream_add(struct gpume_stream *stream, struct gpume_stream_layer layer);

/* The next bytes, which stay in the stream: `wanted` of them (at most GPUME_STREAM_PEEK_BYTES), or
 * fewer if the stream ends. Valid until the next call. */
int gpume_stream_peek(
    struct gpume_stream *stream, size_t wanted, const unsigned char **data, size_t *got);

/* *ended: all bytes have been read. */
int gpume_stream_at_end(struct gpume_stream *stream, bool *ended);

/* GPUME_INVALID after one line: the stream ends before that many bytes. */
int gpume_stream_read(struct gpume_stream *stream, void *to, size_t bytes);

int gpume_stream_skip(struct gpume_stream *stream, uint64_t bytes);

/* The next line without its end ("\n" or "\r\n"), a string in the stream's memory that is valid
 * until the next call. GPUME_EOF: the stream has ended. GPUME_INVALID: it is too long, has no end,
 * or contains a zero byte. */
int gpume_stream_line(struct gpume_stream *stream, char **line);

/* Logs the name, the number of the last line or the offset of the next byte, and the error. Returns
 * GPUME_INVALID. */
int gpume_stream_refuse(struct gpume_stream *stream, const char *format, ...) GPUME_PRINTF(2, 3);

/* Without a position. */
int gpume_stream_refuse_whole(struct gpume_stream *stream, const char *what);

/* Sets *stream to NULL. NULL is fine. */
void gpume_stream_close(struct gpume_stream **stream);

/*
 * --- Reads a CSV table row by row. Columns are found by the names in its first line, each of which
 * must be unique; others are ignored, and so are blanks around a cell. Errors are logged in one
 * line with the file and the line number. One thread per reader.
 */

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
