/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page.h"

#include "draw/colours.h"
#include "report/assets.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An upper bound of markup, style, scripts, gallery and histogram. Of the gallery, 24 surfaces of
 * 129 x 129 costs of 24 bits take 2.2 MB. */
#define FIXED_BYTES ((uint64_t)4000000)

/* Sizes of the colour tables. */
#define HEAT_STEPS 256u
#define DIRECTION_STEPS 360u

/* Placeholders in page.html: "<!--gpume:NAME-->". */
#define MARK "<!--gpume:"

void gpume_report_page_pack(struct gpume_bytes *fields,
    const struct gpume_report_statistics *statistics, const struct gpume_field *field,
    int64_t *time_us)
{
    const struct gpume_sums *sums = &field->sums;
    /* Times of a malicious input may wrap around. */
    gpume_bytes_signed(fields, (int64_t)((uint64_t)field->time_us - (uint64_t)*time_us));
    gpume_bytes_number(fields, sums->zero);
    gpume_bytes_number(fields, sums->sad_before);
    gpume_bytes_number(fields, sums->sad_after);
    gpume_bytes_number(fields, sums->sse_before);
    gpume_bytes_number(fields, sums->sse_after);
    gpume_bytes_signed(fields, statistics->dx_sum);
    gpume_bytes_signed(fields, statistics->dy_sum);
    gpume_bytes_number(fields, statistics->length_mean_milli);
    gpume_bytes_number(fields, statistics->length_max_squared);
    gpume_bytes_number(fields, 2 * (uint64_t)statistics->cost_max + statistics->cut);
    *time_us = field->time_us;
}

uint64_t gpume_report_page_room(const struct gpume_bytes *fields)
{
    const uint64_t taken = FIXED_BYTES + gpume_base64_length(fields->count);
    return taken < GPUME_REPORT_PAGE_BYTES ? GPUME_REPORT_PAGE_BYTES - taken : 0;
}

static void put(struct gpume_json *json, const void *data, size_t bytes)
{
    (void)gpume_out_write(json->out, data, bytes);
    json->bytes += bytes;
}

static void put_text(struct gpume_json *json, const char *text)
{
    put(json, text, strlen(text));
}

static void put_base64(struct gpume_json *json, const unsigned char *data, size_t count)
{
    gpume_base64_write(json->out, data, count);
    json->bytes += gpume_base64_length(count);
}

/* A SHA-256, given in hexadecimal, as a source of the policy. */
static void put_hash(struct gpume_json *json, const char *sha256)
{
    unsigned char bytes[32];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned value = 0;
        (void)sscanf(sha256 + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    put_text(json, " 'sha256-");
    put_base64(json, bytes, sizeof(bytes));
    put_text(json, "'");
}

/* Forbids the page to load anything, and all scripts and styles but our own. in_folder: but for the
 * scripts beside it. */
static void put_policy(struct gpume_json *json, bool in_folder)
{
    put_text(json, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "img-src data:; base-uri 'none'; form-action 'none'; style-src");
    for (const struct gpume_report_asset *asset = gpume_report_styles; asset->data; asset++) {
        put_hash(json, asset->sha256);
    }
    put_text(json, in_folder ? "; script-src 'self' file:" : "; script-src");
    for (const struct gpume_report_asset *asset = gpume_report_scripts; asset->data; asset++) {
        put_hash(json, asset->sha256);
    }
    put_text(json, "\">");
}

static void put_assets(
    struct gpume_json *json, const struct gpume_report_asset *asset, const char *element)
{
    for (; asset->data; asset++) {
        put_text(json, "<");
        put_text(json, element);
        put_text(json, ">");
        put(json, asset->data, asset->bytes);
        put_text(json, "</");
        put_text(json, element);
        put_text(json, ">\n");
    }
}

static const char *why(const struct gpume_report_pick *pick)
{
    return pick->set.rating.cut ? "cut" : pick->reasons & GPUME_REPORT_WORST ? "worst" : "even";
}

static void put_set_name(
    struct gpume_json *json, const struct gpume_report_set *set, const char *reason)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "frame", set->rating.frame);
    gpume_json_text(json, "why", reason);
    gpume_json_truth(json, "vectors", set->lists[GPUME_REPORT_VECTORS].count > 0);
    gpume_json_end(json);
}

/* The next set of the film, from *at on, whose field is not among the picks; NULL: none. Both are
 * in the order of frames, and *pick follows. */
static const struct gpume_report_set *next_of_film(
    const struct gpume_report_page *page, size_t *at, size_t *pick)
{
    const struct gpume_report_picks *picks = page->picks;
    while (page->film && *at < page->film->count) {
        const struct gpume_report_set *set = &page->film->sets[(*at)++];
        while (*pick < picks->count && picks->picks[*pick].set.rating.frame < set->rating.frame) {
            (*pick)++;
        }
        if (*pick == picks->count || picks->picks[*pick].set.rating.frame > set->rating.frame) {
            return set;
        }
    }
    return NULL;
}

/* The colours of --overlay, with which the page draws its own overlays: heat from 0 to 1, and
 * directions clockwise from the right. */
static void put_colours(struct gpume_json *json)
{
    struct gpume_colour heat[HEAT_STEPS], directions[DIRECTION_STEPS];
    _Static_assert(sizeof(heat[0]) == 3, "red, green, blue");
    for (size_t i = 0; i < HEAT_STEPS; i++) {
        heat[i] = gpume_colour_of_heat((double)i / (HEAT_STEPS - 1));
    }
    for (size_t i = 0; i < DIRECTION_STEPS; i++) {
        const double angle = 2 * 3.14159265358979323846 * (double)i / DIRECTION_STEPS;
        directions[i] = gpume_colour_of_direction(cos(angle), sin(angle));
    }
    gpume_json_begin(json, "colours");
    gpume_json_base64(json, "heat", (const unsigned char *)heat, sizeof(heat));
    gpume_json_base64(json, "directions", (const unsigned char *)directions, sizeof(directions));
    gpume_json_count(json, "cost_full", GPUME_COLOUR_COST_FULL);
    gpume_json_real(json, "cost_share", GPUME_COLOUR_COST_SHARE / 256.0, 4);
    gpume_json_end(json);
}

static const char *type_of(const struct gpume_report_encoder *encoder)
{
    return gpume_report_encoder_lossless(encoder) ? "image/png" : "image/jpeg";
}

static void put_pictures(struct gpume_json *json, const struct gpume_report_page *page)
{
    const struct gpume_report_picks *picks = page->picks;
    const struct gpume_report_gallery *gallery = page->gallery;
    const struct gpume_report_encoder *const whole = picks ? picks->encoder : page->files;
    const struct gpume_report_encoder *const small = page->film ? page->film->encoder : page->files;
    const struct gpume_report_set *set;
    size_t at = 0, pick = 0;
    gpume_json_begin(json, "pieces");
    gpume_json_count(json, "scale", gallery->scale);
    gpume_json_count(json, "columns", gallery->columns);
    gpume_json_count(json, "rows", gallery->rows);
    gpume_json_end(json);
    gpume_json_begin(json, "surfaces");
    gpume_json_count(json, "step", gallery->step);
    gpume_json_count(json, "columns", gallery->cells_x);
    gpume_json_count(json, "rows", gallery->cells_y);
    gpume_json_end(json);
    gpume_json_count(json, "blocks_x", page->run->summary->blocks_x);
    gpume_json_count(json, "blocks_y", page->run->summary->blocks_y);
    gpume_json_count(json, "window_x", page->run->params.window_x);
    gpume_json_count(json, "window_y", page->run->params.window_y);
    gpume_json_count(json, "units", page->run->params.subpel);
    gpume_json_truth(json, "files", page->files != NULL);
    gpume_json_count(json, "scale", whole ? gpume_report_encoder_scale(whole) : 1);
    gpume_json_text(json, "type", whole ? type_of(whole) : NULL);
    gpume_json_real(json, "gamma", GPUME_REPORT_GAMMA, 1);
    gpume_json_begin_list(json, "sets");
    for (size_t i = 0; picks && i < picks->count; i++) {
        put_set_name(json, &picks->picks[i].set, why(&picks->picks[i]));
    }
    gpume_json_end_list(json);
    gpume_json_begin(json, "film");
    gpume_json_count(json, "scale", small ? gpume_report_encoder_scale(small) : 1);
    gpume_json_count(json, "step", page->film ? page->film->step : 1);
    gpume_json_text(json, "type", small ? type_of(small) : NULL);
    gpume_json_begin_list(json, "sets");
    while ((set = next_of_film(page, &at, &pick))) {
        put_set_name(json, set, "film");
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
}

/* kind: "set" or "film". */
static void put_set(struct gpume_json *json, const struct gpume_report_set *set, const char *kind)
{
    char head[96];
    snprintf(head, sizeof(head), "<script type=\"application/json\" id=\"%s-%" PRIu64 "\">", kind,
        set->rating.frame);
    put_text(json, head);
    gpume_report_set_put(set, json);
    put_text(json, "</script>\n");
}

static void put_data(struct gpume_json *json, const struct gpume_report_page *page)
{
    const struct gpume_report_set *set;
    size_t at = 0, pick = 0;
    put_text(json, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(json, NULL);
    gpume_summary_put(page->run->summary, json);
    gpume_report_histogram_put(page->histogram, json, "histogram");
    gpume_report_gallery_put(page->gallery, json, "costliest");
    put_colours(json);
    put_pictures(json, page);
    gpume_json_end(json);
    json->filled = false;
    put_text(json, "</script>\n<script type=\"text/plain\" id=\"fields\">");
    put_base64(json, page->fields->data, page->fields->count);
    put_text(json, "</script>\n");
    for (size_t i = 0; page->picks && i < page->picks->count; i++) {
        put_set(json, &page->picks->picks[i].set, "set");
    }
    while ((set = next_of_film(page, &at, &pick))) {
        put_set(json, set, "film");
    }
}

/* The size of the whole page. rest: bytes of page.html that are not written yet. */
static void put_size(struct gpume_json *json, size_t rest)
{
    char element[96];
    static const char form[] = "<script type=\"text/plain\" id=\"bytes\">%020" PRIu64 "</script>\n";
    const int bytes = snprintf(element, sizeof(element), form, (uint64_t)0);
    uint64_t whole = json->bytes + (uint64_t)bytes + rest;
    for (const struct gpume_report_asset *asset = gpume_report_scripts; asset->data; asset++) {
        whole += sizeof("<script></script>\n") - 1 + asset->bytes;
    }
    snprintf(element, sizeof(element), form, whole);
    put_text(json, element);
}

static void put_marked(struct gpume_json *json, const struct gpume_report_page *page,
    const char *name, size_t length, size_t rest)
{
    if (strncmp(name, "policy", length) == 0) {
        put_policy(json, page->files != NULL);
    } else if (strncmp(name, "styles", length) == 0) {
        put_assets(json, gpume_report_styles, "style");
    } else if (strncmp(name, "data", length) == 0) {
        put_data(json, page);
    } else if (strncmp(name, "licence", length) == 0) {
        put_text(json, "<!--\n");
        put(json, gpume_report_licence.data, gpume_report_licence.bytes);
        put_text(json, "\n-->");
    } else if (strncmp(name, "scripts", length) == 0) {
        put_size(json, rest);
        put_assets(json, gpume_report_scripts, "script");
    }
}

void gpume_report_page_write(const struct gpume_report_page *page, struct gpume_out *out)
{
    struct gpume_json json = {.out = out, .embedded = true};
    const char *at = (const char *)gpume_report_html.data;
    const char *const end = at + gpume_report_html.bytes;
    for (const char *mark = at; mark + sizeof(MARK) <= end; mark++) {
        if (memcmp(mark, MARK, sizeof(MARK) - 1) != 0) {
            continue;
        }
        const char *name = mark + sizeof(MARK) - 1;
        const size_t length =
            (size_t)((const char *)memchr(name, '-', (size_t)(end - name)) - name);
        put(&json, at, (size_t)(mark - at));
        at = name + length + sizeof("-->") - 1;
        put_marked(&json, page, name, length, (size_t)(end - at));
    }
    put(&json, at, (size_t)(end - at));
}
