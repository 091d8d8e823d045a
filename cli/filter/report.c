/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures are kept as they come: those that were changed most, some time apart, and a spread over
 * the video, of which every second one is dropped when there are too many. Of each, the part that
 * was changed most is kept, in its own size, since a smaller picture has no noise.
 */
#include "filter/filter.h"

#include "base/base.h"
#include "base/params.h"
#include "console.h"
#include "encode/encoder.h"
#include "files/forms.h"
#include "media/picture.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART_W 320u /* pixels */
#define PART_H 240u
#define CELL 16u /* pixels: where parts may begin, and what counts as changed or not */
#define MOST 3u  /* pictures that were changed most, and .. */
#define APART 48u
#define SPREAD 4u /* .. others */
#define TIMES 8   /* by which differences are magnified */
#define CHART_W 900.0
#define CHART_H 160.0
#define POINTS 450u /* of a chart */

struct row {
    double noise, change; /* steps of 8 bits */
    double share;         /* of blocks that were changed */
    uint64_t replaced;    /* samples of luma in spots */
    uint32_t references, frames;
};

struct kept {
    bool there;
    uint64_t frame;
    struct row row;
    uint32_t x, y;
    uint8_t *before, *after;
};

struct gpume_filter_report {
    const struct gpume_filter_options *options;
    const struct gpume_source_info *info;
    bool has_noise;                           /* that is known, when the page is written */
    uint32_t width, height, cells_x, cells_y; /* of a part; of the picture */
    double *cells;                            /* sums of differences, of all above and left */
    struct row *rows;
    size_t count, room;
    uint64_t first, frames, stride; /* stride: of the spread */
    struct kept most[MOST], spread[SPREAD];
};

static double sample_of(const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    const uint32_t sample = gpume_plane_sample(plane, x, y);
    return plane->bits > 8 ? ldexp(sample, 8 - (int)plane->bits) : sample;
}

/* --- what is kept */

static bool open_kept(struct kept *kept, size_t bytes)
{
    kept->before = malloc(bytes);
    kept->after = malloc(bytes);
    return kept->before && kept->after;
}

struct gpume_filter_report *gpume_filter_report_open(const struct gpume_filter_options *options,
    const struct gpume_source_info *info, uint64_t first)
{
    struct gpume_filter_report *report = calloc(1, sizeof(*report));
    if (!report) {
        return NULL;
    }
    report->options = options;
    report->info = info;
    report->first = first;
    report->stride = 1;
    report->width = info->width < PART_W ? info->width : PART_W;
    report->height = info->height < PART_H ? info->height : PART_H;
    report->cells_x = (info->width + CELL - 1) / CELL;
    report->cells_y = (info->height + CELL - 1) / CELL;
    report->cells =
        calloc((size_t)(report->cells_x + 1) * (report->cells_y + 1), sizeof *report->cells);
    bool complete = report->cells != NULL;
    for (uint32_t i = 0; i < MOST + SPREAD && complete; i++) {
        complete = open_kept(i < MOST ? &report->most[i] : &report->spread[i - MOST],
            (size_t)report->width * report->height);
    }
    if (!complete) {
        gpume_filter_report_close(&report);
    }
    return report;
}

static double *cell_at(const struct gpume_filter_report *report, uint32_t x, uint32_t y)
{
    return &report->cells[(size_t)y * (report->cells_x + 1) + x];
}

/* Fills in the cells. Returns the mean change; *share: of cells that were changed. */
static double measure_change(struct gpume_filter_report *report, const struct gpume_plane *before,
    const struct gpume_plane *after, double *share)
{
    double changed = 0;
    for (uint32_t j = 0; j < report->cells_y; j++) {
        for (uint32_t i = 0; i < report->cells_x; i++) {
            double sum = 0;
            for (uint32_t y = j * CELL; y < (j + 1) * CELL && y < before->height; y++) {
                for (uint32_t x = i * CELL; x < (i + 1) * CELL && x < before->width; x++) {
                    sum += fabs(sample_of(before, x, y) - sample_of(after, x, y));
                }
            }
            changed += sum > 0;
            *cell_at(report, i + 1, j + 1) = sum + *cell_at(report, i, j + 1) +
                                             *cell_at(report, i + 1, j) - *cell_at(report, i, j);
        }
    }
    *share = changed / ((double)report->cells_x * report->cells_y);
    return *cell_at(report, report->cells_x, report->cells_y) /
           ((double)before->width * before->height);
}

/* Where the part that was changed most begins. */
static void find_part(const struct gpume_filter_report *report, struct kept *kept)
{
    const uint32_t w = report->width / CELL, h = report->height / CELL;
    double best = -1;
    for (uint32_t y = 0; y * CELL + report->height <= report->info->height; y++) {
        for (uint32_t x = 0; x * CELL + report->width <= report->info->width; x++) {
            const double sum = *cell_at(report, x + w, y + h) - *cell_at(report, x, y + h) -
                               *cell_at(report, x + w, y) + *cell_at(report, x, y);
            if (sum > best) {
                best = sum;
                kept->x = x * CELL;
                kept->y = y * CELL;
            }
        }
    }
}

static void keep_part(const struct gpume_filter_report *report, struct kept *kept,
    const struct gpume_plane *before, const struct gpume_plane *after)
{
    kept->there = true;
    kept->frame = report->frames;
    kept->row = report->rows[report->count - 1];
    find_part(report, kept);
    for (uint32_t y = 0; y < report->height; y++) {
        for (uint32_t x = 0; x < report->width; x++) {
            const size_t at = (size_t)y * report->width + x;
            kept->before[at] = (uint8_t)sample_of(before, kept->x + x, kept->y + y);
            kept->after[at] = (uint8_t)sample_of(after, kept->x + x, kept->y + y);
        }
    }
}

/* The place of a picture among those that were changed most; NULL: it is not one of them. */
static struct kept *find_place(struct gpume_filter_report *report, double change)
{
    struct kept *place = NULL;
    for (uint32_t i = 0; i < MOST; i++) {
        struct kept *kept = &report->most[i];
        if (kept->there && kept->frame + APART > report->frames) {
            return kept->row.change < change ? kept : NULL;
        }
        if (!place || !kept->there || (place->there && kept->row.change < place->row.change)) {
            place = place && !place->there ? place : kept;
        }
    }
    return !place->there || place->row.change < change ? place : NULL;
}

/* The place of a picture in the spread, or NULL. */
static struct kept *find_spread_place(struct gpume_filter_report *report)
{
    if ((report->count - 1) % report->stride != 0) {
        return NULL;
    }
    const uint32_t index = (uint32_t)((report->count - 1) / report->stride);
    if (index < SPREAD) {
        return &report->spread[index];
    }
    for (uint32_t i = 0; i < SPREAD; i++) { /* the even ones move up, into the memory of odd ones */
        const struct kept moved = report->spread[i];
        if (2 * i < SPREAD) {
            report->spread[i] = report->spread[2 * i];
            report->spread[2 * i] = moved;
        }
        report->spread[i].there = 2 * i < SPREAD;
    }
    report->stride *= 2;
    return &report->spread[SPREAD / 2];
}

int gpume_filter_report_add(struct gpume_filter_report *report, const struct gpume_plane *before,
    const struct gpume_filter_result *result)
{
    const struct gpume_plane *after = result->planes;
    struct row *rows = gpume_grow(report->rows, report->count, &report->room, sizeof *rows);
    if (!rows) {
        return GPUME_NOMEM;
    }
    struct row *row = &rows[report->count++];
    report->rows = rows;
    *row = (struct row){
        .noise = result->sigma[0], .references = result->references, .replaced = result->replaced};
    row->change = measure_change(report, before, after, &row->share);
    struct kept *const places[2] = {find_place(report, row->change), find_spread_place(report)};
    for (uint32_t i = 0; i < 2; i++) {
        if (places[i]) {
            keep_part(report, places[i], before, after);
        }
    }
    return GPUME_OK;
}

void gpume_filter_report_count(struct gpume_filter_report *report)
{
    report->rows[report->count - 1].frames++;
    report->frames++;
}

void gpume_filter_report_close(struct gpume_filter_report **report)
{
    struct gpume_filter_report *closed = *report;
    *report = NULL;
    if (!closed) {
        return;
    }
    for (uint32_t i = 0; i < MOST + SPREAD; i++) {
        struct kept *kept = i < MOST ? &closed->most[i] : &closed->spread[i - MOST];
        free(kept->before);
        free(kept->after);
    }
    free(closed->cells);
    free(closed->rows);
    free(closed);
}

/* --- the page */

struct chart_line {
    const char *class;
    size_t offset; /* of a member of struct row */
};

/* The mean of a point's rows. */
static double chart_point(
    const struct gpume_filter_report *report, size_t point, size_t points, size_t offset)
{
    const size_t first = point * report->count / points, end = (point + 1) * report->count / points;
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        double value;
        memcpy(&value, (const char *)&report->rows[i] + offset, sizeof value);
        sum += value;
    }
    return sum / (double)(end - first);
}

static void put_filter_chart(const struct gpume_filter_report *report, const char *title,
    const struct chart_line *lines, size_t count, double scale, const char *unit,
    struct gpume_out *out)
{
    const size_t points = report->count < POINTS ? report->count : POINTS;
    double top = scale > 1 ? scale : 0; /* shares: of all */
    for (size_t i = 0; i < points * count && scale <= 1; i++) {
        top = fmax(top, scale * chart_point(report, i % points, points, lines[i / points].offset));
    }
    top = top > 0 ? top : 1;
    gpume_html_print(out,
        "<div class=\"chart\"><svg viewBox=\"-50 -12 960 %.0f\" role=\"img\" "
        "aria-label=\"%s\">\n",
        CHART_H + 40, title);
    for (int i = 0; i <= 2; i++) {
        gpume_html_print(out,
            "<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-8\" y=\"%.1f\" "
            "text-anchor=\"end\">%.3g%s</text>\n",
            CHART_W, CHART_H * i / 2, CHART_H * i / 2, CHART_H * i / 2 + 4, top * (2 - i) / 2,
            unit);
    }
    for (size_t k = 0; k < count; k++) {
        gpume_html_print(out, "<polyline class=\"%s\" points=\"", lines[k].class);
        for (size_t i = 0; i < points; i++) {
            const double value = scale * chart_point(report, i, points, lines[k].offset);
            gpume_html_print(out, "%.1f,%.1f ",
                points > 1 ? CHART_W * (double)i / (double)(points - 1) : CHART_W / 2,
                CHART_H * (1 - value / top));
        }
        gpume_html_put(out, points > 1 ? "\"/>\n" : "\" stroke-linecap=\"round\"/>\n");
    }
    gpume_html_print(out,
        "<text x=\"0\" y=\"%.0f\">frame %" PRIu64 "</text><text x=\"%.0f\" y=\"%.0f\" "
        "text-anchor=\"end\">%" PRIu64 "</text></svg></div>\n",
        CHART_H + 20, report->first, CHART_W, CHART_H + 20, report->first + report->frames - 1);
}

/* The options that decide what is changed; the rarer ones only if they are not the default. */
static void put_options(const struct gpume_filter_options *options, struct gpume_out *out)
{
    gpume_html_print(out, "Filtered with <code>--strength %g</code>", options->strength);
    if (options->spatial > 0) {
        gpume_html_print(out, "\n<code>--spatial %g</code>", options->spatial);
    }
    gpume_html_put(out, options->despot ? "\n<code>--despot</code>" : "");
    if (options->noise.given) {
        gpume_html_print(out, "\n<code>--noise %g</code>", options->noise.sigma);
    } else {
        gpume_html_put(out, "\n<code>--noise auto</code>");
    }
    if (options->encoder) {
        gpume_html_print(out, "\n<code>--for %s</code>", options->encoder->name);
    }
    if (options->crf > 0) {
        gpume_html_print(out, "\n<code>--crf %g</code>", options->crf);
    } else if (options->qp > 0) {
        gpume_html_print(out, "\n<code>--qp %" PRIu32 "</code>", options->qp);
    } else if (options->kbits > 0) {
        gpume_html_print(out, "\n<code>--bitrate %" PRIu64 "</code>", options->kbits);
    }
    if (options->radius != GPUME_FILTER_RADIUS_MAX) {
        gpume_html_print(out, "\n<code>--radius %" PRIu32 "</code>", options->radius);
    }
    if (options->window_x != 16 || options->window_y != 16) {
        gpume_html_print(out, "\n<code>--window %" PRIu32 "x%" PRIu32 "</code>", options->window_x,
            options->window_y);
    }
    if (options->video.params.metric != GPUME_METRIC_SAD) {
        gpume_html_print(
            out, "\n<code>--metric %s</code>", gpume_names_metric[options->video.params.metric]);
    }
    gpume_html_put(
        out, options->fields == GPUME_FILTER_FIELDS ? "\n<code>--fields same</code>" : "");
}

static void put_totals(const struct gpume_filter_report *report, struct gpume_out *out)
{
    double variance = 0, change = 0, share = 0, references = 0, replaced = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct row *row = &report->rows[i];
        variance += row->noise * row->noise * row->frames;
        change += row->change * row->frames;
        share += row->share * row->frames;
        references += (double)row->references * row->frames;
        replaced += (double)row->replaced * row->frames;
    }
    const double frames = (double)report->frames;
    gpume_html_put(
        out, "<dl class=\"cards\"><div><dt>Noise of luma, in steps of 8-bit samples</dt><dd>");
    if (report->has_noise) {
        gpume_html_print(out, "%.2f", sqrt(variance / frames));
    } else {
        gpume_html_put(out, "not measured");
    }
    gpume_html_print(out,
        "</dd></div><div><dt>Mean change of luma</dt><dd>%.2f</dd></div>"
        "<div><dt>Blocks that were changed</dt><dd>%.1f %%</dd></div>"
        "<div><dt>Other frames that were used, per frame</dt><dd>%.2f</dd></div>",
        change / frames, 100 * share / frames, references / frames);
    if (report->options->despot) {
        gpume_html_print(out, "<div><dt>Dirt replaced per frame</dt><dd>%.1f samples</dd></div>",
            replaced / frames);
    }
    gpume_html_put(out, "</dl>\n");
}

static int put_part(struct gpume_still *still, const struct gpume_filter_report *report,
    const uint8_t *samples, const char *what, struct gpume_out *out)
{
    const struct gpume_plane plane = {.data = (void *)(uintptr_t)samples,
        .stride = report->width,
        .width = report->width,
        .height = report->height,
        .bits = 8};
    const unsigned char *data;
    size_t bytes;
    GPUME_CHECK(gpume_still_encode(still, &plane, &data, &bytes));
    gpume_html_print(out,
        "<figure><img alt=\"%s\" width=\"%" PRIu32 "\" height=\"%" PRIu32
        "\" src=\"data:image/png;base64,",
        what, report->width, report->height);
    gpume_base64_write(out, data, bytes);
    gpume_html_print(out, "\"><figcaption>%s</figcaption></figure>", what);
    return GPUME_OK;
}

static int put_kept(struct gpume_still *still, const struct gpume_filter_report *report,
    const struct kept *kept, struct gpume_out *out)
{
    const size_t count = (size_t)report->width * report->height;
    uint8_t *difference = malloc(count);
    if (!difference) {
        return GPUME_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const int value = 128 + TIMES * (kept->after[i] - kept->before[i]);
        difference[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    gpume_html_print(out, "<h3>Frame %" PRIu64 "</h3>\n<p>", report->first + kept->frame);
    if (report->has_noise) {
        gpume_html_print(out, "Noise %.2f, ", kept->row.noise);
    }
    gpume_html_print(out,
        "mean change %.2f, %.1f %% of blocks changed, %" PRIu32
        " other frame%s used</p>\n<div class=\"three\">",
        kept->row.change, 100 * kept->row.share, kept->row.references,
        gpume_plural(kept->row.references));
    int status = put_part(still, report, kept->before, "before", out);
    status = status ? status : put_part(still, report, kept->after, "after", out);
    status = status ? status : put_part(still, report, difference, "difference, 8 times", out);
    gpume_html_put(out, "</div>\n");
    free(difference);
    return status;
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static bool is_among_most(const struct gpume_filter_report *report, uint64_t frame)
{
    bool found = false;
    for (uint32_t i = 0; i < MOST; i++) {
        found = found || (report->most[i].there && report->most[i].frame == frame);
    }
    return found;
}

static int put_all_kept(
    struct gpume_filter_report *report, struct gpume_still *still, struct gpume_out *out)
{
    int status = GPUME_OK;
    qsort(report->most, MOST, sizeof report->most[0], compare_kept);
    gpume_html_print(out,
        "<h2>Where most was changed</h2>\n<p class=\"note\">Luma, in its own size: the part of "
        "%" PRIu32 "x%" PRIu32 " pixels that was changed most. In the difference, gray is no "
        "change, and every step counts %d times.</p>\n",
        report->width, report->height, TIMES);
    for (uint32_t i = 0; i < MOST && status == GPUME_OK; i++) {
        status = report->most[i].there ? put_kept(still, report, &report->most[i], out) : status;
    }
    bool any = false;
    for (uint32_t i = 0; i < SPREAD && status == GPUME_OK; i++) {
        const struct kept *kept = &report->spread[i];
        if (kept->there && !is_among_most(report, kept->frame)) {
            gpume_html_put(out, any ? "" : "<h2>Elsewhere in the video</h2>\n");
            any = true;
            status = put_kept(still, report, kept, out);
        }
    }
    return status;
}

/* What put_filter_mark is given, and what becomes of it. */
struct filter_page {
    struct gpume_filter_report *report;
    struct gpume_still *still;
    int *status;
};

static void put_filter_mark(struct gpume_out *out, const char *mark, const void *opaque)
{
    static const struct chart_line levels[] = {
        {"coded", offsetof(struct row, noise)}, {"exact", offsetof(struct row, change)}};
    static const struct chart_line shares[] = {{"exact", offsetof(struct row, share)}};
    const struct filter_page *page = opaque;
    struct gpume_filter_report *report = page->report;
    if (strcmp(mark, "name") == 0) {
        gpume_report_put_name(out, report->info->label);
    } else if (strcmp(mark, "work") == 0) {
        gpume_html_print(out,
            "%" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 " pixels, %" PRIu32 " bits<br>\n",
            report->frames, gpume_plural(report->frames), report->info->width, report->info->height,
            report->info->bits);
        put_options(report->options, out);
    } else if (report->count > 0) {
        put_totals(report, out);
        const bool noise = report->has_noise;
        gpume_html_print(out,
            "<h2>The %s<span class=\"exact\">mean change</span>%s, in steps of 8-bit "
            "samples</h2>\n",
            noise ? "<span class=\"coded\">noise</span> of each frame, and the " : "",
            noise ? "" : " of each frame");
        put_filter_chart(report, noise ? "noise and change of each frame" : "change of each frame",
            noise ? levels : levels + 1, noise ? 2 : 1, 1, "", out);
        gpume_html_put(out, "<h2>Blocks that were changed</h2>\n");
        put_filter_chart(report, "share of blocks changed", shares, 1, 100, " %", out);
        *page->status = put_all_kept(report, page->still, out);
    }
}

int gpume_filter_report_write(
    struct gpume_filter_report *report, bool has_noise, struct gpume_out *out, const char *label)
{
    report->has_noise = has_noise;
    struct gpume_still *still = NULL;
    int status =
        gpume_still_open(&still, label, report->width, report->height, false, true, &gpume_console);
    const struct filter_page page = {report, still, &status};
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_filter, .put = put_filter_mark, .opaque = &page};
    if (status == GPUME_OK) {
        gpume_report_shell_write(&shell, out);
    }
    gpume_still_close(&still);
    return status == GPUME_NOMEM ? gpume_log_nomem(&gpume_console, label) : status;
}
