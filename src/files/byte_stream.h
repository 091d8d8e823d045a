/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Input for the readers of tables: a file, standard input, or bytes in memory, behind one buffer.
 * What is wrong is one line in the log with the name and the place: a line of text, or a byte. One
 * thread a stream.
 */
#ifndef GPUME_FILES_BYTE_STREAM_H
#define GPUME_FILES_BYTE_STREAM_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_stream;

#define GPUME_STREAM_LINE_BYTES ((size_t)64 * 1024) /* longer ones are of no table of ours */
#define GPUME_STREAM_PEEK_BYTES ((size_t)64 * 1024)

/* path: "-" is standard input. GPUME_IO: cannot be opened. */
int gpume_stream_open(struct gpume_stream **stream, const char *path, const struct gpume_log *log);

/* name: for messages. The bytes stay the caller's and outlive the stream. */
int gpume_stream_open_memory(struct gpume_stream **stream, const char *name, const void *data,
    size_t bytes, const struct gpume_log *log);

/* What comes next, without taking it: *got of it, `wanted` (GPUME_STREAM_PEEK_BYTES at most) unless
 * the stream ends before. Valid until the next call. */
int gpume_stream_peek(
    struct gpume_stream *stream, size_t wanted, const unsigned char **data, size_t *got);

/* *ended: nothing is left. */
int gpume_stream_at_end(struct gpume_stream *stream, bool *ended);

/* All of it, or GPUME_INVALID after a line that says where the stream ends. */
int gpume_stream_read(struct gpume_stream *stream, void *to, size_t bytes);

int gpume_stream_skip(struct gpume_stream *stream, uint64_t bytes);

/* The next line without its end ("\n" or "\r\n"), as a string in the stream's memory, until the
 * next call. GPUME_EOF: there is none. GPUME_INVALID: too long, no end, or a zero byte in it. */
int gpume_stream_line(struct gpume_stream *stream, char **line);

/* GPUME_INVALID after one line: the name; the line of text last taken, or the byte that comes next
 * where none was; and what is wrong there. */
int gpume_stream_refuse(struct gpume_stream *stream, const char *format, ...) GPUME_PRINTF(2, 3);

/* Likewise, without a place. */
int gpume_stream_refuse_whole(struct gpume_stream *stream, const char *what);

/* Sets *stream to NULL. NULL is fine. */
void gpume_stream_close(struct gpume_stream **stream);

#endif
