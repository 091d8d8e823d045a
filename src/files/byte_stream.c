/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unread bytes are contiguous. They are moved to the front of the buffer before more are read.
 * Where there is a layer, the file's bytes go to another buffer first. Lines of CSV are split into
 * cells in the stream's memory.
 */
#include "files/byte_stream.h"

#include "base/base.h"
#include "files/path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 * 1024) /* per read */
_Static_assert(GPUME_STREAM_PEEK_BYTES <= BUFFER_BYTES && GPUME_STREAM_LINE_BYTES < BUFFER_BYTES,
    "requests fit the buffer");

/* The file's bytes, which the layer has not yet taken. */
struct raw {
    bool ended;
    const unsigned char *begin, *end;
    unsigned char buffer[BUFFER_BYTES];
};

struct gpume_stream {
    char *name;
    struct gpume_log log;
    int fd;
    bool ended;        /* all bytes are in the buffer */
    uint64_t line;     /* lines read so far */
    uint64_t position; /* of buffer[begin] in the stream */
    size_t begin, end; /* of the unread bytes in the buffer */
    struct gpume_stream_layer layer;
    struct raw *raw; /* NULL: there is no layer */
    unsigned char buffer[BUFFER_BYTES + 1];
};

int gpume_stream_refuse(struct gpume_stream *stream, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return gpume_log_fail(&stream->log, GPUME_INVALID, "%s: %s %" PRIu64 ": %s", stream->name,
        stream->line > 0 ? "line" : "byte", stream->line > 0 ? stream->line : stream->position,
        what);
}

int gpume_stream_refuse_whole(struct gpume_stream *stream, const char *what)
{
    return gpume_log_fail(&stream->log, GPUME_INVALID, "%s: %s", stream->name, what);
}

static int fail_stream(struct gpume_stream *stream, const char *what)
{
    return gpume_log_fail(&stream->log, GPUME_IO, "%s: %s: %s; %s", stream->name, what,
        strerror(errno), gpume_remedy(errno, "check its name and its permissions"));
}

/* *got 0: the file ends. */
static int read_some(struct gpume_stream *stream, unsigned char *to, size_t room, size_t *got)
{
    ssize_t bytes;
    do {
        bytes = read(stream->fd, to, room);
    } while (bytes < 0 && errno == EINTR);
    *got = bytes < 0 ? 0 : (size_t)bytes;
    return bytes < 0 ? fail_stream(stream, "cannot be read") : GPUME_OK;
}

static int refuse_layer(struct gpume_stream *stream, int status)
{
    return status == GPUME_NOMEM ? gpume_log_nomem(&stream->log, stream->name)
           : status == GPUME_UNSUPPORTED
               ? gpume_stream_refuse_whole(stream, "is compressed with a window of more than 128 "
                                                   "MiB; decompress it, such as with "
                                                   "zstd -d --long=31")
               : gpume_stream_refuse(
                     stream, "the compressed bytes after this position are damaged");
}

static int read_raw(struct gpume_stream *stream)
{
    struct raw *raw = stream->raw;
    size_t got = 0;
    const int status = read_some(stream, raw->buffer, sizeof(raw->buffer), &got);
    raw->begin = raw->buffer;
    raw->end = raw->buffer + got;
    raw->ended = got == 0;
    return status;
}

/* As read_some, through the layer. */
static int make_some(struct gpume_stream *stream, unsigned char *to, size_t room, size_t *got)
{
    struct raw *raw = stream->raw;
    int status = GPUME_OK;
    bool whole = false;
    *got = 0;
    while (*got == 0) {
        if (raw->begin == raw->end && !raw->ended) {
            GPUME_TRY(read_raw(stream));
        }
        const bool last = raw->begin == raw->end;
        status =
            stream->layer.make(stream->layer.opaque, &raw->begin, raw->end, to, room, got, &whole);
        if (status != GPUME_OK) {
            return refuse_layer(stream, status);
        }
        if (last && *got == 0) { /* nothing was held back */
            return whole ? GPUME_OK
                         : gpume_stream_refuse(stream, "ends here; the file is incomplete");
        }
    }
fail:
    return status;
}

/* Moves the unread bytes to the front and reads more. */
static int fill_stream(struct gpume_stream *stream)
{
    size_t got = 0;
    memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
    stream->end -= stream->begin;
    stream->begin = 0;
    const int status = (stream->raw ? make_some : read_some)(
        stream, stream->buffer + stream->end, BUFFER_BYTES - stream->end, &got);
    stream->ended = status == GPUME_OK && got == 0;
    stream->end += got;
    return status;
}

int gpume_stream_add(struct gpume_stream *stream, struct gpume_stream_layer layer)
{
    struct raw *raw = malloc(sizeof(*raw)); /* the buffer needs no zeroing */
    stream->layer = layer;
    stream->raw = raw;
    if (!raw) {
        layer.close(layer.opaque);
        return gpume_log_nomem(&stream->log, stream->name);
    }
    const size_t held = stream->end - stream->begin;
    memcpy(raw->buffer, stream->buffer + stream->begin, held);
    raw->begin = raw->buffer;
    raw->end = raw->buffer + held;
    raw->ended = stream->ended;
    stream->begin = stream->end = 0;
    stream->ended = false;
    return GPUME_OK;
}

static void consume(struct gpume_stream *stream, size_t bytes)
{
    stream->begin += bytes;
    stream->position += bytes;
}

int gpume_stream_peek(
    struct gpume_stream *stream, size_t wanted, const unsigned char **data, size_t *got)
{
    int status = GPUME_OK;
    assert(wanted <= GPUME_STREAM_PEEK_BYTES);
    while (stream->end - stream->begin < wanted && !stream->ended) {
        GPUME_TRY(fill_stream(stream));
    }
    *data = stream->buffer + stream->begin;
    *got = stream->end - stream->begin < wanted ? stream->end - stream->begin : wanted;
fail:
    return status;
}

int gpume_stream_at_end(struct gpume_stream *stream, bool *ended)
{
    const unsigned char *data;
    size_t got = 0;
    const int status = gpume_stream_peek(stream, 1, &data, &got);
    *ended = got == 0;
    return status;
}

int gpume_stream_read(struct gpume_stream *stream, void *to, size_t bytes)
{
    int status = GPUME_OK;
    unsigned char *at = to;
    while (bytes > 0) {
        const size_t held = stream->end - stream->begin;
        const size_t part = held < bytes ? held : bytes;
        if (part > 0) {
            memcpy(at, stream->buffer + stream->begin, part);
            consume(stream, part);
            at += part;
            bytes -= part;
        } else if (stream->ended) {
            return gpume_stream_refuse(stream, "ends here; the file is incomplete");
        } else {
            GPUME_TRY(fill_stream(stream));
        }
    }
fail:
    return status;
}

int gpume_stream_skip(struct gpume_stream *stream, uint64_t bytes)
{
    int status = GPUME_OK;
    while (bytes > 0) {
        const size_t held = stream->end - stream->begin;
        const size_t part = held < bytes ? held : (size_t)bytes;
        consume(stream, part);
        bytes -= part;
        if (bytes > 0 && stream->ended) {
            return gpume_stream_refuse(stream, "ends here; the file is incomplete");
        }
        if (bytes > 0) {
            GPUME_TRY(fill_stream(stream));
        }
    }
fail:
    return status;
}

int gpume_stream_line(struct gpume_stream *stream, char **line)
{
    int status = GPUME_OK;
    char *stop = NULL;
    size_t searched = 0;
    stream->line++;
    for (;;) {
        const size_t held = stream->end - stream->begin;
        stop = memchr(stream->buffer + stream->begin + searched, '\n', held - searched);
        searched = held;
        if (stop || stream->ended || held > GPUME_STREAM_LINE_BYTES) {
            break;
        }
        GPUME_TRY(fill_stream(stream));
    }
    if (!stop && stream->begin == stream->end) {
        return GPUME_EOF;
    }
    *line = (char *)stream->buffer + stream->begin;
    if ((stop ? (size_t)(stop - *line) : searched) > GPUME_STREAM_LINE_BYTES) {
        return gpume_stream_refuse(stream, "is longer than 65536 bytes");
    }
    if (!stop) {
        return gpume_stream_refuse(stream, "does not end; the file is incomplete");
    }
    consume(stream, (size_t)(stop + 1 - *line));
    stop -= stop > *line && stop[-1] == '\r';
    *stop = '\0';
    if (strlen(*line) != (size_t)(stop - *line)) {
        return gpume_stream_refuse(stream, "contains a zero byte");
    }
fail:
    return status;
}

int gpume_stream_open(struct gpume_stream **stream, const char *path, const struct gpume_log *log)
{
    int status = GPUME_OK;
    struct stat info;
    const bool standard = strcmp(path, "-") == 0;
    struct gpume_stream *self = malloc(sizeof(*self)); /* the buffer needs no zeroing */
    char *name = strdup(standard ? "standard input" : path);
    if (!self || !name) {
        free(name);
        free(self);
        return gpume_log_nomem(log, path);
    }
    self->name = name;
    self->log = *log;
    self->ended = false;
    self->line = self->position = 0;
    self->begin = self->end = 0;
    self->raw = NULL;
    self->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (self->fd < 0) {
        status = fail_stream(self, "cannot be opened");
    } else if (fstat(self->fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        (void)gpume_text_refuse_folder(path, NULL, NULL, log);
        status = GPUME_IO;
    }
    if (status != GPUME_OK) {
        gpume_stream_close(&self);
    }
    *stream = self;
    return status;
}

void gpume_stream_close(struct gpume_stream **stream)
{
    struct gpume_stream *self = *stream;
    if (self) {
        if (self->fd > STDERR_FILENO) {
            close(self->fd);
        }
        if (self->raw) {
            self->layer.close(self->layer.opaque);
        }
        free(self->raw);
        free(self->name);
        free(self);
        *stream = NULL;
    }
}

/* --- tables of CSV */

#define CELLS_MAX 256u /* of a row */

/* Splits a line at the commas outside quotes, and removes the quotes and the blanks around cells.
 */
static size_t split(char *line, char *cells[CELLS_MAX])
{
    size_t count = 0;
    for (char *at = line;;) {
        at += strspn(at, " \t");
        char *to = at, *filled = at; /* after the last character that is not a blank */
        bool quoted = false;
        if (count < CELLS_MAX) {
            cells[count] = at;
        }
        count++;
        for (; *at && (quoted || *at != ','); at++) {
            if (*at == '"' && !(quoted && at[1] == '"')) {
                quoted = !quoted;
            } else {
                at += quoted && *at == '"';
                *to++ = *at;
                filled = quoted || (*at != ' ' && *at != '\t') ? to : filled;
            }
        }
        const bool more = *at == ',';
        *filled = '\0';
        if (!more) {
            return count;
        }
        at++;
    }
}

static int read_header(struct gpume_csv_reader *reader)
{
    int status;
    char *line, *cells[CELLS_MAX];
    status = gpume_stream_line(reader->stream, &line);
    if (status == GPUME_EOF) {
        return gpume_stream_refuse_whole(reader->stream, "is empty");
    }
    GPUME_TRY(status);
    line += strncmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    reader->width = split(line, cells);
    if (reader->width > CELLS_MAX) {
        return gpume_stream_refuse(reader->stream, "has more than 256 columns");
    }
    for (size_t i = 0; i < reader->count; i++) {
        size_t named = 0;
        reader->places[i] = CELLS_MAX;
        for (size_t j = 0; j < reader->width; j++) {
            if (strcmp(cells[j], reader->columns[i].name) == 0) {
                reader->places[i] = j;
                named++;
            }
        }
        if (named > 1 || (named == 0 && !reader->columns[i].optional)) {
            return gpume_stream_refuse(reader->stream, "names %s column '%s'",
                named ? "more than one" : "no", reader->columns[i].name);
        }
    }
fail:
    return status;
}

int gpume_csv_reader_init(struct gpume_csv_reader *reader, struct gpume_stream *stream,
    const struct gpume_csv_column *columns, size_t count)
{
    *reader = (struct gpume_csv_reader){.stream = stream, .columns = columns, .count = count};
    return read_header(reader);
}

bool gpume_csv_reader_has(const struct gpume_csv_reader *reader, size_t column)
{
    return reader->places[column] < CELLS_MAX;
}

int gpume_csv_reader_next(struct gpume_csv_reader *reader)
{
    int status;
    char *line, *all[CELLS_MAX];
    GPUME_TRY(gpume_stream_line(reader->stream, &line));
    const size_t width = split(line, all);
    if (width != reader->width) {
        return gpume_stream_refuse(
            reader->stream, "has %zu cells, the first line %zu", width, reader->width);
    }
    for (size_t i = 0; i < reader->count; i++) {
        reader->cells[i] = gpume_csv_reader_has(reader, i) ? all[reader->places[i]] : "";
    }
fail:
    return status;
}

int gpume_csv_reader_int(
    const struct gpume_csv_reader *reader, size_t column, int64_t min, int64_t max, int64_t *value)
{
    const char *at = reader->cells[column] + strspn(reader->cells[column], " ");
    const bool negative = *at == '-';
    int64_t magnitude = 0;
    at += negative;
    bool valid = *at != '\0';
    /* Another digit fits below 10^18. */
    for (; *at >= '0' && *at <= '9' && magnitude < INT64_C(1000000000000000000) / 10; at++) {
        magnitude = magnitude * 10 + (*at - '0');
    }
    valid = valid && *at == '\0';
    const int64_t result = negative ? -magnitude : magnitude;
    if (valid && result >= min && result <= max) {
        *value = result;
        return GPUME_OK;
    }
    return gpume_stream_refuse(reader->stream,
        "%s is '%.40s', not a whole number from %" PRId64 " to %" PRId64,
        reader->columns[column].name, reader->cells[column], min, max);
}
