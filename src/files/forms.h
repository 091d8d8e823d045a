/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms in which gpume writes text: JSON, HTML, and tables, whose columns are listed once and
 * become CSV, JSON, HTML or aligned text for people. Errors of outputs are sticky, so they are
 * checked once, at the end. One thread.
 */
#ifndef GPUME_FILES_FORMS_H
#define GPUME_FILES_FORMS_H

#include "files/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * --- Writes indented JSON to an output or a buffer. Errors of both are sticky, so they are checked
 * once, at the end. One thread.
 */

struct gpume_bytes;

/* Starts as zero, except for out or text, and embedded. */
struct gpume_json {
    struct gpume_out *out;
    struct gpume_bytes *text; /* instead of out, if not NULL */
    bool embedded;            /* in a page of HTML: '<' is escaped, which could end the element */
    unsigned depth;
    bool filled; /* the innermost object or list has a member */
    bool flat;   /* it is on one line */
};

/* Key NULL: the outermost object, or a member of a list. */
void gpume_json_begin(struct gpume_json *json, const char *key);
void gpume_json_end(struct gpume_json *json);

void gpume_json_begin_list(struct gpume_json *json, const char *key);
void gpume_json_end_list(struct gpume_json *json);

/* NULL becomes null. Bytes that are not UTF-8 become the replacement character. */
void gpume_json_text(struct gpume_json *json, const char *key, const char *value);

/* null unless known. */
void gpume_json_count_or_null(struct gpume_json *json, const char *key, bool known, uint64_t value);

void gpume_json_count(struct gpume_json *json, const char *key, uint64_t value);

/* Infinity becomes null. */
void gpume_json_real(struct gpume_json *json, const char *key, double value, int decimals);

void gpume_json_truth(struct gpume_json *json, const char *key, bool value);

/* A value in JSON syntax. */
void gpume_json_digits(struct gpume_json *json, const char *key, const char *digits);

/* --- Markup in an output, whose failures are sticky. One thread. */

void gpume_html_put(struct gpume_out *out, const char *markup);

/* At most GPUME_HTML_BYTES, or it is cut. */
#define GPUME_HTML_BYTES 2048u
void gpume_html_print(struct gpume_out *out, const char *format, ...) GPUME_PRINTF(2, 3);

/* Text from outside, such as a name; bytes that are not printable become '?'. */
void gpume_html_escaped(struct gpume_out *out, const char *text);

/*
 * --- Tables. The columns are listed once, as members of the struct that holds a row; CSV, JSON,
 * rows of HTML and aligned text for people are written from that list. Errors of outputs are
 * sticky, so they are checked once, at the end. One thread.
 */

/* The type of a cell is that of the row's member. */
enum gpume_cell {
    GPUME_CELL_COUNT,  /* uint64_t */
    GPUME_CELL_NUMBER, /* uint32_t */
    GPUME_CELL_TIME,   /* int64_t, microseconds; shown as seconds with six decimals */
    GPUME_CELL_REAL,   /* double */
    GPUME_CELL_TEXT,   /* const char * */
    GPUME_CELL_CHARS,  /* array of char */
    GPUME_CELL_LETTER, /* char */
    GPUME_CELL_TRUTH,  /* bool */
};

/* Which values stand for an unknown one. It is empty in CSV, null in JSON, and "-" for people. */
enum gpume_unknown {
    GPUME_NEVER,
    GPUME_IF_MISSING,      /* NAN, NULL, GPUME_MISSING */
    GPUME_UNLESS_POSITIVE, /* as above, or 0 or negative */
};

#define GPUME_MISSING UINT64_MAX

enum gpume_number_style {
    GPUME_STYLE_PLAIN,
    GPUME_STYLE_SIGNED, /* with a sign in front of positive values, too; in HTML a minus alone */
    GPUME_STYLE_FACTOR, /* three or four digits: fewer decimals, the larger it is */
};

struct gpume_column {
    const char *name; /* in CSV and JSON; NULL: it is for people alone */
    enum gpume_cell cell;
    size_t at; /* the member's offset */
    enum gpume_unknown unknown;
    int decimals;             /* of reals, in CSV and JSON */
    unsigned only;            /* bits of the tables that have it (`kind`); 0: all */
    const char *const *words; /* of a truth, in CSV: for false and true; NULL: 0 and 1 */

    /* For people. Texts are on the left, numbers on the right. */
    const char *title; /* NULL: it is for programs alone */
    unsigned width;    /* at least */
    int shown;         /* decimals, for people */
    const char *unit;  /* after the number; in the heading of HTML instead */
    enum gpume_number_style style;
    bool right;  /* a text on the right */
    bool joined; /* to the column before, without a gap */
    /* In HTML: the title, if another; classes of the title; and what stands for an unknown value.
     */
    const char *heading, *classes, *blank;
    bool markup; /* the text is markup */
};

/* The first three members, for a member of the struct `row`. */
/* clang-format off */
#define GPUME_COLUMN(column, row, member)                                                          \
    .name = (column), .at = offsetof(row, member), .cell = _Generic(((row *)0)->member,            \
        uint64_t: GPUME_CELL_COUNT, uint32_t: GPUME_CELL_NUMBER, int64_t: GPUME_CELL_TIME,         \
        double: GPUME_CELL_REAL, const char *: GPUME_CELL_TEXT, char *: GPUME_CELL_CHARS,          \
        char: GPUME_CELL_LETTER, bool: GPUME_CELL_TRUTH)
/* clang-format on */

struct gpume_table {
    const struct gpume_column *columns;
    size_t count;
    size_t row_bytes;
    unsigned kind; /* the bits that are matched with a column's `only` */
    unsigned gap;  /* blanks between columns for people; 0: 2 */
};

#define GPUME_TABLE(list, row)                                                                     \
    .columns = (list), .count = sizeof(list) / sizeof((list)[0]), .row_bytes = sizeof(row)

/* The first line, and rows. Texts with a comma, a semicolon, a quote or a line end are quoted. */
void gpume_table_csv_head(const struct gpume_table *table, struct gpume_out *out);
void gpume_table_csv(
    const struct gpume_table *table, const void *rows, size_t count, struct gpume_out *out);

/* Writes a row's members into the open object. Infinite numbers are null. */
void gpume_table_json_members(
    const struct gpume_table *table, const void *row, struct gpume_json *json);

/* Writes rows as a list of objects under `key`; key NULL: into the open list. */
void gpume_table_json(const struct gpume_table *table, const char *key, const void *rows,
    size_t count, struct gpume_json *json);

/* A row as an object on one line, a member of the list that is open. */
void gpume_table_json_line(
    const struct gpume_table *table, const void *row, struct gpume_json *json);

/* The element of the table: its head, rows, and the end. classes: of the row; NULL: none. */
void gpume_table_html_head(const struct gpume_table *table, struct gpume_out *out);
void gpume_table_html(
    const struct gpume_table *table, const void *row, const char *classes, struct gpume_out *out);
void gpume_table_html_end(struct gpume_out *out);

/* Head and rows, aligned: columns are as wide as their widest cell. before, after: around the head,
 * such as what makes it bold. */
#define GPUME_TABLE_SHOWN_MAX 16u /* columns for people */
void gpume_table_print(const struct gpume_table *table, const void *rows, size_t count,
    FILE *stream, const char *before, const char *after);

/* --- numbers as text that does not depend on the locale */

/* Seconds with six decimals. */
void gpume_text_time(char *text, size_t bytes, int64_t time_us);

/* Three decimals, or "inf". */
void gpume_text_psnr(char *text, size_t bytes, double psnr);

#endif
