/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/frames_reader.h"

#include "base/status.h"
#include "vectors/csv_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX INT64_C(99999999999999999)
#define PSNR_MAX 1000.0 /* dB; 16 bits and 2^32 pixels end at 193 */

enum column { FRAME, SAD_BEFORE, SAD_AFTER, PSNR_BEFORE, PSNR_AFTER, COLUMNS };

static const struct gpume_csv_column columns[COLUMNS] = {
    {"frame", false},
    {"sad_before", false},
    {"sad_after", false},
    {"psnr_before", false},
    {"psnr_after", false},
};

struct gpume_frames_reader {
    struct gpume_stream *stream;
    struct gpume_csv_reader *csv;
    bool started, ended;
    uint64_t frame; /* of the row at hand */
    struct gpume_read_figures figures;
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
        return gpume_csv_reader_refuse(reader->csv, "a PSNR is neither a number nor inf");
    }
    *value = number;
    return GPUME_OK;
}

static int read_row(struct gpume_frames_reader *reader)
{
    int status;
    const char *cells[COLUMNS];
    int64_t values[PSNR_BEFORE];
    struct gpume_read_figures figures = {.known = true};
    status = gpume_csv_reader_next(reader->csv, cells);
    if (status == GPUME_EOF) {
        reader->ended = true;
        return GPUME_OK;
    }
    GPUME_TRY(status);
    for (size_t i = 0; i < PSNR_BEFORE; i++) {
        GPUME_TRY(gpume_csv_reader_int(reader->csv, i, 0, NUMBER_MAX, &values[i]));
    }
    GPUME_TRY(take_psnr(reader, cells[PSNR_BEFORE], &figures.psnr_before));
    GPUME_TRY(take_psnr(reader, cells[PSNR_AFTER], &figures.psnr_after));
    if (reader->started && (uint64_t)values[FRAME] <= reader->frame) {
        return gpume_csv_reader_refuse(reader->csv, "frames are not in rising order");
    }
    figures.sad_before = (uint64_t)values[SAD_BEFORE];
    figures.sad_after = (uint64_t)values[SAD_AFTER];
    reader->started = true;
    reader->frame = (uint64_t)values[FRAME];
    reader->figures = figures;
fail:
    return status;
}

int gpume_frames_reader_open(
    struct gpume_frames_reader **reader, const char *path, const struct gpume_log *log)
{
    int status = GPUME_NOMEM;
    struct gpume_frames_reader *self = calloc(1, sizeof(*self));
    if (!self) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: out of memory", path);
        return status;
    }
    GPUME_TRY(gpume_stream_open(&self->stream, path, log));
    GPUME_TRY(gpume_csv_reader_open(&self->csv, self->stream, columns, COLUMNS, log));
    GPUME_TRY(read_row(self));
    *reader = self;
    return GPUME_OK;
fail:
    gpume_frames_reader_close(&self);
    return status;
}

int gpume_frames_reader_seek(
    struct gpume_frames_reader *reader, uint64_t frame, struct gpume_read_figures *figures)
{
    int status = GPUME_OK;
    while (!reader->ended && reader->frame < frame) {
        GPUME_TRY(read_row(reader));
    }
    *figures = (struct gpume_read_figures){0};
    if (!reader->ended && reader->frame == frame) {
        *figures = reader->figures;
    }
fail:
    return status;
}

void gpume_frames_reader_close(struct gpume_frames_reader **reader)
{
    struct gpume_frames_reader *self = *reader;
    if (self) {
        gpume_csv_reader_close(&self->csv);
        gpume_stream_close(&self->stream);
        free(self);
        *reader = NULL;
    }
}
