/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/merge.h"

#include "base/base.h"
#include "files/json_reader.h"
#include "files/out.h"
#include "files/path.h"
#include "sinks/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT_MAX 9007199254740992.0 /* 2^53: up to it, reals hold every whole number */

static const char summary_name[] = "summary.json";

uint64_t gpume_merge_part_count(const json_t *object, const char *key)
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
            "%s: is no folder; a part is the folder that a run wrote with -o", part->folder);
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
                                     : gpume_merge_part_count(parameters, "ref-distance");
}

/* The frames that were asked for. */
static void find_range(struct gpume_merge_part *part)
{
    const json_t *parameters = part->parameters;
    const uint64_t start = gpume_merge_part_count(parameters, "start");
    const uint64_t least = first_target(parameters);
    const uint64_t frames = gpume_merge_part_count(parameters, "frames");
    const uint64_t end = gpume_merge_part_count(part->summary, "last_field") + 1;
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
    const uint64_t each = gpume_merge_part_count(part->summary, "blocks_per_field");
    const uint64_t candidates = gpume_merge_part_count(parameters, "candidates");
    part->fields = gpume_merge_part_count(part->summary, "fields");
    part->blocks = json_is_true(json_object_get(parameters, "partition"))
                       ? gpume_merge_part_count(totals, "blocks")
                   : each <= (uint64_t)COUNT_MAX / (part->fields + 1) ? part->fields * each
                                                                      : 0;
    part->candidates =
        candidates > 0 && candidates <= GPUME_CANDIDATES_MAX ? (uint32_t)candidates : 1;
    part->fewer = may_be_fewer(part);
    part->two_matches = json_is_true(json_object_get(parameters, "bidirectional"));
}

static bool is_side(const struct gpume_merge_part *part, const char *key)
{
    const uint64_t side = gpume_merge_part_count(part->input, key);
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
           gpume_merge_part_count(part->input, "bits") >= 8 &&
           gpume_merge_part_count(part->input, "bits") <= 16;
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
    } else if (gpume_merge_part_count(part->summary, "checked") !=
               gpume_merge_part_count(part->summary, "matched")) {
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
        "%s: is a part of another run than %s: %s is %s, not %s; run it again as the others",
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
