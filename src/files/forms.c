/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/forms.h"

#include "files/bytes.h"
#include "files/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- times and PSNRs */

void gpume_text_time(char *text, size_t bytes, int64_t time_us)
{
    /* Unsigned, so that the smallest int64_t has a magnitude too. */
    const uint64_t size = time_us < 0 ? 0 - (uint64_t)time_us : (uint64_t)time_us;
    snprintf(text, bytes, "%s%" PRIu64 ".%06" PRIu64, time_us < 0 ? "-" : "", size / 1000000,
        size % 1000000);
}

void gpume_text_psnr(char *text, size_t bytes, double psnr)
{
    if (isinf(psnr)) {
        snprintf(text, bytes, "inf");
    } else {
        snprintf(text, bytes, "%.3f", psnr);
    }
}

/* --- JSON */

static void put_text(struct gpume_json *json, const char *text)
{
    if (json->text) {
        gpume_bytes_put(json->text, text, strlen(text));
    } else {
        (void)gpume_out_text(json->out, text);
    }
}

/* File names are bytes, so a string may not be UTF-8. */
static void put_string(struct gpume_json *json, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    put_text(json, "\"");
    while (*at) {
        char text[8] = {0};
        const size_t length = gpume_visible_utf8(at);
        if (length == 0) {
            snprintf(text, sizeof(text), "\\ufffd");
        } else if (*at == '"' || *at == '\\') {
            snprintf(text, sizeof(text), "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f || (*at == '<' && json->embedded)) {
            snprintf(text, sizeof(text), "\\u%04x", *at);
        } else {
            memcpy(text, at, length);
        }
        put_text(json, text);
        at += length ? length : 1;
    }
    put_text(json, "\"");
}

static void put_line_start(struct gpume_json *json)
{
    put_text(json, "\n");
    for (unsigned i = 0; i < json->depth; i++) {
        put_text(json, "  ");
    }
}

/* Begins a member; in a list key is NULL. */
static void put_key(struct gpume_json *json, const char *key)
{
    if (json->filled) {
        put_text(json, ",");
    }
    if (json->flat) {
        put_text(json, json->filled ? " " : "");
    } else if (json->depth > 0) {
        put_line_start(json);
    }
    if (key) {
        put_string(json, key);
        put_text(json, ": ");
    }
    json->filled = true;
}

static void begin_nested(struct gpume_json *json, const char *key, const char *bracket)
{
    put_key(json, key);
    put_text(json, bracket);
    json->depth++;
    json->filled = false;
}

static void end_nested(struct gpume_json *json, const char *bracket)
{
    json->depth--;
    if (!json->flat) {
        put_line_start(json);
    }
    json->flat = false;
    put_text(json, bracket);
    put_text(json, json->depth == 0 ? "\n" : "");
    json->filled = true;
}

void gpume_json_begin(struct gpume_json *json, const char *key)
{
    begin_nested(json, key, "{");
}

void gpume_json_end(struct gpume_json *json)
{
    end_nested(json, "}");
}

/* An object on one line, a member of the list that is open. It holds neither objects nor lists. */
static void json_begin_line(struct gpume_json *json)
{
    gpume_json_begin(json, NULL);
    json->flat = true;
}

void gpume_json_begin_list(struct gpume_json *json, const char *key)
{
    begin_nested(json, key, "[");
}

void gpume_json_end_list(struct gpume_json *json)
{
    end_nested(json, "]");
}

void gpume_json_text(struct gpume_json *json, const char *key, const char *value)
{
    put_key(json, key);
    if (value) {
        put_string(json, value);
    } else {
        put_text(json, "null");
    }
}

void gpume_json_digits(struct gpume_json *json, const char *key, const char *digits)
{
    put_key(json, key);
    put_text(json, digits);
}

void gpume_json_count(struct gpume_json *json, const char *key, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    gpume_json_digits(json, key, digits);
}

void gpume_json_count_or_null(struct gpume_json *json, const char *key, bool known, uint64_t value)
{
    if (known) {
        gpume_json_count(json, key, value);
    } else {
        gpume_json_text(json, key, NULL);
    }
}

void gpume_json_real(struct gpume_json *json, const char *key, double value, int decimals)
{
    char digits[64] = "null";
    if (isfinite(value)) {
        snprintf(digits, sizeof(digits), "%.*f", decimals, value);
    }
    gpume_json_digits(json, key, digits);
}

void gpume_json_truth(struct gpume_json *json, const char *key, bool value)
{
    gpume_json_digits(json, key, value ? "true" : "false");
}

/* --- HTML */

void gpume_html_put(struct gpume_out *out, const char *markup)
{
    (void)gpume_out_text(out, markup);
}

void gpume_html_print(struct gpume_out *out, const char *format, ...)
{
    char line[GPUME_HTML_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    gpume_html_put(out, line);
}

void gpume_html_escaped(struct gpume_out *out, const char *text)
{
    char entity[8];
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (strchr("<>&\"'", c)) {
            snprintf(entity, sizeof(entity), "&#%u;", c);
        } else {
            snprintf(entity, sizeof(entity), "%c", c < 0x20 || c == 0x7f ? '?' : c);
        }
        gpume_html_put(out, entity);
    }
}

/* --- tables */

#define CELL_BYTES 352 /* the largest double without an exponent has 309 digits */

static bool has_column(const struct gpume_table *table, const struct gpume_column *column)
{
    return column->only == 0 || (column->only & table->kind) != 0;
}

static const void *row_at(const struct gpume_table *table, const void *rows, size_t i)
{
    return (const char *)rows + i * table->row_bytes;
}

/* The value of a number, for the tests of what is unknown. */
static double number_of(const struct gpume_column *column, const void *member)
{
    switch (column->cell) {
    case GPUME_CELL_COUNT: {
        const uint64_t count = *(const uint64_t *)member;
        return count == GPUME_MISSING ? (double)NAN : (double)count;
    }
    case GPUME_CELL_NUMBER:
        return *(const uint32_t *)member;
    case GPUME_CELL_REAL:
        return *(const double *)member;
    case GPUME_CELL_TEXT:
        return *(const char *const *)member ? 1 : (double)NAN;
    default:
        return 1;
    }
}

static bool is_unknown(const struct gpume_column *column, const void *row)
{
    const double value = number_of(column, (const char *)row + column->at);
    return column->unknown != GPUME_NEVER &&
           (isnan(value) || (column->unknown == GPUME_UNLESS_POSITIVE && value <= 0));
}

/* The cell as text, which may be the row's own; `buffer` holds others. It is not unknown. */
static const char *cell_text(
    const struct gpume_column *column, const void *row, int decimals, char buffer[CELL_BYTES])
{
    const void *member = (const char *)row + column->at;
    switch (column->cell) {
    case GPUME_CELL_COUNT:
        snprintf(buffer, CELL_BYTES, "%" PRIu64, *(const uint64_t *)member);
        break;
    case GPUME_CELL_NUMBER:
        snprintf(buffer, CELL_BYTES, "%" PRIu32, *(const uint32_t *)member);
        break;
    case GPUME_CELL_TIME:
        gpume_text_time(buffer, CELL_BYTES, *(const int64_t *)member);
        break;
    case GPUME_CELL_REAL:
        snprintf(buffer, CELL_BYTES, "%.*f", decimals, *(const double *)member);
        break;
    case GPUME_CELL_TEXT:
        return *(const char *const *)member;
    case GPUME_CELL_CHARS:
        return member;
    case GPUME_CELL_LETTER:
        buffer[0] = *(const char *)member;
        buffer[1] = '\0';
        break;
    case GPUME_CELL_TRUTH: {
        static const char *const words[] = {"0", "1"};
        return (column->words ? column->words : words)[*(const bool *)member];
    }
    }
    return buffer;
}

/* --- CSV */

void gpume_table_csv_head(const struct gpume_table *table, struct gpume_out *out)
{
    const char *comma = "";
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].name && has_column(table, &table->columns[i])) {
            (void)gpume_out_text(out, comma);
            (void)gpume_out_text(out, table->columns[i].name);
            comma = ",";
        }
    }
    (void)gpume_out_text(out, "\n");
}

static void put_csv_text(struct gpume_out *out, const char *text)
{
    if (!strpbrk(text, ",;\"\r\n")) {
        (void)gpume_out_text(out, text);
        return;
    }
    (void)gpume_out_text(out, "\"");
    for (; *text; text++) {
        (void)gpume_out_write(out, text, 1);
        if (*text == '"') {
            (void)gpume_out_text(out, "\"");
        }
    }
    (void)gpume_out_text(out, "\"");
}

void gpume_table_csv(
    const struct gpume_table *table, const void *rows, size_t count, struct gpume_out *out)
{
    for (size_t r = 0; r < count; r++) {
        const void *row = row_at(table, rows, r);
        const char *comma = "";
        for (size_t i = 0; i < table->count; i++) {
            const struct gpume_column *column = &table->columns[i];
            char buffer[CELL_BYTES];
            if (column->name && has_column(table, column)) {
                (void)gpume_out_text(out, comma);
                if (!is_unknown(column, row)) {
                    put_csv_text(out, cell_text(column, row, column->decimals, buffer));
                }
                comma = ",";
            }
        }
        (void)gpume_out_text(out, "\n");
    }
}

/* --- JSON */

static void put_json_cell(
    struct gpume_json *json, const struct gpume_column *column, const void *row)
{
    char buffer[CELL_BYTES];
    const void *member = (const char *)row + column->at;
    if (is_unknown(column, row) ||
        (column->cell == GPUME_CELL_REAL && !isfinite(*(const double *)member))) {
        gpume_json_text(json, column->name, NULL);
    } else if (column->cell == GPUME_CELL_TRUTH) {
        gpume_json_truth(json, column->name, *(const bool *)member);
    } else {
        const char *text = cell_text(column, row, column->decimals, buffer);
        const bool quoted = column->cell == GPUME_CELL_TEXT || column->cell == GPUME_CELL_CHARS ||
                            column->cell == GPUME_CELL_LETTER;
        (quoted ? gpume_json_text : gpume_json_digits)(json, column->name, text);
    }
}

void gpume_table_json_members(
    const struct gpume_table *table, const void *row, struct gpume_json *json)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].name && has_column(table, &table->columns[i])) {
            put_json_cell(json, &table->columns[i], row);
        }
    }
}

void gpume_table_json(const struct gpume_table *table, const char *key, const void *rows,
    size_t count, struct gpume_json *json)
{
    if (key) {
        gpume_json_begin_list(json, key);
    }
    for (size_t i = 0; i < count; i++) {
        gpume_json_begin(json, NULL);
        gpume_table_json_members(table, row_at(table, rows, i), json);
        gpume_json_end(json);
    }
    if (key) {
        gpume_json_end_list(json);
    }
}

void gpume_table_json_line(
    const struct gpume_table *table, const void *row, struct gpume_json *json)
{
    json_begin_line(json);
    gpume_table_json_members(table, row, json);
    gpume_json_end(json);
}

/* --- For people */

/* Decimals for people. */
static int shown_decimals(const struct gpume_column *column, const void *row)
{
    const double value = number_of(column, (const char *)row + column->at);
    return column->style != GPUME_STYLE_FACTOR ? column->shown
           : value < 0.1                       ? 4
           : value < 10                        ? 2
           : value < 1000                      ? 1
                                               : 0;
}

/* The cell with its unit. dash: of an unknown value. */
static const char *shown_text(const struct gpume_column *column, const void *row, const char *dash,
    const char *unit, char buffer[CELL_BYTES])
{
    if (is_unknown(column, row)) {
        return dash;
    }
    const char *text = cell_text(column, row, shown_decimals(column, row), buffer);
    if (text == buffer && unit) {
        gpume_text_join(buffer, CELL_BYTES, "", "%s", unit);
    }
    return text;
}

void gpume_table_html_head(const struct gpume_table *table, struct gpume_out *out)
{
    gpume_html_put(out, "<div class=\"table\"><table><thead><tr>");
    for (size_t i = 0; i < table->count; i++) {
        const struct gpume_column *column = &table->columns[i];
        if (column->title && has_column(table, column)) {
            gpume_html_put(out, "<th");
            if (column->classes) {
                gpume_html_print(out, " class=\"%s\"", column->classes);
            }
            gpume_html_print(out, ">%s</th>", column->heading ? column->heading : column->title);
        }
    }
    gpume_html_put(out, "</tr></thead>\n<tbody>\n");
}

void gpume_table_html(
    const struct gpume_table *table, const void *row, const char *classes, struct gpume_out *out)
{
    gpume_html_put(out, "<tr");
    if (classes) {
        gpume_html_print(out, " class=\"%s\"", classes);
    }
    gpume_html_put(out, ">");
    for (size_t i = 0; i < table->count; i++) {
        const struct gpume_column *column = &table->columns[i];
        char buffer[CELL_BYTES];
        if (!column->title || !has_column(table, column)) {
            continue;
        }
        const char *blank = column->blank ? column->blank : "";
        const char *text = shown_text(column, row, blank, NULL, buffer);
        const bool minus = column->style == GPUME_STYLE_SIGNED && text[0] == '-' && text != blank;
        gpume_html_put(out, minus ? "<td>&minus;" : "<td>");
        (column->markup ? gpume_html_put : gpume_html_escaped)(out, text + minus);
        gpume_html_put(out, "</td>");
    }
    gpume_html_put(out, "</tr>\n");
}

void gpume_table_html_end(struct gpume_out *out)
{
    gpume_html_put(out, "</tbody></table></div>\n");
}

/* The text of a column for people: of its cell, or without a row its title. */
static const char *aligned_text(
    const struct gpume_column *column, const void *row, char buffer[CELL_BYTES])
{
    if (!row) {
        return column->title;
    }
    const char *text = shown_text(column, row, "-", column->unit, buffer);
    if (column->style == GPUME_STYLE_SIGNED && text == buffer && buffer[0] != '-') {
        memmove(buffer + 1, buffer, strlen(buffer) + 1);
        buffer[0] = '+';
    }
    return text;
}

/* row NULL: the head. */
static void fit_row(const struct gpume_table *table, const void *row, size_t *widths)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct gpume_column *column = &table->columns[i];
        char buffer[CELL_BYTES];
        if (column->title && has_column(table, column)) {
            const size_t length = strlen(aligned_text(column, row, buffer));
            *widths = *widths > column->width ? *widths : column->width;
            *widths = *widths > length ? *widths : length;
            widths++;
        }
    }
}

/* Without a line's end, and without blanks after its last cell. */
static void print_row(
    const struct gpume_table *table, const void *row, const size_t *widths, FILE *stream)
{
    size_t blanks = 0; /* before the next cell */
    bool first = true;
    for (size_t i = 0; i < table->count; i++) {
        const struct gpume_column *column = &table->columns[i];
        char buffer[CELL_BYTES];
        if (!column->title || !has_column(table, column)) {
            continue;
        }
        const char *text = aligned_text(column, row, buffer);
        const size_t rest = *widths++ - strlen(text);
        const bool left =
            !column->right && (column->cell == GPUME_CELL_TEXT || column->cell == GPUME_CELL_CHARS);
        blanks += first || column->joined ? 0 : table->gap ? table->gap : 2;
        fprintf(stream, "%*s%s", (int)(left ? blanks : blanks + rest), "", text);
        blanks = left ? rest : 0;
        first = false;
    }
}

void gpume_table_print(const struct gpume_table *table, const void *rows, size_t count,
    FILE *stream, const char *before, const char *after)
{
    size_t widths[GPUME_TABLE_SHOWN_MAX] = {0};
    fit_row(table, NULL, widths);
    for (size_t i = 0; i < count; i++) {
        fit_row(table, row_at(table, rows, i), widths);
    }
    fprintf(stream, "%s", before);
    print_row(table, NULL, widths, stream);
    fprintf(stream, "%s\n", after);
    for (size_t i = 0; i < count; i++) {
        print_row(table, row_at(table, rows, i), widths, stream);
        fprintf(stream, "\n");
    }
}
