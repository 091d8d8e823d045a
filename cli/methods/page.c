/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/page.h"

#include "base/status.h"
#include "console.h"
#include "files/text_file.h"
#include "html.h"
#include "methods/pictures.h"

#include <inttypes.h>
#include <math.h>

#define CHART_W 900.0
#define CHART_H 320.0
#define NAME_W 50.0 /* room of a name beside its point */
#define NAME_H 20.0

static double per(uint64_t sum, uint64_t count)
{
    return count > 0 ? (double)sum / (double)count : 0;
}

static double psnr_of(const struct gpume_tally *tally)
{
    return gpume_psnr(8, tally->pixels, tally->sse);
}

static double ms_of(const struct gpume_tally *tally)
{
    return per(tally->ns, tally->pairs) / 1e6;
}

/* dB, 0 or less as a rule; NAN where a prediction has no error. */
static double gain_of(const struct gpume_tally *exact, const struct gpume_tally *tally)
{
    return exact->sse > 0 && tally->sse > 0 ? psnr_of(tally) - psnr_of(exact) : (double)NAN;
}

static void put_gain(
    struct gpume_out *out, const struct gpume_tally *exact, const struct gpume_tally *tally)
{
    const double gain = gain_of(exact, tally);
    if (isnan(gain)) {
        gpume_html_put(out, "-");
    } else {
        gpume_html_print(out, gain < 0 ? "&minus;%.3f" : "%.3f", fabs(gain));
    }
}

/* --- the table */

static void put_row(
    struct gpume_out *out, const struct gpume_methods_page *page, size_t i, const char *name)
{
    const struct gpume_tally *tally = &page->tallies[i];
    char psnr[32];
    gpume_text_psnr(psnr, sizeof(psnr), psnr_of(tally));
    gpume_html_print(
        out, "<tr%s><td>%s</td><td>%s</td><td>", i == 0 ? " class=\"exact\"" : "", name, psnr);
    put_gain(out, &page->tallies[0], tally);
    gpume_html_print(out, "</td><td>%.4f</td><td>%.3f</td><td>%.2f</td><td>%.2f</td><td>",
        per(tally->sad, tally->pixels), gpume_tally_bits(tally),
        100 * per(tally->equal, tally->blocks), 100 * per(tally->as_good, tally->blocks));
    if (tally->ns > 0) {
        gpume_html_print(out, "%.2f", ms_of(tally));
    }
    gpume_html_put(out, "</td></tr>\n");
}

static void put_table(struct gpume_out *out, const struct gpume_methods_page *page)
{
    gpume_html_put(out,
        "<h2>All frame pairs</h2>\n<div class=\"table\"><table><thead><tr><th>search"
        "</th><th>PSNR, dB</th><th>difference, dB</th><th>SAD per pixel</th>"
        "<th>bits per vector</th><th>exact vector, %</th><th>as good, %</th>"
        "<th>ms per pair</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < page->count; i++) {
        put_row(out, page, i, page->names[i]);
    }
    gpume_html_put(out, "</tbody></table></div>\n");
}

/* --- the chart: what a search loses, and how long it takes */

struct scale {
    double from, to; /* logarithms of milliseconds */
    double depth;    /* dB */
};

static bool is_point(const struct gpume_methods_page *page, size_t i)
{
    return page->tallies[i].ns > 0 && !isnan(gain_of(&page->tallies[0], &page->tallies[i]));
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
    for (size_t i = 0; i < page->count; i++) {
        if (is_point(page, i)) {
            const double at = log10(ms_of(&page->tallies[i]));
            scale.from = fmin(scale.from, floor(at));
            scale.to = fmax(scale.to, ceil(at));
            scale.depth = fmax(scale.depth, -gain_of(&page->tallies[0], &page->tallies[i]));
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

static void place(const struct gpume_methods_page *page, const struct scale *scale, size_t i,
    double *x, double *y)
{
    const double gain = gain_of(&page->tallies[0], &page->tallies[i]);
    *x = CHART_W * (log10(ms_of(&page->tallies[i])) - scale->from) / (scale->to - scale->from);
    *y = CHART_H * -fmin(gain, 0) / scale->depth;
}

/* Is there a point where the name would be, to the right of point i? */
static bool is_crowded(
    const struct gpume_methods_page *page, const struct scale *scale, size_t i, double x, double y)
{
    double other_x, other_y;
    bool crowded = false;
    for (size_t k = 0; k < page->count; k++) {
        if (k != i && is_point(page, k)) {
            place(page, scale, k, &other_x, &other_y);
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
    place(page, scale, i, &x, &y);
    const bool left = is_crowded(page, scale, i, x, y);
    gpume_html_print(out,
        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\"%s>%s"
        "</text>\n",
        i == 0 ? "exact" : "coded", x, y, left ? x - 9 : x + 9, y - 5,
        left ? " text-anchor=\"end\"" : "", page->names[i]);
}

static void put_chart(struct gpume_out *out, const struct gpume_methods_page *page)
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
    for (size_t i = 0; i < page->count; i++) {
        if (is_point(page, i)) {
            put_point(out, page, &scale, i);
        }
    }
    gpume_html_put(out, "</svg></div>\n");
}

/* --- pictures */

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
    gpume_text_psnr(psnr, sizeof(psnr), psnr_of(&tally));
    gpume_html_print(out, "<h3%s>%s</h3>\n<p>PSNR %s%s, %.3f bits per vector",
        search == 0 ? " class=\"exact\"" : "", page->names[search], psnr,
        tally.sse > 0 ? " dB" : "", gpume_tally_bits(&tally));
    if (search > 0) {
        gpume_html_print(out, "; %" PRIu64 " of %" PRIu64 " blocks lose",
            tally.blocks - tally.as_good, tally.blocks);
    }
    gpume_html_put(out, "</p>\n<div class=\"pair\">");
    gpume_tally_finish(&tally);
    return GPUME_OK;
}

static int put_search(struct gpume_out *out, const struct gpume_methods_page *page,
    struct gpume_methods_pictures *pictures, size_t search)
{
    GPUME_CHECK(put_caption(out, page, search));
    GPUME_CHECK(gpume_methods_picture_vectors(pictures, search, out));
    GPUME_CHECK(gpume_methods_picture_loss(pictures, search, out));
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
    struct gpume_methods_pictures pictures;
    int status = gpume_methods_pictures_open(&pictures, page->worst, page->window, page->label);
    put_introduction(out, page->worst, pictures.coloured);
    for (size_t i = 0; i < page->count && status == GPUME_OK; i++) {
        status = put_search(out, page, &pictures, i);
    }
    gpume_methods_pictures_close(&pictures);
    return status;
}

int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page)
{
    static const struct gpume_html_page kind = {
        .title = "gpume: what fast searches lose",
        .kind = "What fast searches lose",
        .style =
            "circle.coded { fill: var(--coded); }\ncircle.exact { fill: var(--exact); }\n"
            "tr.exact { font-weight: bold; }\nh3 { margin: 1.5rem 0 0; }\nh3 + p { margin: 0; }\n"
            ".pair { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; }\n"
            ".pair img { width: 100%; height: auto; }\n",
    };
    const struct gpume_tally *exact = &page->tallies[0];
    const struct gpume_plane *frame = page->worst->pair.target;
    gpume_html_begin(out, &kind, page->input);
    gpume_html_print(out,
        "%" PRIu64 " frame pairs of %" PRIu32 "x%" PRIu32 " pixels, in blocks of %" PRIu32
        "; vectors of at most %" PRIu32 " pixels in x and in y",
        exact->pairs, frame->width, frame->height, page->worst->pair.block, page->window);
    gpume_html_body(out);
    put_table(out, page);
    put_chart(out, page);
    GPUME_CHECK(put_pictures(out, page));
    gpume_html_put(out,
        "<h2>How to read this</h2>\n<p class=\"note\"><span class=\"exact\">exact</span> is "
        "gpume&rsquo;s search, on its engine; the others are the methods of FFmpeg&rsquo;s filter "
        "mestimate, on one thread. Its esa tries every vector, too. The exact vector of a block "
        "has the least sum of absolute differences (SAD), so no search has a lower one, but PSNR "
        "and bits may be better by chance. Bits per vector are the entropy of the differences from "
        "the median of neighbouring vectors. <em>none</em> is what vectors (0,0) give.</p>\n");
    gpume_html_end(out);
    return GPUME_OK;
}
