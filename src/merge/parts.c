/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that are joined: what their summaries say, and what their sums add up to. */
#include "merge/parts.h"

#include "base/base.h"
#include "base/params.h"
#include "files/byte_stream.h"
#include "files/json_reader.h"
#include "files/out.h"
#include "files/path.h"
#include "report/report.h"
#include "sinks/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- parts */

#define COUNT_MAX 9007199254740992.0 /* 2^53: up to it, reals hold every whole number */

static const char summary_name[] = "summary.json";

/* A count in the object, 0 if it has none. */
static uint64_t merge_part_count(const json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));
    return value > 0 && value <= COUNT_MAX ? (uint64_t)value : 0;
}

char *gpume_merge_part_path(
    const struct gpume_merge_part *part, const char *name, const struct gpume_log *log)
{
    char *path = gpume_path_in_folder(part->folder, name);
    if (!path) {
        (void)gpume_log_nomem(log, part->folder);
    }
    return path;
}

void gpume_merge_part_finish(struct gpume_merge_part *part)
{
    json_decref(part->summary);
    *part = (struct gpume_merge_part){0};
}

/* Why the folder has no summary.json. */
static int refuse_absent(
    const struct gpume_merge_part *part, const char *path, const struct gpume_log *log)
{
    struct stat info;
    char *partial = gpume_path_with_suffix(path, GPUME_OUT_PARTIAL);
    const bool interrupted = partial && lstat(partial, &info) == 0;
    free(partial);
    if (interrupted) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is incomplete: its run was interrupted; run it again with --resume", part->folder);
    }
    if (stat(part->folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is not a folder; a part is the folder that a run wrote with -o", part->folder);
    }
    return gpume_log_fail(log, GPUME_INVALID,
        "%s: is incomplete: it has no summary.json, which a run with -o writes last; run that part "
        "to its end",
        part->folder);
}

static int refuse_summary(const struct gpume_merge_part *part, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID,
        "%s/summary.json: is not the summary of a complete run of this version; run that part "
        "again",
        part->folder);
}

static int load(struct gpume_merge_part *part, const char *path, const struct gpume_log *log)
{
    struct gpume_bytes text = {0};
    FILE *file = fopen(path, "r");
    if (!file && (errno == ENOENT || errno == ENOTDIR)) {
        return refuse_absent(part, path, log);
    }
    int status =
        file ? gpume_json_read(file, JSON_DECODE_INT_AS_REAL, &text, &part->summary) : GPUME_IO;
    const int error = errno;
    if (file) {
        (void)fclose(file);
    }
    gpume_bytes_finish(&text);
    if (status == GPUME_IO) {
        return gpume_log_fail(log, status, "%s: cannot be read: %s; %s", path, strerror(error),
            gpume_remedy(error, "check its permissions"));
    }
    return status == GPUME_NOMEM     ? gpume_log_nomem(log, path)
           : status == GPUME_INVALID ? refuse_summary(part, log)
                                     : status;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Without --start a run begins with the first frame that has a reference. */
static uint64_t first_target(const json_t *parameters)
{
    const json_t *distances = json_object_get(parameters, "ref-distance");
    if (strcmp(text_of(parameters, "direction"), "past") != 0) {
        return 0;
    }
    /* A number, or a list such as "1,2,4", the nearest first. */
    return json_is_string(distances) ? strtoull(json_string_value(distances), NULL, 10)
                                     : merge_part_count(parameters, "ref-distance");
}

/* The frames that were asked for. */
static void find_range(struct gpume_merge_part *part)
{
    const json_t *parameters = part->parameters;
    const uint64_t start = merge_part_count(parameters, "start");
    const uint64_t least = first_target(parameters);
    const uint64_t frames = merge_part_count(parameters, "frames");
    const uint64_t end = merge_part_count(part->summary, "last_field") + 1;
    part->first = start > least ? start : least;
    part->end = part->first + frames;
    part->is_open = frames == 0 || end < part->end; /* the input ended before */
}

/* "7x9", as summaries have it; false: it is no window. */
static bool find_window(struct gpume_merge_part *part)
{
    char rest;
    return sscanf(text_of(part->parameters, "window"), "%4" SCNu32 "x%4" SCNu32 "%c",
               &part->window_x, &part->window_y, &rest) == 2 &&
           part->window_x <= GPUME_WINDOW_MAX && part->window_y <= GPUME_WINDOW_MAX;
}

/* Candidates are at least two pixels apart, so that each leaves out nine pixels at most; of
 * quarters, whose number is 16 times as large, 225. In a window of 25 pixels for each of them there
 * is always another one, unless the edge of the picture cuts the window. */
static bool may_be_fewer(const struct gpume_merge_part *part)
{
    const uint64_t x = part->window_x, y = part->window_y;
    return part->candidates > 1 &&
           (strcmp(text_of(part->parameters, "edge"), "extend") != 0 || x == 0 || y == 0 ||
               (2 * x + 1) * (2 * y + 1) <= UINT64_C(25) * part->candidates);
}

static void find_blocks(struct gpume_merge_part *part)
{
    const json_t *parameters = part->parameters;
    const json_t *totals = json_object_get(part->summary, "totals");
    const uint64_t each = merge_part_count(part->summary, "blocks_per_field");
    const uint64_t candidates = merge_part_count(parameters, "candidates");
    part->fields = merge_part_count(part->summary, "fields");
    part->blocks = json_is_true(json_object_get(parameters, "partition"))
                       ? merge_part_count(totals, "blocks")
                   : each <= (uint64_t)COUNT_MAX / (part->fields + 1) ? part->fields * each
                                                                      : 0;
    part->candidates =
        candidates > 0 && candidates <= GPUME_CANDIDATES_MAX ? (uint32_t)candidates : 1;
    part->fewer = may_be_fewer(part);
    part->two_matches = json_is_true(json_object_get(parameters, "bidirectional"));
}

static bool is_side(const struct gpume_merge_part *part, const char *key)
{
    const uint64_t side = merge_part_count(part->input, key);
    return side > 0 && side <= GPUME_SIDE_MAX;
}

static bool is_valid(const struct gpume_merge_part *part)
{
    const json_t *summary = part->summary;
    const double format = json_number_value(json_object_get(summary, "format"));
    return format >= GPUME_SUMMARY_FORMAT && format <= GPUME_SUMMARY_FORMAT &&
           json_is_object(part->input) && json_is_object(part->parameters) &&
           json_is_object(json_object_get(summary, "totals")) &&
           json_is_object(json_object_get(summary, "stages")) &&
           !json_is_true(json_object_get(summary, "partial")) && part->fields > 0 &&
           part->blocks > 0 && is_side(part, "width") && is_side(part, "height") &&
           merge_part_count(part->input, "bits") >= 8 &&
           merge_part_count(part->input, "bits") <= 16;
}

int gpume_merge_part_read(
    struct gpume_merge_part *part, const char *folder, const struct gpume_log *log)
{
    int status;
    part->folder = folder;
    char *path = gpume_merge_part_path(part, summary_name, log);
    GPUME_TRY(path ? load(part, path, log) : GPUME_NOMEM);
    part->input = json_object_get(part->summary, "input");
    part->parameters = json_object_get(part->summary, "parameters");
    find_range(part);
    const bool has_window = find_window(part);
    find_blocks(part);
    if (!has_window || !is_valid(part)) {
        status = refuse_summary(part, log);
    } else if (json_object_get(part->input, "reference")) {
        status = gpume_log_fail(log, GPUME_INVALID,
            "%s: is a run of two pictures; give runs over ranges of one video", folder);
    } else if (merge_part_count(part->summary, "checked") !=
               merge_part_count(part->summary, "matched")) {
        status = gpume_log_fail(log, GPUME_INVALID,
            "%s: its --check found wrong results; run it again on another device", folder);
    }
fail:
    free(path);
    return status;
}

static int refuse_difference(const struct gpume_merge_part *a, const struct gpume_merge_part *b,
    const char *what, const json_t *in_a, const json_t *in_b, const struct gpume_log *log)
{
    char was[GPUME_JSON_SHOWN_BYTES], is[GPUME_JSON_SHOWN_BYTES];
    gpume_json_show(in_a, was);
    gpume_json_show(in_b, is);
    return gpume_log_fail(log, GPUME_INVALID,
        "%s: is a part of another run than %s: %s is %s, not %s; run it again like the others",
        b->folder, a->folder, what, is, was);
}

/* Keys that differ from part to part: a list that ends with NULL. */
static bool may_differ(const void *keys, const char *key)
{
    const char *const *other = keys;
    while (*other && strcmp(*other, key) != 0) {
        other++;
    }
    return *other || gpume_summary_may_differ(key);
}

/* Compares the members of an object but for these, and those that may differ. */
static int check_section(const struct gpume_merge_part *a, const struct gpume_merge_part *b,
    const char *section, const char *const *but, const struct gpume_log *log)
{
    json_t *in_a = json_object_get(a->summary, section);
    json_t *in_b = json_object_get(b->summary, section);
    const char *key = gpume_json_difference(in_a, in_b, may_differ, but);
    const bool option = strcmp(section, "parameters") == 0;
    char what[64];
    if (!key) {
        return GPUME_OK;
    }
    snprintf(what, sizeof what, option ? "%s%s" : "%s %s", option ? "--" : section, key);
    return refuse_difference(
        a, b, what, json_object_get(in_a, key), json_object_get(in_b, key), log);
}

/* The contents tell more than a name, which may differ between machines. */
static int check_input(
    const struct gpume_merge_part *a, const struct gpume_merge_part *b, const struct gpume_log *log)
{
    static const char *const of_run[] = {"frames", "refused", "scaled", "name", NULL};
    static const char *const none[] = {NULL};
    int status;
    const json_t *name_a = json_object_get(a->input, "name");
    const json_t *name_b = json_object_get(b->input, "name");
    const json_t *contents = json_object_get(a->summary, "contents");
    GPUME_TRY(check_section(a, b, "input", of_run, log));
    GPUME_TRY(check_section(a, b, "contents", none, log));
    if (!json_is_string(json_object_get(contents, "input")) && !json_equal(name_a, name_b)) {
        status = refuse_difference(a, b, "the input", name_a, name_b, log);
    }
fail:
    return status;
}

/* But for the range. */
static int check_parameters(
    const struct gpume_merge_part *a, const struct gpume_merge_part *b, const struct gpume_log *log)
{
    static const char *const of_run[] = {"start", "frames", NULL};
    const json_t *version_a = json_object_get(a->summary, "gpume");
    const json_t *version_b = json_object_get(b->summary, "gpume");
    return json_equal(version_a, version_b)
               ? check_section(a, b, "parameters", of_run, log)
               : refuse_difference(a, b, "gpume", version_a, version_b, log);
}

static int check_neighbours(
    const struct gpume_merge_part *a, const struct gpume_merge_part *b, const struct gpume_log *log)
{
    if (a->is_open || b->first < a->end) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: overlaps with %s: both have frame %" PRIu64 "; leave one of them out", b->folder,
            a->folder, b->first);
    }
    if (b->first > a->end) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: begins with frame %" PRIu64 ", but %s ends with frame %" PRIu64
            ": the part with frame %" PRIu64 " is missing",
            b->folder, b->first, a->folder, a->end - 1, a->end);
    }
    return GPUME_OK;
}

static int check_whole(const struct gpume_merge_part *first, const struct gpume_merge_part *last,
    const struct gpume_log *log)
{
    if (first->first > first_target(first->parameters)) {
        return gpume_log_fail(log, GPUME_INVALID,
            "--whole: %s begins with frame %" PRIu64 ": the part before it is missing",
            first->folder, first->first);
    }
    if (!last->is_open) {
        return gpume_log_fail(log, GPUME_INVALID,
            "--whole: %s ends with frame %" PRIu64
            ", and not with the input: the last part, a run without --frames, is missing",
            last->folder, last->end - 1);
    }
    return GPUME_OK;
}

static int by_frames(const void *a, const void *b)
{
    const struct gpume_merge_part *first = a, *second = b;
    return (first->first > second->first) - (first->first < second->first);
}

int gpume_merge_parts_check(
    struct gpume_merge_part *parts, size_t count, bool whole, const struct gpume_log *log)
{
    int status = GPUME_OK;
    qsort(parts, count, sizeof(*parts), by_frames);
    for (size_t i = 1; i < count; i++) {
        GPUME_TRY(check_parameters(&parts[0], &parts[i], log));
        GPUME_TRY(check_input(&parts[0], &parts[i], log));
    }
    for (size_t i = 1; i < count; i++) {
        GPUME_TRY(check_neighbours(&parts[i - 1], &parts[i], log));
    }
    status = whole ? check_whole(&parts[0], &parts[count - 1], log) : GPUME_OK;
fail:
    return status;
}

/*
 * --- Sums over frames come from frames.csv, row by row in the order of one run, because means of
 * PSNR are sums of reals, whose rounding depends on the order. What the table lacks is added up
 * from the summaries.
 */

#define NUMBER_MAX INT64_C(999999999999999999)

enum frames_column {
    FRAME,
    REF,
    BLOCKS,
    ZERO,
    SAD_BEFORE,
    SAD_AFTER,
    SSE_BEFORE,
    SSE_AFTER,
    COLUMNS
};

static const struct gpume_csv_column columns[COLUMNS] = {{"frame", false}, {"ref", false},
    {"blocks", false}, {"zero", false}, {"sad_before", false}, {"sad_after", false},
    {"sse_before", false}, {"sse_after", false}};

static uint64_t total_ns(const struct gpume_merge_total *total, const char *stage)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < total->count; i++) {
        const json_t *stages = json_object_get(total->parts[i].summary, "stages");
        const double seconds =
            json_number_value(json_object_get(json_object_get(stages, stage), "seconds"));
        sum += seconds >= 0 && seconds < 1e9 ? (uint64_t)llround(1e9 * seconds) : 0;
    }
    return sum;
}

static void add_times(struct gpume_merge_total *total)
{
    static const char *const of_engine[] = {"upload", "match", "reduce", "rank", "readback"};
    struct gpume_summary *summary = &total->summary;
    for (size_t i = 0; i < sizeof(of_engine) / sizeof(of_engine[0]); i++) {
        *gpume_summary_stage_ns(&summary->stats, of_engine[i]) = total_ns(total, of_engine[i]);
    }
    summary->stats.busy_ns = total_ns(total, "engine");
    summary->decode_ns = total_ns(total, "decode");
    summary->write_ns = total_ns(total, "write");
    summary->whole_ns = total_ns(total, "whole");
}

static uint64_t share_of(const json_t *elimination, const char *key, uint64_t candidates)
{
    const double share = json_number_value(json_object_get(elimination, key));
    return share > 0 && share <= 1 ? (uint64_t)llround(share * (double)candidates) : 0;
}

static void add_summary(struct gpume_summary *summary, const struct gpume_merge_part *part)
{
    const json_t *elimination = json_object_get(part->summary, "elimination");
    const json_t *directions = json_object_get(part->summary, "directions");
    const uint64_t candidates = merge_part_count(elimination, "candidates");
    const uint64_t compared = share_of(elimination, "compared", candidates);
    summary->stats.candidates += candidates;
    summary->stats.past_blocks +=
        candidates - share_of(elimination, "dropped_by_block_sums", candidates);
    summary->stats.past_parts += compared;
    summary->all.border += merge_part_count(json_object_get(part->summary, "totals"), "border");
    for (size_t i = 0; i < 2; i++) {
        const json_t *direction = json_object_get(directions, gpume_names_direction[i]);
        summary->directions[i].border +=
            merge_part_count(json_object_get(direction, "totals"), "border");
    }
    summary->checked += merge_part_count(part->summary, "checked");
    summary->matched += merge_part_count(part->summary, "matched");
}

void gpume_merge_total_begin(
    struct gpume_merge_total *total, const struct gpume_merge_part *parts, size_t count)
{
    const json_t *parameters = parts[0].parameters, *summary = parts[0].summary;
    struct gpume_params *params = &total->run.params;
    *total = (struct gpume_merge_total){.parts = parts, .count = count};
    params->width = (uint32_t)merge_part_count(parts[0].input, "width");
    params->height = (uint32_t)merge_part_count(parts[0].input, "height");
    params->bits = (uint32_t)merge_part_count(parts[0].input, "bits");
    params->best_reference = json_is_true(json_object_get(parameters, "best-reference"));
    params->check = json_is_true(json_object_get(parameters, "check"));
    params->window_x = parts[0].window_x;
    params->window_y = parts[0].window_y;
    total->summary = (struct gpume_summary){.run = &total->run,
        .blocks_x = (uint32_t)merge_part_count(summary, "blocks_per_field"),
        .blocks_y = 1,
        .candidates = merge_part_count(summary, "candidates_per_block")};
    for (size_t i = 0; i < count; i++) {
        add_summary(&total->summary, &parts[i]);
    }
    add_times(total);
}

static int read_row(struct gpume_csv_reader *csv, struct gpume_summary_row *row)
{
    int status;
    int64_t cells[COLUMNS] = {0};
    GPUME_TRY(gpume_csv_reader_next(csv));
    for (size_t i = 0; i < COLUMNS; i++) {
        GPUME_TRY(gpume_csv_reader_int(csv, i, 0, NUMBER_MAX, &cells[i]));
    }
    *row = (struct gpume_summary_row){.frame = (uint64_t)cells[FRAME],
        .ref = (uint64_t)cells[REF],
        .blocks = (uint64_t)cells[BLOCKS],
        .sums = {.zero = (uint64_t)cells[ZERO],
            .sad_before = (uint64_t)cells[SAD_BEFORE],
            .sad_after = (uint64_t)cells[SAD_AFTER],
            .sse_before = (uint64_t)cells[SSE_BEFORE],
            .sse_after = (uint64_t)cells[SSE_AFTER]}};
fail:
    return status;
}

/* Sums of a part's rows, to compare with its summary. */
struct sums {
    uint64_t fields, blocks;
    double sad_after; /* exact below 2^53 */
};

int gpume_merge_total_add(struct gpume_merge_total *total, const struct gpume_merge_part *part,
    gpume_merge_total_fn row_fn, void *opaque, const struct gpume_log *log)
{
    int status = GPUME_NOMEM;
    struct gpume_csv_reader csv;
    struct gpume_stream *stream = NULL;
    struct gpume_summary_row row;
    struct sums sums = {0};
    char *path = gpume_merge_part_path(part, "frames.csv", log);
    GPUME_TRY(path ? gpume_stream_open(&stream, path, log) : GPUME_NOMEM);
    GPUME_TRY(gpume_csv_reader_init(&csv, stream, columns, COLUMNS));
    while ((status = read_row(&csv, &row)) == GPUME_OK) {
        const bool rises = total->summary.all.fields == 0 || row.frame >= total->summary.last_field;
        if (!rises || row.frame < part->first || (!part->is_open && row.frame >= part->end)) {
            GPUME_TRY(gpume_stream_refuse(
                stream, "frame %" PRIu64 " is not one of this part", row.frame));
        }
        sums.fields++;
        sums.blocks += row.blocks;
        sums.sad_after += (double)row.sums.sad_after;
        gpume_summary_add_row(&total->summary, &row);
        GPUME_TRY(row_fn ? row_fn(opaque, row.frame, row.ref) : GPUME_OK);
    }
    GPUME_TRY(status == GPUME_EOF ? GPUME_OK : status);
    const json_t *totals = json_object_get(part->summary, "totals");
    const double sad = json_number_value(json_object_get(totals, "sad_after"));
    if (sums.fields != part->fields || sums.blocks != merge_part_count(totals, "blocks") ||
        !(fabs(sums.sad_after - sad) <= 1e-9 * sad)) {
        status = gpume_log_fail(log, GPUME_INVALID,
            "%s: does not fit %s/summary.json: rows or sums differ; run that part again", path,
            part->folder);
    }
fail:
    gpume_stream_close(&stream);
    free(path);
    return status;
}

/* How many decimals summaries write; most numbers are whole. */
static int decimals_of(const char *key)
{
    static const char *const six[] = {"frames_per_second", "gain", "gamma"};
    for (size_t i = 0; i < sizeof(six) / sizeof(six[0]); i++) {
        if (strcmp(key, six[i]) == 0) {
            return 6;
        }
    }
    return strcmp(key, "lambda") == 0 ? 8 : 0;
}

static void copy_member(struct gpume_json *json, const char *key, const json_t *value)
{
    if (json_is_number(value)) {
        gpume_json_real(json, key, json_number_value(value), decimals_of(key));
    } else if (json_is_boolean(value)) {
        gpume_json_truth(json, key, json_is_true(value));
    } else {
        gpume_json_text(json, key, json_string_value(value));
    }
}

/* The largest of all parts: each counts from the beginning of the input. */
static double largest(const struct gpume_merge_total *total, const char *section, const char *key)
{
    double most = 0;
    for (size_t i = 0; i < total->count; i++) {
        const json_t *object = json_object_get(total->parts[i].summary, section);
        most = fmax(most, json_number_value(json_object_get(object, key)));
    }
    return most;
}

static void put_input(const struct gpume_merge_total *total, struct gpume_json *json)
{
    json_t *input = json_object_get(total->parts[0].summary, "input");
    const char *key;
    json_t *value;
    gpume_json_begin(json, "input");
    json_object_foreach(input, key, value)
    {
        if (strcmp(key, "frames") == 0 || strcmp(key, "refused") == 0 ||
            strcmp(key, "scaled") == 0) {
            gpume_json_real(json, key, largest(total, "input", key), 0);
        } else {
            copy_member(json, key, value);
        }
    }
    gpume_json_end(json);
}

static void put_parameters(const struct gpume_merge_total *total, struct gpume_json *json)
{
    json_t *parameters = json_object_get(total->parts[0].summary, "parameters");
    const struct gpume_merge_part *last = &total->parts[total->count - 1];
    const char *key;
    json_t *value;
    gpume_json_begin(json, "parameters");
    json_object_foreach(parameters, key, value)
    {
        if (strcmp(key, "frames") == 0) {
            gpume_json_count_or_null(json, key, !last->is_open, last->end - total->parts[0].first);
        } else {
            copy_member(json, key, value);
        }
    }
    gpume_json_end(json);
}

/* The text that all parts have, or "several". */
static const char *common_text(const struct gpume_merge_total *total, const char *key)
{
    const json_t *first = json_object_get(json_object_get(total->parts[0].summary, "engine"), key);
    for (size_t i = 1; i < total->count; i++) {
        const json_t *engine = json_object_get(total->parts[i].summary, "engine");
        if (!json_equal(first, json_object_get(engine, key))) {
            return "several";
        }
    }
    return json_string_value(first);
}

static void put_engine(const struct gpume_merge_total *total, struct gpume_json *json)
{
    static const char *const texts[] = {"backend", "device", "driver", "search"};
    static const char *const sizes[] = {"host_bytes", "device_bytes"};
    gpume_json_begin(json, "engine");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        gpume_json_text(json, texts[i], common_text(total, texts[i]));
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        gpume_json_real(json, sizes[i], largest(total, "engine", sizes[i]), 0);
    }
    gpume_json_end(json);
}

/* As a run over all these frames has them: only if it does not go over the whole input. */
static void put_contents(const struct gpume_merge_total *total, struct gpume_json *json)
{
    const struct gpume_merge_part *first = &total->parts[0],
                                  *last = &total->parts[total->count - 1];
    json_t *contents = json_object_get(first->summary, "contents");
    const char *key;
    json_t *value;
    if (!contents || (last->is_open && merge_part_count(first->parameters, "start") == 0)) {
        return;
    }
    gpume_json_begin(json, "contents");
    json_object_foreach(contents, key, value)
    {
        copy_member(json, key, value);
    }
    gpume_json_end(json);
}

/* Puts all members of summary.json but its format into the current object. */
static void put_total(const struct gpume_merge_total *total, struct gpume_json *json)
{
    gpume_json_text(json, "gpume", gpume_version());
    put_input(total, json);
    put_parameters(total, json);
    put_engine(total, json);
    put_contents(total, json);
    gpume_summary_put_results(&total->summary, json);
}

void gpume_merge_total_write(const struct gpume_merge_total *total, struct gpume_out *out)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", GPUME_SUMMARY_FORMAT);
    put_total(total, &json);
    gpume_json_end(&json);
}

/*
 * --- reports, in .csv and .json. They are read line by line: their rows are as many as the frame
 * pairs, so that a report may be larger than what is worth holding in memory. In .json a row is one
 * line, and so is every member of a block and every bin of the histogram. Whether a frame is a cut
 * depends on the one before, which may be in another part.
 */

#define COSTLIEST_MAX 24u /* blocks in a report */
#define MEMBERS_MAX 16u   /* of such a block */
#define MEMBER_BYTES 48u
#define ROW_BYTES 2048u /* several times as many as a row takes */

struct report_block {
    uint64_t cost;
    size_t count;
    char keys[MEMBERS_MAX][MEMBER_BYTES], values[MEMBERS_MAX][MEMBER_BYTES];
};

struct joining {
    const struct gpume_merge_total *total;
    const struct gpume_merge_part *part; /* whose report is read */
    struct gpume_stream *stream;
    uint64_t rows; /* of this part so far */
    struct gpume_report_cuts cuts;
    struct gpume_out *out;
    /* .json */
    struct gpume_json json;
    struct gpume_report_histogram histogram;
    struct report_block costliest[COSTLIEST_MAX]; /* by decreasing cost */
    size_t count;
};

static int refuse(struct joining *joining)
{
    return gpume_stream_refuse(joining->stream, "is not that of a report; run that part again");
}

/* Opens the report of part i. */
static int open_file(struct joining *joining, size_t i, const struct gpume_join_file *file,
    const struct gpume_log *log)
{
    joining->part = &joining->total->parts[i];
    joining->rows = 0;
    return gpume_stream_open(&joining->stream, file->path, log);
}

static int close_file(struct joining *joining)
{
    const int status = joining->rows == joining->part->fields
                           ? GPUME_OK
                           : gpume_stream_refuse_whole(joining->stream,
                                 "does not have the frame pairs of its part; run that part again");
    gpume_stream_close(&joining->stream);
    return status;
}

/* The cells of a row: frame, ref, time, blocks, zero, sad_before, sad_after. */
static bool csv_numbers(const char *line, uint64_t numbers[7])
{
    for (size_t i = 0; i < 7; i++) {
        char *end = NULL;
        numbers[i] = strtoull(line, &end, 10);
        line = strchr(end, ',');
        if (!line) {
            return false;
        }
        line++;
    }
    return true;
}

static bool next_is_cut(
    struct joining *joining, uint64_t frame, uint64_t ref, uint64_t before, uint64_t after)
{
    const struct gpume_sums sums = {.sad_before = before, .sad_after = after};
    joining->rows++;
    return gpume_report_is_cut(&joining->cuts, frame, ref, &sums);
}

static int csv_row(struct joining *joining, char *line)
{
    uint64_t n[7];
    char *last = strrchr(line, ',');
    if (!last || !csv_numbers(line, n)) {
        return refuse(joining);
    }
    last[1] = '\0';
    (void)gpume_out_text(joining->out, line);
    return gpume_out_text(
        joining->out, next_is_cut(joining, n[0], n[1], n[5], n[6]) ? "1\n" : "0\n");
}

/* After the head, which has been written. */
static int csv_rows(struct joining *joining)
{
    int status;
    char *line;
    GPUME_TRY(gpume_stream_line(joining->stream, &line));
    while ((status = gpume_stream_line(joining->stream, &line)) == GPUME_OK) {
        GPUME_TRY(csv_row(joining, line));
    }
    status = status == GPUME_EOF ? GPUME_OK : status;
fail:
    return status;
}

/* The number of a member of a row in JSON. */
static bool json_number(const char *line, const char *key, uint64_t *value)
{
    char *end = NULL;
    const char *at = strstr(line, key);
    if (at) {
        at += strlen(key);
        *value = strtoull(at, &end, 10);
    }
    return at && end != at;
}

static int json_row(struct joining *joining, char *line)
{
    uint64_t frame, ref, before, after;
    char *cut = strstr(line, "\"cut\": ");
    if (!cut || !json_number(line, "\"frame\": ", &frame) ||
        !json_number(line, "\"ref\": ", &ref) || !json_number(line, "\"sad_before\": ", &before) ||
        !json_number(line, "\"sad_after\": ", &after)) {
        return refuse(joining);
    }
    cut[strlen("\"cut\": ")] = '\0';
    char row[ROW_BYTES];
    const int length = snprintf(row, sizeof row, "%s%s}", line,
        next_is_cut(joining, frame, ref, before, after) ? "true" : "false");
    if (length >= (int)sizeof row) {
        return refuse(joining);
    }
    gpume_json_digits(&joining->json, NULL, row);
    return gpume_out_text(joining->out, ""); /* says whether it has failed */
}

/* "[dx, dy, count]": the bin with this centre. */
static int take_bin(struct joining *joining, const char *line)
{
    struct gpume_report_histogram *histogram = &joining->histogram;
    char *at = NULL;
    const long dx = strtol(line + (line[0] == '['), &at, 10);
    const long dy = *at == ',' ? strtol(at + 1, &at, 10) : 0;
    const bool counted = *at == ',';
    const uint64_t count = counted ? strtoull(at + 1, &at, 10) : 0;
    const long x = dx / (long)histogram->side + (long)histogram->reach_x;
    const long y = dy / (long)histogram->side + (long)histogram->reach_y;
    const long cells = 2 * (long)histogram->reach_x + 1, rows = 2 * (long)histogram->reach_y + 1;
    if (!counted || *at != ']' || x < 0 || x >= cells || y < 0 || y >= rows) {
        return refuse(joining);
    }
    histogram->counts[y * cells + x] += count;
    return GPUME_OK;
}

/* Equal costs stay in the order of the parts. */
static void insert(struct joining *joining, const struct report_block *block)
{
    size_t place = joining->count;
    while (place > 0 && joining->costliest[place - 1].cost < block->cost) {
        place--;
    }
    if (place == COSTLIEST_MAX) {
        return;
    }
    joining->count -= joining->count == COSTLIEST_MAX;
    memmove(&joining->costliest[place + 1], &joining->costliest[place],
        (joining->count - place) * sizeof(*block));
    joining->costliest[place] = *block;
    joining->count++;
}

/* "KEY": VALUE, with or without a comma. */
static bool take_member(struct report_block *block, const char *line)
{
    const char *end = line[0] == '"' ? strstr(line, "\": ") : NULL;
    const size_t key = end ? (size_t)(end - line) - 1 : 0, value = end ? strcspn(end + 3, ",") : 0;
    if (!end || key >= MEMBER_BYTES || value >= MEMBER_BYTES || block->count == MEMBERS_MAX) {
        return false;
    }
    snprintf(block->keys[block->count], MEMBER_BYTES, "%.*s", (int)key, line + 1);
    snprintf(block->values[block->count], MEMBER_BYTES, "%.*s", (int)value, end + 3);
    if (strcmp(block->keys[block->count], "cost") == 0) {
        block->cost = strtoull(end + 3, NULL, 10);
    }
    block->count++;
    return true;
}

/* Reads the lines of the list after its first one. */
static int take_blocks(struct joining *joining)
{
    int status;
    char *line;
    struct report_block block = {0};
    while ((status = gpume_stream_line(joining->stream, &line)) == GPUME_OK) {
        line += strspn(line, " ");
        if (line[0] == ']') {
            return GPUME_OK;
        }
        if (line[0] == '{') {
            block = (struct report_block){0};
        } else if (line[0] == '}') {
            insert(joining, &block);
        } else if (!take_member(&block, line)) {
            return refuse(joining);
        }
    }
    return status == GPUME_EOF ? refuse(joining) : status;
}

/* The lists "figures", "counts" and "costliest"; the summary between them is made anew. */
static int json_lines(struct joining *joining)
{
    int status;
    char *line;
    bool figures = false, counts = false, whole = false, ended = false;
    while ((status = gpume_stream_line(joining->stream, &line)) == GPUME_OK) {
        if (ended || (whole && strcmp(line, "}") != 0)) {
            return refuse(joining);
        }
        ended = whole;
        line += strspn(line, " ");
        if (line[0] == ']') {
            figures = counts = false;
        } else if (figures) {
            GPUME_TRY(json_row(joining, line));
        } else if (counts) {
            GPUME_TRY(take_bin(joining, line));
        } else if (strcmp(line, "\"costliest\": [") == 0) {
            GPUME_TRY(take_blocks(joining));
            whole = true;
        }
        figures = figures || strcmp(line, "\"figures\": [") == 0;
        counts = counts || strcmp(line, "\"counts\": [") == 0;
    }
    status = status == GPUME_EOF && ended ? GPUME_OK
             : status == GPUME_EOF        ? refuse(joining)
                                          : status;
fail:
    return status;
}

static void put_costliest(struct joining *joining)
{
    struct gpume_json *json = &joining->json;
    gpume_json_begin_list(json, "costliest");
    for (size_t i = 0; i < joining->count; i++) {
        const struct report_block *block = &joining->costliest[i];
        gpume_json_begin(json, NULL);
        for (size_t k = 0; k < block->count; k++) {
            gpume_json_digits(json, block->keys[k], block->values[k]);
        }
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static int write_json(
    struct joining *joining, const struct gpume_join_file *files, const struct gpume_log *log)
{
    int status;
    struct gpume_json *json = &joining->json;
    json->out = joining->out;
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "format", GPUME_SUMMARY_FORMAT);
    gpume_json_begin_list(json, "figures");
    for (size_t i = 0; i < joining->total->count; i++) {
        GPUME_TRY(open_file(joining, i, &files[i], log));
        GPUME_TRY(json_lines(joining));
        GPUME_TRY(close_file(joining));
    }
    gpume_json_end_list(json);
    put_total(joining->total, json);
    gpume_report_histogram_put(&joining->histogram, json);
    put_costliest(joining);
    gpume_json_end(json);
    status = gpume_out_text(joining->out, "");
fail:
    return status;
}

static int write_csv(
    struct joining *joining, const struct gpume_join_file *files, const struct gpume_log *log)
{
    int status;
    GPUME_TRY(gpume_join_head(joining->out, files, joining->total->count, log));
    for (size_t i = 0; i < joining->total->count; i++) {
        GPUME_TRY(open_file(joining, i, &files[i], log));
        GPUME_TRY(csv_rows(joining));
        GPUME_TRY(close_file(joining));
    }
fail:
    return status;
}

int gpume_merge_report_write(struct gpume_out *out, const struct gpume_join_file *files,
    const struct gpume_merge_total *total, const struct gpume_log *log)
{
    int status;
    struct joining *joining = calloc(1, sizeof(*joining));
    if (!joining) {
        return gpume_log_nomem(log, files[0].path);
    }
    joining->total = total;
    joining->out = out;
    gpume_report_cuts_init(&joining->cuts, &total->run.params);
    if (gpume_report_histogram_init(&joining->histogram, &total->run.params) != GPUME_OK) {
        status = gpume_log_nomem(log, files[0].path);
    } else if (files[0].head[0] == '{') {
        status = write_json(joining, files, log);
    } else {
        status = write_csv(joining, files, log);
    }
    gpume_stream_close(&joining->stream);
    gpume_report_histogram_finish(&joining->histogram);
    free(joining);
    return status;
}
