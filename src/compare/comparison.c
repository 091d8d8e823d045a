/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/comparison.h"

#include "base/base.h"
#include "files/byte_stream.h"
#include "files/forms.h"
#include "files/json_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- frames.csv */

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

/* --- the comparison */

/* Logs the first block in which two grids differ. */
static int check_grids(const struct gpume_comparison *comparison,
    const struct gpume_vectors_field *a, const struct gpume_vectors_field *b,
    const struct gpume_log *log)
{
    const size_t count = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *left = &a->blocks[i], *right = &b->blocks[i];
        if (!gpume_vectors_same_place(left, right)) {
            return gpume_log_fail(log, GPUME_INVALID,
                "frame %" PRIu64 ": block %zu is %ux%u pixels at (%" PRIu32 ",%" PRIu32
                ") in %s, %ux%u at (%" PRIu32 ",%" PRIu32
                ") in %s; only runs on the same grid of blocks can be compared",
                a->frame, i, left->w, left->h, left->x, left->y, comparison->names[0], right->w,
                right->h, right->x, right->y, comparison->names[1]);
        }
    }
    if (a->count != b->count) {
        return gpume_log_fail(log, GPUME_INVALID,
            "frame %" PRIu64 ": %s has %zu block%s, %s has %zu; only runs on the same grid of "
            "blocks can be compared",
            a->frame, comparison->names[0], a->count, gpume_plural(a->count), comparison->names[1],
            b->count);
    }
    return GPUME_OK;
}

static void compare_blocks(struct gpume_comparison *comparison, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, struct gpume_compared *sums)
{
    const bool known = a->columns & b->columns & GPUME_VECTORS_COST;
    sums->blocks = a->count;
    sums->has_costs = known;
    for (size_t i = 0; i < a->count; i++) {
        const struct gpume_vectors_block *left = &a->blocks[i], *right = &b->blocks[i];
        const bool vectors = left->dx == right->dx && left->dy == right->dy;
        const bool costs = !known || left->cost == right->cost;
        sums->vectors_equal += vectors;
        sums->costs_equal += known && costs;
        sums->both_equal += vectors && costs;
        sums->cheaper[0] += known && left->cost < right->cost;
        sums->cheaper[1] += known && right->cost < left->cost;
        sums->zero[0] += left->dx == 0 && left->dy == 0;
        sums->zero[1] += right->dx == 0 && right->dy == 0;
        sums->costs[0] += left->cost;
        sums->costs[1] += right->cost;
        if (vectors && costs) {
            continue;
        }
        const double distance =
            hypot(left->dx - right->dx, left->dy - right->dy) / GPUME_VECTORS_UNITS;
        const uint64_t cost_difference = !known                     ? 0
                                         : left->cost > right->cost ? left->cost - right->cost
                                                                    : right->cost - left->cost;
        sums->distance_sum += distance;
        sums->distance_max = distance > sums->distance_max ? distance : sums->distance_max;
        sums->cost_difference_max = cost_difference > sums->cost_difference_max
                                        ? cost_difference
                                        : sums->cost_difference_max;
        if (!comparison->has_first) {
            comparison->has_first = true;
            comparison->first_frame = a->frame;
            comparison->first_ref = a->ref;
            comparison->first_has_ref = (a->columns & GPUME_VECTORS_REF) != 0;
            comparison->first[0] = *left;
            comparison->first[1] = *right;
        }
    }
}

static void add_up(struct gpume_compared *total, const struct gpume_compared *sums)
{
    total->has_costs = sums->has_costs;
    total->blocks += sums->blocks;
    total->vectors_equal += sums->vectors_equal;
    total->costs_equal += sums->costs_equal;
    total->both_equal += sums->both_equal;
    for (size_t i = 0; i < 2; i++) {
        total->cheaper[i] += sums->cheaper[i];
        total->zero[i] += sums->zero[i];
        total->costs[i] += sums->costs[i];
    }
    total->distance_sum += sums->distance_sum;
    total->distance_max = fmax(total->distance_max, sums->distance_max);
    total->cost_difference_max = sums->cost_difference_max > total->cost_difference_max
                                     ? sums->cost_difference_max
                                     : total->cost_difference_max;
}

static void add_statistics(struct gpume_compared_statistics *total,
    const struct gpume_read_statistics *statistics, const struct gpume_vectors_field *field)
{
    total->fields++;
    total->pixels += (uint64_t)field->width * field->height;
    total->sad_before += (double)statistics->sad_before;
    total->sad_after += (double)statistics->sad_after;
    if (isfinite(statistics->psnr_after)) {
        total->psnr_sum += statistics->psnr_after;
        total->psnr_finite++;
    }
}

static uint64_t unequal(const struct gpume_compared_field *field)
{
    return field->blocks.blocks - field->blocks.both_equal;
}

/* Keeps the list sorted, worst first; of equals, the earlier field. */
static void keep_worst(
    struct gpume_comparison *comparison, const struct gpume_compared_field *field)
{
    uint32_t at = comparison->worst_count;
    while (at > 0 && unequal(&comparison->worst[at - 1]) < unequal(field)) {
        at--;
    }
    if (unequal(field) == 0 || at == GPUME_COMPARISON_WORST) {
        return;
    }
    comparison->worst_count += comparison->worst_count < GPUME_COMPARISON_WORST;
    for (uint32_t i = comparison->worst_count - 1; i > at; i--) {
        comparison->worst[i] = comparison->worst[i - 1];
    }
    comparison->worst[at] = *field;
}

int gpume_comparison_add(struct gpume_comparison *comparison, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_read_statistics statistics[2],
    struct gpume_compared_field *field, const struct gpume_log *log)
{
    const int status = check_grids(comparison, a, b, log);
    if (status != GPUME_OK) {
        return status;
    }
    *field = (struct gpume_compared_field){
        .frame = a->frame,
        .ref = {a->ref, b->ref},
        .has_refs = a->columns & b->columns & GPUME_VECTORS_REF,
        .statistics = {statistics[0], statistics[1]},
    };
    comparison->has_costs[0] = a->columns & GPUME_VECTORS_COST;
    comparison->has_costs[1] = b->columns & GPUME_VECTORS_COST;
    compare_blocks(comparison, a, b, &field->blocks);
    add_up(&comparison->blocks, &field->blocks);
    for (size_t i = 0; i < 2; i++) {
        if (statistics[i].known &&
            (statistics[1 - i].known || !comparison->has_statistics[1 - i])) {
            add_statistics(&comparison->statistics[i], &statistics[i], i == 0 ? a : b);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        comparison->unknown[i] += comparison->has_statistics[i] && !statistics[i].known;
    }
    comparison->fields++;
    comparison->equal_fields += unequal(field) == 0;
    comparison->refs_differ += field->has_refs && a->ref != b->ref;
    keep_worst(comparison, field);
    return GPUME_OK;
}

/* Iterates over the settings of A, then over those that only B has. */
bool gpume_comparison_setting(const struct gpume_comparison *comparison, uint32_t *at,
    const char **name, const char *values[2])
{
    const struct gpume_read_settings *a = &comparison->settings[0], *b = &comparison->settings[1];
    if (a->count == 0 || b->count == 0) {
        return false;
    }
    while (*at < a->count + b->count) {
        const uint32_t i = (*at)++;
        const struct gpume_read_setting *setting =
            i < a->count ? &a->items[i] : &b->items[i - a->count];
        *name = setting->name;
        values[0] = gpume_read_settings_find(a, setting->name);
        values[1] = gpume_read_settings_find(b, setting->name);
        const bool same = values[0] && values[1] && strcmp(values[0], values[1]) == 0;
        if (!same && (i < a->count || !values[0])) {
            return true;
        }
    }
    return false;
}

bool gpume_comparison_equal(const struct gpume_comparison *comparison)
{
    return comparison->equal_fields == comparison->fields && comparison->only[0] == 0 &&
           comparison->only[1] == 0;
}

/* --- CSV and JSON */

/* Of a field; of all fields in the members that `only` does not restrict. */
struct compared_row {
    uint64_t frame, ref[2], blocks, vectors_equal, costs_equal, both_equal, cheaper[2], zero[2];
    uint64_t costs[2], cost_difference_max, sad_after[2];
    double vector_difference_mean, vector_difference_max, psnr_after[2];
};

#define ROW struct compared_row
#define KNOWN .unknown = GPUME_IF_MISSING

static const struct gpume_column csv_columns[] = {
    {GPUME_COLUMN("frame", ROW, frame)},
    {GPUME_COLUMN("blocks", ROW, blocks)},
    {GPUME_COLUMN("vectors_equal", ROW, vectors_equal)},
    {GPUME_COLUMN("costs_equal", ROW, costs_equal), KNOWN},
    {GPUME_COLUMN("both_equal", ROW, both_equal)},
    {GPUME_COLUMN("a_cheaper", ROW, cheaper[0]), KNOWN},
    {GPUME_COLUMN("b_cheaper", ROW, cheaper[1]), KNOWN},
    {GPUME_COLUMN("a_zero", ROW, zero[0])},
    {GPUME_COLUMN("b_zero", ROW, zero[1])},
    {GPUME_COLUMN("a_costs", ROW, costs[0]), KNOWN},
    {GPUME_COLUMN("b_costs", ROW, costs[1]), KNOWN},
    {GPUME_COLUMN("vector_difference_mean", ROW, vector_difference_mean), .decimals = 3},
    {GPUME_COLUMN("vector_difference_max", ROW, vector_difference_max), .decimals = 3},
    {GPUME_COLUMN("cost_difference_max", ROW, cost_difference_max), KNOWN},
    {GPUME_COLUMN("a_sad_after", ROW, sad_after[0]), KNOWN},
    {GPUME_COLUMN("b_sad_after", ROW, sad_after[1]), KNOWN},
    {GPUME_COLUMN("a_psnr_after", ROW, psnr_after[0]), .decimals = 3, KNOWN},
    {GPUME_COLUMN("b_psnr_after", ROW, psnr_after[1]), .decimals = 3, KNOWN},
    {GPUME_COLUMN("a_ref", ROW, ref[0]), KNOWN},
    {GPUME_COLUMN("b_ref", ROW, ref[1]), KNOWN},
};
static const struct gpume_table csv_table = {GPUME_TABLE(csv_columns, ROW)};

enum { FIELD = 1, FIELD_WITH_REF = 2 };

static const struct gpume_column json_columns[] = {
    {GPUME_COLUMN("frame", ROW, frame), .only = FIELD | FIELD_WITH_REF},
    {GPUME_COLUMN("ref", ROW, ref[0]), .only = FIELD_WITH_REF},
    {GPUME_COLUMN("blocks", ROW, blocks)},
    {GPUME_COLUMN("vectors_equal", ROW, vectors_equal)},
    {GPUME_COLUMN("costs_equal", ROW, costs_equal), KNOWN},
    {GPUME_COLUMN("both_equal", ROW, both_equal)},
    {GPUME_COLUMN("vector_difference_mean", ROW, vector_difference_mean), .decimals = 6},
    {GPUME_COLUMN("vector_difference_max", ROW, vector_difference_max), .decimals = 6},
    {GPUME_COLUMN("cost_difference_max", ROW, cost_difference_max), KNOWN},
    {GPUME_COLUMN("a_cheaper", ROW, cheaper[0]), KNOWN, .only = FIELD | FIELD_WITH_REF},
    {GPUME_COLUMN("b_cheaper", ROW, cheaper[1]), KNOWN, .only = FIELD | FIELD_WITH_REF},
};

static ROW sums_row(const struct gpume_compared *blocks)
{
    const bool known = blocks->has_costs;
    return (ROW){.blocks = blocks->blocks,
        .vectors_equal = blocks->vectors_equal,
        .costs_equal = known ? blocks->costs_equal : GPUME_MISSING,
        .both_equal = blocks->both_equal,
        .cheaper = {known ? blocks->cheaper[0] : GPUME_MISSING,
            known ? blocks->cheaper[1] : GPUME_MISSING},
        .zero = {blocks->zero[0], blocks->zero[1]},
        .costs = {known ? blocks->costs[0] : GPUME_MISSING,
            known ? blocks->costs[1] : GPUME_MISSING},
        .vector_difference_mean =
            blocks->blocks > 0 ? blocks->distance_sum / (double)blocks->blocks : 0,
        .vector_difference_max = blocks->distance_max,
        .cost_difference_max = known ? blocks->cost_difference_max : GPUME_MISSING};
}

static ROW field_row(const struct gpume_compared_field *field)
{
    ROW row = sums_row(&field->blocks);
    row.frame = field->frame;
    for (size_t i = 0; i < 2; i++) {
        const struct gpume_read_statistics *statistics = &field->statistics[i];
        row.ref[i] = field->has_refs ? field->ref[i] : GPUME_MISSING;
        row.sad_after[i] = statistics->known ? statistics->sad_after : GPUME_MISSING;
        row.psnr_after[i] = statistics->known ? statistics->psnr_after : (double)NAN;
    }
    return row;
}

void gpume_comparison_csv_head(struct gpume_out *csv)
{
    gpume_table_csv_head(&csv_table, csv);
}

void gpume_comparison_csv_row(struct gpume_out *out, const struct gpume_compared_field *field)
{
    const ROW row = field_row(field);
    gpume_table_csv(&csv_table, &row, 1, out);
}

static void put_side(struct gpume_json *json, const struct gpume_comparison *comparison, size_t i)
{
    const struct gpume_compared_statistics *statistics = &comparison->statistics[i];
    const double fields = (double)statistics->fields, finite = (double)statistics->psnr_finite;
    const double none = (double)INFINITY;
    gpume_json_begin(json, i ? "b" : "a");
    gpume_json_text(json, "name", comparison->names[i]);
    gpume_json_count(json, "only", comparison->only[i]);
    gpume_json_count_or_null(
        json, "cheaper", comparison->blocks.has_costs, comparison->blocks.cheaper[i]);
    gpume_json_count(json, "zero", comparison->blocks.zero[i]);
    gpume_json_count_or_null(json, "costs", comparison->has_costs[i], comparison->blocks.costs[i]);
    gpume_json_real(json, "sad_before", fields > 0 ? statistics->sad_before / fields : none, 3);
    gpume_json_real(json, "sad_after", fields > 0 ? statistics->sad_after / fields : none, 3);
    gpume_json_real(json, "psnr_after", finite > 0 ? statistics->psnr_sum / finite : none, 3);
    gpume_json_count(json, "psnr_after_infinite", statistics->fields - statistics->psnr_finite);
    gpume_json_end(json);
}

static void put_pixels(struct gpume_json *json, const char *key, int32_t value)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%.8g", (double)value / GPUME_VECTORS_UNITS);
    gpume_json_digits(json, key, digits);
}

static void put_first(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    if (!comparison->has_first) {
        gpume_json_text(json, "first_difference", NULL);
        return;
    }
    gpume_json_begin(json, "first_difference");
    gpume_json_count(json, "frame", comparison->first_frame);
    if (comparison->first_has_ref) {
        gpume_json_count(json, "ref", comparison->first_ref);
    }
    gpume_json_count(json, "x", comparison->first[0].x);
    gpume_json_count(json, "y", comparison->first[0].y);
    for (size_t i = 0; i < 2; i++) {
        gpume_json_begin(json, i ? "b" : "a");
        put_pixels(json, "dx", comparison->first[i].dx);
        put_pixels(json, "dy", comparison->first[i].dy);
        gpume_json_count_or_null(json, "cost", comparison->has_costs[i], comparison->first[i].cost);
        gpume_json_end(json);
    }
    gpume_json_end(json);
}

static void put_settings(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    uint32_t at = 0;
    const char *name, *values[2];
    gpume_json_begin_list(json, "settings_differ");
    while (gpume_comparison_setting(comparison, &at, &name, values)) {
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "name", name);
        gpume_json_text(json, "a", values[0]);
        gpume_json_text(json, "b", values[1]);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static void put_worst(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    struct gpume_table table = {GPUME_TABLE(json_columns, ROW)};
    gpume_json_begin_list(json, "worst_fields");
    for (uint32_t i = 0; i < comparison->worst_count; i++) {
        const ROW row = field_row(&comparison->worst[i]);
        table.kind = comparison->worst[i].has_refs ? FIELD_WITH_REF : FIELD;
        gpume_table_json(&table, NULL, &row, 1, json);
    }
    gpume_json_end_list(json);
}

void gpume_comparison_put_json(const struct gpume_comparison *comparison, struct gpume_json *json)
{
    const struct gpume_table all = {GPUME_TABLE(json_columns, ROW)};
    const ROW row = sums_row(&comparison->blocks);
    gpume_json_truth(json, "equal", gpume_comparison_equal(comparison));
    gpume_json_count(json, "fields", comparison->fields);
    gpume_json_count(json, "fields_equal", comparison->equal_fields);
    gpume_json_count(json, "references_differ", comparison->refs_differ);
    gpume_table_json_members(&all, &row, json);
    put_side(json, comparison, 0);
    put_side(json, comparison, 1);
    put_first(json, comparison);
    put_worst(json, comparison);
    put_settings(json, comparison);
}
