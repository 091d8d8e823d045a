/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base.h"
#include "console.h"
#include "draw/overlay.h"
#include "files/bytes.h"
#include "files/forms.h"
#include "files/path.h"
#include "media/picture.h"
#include "methods/searches.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gpume_tally_init(struct gpume_tally *tally, uint32_t window)
{
    tally->difference_max = 2 * window;
    for (size_t i = 0; i < 2; i++) {
        tally->differences[i] = calloc(2 * (size_t)tally->difference_max + 1, sizeof(uint64_t));
    }
    return tally->differences[0] && tally->differences[1];
}

void gpume_tally_finish(struct gpume_tally *tally)
{
    free(tally->differences[0]);
    free(tally->differences[1]);
}

struct cost {
    uint64_t sad, sse;
};

static struct cost measure_tallied_block(
    const struct gpume_tally_pair *pair, uint32_t x, uint32_t y, struct gpume_vector vector)
{
    struct cost cost = {0, 0};
    const uint8_t *c = gpume_plane_row(pair->target, y);
    const uint8_t *r = gpume_plane_row(pair->reference, (int64_t)y + vector.dy);
    c += x;
    r += (ptrdiff_t)x + vector.dx;
    for (uint32_t j = 0; j < pair->block; j++) {
        uint32_t sad = 0, sse = 0; /* at most 128 * 255 * 255 */
        for (uint32_t i = 0; i < pair->block; i++) {
            const int32_t difference = c[i] - r[i];
            sad += (uint32_t)abs(difference);
            sse += (uint32_t)(difference * difference);
        }
        cost.sad += sad;
        cost.sse += sse;
        c += pair->target->stride;
        r += pair->reference->stride;
    }
    return cost;
}

/* The SAD of every block. */
static void tally_costs(const struct gpume_tally_pair *pair, uint32_t *costs)
{
    const uint32_t blocks_x = pair->target->width / pair->block;
    const uint32_t blocks_y = pair->target->height / pair->block;
    for (uint32_t i = 0; i < blocks_x * blocks_y; i++) {
        const uint32_t x = i % blocks_x * pair->block, y = i / blocks_x * pair->block;
        costs[i] = (uint32_t)measure_tallied_block(pair, x, y, pair->vectors[i]).sad;
    }
}

static int16_t middle(int16_t a, int16_t b, int16_t c)
{
    const int16_t least = a < b ? a : b, most = a < b ? b : a;
    return c < least ? least : c > most ? most : c;
}

/* The median of left, above and above-right; above-left where that lies outside; (0,0) for a
 * missing one. */
static struct gpume_vector predict_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y)
{
    const struct gpume_vector none = {0, 0}, *at = vectors + (size_t)y * blocks_x + x;
    const struct gpume_vector left = x > 0 ? at[-1] : none;
    if (y == 0) {
        return left;
    }
    const struct gpume_vector *above = at - blocks_x;
    const struct gpume_vector corner = x + 1 < blocks_x ? above[1] : x > 0 ? above[-1] : none;
    return (struct gpume_vector){
        middle(left.dx, above->dx, corner.dx), middle(left.dy, above->dy, corner.dy)};
}

void gpume_tally_add(struct gpume_tally *tally, const struct gpume_tally_pair *pair)
{
    const uint32_t blocks_x = pair->target->width / pair->block;
    const uint32_t blocks_y = pair->target->height / pair->block;
    for (uint32_t i = 0; i < blocks_x * blocks_y; i++) {
        const uint32_t x = i % blocks_x, y = i / blocks_x;
        const struct gpume_vector vector = pair->vectors[i], exact = pair->exact[i];
        const struct gpume_vector predictor = predict_vector(pair->vectors, blocks_x, x, y);
        const struct cost cost =
            measure_tallied_block(pair, x * pair->block, y * pair->block, vector);
        const bool equal = vector.dx == exact.dx && vector.dy == exact.dy;
        tally->sad += cost.sad;
        tally->sse += cost.sse;
        tally->equal += equal;
        tally->as_good +=
            equal ||
            cost.sad == measure_tallied_block(pair, x * pair->block, y * pair->block, exact).sad;
        tally->differences[0][vector.dx - predictor.dx + (int32_t)tally->difference_max]++;
        tally->differences[1][vector.dy - predictor.dy + (int32_t)tally->difference_max]++;
    }
    tally->pairs++;
    tally->blocks += (uint64_t)blocks_x * blocks_y;
    tally->pixels += (uint64_t)pair->target->width * pair->target->height;
}

bool gpume_tally_fits(const struct gpume_tally_pair *pair, uint32_t window)
{
    const int32_t block = (int32_t)pair->block, most = (int32_t)window;
    const int32_t width = (int32_t)pair->target->width, height = (int32_t)pair->target->height;
    const struct gpume_vector *at = pair->vectors;
    for (int32_t y = 0; y < height; y += block) {
        for (int32_t x = 0; x < width; x += block, at++) {
            const int32_t to_x = x + at->dx, to_y = y + at->dy;
            if (abs(at->dx) > most || abs(at->dy) > most || to_x < 0 || to_y < 0 ||
                to_x + block > width || to_y + block > height) {
                return false;
            }
        }
    }
    return true;
}

double gpume_tally_bits(const struct gpume_tally *tally)
{
    double bits = 0;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 2 * (size_t)tally->difference_max + 1; k++) {
            const double share = (double)tally->differences[i][k] / (double)tally->blocks;
            bits -= share > 0 ? share * log2(share) : 0;
        }
    }
    return bits;
}

#define CHART_W 900.0
#define CHART_H 320.0
#define NAME_W 20.0 /* room around a name beside its point */
#define NAME_H 20.0

#define DIM 40u        /* percent, beneath arrows */
#define SIDE_MIN 480u  /* pixels that pictures should be wide */
#define SIDE_MAX 1920u /* and are at most, if they are enlarged */
#define CELL_MIN 16u   /* pixels of a block in which an arrow can be told from others */
#define ACROSS_MAX 64u /* blocks across of which arrows can be told apart on a page */

/* --- the searches in words */

static const struct {
    const char *title, *how;
} searches[GPUME_METHODS_ROWS] = {
    {"Exact search (exact)", "gpume: the best of all places in the window."},
    {"Exhaustive search (esa)", "the filter looks at every place, too."},
    {"Three-step search (tss)",
        "looks at eight places around the best one, far away; then halves the distance."},
    {"Two-dimensional logarithmic search (tdls)",
        "looks at four places; halves the distance when none of them is better."},
    {"New three-step search (ntss)",
        "like tss, but looks at the eight nearest places as well, and stops early there."},
    {"Four-step search (fss)",
        "looks at eight places two pixels away until none is better, then at the nearest."},
    {"Diamond search (ds)",
        "moves a large diamond until its middle is best, then looks at a small one."},
    {"Hexagon-based search (hexbs)",
        "moves a hexagon until its middle is best, then looks at a small diamond."},
    {"Enhanced predictive zonal search (epzs)",
        "begins at the vectors of neighbours and of the frame before, then moves a small diamond."},
    {"Uneven multi-hexagon search (umh)",
        "begins like epzs; then a cross, a square, hexagons of growing size, and hexbs."},
    {"No motion (none)", "every vector is (0,0)."},
};

/* --- the chart: what a search loses, and how long it takes */

struct scale {
    double from, to; /* logarithms of milliseconds */
    double depth;    /* dB */
};

struct chart_point {
    char name[224];
    bool exact;
    double ms, loss;
};

/* The exact search twice: under the conditions of the methods, and at its full speed. */
struct chart_points {
    struct chart_point all[GPUME_METHODS_ROWS + 1];
    size_t count;
};

static void add_point(
    struct chart_points *points, const char *name, bool exact, double ms, double loss)
{
    if (!isnan(ms) && !isnan(loss)) {
        struct chart_point *point = &points->all[points->count++];
        *point = (struct chart_point){.exact = exact, .ms = ms, .loss = loss};
        snprintf(point->name, sizeof(point->name), "%s", name);
    }
}

static struct chart_points make_points(const struct gpume_methods_page *page)
{
    struct chart_points points = {.count = 0};
    char name[224];
    snprintf(name, sizeof(name), "exact on %s", page->engine);
    add_point(&points, name, true, page->rows[0].ms_per_pair, page->rows[0].loss);
    for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
        const struct gpume_methods_row *row = &page->rows[i];
        add_point(&points, row->method, i == 0, row->ms_plain, row->loss);
    }
    return points;
}

/* To 1, 2 or 4 times a power of ten, whose quarters have few digits. */
static double round_up(double value)
{
    const double unit = pow(10, floor(log10(value))), digits = value / unit;
    return unit * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 4 ? 4 : 10);
}

static struct scale make_scale(const struct chart_points *points)
{
    struct scale scale = {INFINITY, -INFINITY, 0.05};
    for (size_t i = 0; i < points->count; i++) {
        const double at = log10(points->all[i].ms);
        scale.from = fmin(scale.from, floor(at));
        scale.to = fmax(scale.to, ceil(at));
        scale.depth = fmax(scale.depth, -points->all[i].loss);
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
            "text-anchor=\"end\">%s%g dB</text>\n",
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
    const struct chart_point *point, const struct scale *scale, double *x, double *y)
{
    *x = CHART_W * (log10(point->ms) - scale->from) / (scale->to - scale->from);
    *y = CHART_H * -fmin(point->loss, 0) / scale->depth;
}

/* Whether there is a point where the name would be, to the right of point i, or the chart ends. */
static bool is_crowded(
    const struct chart_points *points, const struct scale *scale, size_t i, double x, double y)
{
    const double width = NAME_W + 5.5 * (double)strlen(points->all[i].name);
    double other_x, other_y;
    bool crowded = x + width > CHART_W;
    for (size_t k = 0; k < points->count; k++) {
        if (k != i) {
            place_point(&points->all[k], scale, &other_x, &other_y);
            crowded =
                crowded || (other_x >= x && other_x < x + width && fabs(other_y - y) < NAME_H);
        }
    }
    return crowded;
}

static void put_point(
    struct gpume_out *out, const struct chart_points *points, const struct scale *scale, size_t i)
{
    double x, y;
    place_point(&points->all[i], scale, &x, &y);
    const bool left = is_crowded(points, scale, i, x, y);
    gpume_html_print(out,
        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\"%s>",
        points->all[i].exact ? "exact" : "coded", x, y, left ? x - 9 : x + 9, y - 5,
        left ? " text-anchor=\"end\"" : "");
    gpume_html_escaped(out, points->all[i].name);
    gpume_html_put(out, "</text>\n");
}

static void put_methods_chart(struct gpume_out *out, const struct gpume_methods_page *page)
{
    const struct chart_points points = make_points(page);
    if (points.count == 0) {
        return;
    }
    const struct scale scale = make_scale(&points);
    gpume_html_print(out,
        "<h2>PSNR relative to the exact search, and time per frame pair</h2>\n"
        "<p class=\"note\">All on one thread, in C without vector instructions. The exact search "
        "is "
        "there a second time at its full speed.</p>\n"
        "<div class=\"chart\"><svg viewBox=\"-70 -20 1020 %.0f\" role=\"img\" aria-label=\"PSNR "
        "and time of each search\">\n",
        CHART_H + 45);
    put_axes(out, &scale);
    for (size_t i = 0; i < points.count; i++) {
        put_point(out, &points, &scale, i);
    }
    gpume_html_put(out, "</svg></div>\n");
}

/* --- the walks: the exact cost surface of one block, which the page's script draws */

/* Pixels: larger surfaces are hard to look at, and there are no walks. */
#define WALK_WINDOW_MAX 64u

/* The block in which the methods together lose most; of equal ones the first. */
static uint32_t choose_block(const struct gpume_worst *worst, uint32_t *costs, uint64_t *losses)
{
    uint32_t chosen = 0;
    for (size_t i = 0; i < GPUME_METHODS_ROWS - 1; i++) {
        const struct gpume_tally_pair pair = gpume_worst_pair(worst, i);
        tally_costs(&pair, costs);
        for (uint32_t block = 0; block < worst->blocks; block++) {
            losses[block] += costs[block]; /* the exact one's are the same in every sum */
            losses[block] -= i == 0 ? (uint64_t)(GPUME_METHODS_ROWS - 1) * costs[block] : 0;
        }
    }
    for (uint32_t block = 1; block < worst->blocks; block++) {
        chosen = (int64_t)losses[block] > (int64_t)losses[chosen] ? block : chosen;
    }
    return chosen;
}

static void put_found(
    struct gpume_json *json, const struct gpume_methods_page *page, uint32_t block)
{
    gpume_json_begin_list(json, "found");
    for (size_t i = 1; i < GPUME_METHODS_ROWS - 1 && page->window <= WALK_WINDOW_MAX; i++) {
        const struct gpume_vector vector = page->worst->vectors[i][block];
        char text[16];
        gpume_json_begin_list(json, NULL);
        gpume_json_text(json, NULL, page->rows[i].method);
        gpume_json_text(json, NULL, searches[i].title);
        snprintf(text, sizeof(text), "%d", vector.dx);
        gpume_json_digits(json, NULL, text);
        snprintf(text, sizeof(text), "%d", vector.dy);
        gpume_json_digits(json, NULL, text);
        gpume_json_end_list(json);
    }
    gpume_json_end_list(json);
}

static int put_walk(struct gpume_out *out, const struct gpume_methods_page *page, uint32_t block,
    uint32_t *costs, struct gpume_bytes *bytes)
{
    const struct gpume_worst *worst = page->worst;
    const uint32_t side = 2 * page->window + 1, across = worst->planes[0].width / worst->block;
    const uint32_t x = block % across * worst->block, y = block / across * worst->block;
    struct gpume_json embedded = {.out = out, .embedded = true}, *json = &embedded;
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = worst->planes[0].width;
    params.height = worst->planes[0].height;
    params.block = worst->block;
    params.window_x = params.window_y = page->window;
    params.edge = GPUME_EDGE_INSIDE;
    const struct gpume_block_size shape = {worst->block, worst->block};
    GPUME_CHECK(gpume_surface(&params, &worst->planes[0], &worst->planes[1], &shape, x, y, costs));
    for (size_t i = 0; i < (size_t)side * side && page->window <= WALK_WINDOW_MAX; i++) {
        gpume_bytes_number(bytes, costs[i] == GPUME_NONE ? 0 : (uint64_t)costs[i] + 1);
    }
    if (bytes->failed) {
        return gpume_log_nomem(&gpume_console, page->label);
    }
    gpume_html_put(out, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(json, NULL);
    gpume_report_put_colours(json);
    gpume_json_begin(json, "walk");
    gpume_json_count(json, "x", x);
    gpume_json_count(json, "y", y);
    gpume_json_count(json, "block", worst->block);
    gpume_json_count(json, "window", page->window);
    gpume_json_count(json, "target", worst->target);
    gpume_json_count(json, "reference", worst->reference);
    put_found(json, page, block);
    gpume_json_base64(json, "costs", bytes->data, bytes->count);
    gpume_json_end(json);
    gpume_json_end(json);
    gpume_html_put(out, "</script>\n");
    return GPUME_OK;
}

/* The block's walks as data. */
static int put_walks(struct gpume_out *out, const struct gpume_methods_page *page, uint32_t block)
{
    const uint32_t side = 2 * page->window + 1;
    struct gpume_bytes bytes = {0};
    uint32_t *costs = malloc((size_t)side * side * sizeof(*costs));
    const int status = costs ? put_walk(out, page, block, costs, &bytes)
                             : gpume_log_nomem(&gpume_console, page->label);
    free(costs);
    gpume_bytes_finish(&bytes);
    return status;
}

static void introduce_walks(
    struct gpume_out *out, const struct gpume_methods_page *page, uint32_t block)
{
    const struct gpume_worst *worst = page->worst;
    const uint32_t across = worst->planes[0].width / worst->block;
    gpume_html_print(out,
        "<p class=\"note\">The block at (%" PRIu32 ", %" PRIu32 ") of frame %" PRIu64
        ", in which the methods lose most. Each picture is its exact cost surface: what every "
        "displacement of the window costs, from dark (least) to light (most), with no motion in "
        "the "
        "middle. Dots are the places that a search looks at, the line leads from one best place to "
        "the next, and the ring is around the best so far. epzs and umh begin at vectors of other "
        "blocks, and are not drawn.</p>\n",
        block % across * worst->block, block / across * worst->block, worst->target);
}

/* --- pictures */

/* Of what searches found in one frame pair: their vectors, and what these lose. */
struct pair_pictures {
    const struct gpume_worst *worst;
    uint32_t scale; /* side of the square that shows a pixel */
    bool coloured;  /* vectors are colours, not arrows: there are too many blocks */
    struct gpume_overlay *motion, *heat;
    struct gpume_overlay *others; /* of vectors that differ; the others are (0,0) and not drawn */
    struct gpume_vector *masked;
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
        const uint8_t *from = gpume_plane_row(luma, y);
        for (uint32_t x = 0; x < luma->width; x++, to += 3) {
            to[0] = to[1] = to[2] = from[x];
        }
    }
    return to != NULL;
}

static int open_overlay(const struct pair_pictures *pictures, uint32_t window,
    enum gpume_overlay_style style, double min_length, struct gpume_overlay **overlay)
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
            .min_length = min_length,
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
        .least = calloc(worst->blocks, sizeof(*pictures->least)),
        .masked = calloc(worst->blocks, sizeof(*pictures->masked))};
    const enum gpume_overlay_style style =
        pictures->coloured ? GPUME_OVERLAY_FLOW : GPUME_OVERLAY_ARROWS;
    const bool made = pictures->costs && pictures->least && pictures->masked && make_rgb(pictures);
    int status = made ? GPUME_OK : GPUME_NOMEM;
    status = status ? status : open_overlay(pictures, window, style, 0, &pictures->motion);
    status = status ? status : open_overlay(pictures, window, style, 0.5, &pictures->others);
    status =
        status ? status : open_overlay(pictures, window, GPUME_OVERLAY_COST, 0, &pictures->heat);
    if (status != GPUME_OK) {
        return status == GPUME_NOMEM ? gpume_log_nomem(&gpume_console, label)
                                     : gpume_log_fail(&gpume_console, GPUME_INVALID,
                                           "%s: the frames are too large for pictures", label);
    }
    const struct gpume_tally_pair exact = gpume_worst_pair(worst, 0);
    tally_costs(&exact, pictures->least);
    return gpume_still_open(&pictures->still, label, pictures->rgb.width * pictures->scale,
        pictures->rgb.height * pictures->scale, true, false, &gpume_console);
}

static void close_pair_pictures(struct pair_pictures *pictures)
{
    gpume_overlay_destroy(&pictures->motion);
    gpume_overlay_destroy(&pictures->heat);
    gpume_overlay_destroy(&pictures->others);
    gpume_still_close(&pictures->still);
    free(pictures->rgb.data);
    free(pictures->costs);
    free(pictures->least);
    free(pictures->masked);
}

/* An element img. */
static int put_picture(struct pair_pictures *pictures, struct gpume_overlay *overlay,
    const struct gpume_vector *vectors, const char *what, struct gpume_out *out)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, 0);
    const struct gpume_layer layer = {
        .block_w = pair.block,
        .block_h = pair.block,
        .blocks_x = pair.target->width / pair.block,
        .blocks_y = pair.target->height / pair.block,
        .vectors = vectors,
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
static int put_caption(
    struct gpume_out *out, const struct gpume_methods_page *page, size_t search, uint64_t *differ)
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
        search == 0 ? " class=\"exact\"" : "", searches[search].title, psnr,
        tally.sse > 0 ? " dB" : "", gpume_tally_bits(&tally));
    if (search > 0) {
        gpume_html_print(out, "; of %" PRIu64 " vector%s, %" PRIu64 " differ, and %" PRIu64 " lose",
            tally.blocks, gpume_plural(tally.blocks), tally.blocks - tally.equal,
            tally.blocks - tally.as_good);
    }
    gpume_html_put(out, "</p>\n");
    *differ = tally.blocks - tally.equal;
    gpume_tally_finish(&tally);
    return GPUME_OK;
}

/* A method has pictures of what differs from the exact search, if anything does; none has all of
 * its vectors, (0,0). */
static int put_method(struct gpume_out *out, const struct gpume_methods_page *page,
    struct pair_pictures *pictures, size_t search)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, search);
    const bool all = search == 0 || search == GPUME_METHODS_ROWS - 1;
    uint64_t differ = 0;
    GPUME_CHECK(put_caption(out, page, search, &differ));
    if (!all && differ == 0) {
        return GPUME_OK;
    }
    for (size_t i = 0; i < pictures->worst->blocks; i++) {
        const bool same =
            pair.vectors[i].dx == pair.exact[i].dx && pair.vectors[i].dy == pair.exact[i].dy;
        pictures->masked[i] = same && !all ? (struct gpume_vector){0, 0} : pair.vectors[i];
    }
    gpume_html_put(out, "<div class=\"pair\">");
    GPUME_CHECK(put_picture(pictures, all ? pictures->motion : pictures->others, pictures->masked,
        all ? "vectors" : "vectors that differ", out));
    /* What its blocks cost: those of the exact search in all, those of others beyond it. */
    tally_costs(&pair, pictures->costs);
    for (size_t i = 0; search > 0 && i < pictures->worst->blocks; i++) {
        pictures->costs[i] -= pictures->least[i];
    }
    GPUME_CHECK(
        put_picture(pictures, pictures->heat, pair.vectors, search > 0 ? "loss" : "cost", out));
    gpume_html_put(out, "</div>\n");
    return GPUME_OK;
}

static void put_introduction(struct gpume_out *out, const struct gpume_worst *worst, bool coloured)
{
    gpume_html_print(out,
        "<h2>Where the methods lose most: frame %" PRIu64 ", searched in frame %" PRIu64 "</h2>\n"
        "<p class=\"note\">On the left, of the exact search, the motion of every block, and of the "
        "others of those blocks whose vector is another one: from where the "
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
    uint32_t block; /* of the walks */
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
            "%" PRIu64 " frame pair%s of %" PRIu32 "x%" PRIu32 " pixels, in blocks of %" PRIu32
            "; vectors of at most %" PRIu32 " pixels in x and in y",
            page->rows[0].frame_pairs, gpume_plural(page->rows[0].frame_pairs), frame->width,
            frame->height, page->worst->block, page->window);
    } else if (strcmp(mark, "table") == 0) {
        gpume_html_put(out, "<h2>All frame pairs</h2>\n");
        gpume_table_html_head(page->table, out);
        for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
            gpume_table_html(page->table, &page->rows[i], i == 0 ? "exact" : NULL, out);
        }
        gpume_table_html_end(out);
        gpume_html_put(out, "<dl class=\"searches\">\n");
        for (size_t i = 0; i < GPUME_METHODS_ROWS; i++) {
            gpume_html_print(out, "<dt>%s</dt><dd>%s</dd>\n", searches[i].title, searches[i].how);
        }
        gpume_html_put(out, "</dl>\n");
        put_methods_chart(out, page);
    } else if (strcmp(mark, "walk") == 0) {
        introduce_walks(out, page, writing->block);
    } else if (*writing->status == GPUME_OK) {
        *writing->status = strcmp(mark, "pictures") == 0 ? put_pictures(out, page)
                                                         : put_walks(out, page, writing->block);
    }
}

/* The block of the walks. */
static int find_block(const struct gpume_methods_page *page, uint32_t *block)
{
    uint32_t *costs = calloc(page->worst->blocks, sizeof(*costs));
    uint64_t *losses = calloc(page->worst->blocks, sizeof(*losses));
    const bool made = costs && losses;
    *block = made ? choose_block(page->worst, costs, losses) : 0;
    free(costs);
    free(losses);
    return made ? GPUME_OK : gpume_log_nomem(&gpume_console, page->label);
}

int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page)
{
    uint32_t block;
    int status = GPUME_OK;
    GPUME_CHECK(find_block(page, &block));
    const struct writing writing = {page, block, &status};
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_methods, .put = put_methods_mark, .opaque = &writing};
    gpume_report_shell_write(&shell, out);
    return status;
}
