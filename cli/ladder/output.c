/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume ladder puts out: tables, the page with curves, and the files of either. */
#include "encode/encoder.h"
#include "files/forms.h"
#include "ladder/ladder.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- tables */

#define ROW struct gpume_ladder_row
static const struct gpume_column point_columns[] = {
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("crf", ROW, crf), .decimals = 2},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3},
    {GPUME_COLUMN("scaling_psnr", ROW, scaling_psnr), .decimals = 3, .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("best", ROW, best)},
};
static const struct gpume_table points = {GPUME_TABLE(point_columns, ROW)};
#undef ROW

#define ROW struct gpume_ladder_hull_row
static const struct gpume_column hull_columns[] = {
    {GPUME_COLUMN(NULL, ROW, size), .title = "best size"},
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("bitrate_from", ROW, from), .decimals = 0},
    {GPUME_COLUMN("bitrate_to", ROW, to), .decimals = 0},
    {GPUME_COLUMN(NULL, ROW, kbit_from), .title = "from kbit/s", .width = 11,
        .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN(NULL, ROW, kbit_to), .title = "to kbit/s", .width = 11,
        .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN("psnr_from", ROW, psnr_from), .decimals = 3, .title = "PSNR", .shown = 2,
        .unit = " dB", .heading = "PSNR from, dB"},
    {GPUME_COLUMN("psnr_to", ROW, psnr_to), .decimals = 3, .title = "to", .shown = 2,
        .unit = " dB"},
    {GPUME_COLUMN("crf_from", ROW, crf_from), .decimals = 2, .title = "CRF", .shown = 1,
        .heading = "CRF from"},
    {GPUME_COLUMN("crf_to", ROW, crf_to), .decimals = 2, .title = "to", .shown = 1},
};
static const struct gpume_table hull = {GPUME_TABLE(hull_columns, ROW)};
#undef ROW

#define ROW struct gpume_ladder_crossing_row
static const struct gpume_column crossing_columns[] = {
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("smaller_width", ROW, smaller_width)},
    {GPUME_COLUMN("smaller_height", ROW, smaller_height)},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3},
};
static const struct gpume_table crossings = {GPUME_TABLE(crossing_columns, ROW)};
#undef ROW

/* Bits of tables: with encodes. */
enum { EXPECTED = 1, VERIFIED = 2 };

#define ROW struct gpume_ladder_rung_row
static const struct gpume_column rung_columns[] = {
    {GPUME_COLUMN(NULL, ROW, size), .title = "rung"},
    {GPUME_COLUMN("width", ROW, width)},
    {GPUME_COLUMN("height", ROW, height)},
    {GPUME_COLUMN("crf", ROW, crf), .decimals = 1, .title = "CRF", .shown = 1},
    {GPUME_COLUMN("bitrate", ROW, bitrate), .decimals = 0},
    {GPUME_COLUMN(NULL, ROW, kbit), .title = "kbit/s", .width = 9, .style = GPUME_STYLE_FACTOR},
    {GPUME_COLUMN("psnr", ROW, psnr), .decimals = 3, .title = "PSNR", .shown = 2, .unit = " dB"},
    {GPUME_COLUMN("rung", ROW, rung)},
    {GPUME_COLUMN("measured_bitrate", ROW, measured_bitrate), .decimals = 0, .only = VERIFIED},
    {GPUME_COLUMN("measured_psnr", ROW, measured_psnr), .decimals = 3, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, measured_kbit), .title = "encoded", .width = 9,
        .heading = "encoded, kbit/s", .style = GPUME_STYLE_FACTOR, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, bitrate_off), .title = "off", .shown = 1, .unit = " %",
        .heading = "off, %", .style = GPUME_STYLE_SIGNED, .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, measured_psnr), .title = "encoded", .shown = 2, .unit = " dB",
        .heading = "encoded, dB", .only = VERIFIED},
    {GPUME_COLUMN(NULL, ROW, psnr_off), .title = "off", .shown = 2, .unit = " dB",
        .heading = "off, dB", .style = GPUME_STYLE_SIGNED, .only = VERIFIED},
};
#undef ROW

static struct gpume_table rungs_table(const struct gpume_ladder *ladder)
{
    struct gpume_table table = {GPUME_TABLE(rung_columns, struct gpume_ladder_rung_row)};
    table.kind = ladder->options->verify ? EXPECTED | VERIFIED : EXPECTED;
    return table;
}

void gpume_ladder_put_csv(const void *client, struct gpume_out *out)
{
    const struct gpume_ladder *ladder = client;
    gpume_table_csv_head(&points, out);
    gpume_table_csv(&points, ladder->rows, ladder->row_count, out);
}

#define WORDS_BYTES 96

static const char *encoder_name(const struct gpume_ladder *ladder)
{
    return ladder->encode.encoder->name;
}

void gpume_ladder_put_json(const void *client, struct gpume_json *json)
{
    const struct gpume_ladder *ladder = client;
    gpume_json_text(json, "input", ladder->job.info.label);
    gpume_json_count(json, "frames", ladder->job.frames);
    gpume_json_text(json, "encoder", encoder_name(ladder));
    gpume_json_text(json, "preset", ladder->encode.preset);
    gpume_json_text(json, "tune", ladder->encode.tune);
    gpume_json_count(json, "encodes", ladder->encodes);
    gpume_table_json(&points, "points", ladder->rows, ladder->row_count, json);
    gpume_table_json(&hull, "hull", ladder->hull, ladder->hull_count, json);
    gpume_table_json(&crossings, "crossings", ladder->crossings, ladder->crossing_count, json);
    const struct gpume_table rungs = rungs_table(ladder);
    gpume_table_json(&rungs, "rungs", ladder->rungs, ladder->rung_count, json);
}

/* What `gpume firstpass` is to be given beside the rungs. */
static const char *words_before_rungs(const struct gpume_ladder *ladder, char text[WORDS_BYTES])
{
    const struct gpume_encode_options *encode = &ladder->encode;
    const bool is_usual = strcmp(encode->preset, encode->encoder->preset) == 0;
    snprintf(text, WORDS_BYTES, "--encoder %s%s%s%s%s", encoder_name(ladder),
        is_usual ? "" : " --preset ", is_usual ? "" : encode->preset,
        encode->tune ? " --tune " : "", encode->tune ? encode->tune : "");
    return text;
}

void gpume_ladder_print(const void *client)
{
    const struct gpume_ladder *ladder = client;
    const struct gpume_source_info *info = &ladder->job.info;
    const struct gpume_encode_options *encode = &ladder->encode;
    const struct gpume_table rungs = rungs_table(ladder);
    char words[WORDS_BYTES];
    const char *bold = gpume_console_bold(stdout), *plain = gpume_console_plain(stdout);
    printf("%" PRIu64 " frame%s, %s %s%s%s; PSNR of luma at %" PRIu32 "x%" PRIu32
           ", smaller pictures scaled up by FFmpeg's bicubic filter\n\n",
        ladder->job.frames, gpume_plural(ladder->job.frames), encoder_name(ladder), encode->preset,
        encode->tune ? " " : "", encode->tune ? encode->tune : "", info->width, info->height);
    gpume_table_print(&hull, ladder->hull, ladder->hull_count, stdout, bold, plain);
    putchar('\n');
    gpume_table_print(&rungs, ladder->rungs, ladder->rung_count, stdout, bold, plain);
    putchar('\n');
    fputs(ladder->rung_count > 0 ? words_before_rungs(ladder, words) : "", stdout);
    for (size_t i = 0; i < ladder->rung_count; i++) {
        printf(" --rung %s", ladder->rungs[i].rung);
    }
    puts(ladder->rung_count > 0 ? "" : "no size has the bitrates of the ladder");
}

/* --- the page: curves, the best sizes, and the ladder */

#define CHART_W 900.0
#define CHART_H 420.0
#define COLOURS 6u  /* of ladder.css */
#define NAME_H 13.0 /* from one name of a curve to the next */
#define TICKS 8     /* at most, of PSNR */

struct ladder_scale {
    double from, to;    /* logarithms of bitrates */
    double bottom, top; /* dB */
    double step;        /* of the lines, in dB */
};

static double x_of(const struct ladder_scale *scale, double bitrate)
{
    return CHART_W * (log10(bitrate) - scale->from) / (scale->to - scale->from);
}

static double y_of(const struct ladder_scale *scale, double psnr)
{
    return CHART_H * (scale->top - psnr) / (scale->top - scale->bottom);
}

static struct ladder_scale make_ladder_scale(const struct gpume_ladder *ladder)
{
    struct ladder_scale scale = {INFINITY, -INFINITY, INFINITY, -INFINITY, 1};
    for (size_t i = 0; i < ladder->row_count; i++) {
        const struct gpume_ladder_row *row = &ladder->rows[i];
        scale.from = fmin(scale.from, log10(row->bitrate));
        scale.to = fmax(scale.to, log10(row->bitrate));
        scale.bottom = fmin(scale.bottom, row->psnr);
        scale.top = fmax(scale.top, row->psnr);
    }
    scale.to = fmax(scale.to, scale.from + 0.1);
    while ((scale.top - scale.bottom) / scale.step > TICKS) {
        scale.step *= scale.step == 2 ? 2.5 : 2; /* 1, 2, 5, 10 ... */
    }
    scale.bottom = floor(scale.bottom / scale.step) * scale.step;
    scale.top = fmax(ceil(scale.top / scale.step), scale.bottom / scale.step + 1) * scale.step;
    return scale;
}

static void put_ladder_axes(struct gpume_out *out, const struct ladder_scale *scale)
{
    static const double digits[] = {1, 2, 5};
    for (double at = scale->bottom; at < scale->top + scale->step / 2; at += scale->step) {
        const double y = y_of(scale, at);
        gpume_html_print(out,
            "<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-8\" y=\"%.1f\" "
            "text-anchor=\"end\">%g dB</text>\n",
            CHART_W, y, y, y + 4, at);
    }
    for (int i = 0; i < 3 * 12; i++) { /* up to 10^12 bits per second */
        const double rate = digits[i % 3] * pow(10, i / 3);
        const double x = x_of(scale, rate);
        if (x >= 0 && x <= CHART_W) {
            gpume_html_print(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\"/><text x=\"%.1f\" y=\"%.0f\" "
                "text-anchor=\"middle\">%g %sbit/s</text>\n",
                x, x, CHART_H, x, CHART_H + 21, rate < 1e6 ? rate / 1e3 : rate / 1e6,
                rate < 1e6 ? "k" : "M");
        }
    }
}

static void put_line(struct gpume_out *out, const struct ladder_scale *scale,
    const struct gpume_ladder_curve *curve, double from, double to, const char *classes, size_t i)
{
    struct gpume_ladder_point point;
    gpume_html_print(out, "<polyline class=\"%s s%zu\" points=\"", classes, i % COLOURS);
    if (gpume_ladder_at(curve, from, &point)) {
        gpume_html_print(out, "%.1f,%.1f", x_of(scale, from), y_of(scale, point.psnr));
    }
    for (size_t k = 0; k < curve->count; k++) {
        const struct gpume_ladder_point *at = &curve->points[k];
        if (at->bitrate > from && at->bitrate < to) {
            gpume_html_print(out, " %.1f,%.1f", x_of(scale, at->bitrate), y_of(scale, at->psnr));
        }
    }
    if (gpume_ladder_at(curve, to, &point)) {
        gpume_html_print(out, " %.1f,%.1f", x_of(scale, to), y_of(scale, point.psnr));
    }
    gpume_html_put(out, "\"/>\n");
}

/* Names at the ends of the curves, the largest size at the top; where ends are close, each below
 * the one before. */
static void put_names(
    struct gpume_out *out, const struct gpume_ladder *ladder, const struct ladder_scale *scale)
{
    double last = -NAME_H;
    for (size_t i = 0; i < ladder->size_count; i++) {
        const struct gpume_ladder_curve *curve = &ladder->curves[i];
        const struct gpume_ladder_point *end = &curve->points[curve->count - 1];
        const double y = fmax(y_of(scale, end->psnr), last + NAME_H);
        gpume_html_print(out,
            "<text class=\"s%zu\" x=\"%.1f\" y=\"%.1f\">%" PRIu32 "x%" PRIu32 "</text>\n",
            i % COLOURS, x_of(scale, end->bitrate) + 6, y + 4, ladder->sizes[i].width,
            ladder->sizes[i].height);
        last = y;
    }
}

static size_t index_of(const struct gpume_ladder *ladder, uint32_t width, uint32_t height)
{
    size_t i = 0;
    while (ladder->sizes[i].width != width || ladder->sizes[i].height != height) {
        i++;
    }
    return i;
}

static void put_curves(struct gpume_out *out, const struct gpume_ladder *ladder)
{
    const struct ladder_scale scale = make_ladder_scale(ladder);
    gpume_html_print(out,
        "<h2>Bitrate and PSNR</h2>\n<div class=\"chart\"><svg viewBox=\"-60 -20 1050 %.0f\" "
        "role=\"img\" aria-label=\"PSNR over bitrate, a curve for each size\">\n",
        CHART_H + 50);
    put_ladder_axes(out, &scale);
    for (size_t i = 0; i < ladder->size_count; i++) {
        put_line(out, &scale, &ladder->curves[i], 0, INFINITY, "curve", i);
    }
    for (size_t i = 0; i < ladder->hull_count; i++) {
        const struct gpume_ladder_hull_row *row = &ladder->hull[i];
        const size_t size = index_of(ladder, row->width, row->height);
        put_line(out, &scale, &ladder->curves[size], row->from, row->to, "hull", size);
    }
    for (size_t i = 0; i < ladder->rung_count; i++) {
        const struct gpume_ladder_rung_row *rung = &ladder->rungs[i];
        const bool is_known = !isnan(rung->measured_psnr);
        gpume_html_print(out, "<circle class=\"rung s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n",
            index_of(ladder, rung->width, rung->height) % COLOURS, x_of(&scale, rung->bitrate),
            y_of(&scale, rung->psnr));
        if (is_known) {
            gpume_html_print(out, "<circle class=\"encoded\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n",
                x_of(&scale, rung->measured_bitrate), y_of(&scale, rung->measured_psnr));
        }
    }
    put_names(out, ladder, &scale);
    gpume_html_put(out, "</svg></div>\n");
}

static void put_table(struct gpume_out *out, const char *title, const struct gpume_table *table,
    const void *rows, size_t count)
{
    gpume_html_print(out, "<h2>%s</h2>\n", title);
    gpume_table_html_head(table, out);
    for (size_t i = 0; i < count; i++) {
        gpume_table_html(table, (const char *)rows + i * table->row_bytes, NULL, out);
    }
    gpume_table_html_end(out);
}

static void put_ladder_mark(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct gpume_ladder *ladder = opaque;
    const struct gpume_encode_options *encode = &ladder->encode;
    if (strcmp(mark, "name") == 0) {
        gpume_report_put_name(out, ladder->job.info.label);
    } else if (strcmp(mark, "work") == 0) {
        gpume_html_print(out,
            "%" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 " pixels, %s with the preset %s%s%s; ",
            ladder->job.frames, gpume_plural(ladder->job.frames), ladder->job.info.width,
            ladder->job.info.height, encoder_name(ladder), encode->preset,
            encode->tune ? " and the tuning " : "", encode->tune ? encode->tune : "");
        gpume_html_print(out,
            ladder->encodes > 0 ? "expected, and corrected by %" PRIu32 " encode%s"
                                : "expected, without an encode",
            ladder->encodes, gpume_plural(ladder->encodes));
    } else {
        const struct gpume_table rungs = rungs_table(ladder);
        put_curves(out, ladder);
        put_table(out, "The best sizes", &hull, ladder->hull, ladder->hull_count);
        put_table(out, "The ladder", &rungs, ladder->rungs, ladder->rung_count);
        char words[WORDS_BYTES];
        gpume_html_print(
            out, "<pre>%s\n", ladder->rung_count > 0 ? words_before_rungs(ladder, words) : "");
        for (size_t i = 0; i < ladder->rung_count; i++) {
            gpume_html_print(out, "--rung %s\n", ladder->rungs[i].rung);
        }
        gpume_html_put(out, "</pre>\n");
    }
}

static void write_page(const struct gpume_ladder *ladder, struct gpume_out *out)
{
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_ladder, .put = put_ladder_mark, .opaque = ladder};
    gpume_report_shell_write(&shell, out);
}

/* --- files */

static bool ends_with(const char *name, const char *ending)
{
    const size_t bytes = strlen(name), length = strlen(ending);
    return bytes > length && strcmp(name + bytes - length, ending) == 0;
}

bool gpume_ladder_knows(const char *name)
{
    return ends_with(name, ".csv") || ends_with(name, ".json") || ends_with(name, ".html");
}

int gpume_ladder_write(const struct gpume_ladder *ladder, const char *name, struct gpume_out *out)
{
    if (ends_with(name, ".csv")) {
        gpume_ladder_put_csv(ladder, out);
        return GPUME_OK;
    }
    if (ends_with(name, ".html")) {
        write_page(ladder, out);
        return GPUME_OK;
    }
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_text(&json, "gpume", gpume_version());
    gpume_ladder_put_json(ladder, &json);
    gpume_json_end(&json);
    return gpume_out_text(out, "\n");
}
