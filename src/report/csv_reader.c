/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines are cut into cells where they lie in the buffer; an incomplete one moves to its front
 * before more is read behind it.
 */
#include "report/csv_reader.h"

#include "base/out.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 * 1024) /* a read at a time */
#define LINE_BYTES ((size_t)64 * 1024)    /* longer ones are of no table of ours */
#define CELLS_MAX 256u                    /* of a row */

struct gpume_csv_reader {
    char *path;
    struct gpume_log log;
    const struct gpume_csv_column *columns;
    size_t count;
    size_t places[GPUME_CSV_COLUMNS_MAX]; /* in the row; CELLS_MAX: not there */
    const char *cells[GPUME_CSV_COLUMNS_MAX];
    size_t width; /* cells of the first line */
    uint64_t line;
    int fd;
    bool ended;
    size_t begin, end; /* of what is in the buffer and has not been taken */
    char buffer[BUFFER_BYTES + 1];
};

int gpume_csv_reader_refuse(struct gpume_csv_reader *reader, const char *what)
{
    gpume_log_write(&reader->log, GPUME_LOG_ERROR, "%s: line %" PRIu64 ": %s", reader->path,
        reader->line, what);
    return GPUME_INVALID;
}

/* Makes room behind what is there and reads into it. */
static int fill(struct gpume_csv_reader *reader)
{
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    ssize_t got;
    do {
        got = read(reader->fd, reader->buffer + reader->end, BUFFER_BYTES - reader->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        gpume_log_write(
            &reader->log, GPUME_LOG_ERROR, "%s: cannot be read: %s", reader->path, strerror(errno));
        return GPUME_IO;
    }
    reader->ended = got == 0;
    reader->end += (size_t)got;
    return GPUME_OK;
}

/* The next line without its end, as a string. */
static int take_line(struct gpume_csv_reader *reader, char **line)
{
    int status = GPUME_OK;
    char *stop = NULL;
    size_t searched = 0;
    reader->line++;
    for (;;) {
        const size_t held = reader->end - reader->begin;
        stop = memchr(reader->buffer + reader->begin + searched, '\n', held - searched);
        searched = held;
        if (stop || reader->ended || held > LINE_BYTES) {
            break;
        }
        GPUME_TRY(fill(reader));
    }
    if (!stop && reader->begin == reader->end) {
        return GPUME_EOF;
    }
    *line = reader->buffer + reader->begin;
    if ((stop ? (size_t)(stop - *line) : searched) > LINE_BYTES) {
        return gpume_csv_reader_refuse(reader, "longer than 65536 bytes; this is no table in CSV");
    }
    if (!stop) {
        return gpume_csv_reader_refuse(reader, "has no end; the file is not whole");
    }
    reader->begin = (size_t)(stop + 1 - reader->buffer);
    stop -= stop > *line && stop[-1] == '\r';
    *stop = '\0';
    if (strlen(*line) != (size_t)(stop - *line)) {
        return gpume_csv_reader_refuse(reader, "holds a zero byte; this is no table in CSV");
    }
fail:
    return status;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

/* Cuts a line at its commas, but not at those between quotes, which go away, like blanks at both
 * ends of a cell. */
static size_t split(char *line, char *cells[CELLS_MAX])
{
    size_t count = 0;
    for (char *at = line;;) {
        at += strspn(at, " \t");
        char *to = at, *filled = at; /* behind the last letter that is no blank */
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
                filled = quoted || !is_blank(*at) ? to : filled;
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
    char *line, *cells[CELLS_MAX], what[128];
    status = take_line(reader, &line);
    if (status == GPUME_EOF) {
        gpume_log_write(&reader->log, GPUME_LOG_ERROR, "%s: is empty", reader->path);
        return GPUME_INVALID;
    }
    GPUME_TRY(status);
    line += strncmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    reader->width = split(line, cells);
    if (reader->width > CELLS_MAX) {
        return gpume_csv_reader_refuse(reader, "has more than 256 columns");
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
            snprintf(what, sizeof(what), "names %s column '%s'", named ? "more than one" : "no",
                reader->columns[i].name);
            return gpume_csv_reader_refuse(reader, what);
        }
    }
fail:
    return status;
}

int gpume_csv_reader_open(struct gpume_csv_reader **reader, const char *path,
    const struct gpume_csv_column *columns, size_t count, const struct gpume_log *log)
{
    int status = GPUME_OK;
    struct gpume_csv_reader *self = malloc(sizeof(*self));
    char *copy = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (!self || !copy) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: out of memory", path);
        free(copy);
        free(self);
        return GPUME_NOMEM;
    }
    self->path = copy;
    self->log = *log;
    self->columns = columns;
    self->count = count;
    self->line = 0;
    self->ended = false;
    self->begin = self->end = 0;
    self->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (self->fd < 0) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
        status = GPUME_IO;
    }
    GPUME_TRY(status);
    GPUME_TRY(read_header(self));
    *reader = self;
    return GPUME_OK;
fail:
    gpume_csv_reader_close(&self);
    return status;
}

bool gpume_csv_reader_has(const struct gpume_csv_reader *reader, size_t column)
{
    return reader->places[column] < CELLS_MAX;
}

int gpume_csv_reader_next(struct gpume_csv_reader *reader, const char **cells)
{
    int status;
    char *line, *all[CELLS_MAX], what[128];
    GPUME_TRY(take_line(reader, &line));
    const size_t width = split(line, all);
    if (width != reader->width) {
        snprintf(what, sizeof(what), "has %zu cells, the first line %zu", width, reader->width);
        return gpume_csv_reader_refuse(reader, what);
    }
    for (size_t i = 0; i < reader->count; i++) {
        reader->cells[i] = gpume_csv_reader_has(reader, i) ? all[reader->places[i]] : "";
        cells[i] = reader->cells[i];
    }
fail:
    return status;
}

int gpume_csv_reader_int(
    struct gpume_csv_reader *reader, size_t column, int64_t min, int64_t max, int64_t *value)
{
    const char *at = reader->cells[column];
    const bool negative = *at == '-';
    int64_t magnitude = 0;
    at += negative;
    bool valid = *at != '\0';
    /* Below 10^18 another digit fits. */
    for (; *at >= '0' && *at <= '9' && magnitude < INT64_C(1000000000000000000) / 10; at++) {
        magnitude = magnitude * 10 + (*at - '0');
    }
    valid = valid && *at == '\0';
    const int64_t result = negative ? -magnitude : magnitude;
    if (valid && result >= min && result <= max) {
        *value = result;
        return GPUME_OK;
    }
    char what[160];
    snprintf(what, sizeof(what), "%s is '%.40s', not a whole number from %" PRId64 " to %" PRId64,
        reader->columns[column].name, reader->cells[column], min, max);
    return gpume_csv_reader_refuse(reader, what);
}

void gpume_csv_reader_close(struct gpume_csv_reader **reader)
{
    struct gpume_csv_reader *self = *reader;
    if (self) {
        if (self->fd > STDERR_FILENO) {
            close(self->fd);
        }
        free(self->path);
        free(self);
        *reader = NULL;
    }
}
