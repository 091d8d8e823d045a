/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/frames_reader.h"

#include "base/status.h"
#include "files/csv_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX INT64_C(99999999999999999)
#define SECONDS_MAX 9e12 /* their microseconds fit an int64_t */
#define PSNR_MAX 1000.0  /* dB; the largest with 16 bits and 2^32 pixels is 193 */

enum column { FRAME, REF, SAD_BEFORE, SAD_AFTER, PSNR_BEFORE, PSNR_AFTER, TIME, COLUMNS };

static const struct gpume_csv_column columns[COLUMNS] = {
    {"frame", false},
    {"ref", true},
    {"sad_before", false},
    {"sad_after", false},
    {"psnr_before", false},
    {"psnr_after", false},
    {"time", true},
};

struct gpume_frames_reader {
    struct gpume_stream *stream;
    struct gpume_csv_reader csv;
    bool started, ended;
    uint64_t frame, ref; /* of the current row */
    struct gpume_read_statistics statistics;
};

static int take_psnr(struct gpume_frames_reader *reader, const char *cell, double *value)
{
    char *end;
    if (strcmp(cell, "inf") == 0) {
        *value = (double)INFINITY;
        return GPUME_OK;
    }
    const double number = strtod(cell, &end);
    if (end == cell || *end != '\0' || !(fabs(number) <= PSNR_MAX)) {
        return gpume_stream_refuse(reader->stream, "a PSNR is neither a number nor inf");
    }
    *value = number;
    return GPUME_OK;
}

/* Parses seconds as microseconds. */
static int take_time(struct gpume_frames_reader *reader, const char *cell, int64_t *time_us)
{
    char *end;
    const double seconds = strtod(cell, &end);
    if (end == cell || *end != '\0' || !(fabs(seconds) <= SECONDS_MAX)) {
        return gpume_stream_refuse(reader->stream, "a time is not a number of seconds");
    }
    *time_us = llround(seconds * 1e6);
    return GPUME_OK;
}

/* Does the current row come before that field? Within a frame, references decide if both are known.
 */
static bool is_before(const struct gpume_frames_reader *reader, uint64_t frame, const uint64_t *ref)
{
    const bool by_ref = ref && gpume_csv_reader_has(&reader->csv, REF);
    return reader->frame < frame || (reader->frame == frame && by_ref && reader->ref < *ref);
}

static int read_row(struct gpume_frames_reader *reader)
{
    int status;
    const char *const *cells = reader->csv.cells;
    int64_t values[PSNR_BEFORE] = {0};
    struct gpume_read_statistics statistics = {.known = true};
    status = gpume_csv_reader_next(&reader->csv);
    if (status == GPUME_EOF) {
        reader->ended = true;
        return GPUME_OK;
    }
    GPUME_TRY(status);
    for (size_t i = 0; i < PSNR_BEFORE; i++) {
        if (gpume_csv_reader_has(&reader->csv, i)) {
            GPUME_TRY(gpume_csv_reader_int(&reader->csv, i, 0, NUMBER_MAX, &values[i]));
        }
    }
    GPUME_TRY(take_psnr(reader, cells[PSNR_BEFORE], &statistics.psnr_before));
    GPUME_TRY(take_psnr(reader, cells[PSNR_AFTER], &statistics.psnr_after));
    statistics.has_time = gpume_csv_reader_has(&reader->csv, TIME);
    if (statistics.has_time) {
        GPUME_TRY(take_time(reader, cells[TIME], &statistics.time_us));
    }
    const uint64_t frame = (uint64_t)values[FRAME], ref = (uint64_t)values[REF];
    if (reader->started && !is_before(reader, frame, &ref)) {
        return gpume_stream_refuse(reader->stream, "frames are not in rising order");
    }
    statistics.sad_before = (uint64_t)values[SAD_BEFORE];
    statistics.sad_after = (uint64_t)values[SAD_AFTER];
    reader->started = true;
    reader->frame = frame;
    reader->ref = ref;
    reader->statistics = statistics;
fail:
    return status;
}

int gpume_frames_reader_open(
    struct gpume_frames_reader **reader, const char *path, const struct gpume_log *log)
{
    int status;
    struct gpume_frames_reader *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(log, path);
    }
    GPUME_TRY(gpume_stream_open(&self->stream, path, log));
    GPUME_TRY(gpume_csv_reader_init(&self->csv, self->stream, columns, COLUMNS));
    GPUME_TRY(read_row(self));
    *reader = self;
    return GPUME_OK;
fail:
    gpume_frames_reader_close(&self);
    return status;
}

int gpume_frames_reader_seek(struct gpume_frames_reader *reader, uint64_t frame,
    const uint64_t *ref, struct gpume_read_statistics *statistics)
{
    const bool by_ref = ref && gpume_csv_reader_has(&reader->csv, REF);
    int status = GPUME_OK;
    while (!reader->ended && is_before(reader, frame, ref)) {
        GPUME_TRY(read_row(reader));
    }
    *statistics = (struct gpume_read_statistics){0};
    if (!reader->ended && reader->frame == frame && (!by_ref || reader->ref == *ref)) {
        *statistics = reader->statistics;
    }
fail:
    return status;
}

void gpume_frames_reader_close(struct gpume_frames_reader **reader)
{
    struct gpume_frames_reader *self = *reader;
    if (self) {
        gpume_stream_close(&self->stream);
        free(self);
        *reader = NULL;
    }
}
