/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/comparison.h"

#include "base/base.h"
#include "files/byte_stream.h"
#include "files/json_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX INT64_C(99999999999999999)
#define SECONDS_MAX 9e12 /* their microseconds fit an int64_t */
#define PSNR_MAX 1000.0  /* dB; the largest with 16 bits and 2^32 pixels is 193 */

enum frames_csv_column {
    FRAME,
    REF,
    SAD_BEFORE,
    SAD_AFTER,
    PSNR_BEFORE,
    PSNR_AFTER,
    TIME,
    COLUMNS
};

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

/* Whether the current row comes before that field. References decide if both are known. */
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

/* --- summary.json */

static const struct {
    const char *key, *prefix;
} sections[] = {{"input", "input "}, {"parameters", "--"}, {"engine", "engine "}};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Memory sizes are not settings. */
static bool is_size(const char *key)
{
    const size_t length = strlen(key);
    return length > 6 && strcmp(key + length - 6, "_bytes") == 0;
}

/* All numbers are read as reals, because totals may exceed 64 bits. These are written with decimals
 * even if they are whole. */
static bool has_decimals(const char *key)
{
    return strcmp(key, "frames_per_second") == 0 || strcmp(key, "gain") == 0 ||
           strcmp(key, "gamma") == 0;
}

static void add_value(struct gpume_read_setting *setting, const char *key, const json_t *value)
{
    const char *text = json_is_string(value)  ? json_string_value(value)
                       : json_is_true(value)  ? "true"
                       : json_is_false(value) ? "false"
                                              : "null";
    if (json_is_number(value)) {
        snprintf(setting->value, sizeof(setting->value), "%.*f", has_decimals(key) ? 6 : 0,
            json_number_value(value));
    } else {
        snprintf(setting->value, sizeof(setting->value), "%s", text);
    }
}

/* Members of an object inside it have its key in their prefix. */
static void add_section(struct gpume_read_settings *settings, const char *prefix, json_t *section)
{
    const char *key;
    json_t *value;
    json_object_foreach(section, key, value)
    {
        struct gpume_read_setting setting;
        if (json_is_object(value)) {
            snprintf(setting.name, sizeof(setting.name), "%s%s ", prefix, key);
            add_section(settings, setting.name, value);
        } else if (!is_size(key) && settings->count < GPUME_READ_SETTINGS_MAX) {
            snprintf(setting.name, sizeof(setting.name), "%s%s", prefix, key);
            add_value(&setting, key, value);
            settings->items[settings->count++] = setting;
        }
    }
}

/* False: a section is missing. */
static bool take(struct gpume_read_settings *settings, json_t *document)
{
    for (size_t s = 0; s < SECTIONS; s++) {
        json_t *section = json_object_get(document, sections[s].key);
        if (!json_is_object(section)) {
            return false;
        }
        add_section(settings, sections[s].prefix, section);
    }
    return true;
}

int gpume_read_settings(struct gpume_read_settings *settings, const char *path)
{
    struct gpume_bytes text = {0};
    json_t *document = NULL;
    FILE *file = fopen(path, "r");
    settings->count = 0;
    if (!file) {
        return GPUME_IO;
    }
    int status = gpume_json_read(file, JSON_DECODE_INT_AS_REAL, &text, &document);
    fclose(file);
    gpume_bytes_finish(&text);
    if (status == GPUME_OK && !take(settings, document)) {
        settings->count = 0;
        status = GPUME_INVALID;
    }
    json_decref(document);
    return status;
}

const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].name, name) == 0) {
            return settings->items[i].value;
        }
    }
    return NULL;
}
