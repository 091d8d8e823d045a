/* SPDX-License-Identifier: BSD-2-Clause */
/* One list of columns in every form: what is known and unknown, quoted, escaped, and aligned. */
#include "files/forms.h"
#include "harness.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct row {
    uint64_t count;
    uint32_t number;
    int64_t time;
    double real, factor;
    const char *text;
    char chars[16], letter;
    bool truth;
};

static const char *const words[] = {"off", "on"};

enum { RARE = 1, OTHER = 2, PEOPLE = 4 };

static const struct gpume_column columns[] = {
    {GPUME_COLUMN("text", struct row, text), .title = "text", .unknown = GPUME_IF_MISSING,
        .width = 6},
    {GPUME_COLUMN("count", struct row, count), .title = "count", .unknown = GPUME_IF_MISSING,
        .width = 3, .classes = "wide", .heading = "how many"},
    {GPUME_COLUMN("number", struct row, number), .unknown = GPUME_UNLESS_POSITIVE, .only = RARE},
    {GPUME_COLUMN("time", struct row, time)},
    {GPUME_COLUMN("real", struct row, real), .decimals = 3, .title = "real", .shown = 1,
        .unit = " %", .unknown = GPUME_IF_MISSING, .style = GPUME_STYLE_SIGNED, .blank = "none"},
    {GPUME_COLUMN("factor", struct row, factor), .decimals = 6, .only = RARE | PEOPLE, .title = "x",
        .style = GPUME_STYLE_FACTOR, .unknown = GPUME_UNLESS_POSITIVE},
    {GPUME_COLUMN("chars", struct row, chars), .title = "chars", .joined = true},
    {GPUME_COLUMN("letter", struct row, letter)},
    {GPUME_COLUMN("truth", struct row, truth), .words = words},
    {GPUME_COLUMN("plain", struct row, truth), .only = OTHER},
};

static const struct row rows[] = {
    {7, 5, -1500000, 0.0625, 0.05, "a,\"b\"", "x", 'I', true},
    {UINT64_MAX, 0, 2, (double)NAN, 0, NULL, "<y>", 'P', false},
    {12345, 1, 0, -2.5, 1234.5, "no", "z", 'B', false},
    {0, 2, 1, (double)INFINITY, 12.345, "semi;colon", "", 'B', true},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* What `write` puts into a file. */
static void require_written(void (*write)(struct gpume_out *out, FILE *stream), const char *must)
{
    char path[] = "/tmp/gpume-table-XXXXXX", text[2048] = "";
    const int fd = mkstemp(path);
    struct gpume_out *out = NULL;
    REQUIRE(fd >= 0);
    FILE *stream = fdopen(fd, "w+");
    REQUIRE_EQUAL(gpume_out_open(&out, path, true, &(struct gpume_log){0}), 0);
    write(out, stream);
    REQUIRE_EQUAL(gpume_out_finish(out), 0);
    gpume_out_close(&out);
    FILE *file = ftell(stream) > 0 ? stream : fopen(path, "r");
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    REQUIRE(strcmp(text, must) == 0);
    if (strcmp(text, must) != 0) {
        fprintf(stderr, "is:\n%sexpected:\n%s", text, must);
    }
    if (file != stream) {
        fclose(file);
    }
    fclose(stream);
    unlink(path);
}

static const struct gpume_table rare = {GPUME_TABLE(columns, struct row), .kind = RARE};
static const struct gpume_table usual = {GPUME_TABLE(columns, struct row)};
static const struct gpume_table people = {GPUME_TABLE(columns, struct row), .kind = PEOPLE};

static void write_csv(struct gpume_out *out, FILE *stream)
{
    (void)stream;
    gpume_table_csv_head(&rare, out);
    gpume_table_csv(&rare, rows, ROWS, out);
}

static void write_other(struct gpume_out *out, FILE *stream)
{
    struct gpume_table other = usual;
    (void)stream;
    other.kind = OTHER;
    gpume_table_csv_head(&other, out);
    gpume_table_csv(&other, &rows[2], 1, out);
}

static void write_json(struct gpume_out *out, FILE *stream)
{
    struct gpume_json json = {.out = out};
    (void)stream;
    gpume_json_begin(&json, NULL);
    gpume_table_json(&rare, "rows", rows, 2, &json);
    gpume_json_begin_list(&json, "lines");
    gpume_table_json_line(&usual, &rows[0], &json);
    gpume_table_json_line(&usual, &rows[3], &json);
    gpume_json_end_list(&json);
    gpume_json_end(&json);
}

static void write_html(struct gpume_out *out, FILE *stream)
{
    (void)stream;
    gpume_table_html_head(&people, out);
    gpume_table_html(&people, &rows[0], "first", out);
    gpume_table_html(&people, &rows[1], NULL, out);
    gpume_table_html(&people, &rows[2], NULL, out);
    gpume_table_html_end(out);
}

static void write_text(struct gpume_out *out, FILE *stream)
{
    (void)out;
    gpume_table_print(&people, rows, ROWS, stream, "<", ">");
    fflush(stream);
}

int main(void)
{
    require_written(write_csv, "text,count,number,time,real,factor,chars,letter,truth\n"
                               "\"a,\"\"b\"\"\",7,5,-1.500000,0.062,0.050000,x,I,on\n"
                               ",,,0.000002,,,<y>,P,off\n"
                               "no,12345,1,0.000000,-2.500,1234.500000,z,B,off\n"
                               "\"semi;colon\",0,2,0.000001,inf,12.345000,,B,on\n");
    require_written(write_other, "text,count,time,real,chars,letter,truth,plain\n"
                                 "no,12345,0.000000,-2.500,z,B,off,0\n");
    require_written(write_json,
        "{\n  \"rows\": [\n    {\n      \"text\": \"a,\\\"b\\\"\",\n      \"count\": 7,\n"
        "      \"number\": 5,\n      \"time\": -1.500000,\n      \"real\": 0.062,\n"
        "      \"factor\": 0.050000,\n      \"chars\": \"x\",\n      \"letter\": \"I\",\n      "
        "\"truth\": true\n    },\n"
        "    {\n      \"text\": null,\n      \"count\": null,\n      \"number\": null,\n"
        "      \"time\": 0.000002,\n      \"real\": null,\n      \"factor\": null,\n      "
        "\"chars\": \"<y>\",\n"
        "      \"letter\": \"P\",\n      \"truth\": false\n    }\n  ],\n  \"lines\": [\n"
        "    {\"text\": \"a,\\\"b\\\"\", \"count\": 7, \"time\": -1.500000, \"real\": 0.062, "
        "\"chars\": \"x\", \"letter\": \"I\", \"truth\": true},\n"
        "    {\"text\": \"semi;colon\", \"count\": 0, \"time\": 0.000001, \"real\": null, "
        "\"chars\": \"\", \"letter\": \"B\", \"truth\": true}\n  ]\n}\n");
    require_written(write_html,
        "<div class=\"table\"><table><thead><tr><th>text</th><th class=\"wide\">how many</th>"
        "<th>real</th><th>x</th><th>chars</th></tr></thead>\n<tbody>\n"
        "<tr class=\"first\"><td>a,&#34;b&#34;</td><td>7</td><td>0.1</td><td>0.0500</td>"
        "<td>x</td></tr>\n"
        "<tr><td></td><td></td><td>none</td><td></td><td>&#60;y&#62;</td></tr>\n"
        "<tr><td>no</td><td>12345</td><td>&minus;2.5</td><td>1234</td><td>z</td></tr>\n"
        "</tbody></table></div>\n");
    require_written(write_text, "<text        count    real       xchars>\n"
                                "a,\"b\"           7  +0.1 %  0.0500x\n"
                                "-               -       -       -<y>\n"
                                "no          12345  -2.5 %    1234z\n"
                                "semi;colon      0  +inf %    12.3\n");
    return harness_verdict();
}
