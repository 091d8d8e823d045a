/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports are read line by line: their rows are as many as the frame pairs, so that a report may be
 * larger than what is worth holding in memory. In .json a row is one line, and so is every member
 * of a block and every bin of the histogram.
 */
#include "merge/report.h"

#include "base/status.h"
#include "files/byte_stream.h"
#include "report/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                                 "has not the frame pairs of its part; run that part again");
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
    const long columns = 2 * (long)histogram->reach_x + 1, rows = 2 * (long)histogram->reach_y + 1;
    if (!counted || *at != ']' || x < 0 || x >= columns || y < 0 || y >= rows) {
        return refuse(joining);
    }
    histogram->counts[y * columns + x] += count;
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
    gpume_merge_total_put(joining->total, json);
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
