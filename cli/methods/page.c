/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/methods.h"

#include "base/status.h"
#include "console.h"
#include "draw/overlay.h"
#include "files/base64.h"
#include "files/html.h"
#include "files/text_file.h"
#include "media/picture.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHART_W 900.0
#define CHART_H 320.0
#define NAME_W 50.0 /* room of a name beside its point */
#define NAME_H 20.0

#define DIM 40u        /* percent, beneath arrows */
#define SIDE_MIN 480u  /* pixels that pictures should be wide */
#define SIDE_MAX 1920u /* and are at most, if they are enlarged */
#define CELL_MIN 16u   /* pixels of a block in which an arrow can be told from others */
#define ACROSS_MAX 64u /* blocks across of which arrows can be told apart on a page */

/* --- the chart: what a search loses, and how long it takes */

struct scale {
    double from, to; /* logarithms of milliseconds */
    double depth;    /* dB */
};

static bool is_point(const struct gpume_methods_row *row)
{
    return !isnan(row->ms_per_pair) && !isnan(row->loss);
}

/* To 1, 2 or 4 times a power of ten, whose quarters have few digits. */
static double round_up(double value)
{
    const double unit = pow(10, floor(log10(value))), digits = value / unit;
    return unit * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 4 ? 4 : 10);
}

static struct scale make_scale(const struct gpume_methods_page *page)
{
    struct scale scale = {INFINITY, -INFINITY, 0.05};
    for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
        const struct gpume_methods_row *row = &page->rows[i];
        if (is_point(row)) {
            const double at = log10(row->ms_per_pair);
            scale.from = fmin(scale.from, floor(at));
            scale.to = fmax(scale.to, ceil(at));
            scale.depth = fmax(scale.depth, -row->loss);
        }
    }
    scale.to = fmax(scale.to, scale.from + 1);
    scale.depth = round_up(scale.depth);
    return scale;
}

static void put_axes(struct gpume_out *out, const struct scale *scale)
{
    for (int i = 0; i <= 4; i++) {
        const double y = CHART_H * i / 4;
        gpume_html_print(out,
            "<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-8\" y=\"%.1f\" "
            "text-anchor=\"end\">%s%g</text>\n",
            CHART_W, y, y, y + 4, i > 0 ? "&minus;" : "", scale->depth * i / 4);
    }
    for (double at = scale->from; at <= scale->to; at++) {
        const double x = CHART_W * (at - scale->from) / (scale->to - scale->from);
        gpume_html_print(out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\"/><text x=\"%.1f\" y=\"%.0f\" "
            "text-anchor=\"middle\">%g ms</text>\n",
            x, x, CHART_H, x, CHART_H + 21, pow(10, at));
    }
}

static void place_point(
    const struct gpume_methods_row *row, const struct scale *scale, double *x, double *y)
{
    *x = CHART_W * (log10(row->ms_per_pair) - scale->from) / (scale->to - scale->from);
    *y = CHART_H * -fmin(row->loss, 0) / scale->depth;
}

/* Whether there is a point where the name would be, to the right of point i. */
static bool is_crowded(
    const struct gpume_methods_page *page, const struct scale *scale, size_t i, double x, double y)
{
    double other_x, other_y;
    bool crowded = false;
    for (size_t k = 0; k < GPUME_METHODS_ROWS; k++) {
        if (k != i && is_point(&page->rows[k])) {
            place_point(&page->rows[k], scale, &other_x, &other_y);
            crowded =
                crowded || (other_x >= x && other_x < x + NAME_W && fabs(other_y - y) < NAME_H);
        }
    }
    return crowded;
}

static void put_point(struct gpume_out *out, const struct gpume_methods_page *page,
    const struct scale *scale, size_t i)
{
    double x, y;
    place_point(&page->rows[i], scale, &x, &y);
    const bool left = is_crowded(page, scale, i, x, y);
    gpume_html_print(out,
        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\"%s>%s"
        "</text>\n",
        i == 0 ? "exact" : "coded", x, y, left ? x - 9 : x + 9, y - 5,
        left ? " text-anchor=\"end\"" : "", page->rows[i].method);
}

static void put_methods_chart(struct gpume_out *out, const struct gpume_methods_page *page)
{
    const struct scale scale = make_scale(page);
    if (isinf(scale.from)) {
        return;
    }
    gpume_html_print(out,
        "<h2>PSNR relative to the exact search, in dB, and time per frame pair</h2>\n"
        "<div class=\"chart\"><svg viewBox=\"-50 -20 1000 %.0f\" role=\"img\" aria-label=\"PSNR "
        "and time of each search\">\n",
        CHART_H + 45);
    put_axes(out, &scale);
    for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
        if (is_point(&page->rows[i])) {
            put_point(out, page, &scale, i);
        }
    }
    gpume_html_put(out, "</svg></div>\n");
}

/* --- pictures */

/* Of what searches found in one frame pair: their vectors, and what these lose. */
struct pair_pictures {
    const struct gpume_worst *worst;
    uint32_t scale; /* side of the square that shows a pixel */
    bool coloured;  /* vectors are colours, not arrows: there are too many blocks */
    struct gpume_overlay *motion, *heat;
    struct gpume_still *still;
    struct gpume_plane rgb;  /* the target frame */
    uint32_t *costs, *least; /* SAD of every block, by a search and by the exact one */
    const char *label;       /* the page, for messages */
};

static uint32_t choose_scale(uint32_t width, uint32_t block)
{
    uint32_t scale = 1;
    while ((width * scale < SIDE_MIN || block * scale < CELL_MIN) &&
           width * scale * 2 <= SIDE_MAX && scale < GPUME_OVERLAY_SCALE_MAX) {
        scale *= 2;
    }
    return scale;
}

static bool make_rgb(struct pair_pictures *pictures)
{
    const struct gpume_plane *luma = &pictures->worst->planes[0];
    pictures->rgb = (struct gpume_plane){.data = malloc((size_t)3 * luma->width * luma->height),
        .stride = (ptrdiff_t)3 * luma->width,
        .width = luma->width,
        .height = luma->height,
        .bits = 8};
    uint8_t *to = pictures->rgb.data;
    for (uint32_t y = 0; to && y < luma->height; y++) {
        const uint8_t *from = (const uint8_t *)luma->data + (ptrdiff_t)y * luma->stride;
        for (uint32_t x = 0; x < luma->width; x++, to += 3) {
            to[0] = to[1] = to[2] = from[x];
        }
    }
    return to != NULL;
}

static int open_overlay(const struct pair_pictures *pictures, uint32_t window,
    enum gpume_overlay_style style, struct gpume_overlay **overlay)
{
    const struct gpume_worst *worst = pictures->worst;
    const struct gpume_overlay_options options = {
        .width = worst->planes[0].width,
        .height = worst->planes[0].height,
        .bits = 8,
        .block_w = worst->block,
        .block_h = worst->block,
        .window_x = window,
        .window_y = window,
        .look = {.style = style,
            .key = style == GPUME_OVERLAY_COST ? GPUME_OVERLAY_KEY_OFF : GPUME_OVERLAY_KEY_AUTO,
            .scale = pictures->scale,
            .arrow_spacing = 1,
            .dim = style == GPUME_OVERLAY_ARROWS ? DIM : 0,
            .flow_max = GPUME_OVERLAY_FLOW_AUTO},
    };
    return gpume_overlay_create(overlay, &options);
}

static int open_pair_pictures(struct pair_pictures *pictures, const struct gpume_worst *worst,
    uint32_t window, const char *label)
{
    const uint32_t width = worst->planes[0].width;
    *pictures = (struct pair_pictures){.worst = worst,
        .scale = choose_scale(width, worst->block),
        .coloured = width / worst->block > ACROSS_MAX,
        .label = label,
        .costs = calloc(worst->blocks, sizeof(*pictures->costs)),
        .least = calloc(worst->blocks, sizeof(*pictures->least))};
    int status = pictures->costs && pictures->least && make_rgb(pictures) ? GPUME_OK : GPUME_NOMEM;
    status = status ? status
                    : open_overlay(pictures, window,
                          pictures->coloured ? GPUME_OVERLAY_FLOW : GPUME_OVERLAY_ARROWS,
                          &pictures->motion);
    status = status ? status : open_overlay(pictures, window, GPUME_OVERLAY_COST, &pictures->heat);
    if (status != GPUME_OK) {
        return status == GPUME_NOMEM ? gpume_log_nomem(&gpume_console, label)
                                     : gpume_log_fail(&gpume_console, GPUME_INVALID,
                                           "%s: the frames are too large for pictures", label);
    }
    const struct gpume_tally_pair exact = gpume_worst_pair(worst, 0);
    gpume_tally_costs(&exact, pictures->least);
    return gpume_still_open(&pictures->still, label, pictures->rgb.width * pictures->scale,
        pictures->rgb.height * pictures->scale, true, false, &gpume_console);
}

static void close_pair_pictures(struct pair_pictures *pictures)
{
    gpume_overlay_destroy(&pictures->motion);
    gpume_overlay_destroy(&pictures->heat);
    gpume_still_close(&pictures->still);
    free(pictures->rgb.data);
    free(pictures->costs);
    free(pictures->least);
}

/* An element img. */
static int put_picture(struct pair_pictures *pictures, struct gpume_overlay *overlay, size_t search,
    const char *what, struct gpume_out *out)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, search);
    const struct gpume_layer layer = {
        .block_w = pair.block,
        .block_h = pair.block,
        .blocks_x = pair.target->width / pair.block,
        .blocks_y = pair.target->height / pair.block,
        .vectors = pair.vectors,
        .costs = pictures->costs,
        .ranks = pictures->costs, /* of no meaning for these styles */
    };
    const struct gpume_layer *layers[] = {&layer};
    const struct gpume_field field = {
        .frame = pictures->worst->target, .vector_units = 1, .layer_count = 1, .layers = layers};
    struct gpume_plane picture;
    const unsigned char *data;
    size_t bytes;
    if (gpume_overlay_draw(overlay, &pictures->rgb, &field, &picture) != GPUME_OK) {
        return gpume_log_nomem(&gpume_console, pictures->label);
    }
    GPUME_CHECK(gpume_still_encode(pictures->still, &picture, &data, &bytes));
    gpume_html_print(out,
        "<img alt=\"%s\" width=\"%u\" height=\"%u\" src=\"data:image/jpeg;base64,", what,
        (unsigned)picture.width, (unsigned)picture.height);
    gpume_base64_write(out, data, bytes);
    gpume_html_put(out, "\">");
    return GPUME_OK;
}

/* What a search found in the pair, in words. */
static int put_caption(struct gpume_out *out, const struct gpume_methods_page *page, size_t search)
{
    struct gpume_tally tally = {0};
    const struct gpume_tally_pair pair = gpume_worst_pair(page->worst, search);
    char psnr[32];
    if (!gpume_tally_init(&tally, page->window)) {
        gpume_tally_finish(&tally);
        return gpume_log_nomem(&gpume_console, page->label);
    }
    gpume_tally_add(&tally, &pair);
    gpume_text_psnr(psnr, sizeof(psnr), gpume_psnr(8, tally.pixels, tally.sse));
    gpume_html_print(out, "<h3%s>%s</h3>\n<p>PSNR %s%s, %.3f bits per vector",
        search == 0 ? " class=\"exact\"" : "", page->rows[search].method, psnr,
        tally.sse > 0 ? " dB" : "", gpume_tally_bits(&tally));
    if (search > 0) {
        gpume_html_print(out, "; %" PRIu64 " of %" PRIu64 " blocks lose",
            tally.blocks - tally.as_good, tally.blocks);
    }
    gpume_html_put(out, "</p>\n<div class=\"pair\">");
    gpume_tally_finish(&tally);
    return GPUME_OK;
}

static int put_method(struct gpume_out *out, const struct gpume_methods_page *page,
    struct pair_pictures *pictures, size_t search)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, search);
    GPUME_CHECK(put_caption(out, page, search));
    GPUME_CHECK(put_picture(pictures, pictures->motion, search, "vectors", out));
    /* What its blocks cost: those of the exact search in all, those of others beyond it. */
    gpume_tally_costs(&pair, pictures->costs);
    for (size_t i = 0; search > 0 && i < pictures->worst->blocks; i++) {
        pictures->costs[i] -= pictures->least[i];
    }
    GPUME_CHECK(put_picture(pictures, pictures->heat, search, search > 0 ? "loss" : "cost", out));
    gpume_html_put(out, "</div>\n");
    return GPUME_OK;
}

static void put_introduction(struct gpume_out *out, const struct gpume_worst *worst, bool coloured)
{
    gpume_html_print(out,
        "<h2>Where the methods lose most: frame %" PRIu64 ", searched in frame %" PRIu64 "</h2>\n"
        "<p class=\"note\">On the left, the motion of every block that a search found, from where "
        "its "
        "content lies in frame %" PRIu64 " to where it lies in frame %" PRIu64 ": %s. ",
        worst->target, worst->reference, worst->reference, worst->target,
        coloured ? "a colour for each direction, the paler the shorter"
                 : "an arrow in a colour for each direction, or a dot for none");
    gpume_html_put(out,
        "On the right, of the exact search, the absolute difference per pixel that remains in "
        "every "
        "block, from black (0) through purple and orange to yellow (32); of the others, how much "
        "larger it is than that.</p>\n");
}

static int put_pictures(struct gpume_out *out, const struct gpume_methods_page *page)
{
    struct pair_pictures pictures;
    int status = open_pair_pictures(&pictures, page->worst, page->window, page->label);
    put_introduction(out, page->worst, pictures.coloured);
    for (size_t i = 0; i < GPUME_METHODS_ROWS && status == GPUME_OK; i++) {
        status = put_method(out, page, &pictures, i);
    }
    close_pair_pictures(&pictures);
    return status;
}

/* What put_mark is given, and what becomes of it. */
struct writing {
    const struct gpume_methods_page *page;
    int *status;
};

static void put_methods_mark(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct writing *writing = opaque;
    const struct gpume_methods_page *page = writing->page;
    const struct gpume_plane *frame = &page->worst->planes[0];
    if (strcmp(mark, "name") == 0) {
        gpume_report_put_name(out, page->input);
    } else if (strcmp(mark, "work") == 0) {
        gpume_html_print(out,
            "%" PRIu64 " frame pairs of %" PRIu32 "x%" PRIu32 " pixels, in blocks of %" PRIu32
            "; vectors of at most %" PRIu32 " pixels in x and in y",
            page->rows[0].frame_pairs, frame->width, frame->height, page->worst->block,
            page->window);
    } else {
        gpume_html_put(out, "<h2>All frame pairs</h2>\n");
        gpume_table_html_head(page->table, out);
        for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
            gpume_table_html(page->table, &page->rows[i], i == 0 ? "exact" : NULL, out);
        }
        gpume_table_html_end(out);
        put_methods_chart(out, page);
        *writing->status = put_pictures(out, page);
    }
}

int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page)
{
    int status = GPUME_OK;
    const struct writing writing = {page, &status};
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_methods, .put = put_methods_mark, .opaque = &writing};
    gpume_report_shell_write(&shell, out);
    return status;
}
