/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines are split into cells in the stream's memory. */
#include "files/csv_reader.h"

#include "base/status.h"

#include <inttypes.h>
#include <string.h>

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
