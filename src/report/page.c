/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page.h"

#include "files/base64.h"
#include "files/html.h"
#include "report/shell.h"
#include "sinks/summary.h"

#include <inttypes.h>

/* An upper bound of markup, style, scripts, gallery and histogram. Of the gallery, 24 surfaces of
 * 129 x 129 costs of 24 bits take 2.2 MB. */
#define FIXED_BYTES ((uint64_t)4000000)

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

uint64_t gpume_report_page_room(const struct gpume_report_page *page)
{
    const uint64_t taken = FIXED_BYTES + gpume_base64_length(page->fields->count) +
                           gpume_base64_length(page->gallery->asked.count);
    return taken < GPUME_REPORT_PAGE_BYTES ? GPUME_REPORT_PAGE_BYTES - taken : 0;
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
    gpume_report_gallery_put_surfaces(gallery, json);
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
static void put_set(struct gpume_out *out, const struct gpume_report_set *set, const char *kind)
{
    struct gpume_json json = {.out = out, .embedded = true};
    gpume_html_print(
        out, "<script type=\"application/json\" id=\"%s-%" PRIu64 "\">", kind, set->rating.frame);
    gpume_report_set_put(set, &json);
    gpume_html_put(out, "</script>\n");
}

static void put_run_data(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct gpume_report_page *page = opaque;
    const struct gpume_report_set *set;
    struct gpume_json json = {.out = out, .embedded = true};
    size_t at = 0, pick = 0;
    (void)mark;
    gpume_html_put(out, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(&json, NULL);
    gpume_summary_put(page->run->summary, &json);
    gpume_report_histogram_put(page->histogram, &json);
    gpume_report_gallery_put(page->gallery, &json);
    gpume_report_put_colours(&json);
    put_pictures(&json, page);
    gpume_json_end(&json);
    gpume_html_put(out, "</script>\n<script type=\"text/plain\" id=\"fields\">");
    gpume_base64_write(out, page->fields->data, page->fields->count);
    gpume_html_put(out, "</script>\n");
    for (size_t i = 0; page->picks && i < page->picks->count; i++) {
        put_set(out, &page->picks->picks[i].set, "set");
    }
    while ((set = next_of_film(page, &at, &pick))) {
        put_set(out, set, "film");
    }
}

void gpume_report_page_write(const struct gpume_report_page *page, struct gpume_out *out)
{
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_run,
        .in_folder = page->files != NULL,
        .put = put_run_data,
        .opaque = page,
    };
    gpume_report_shell_write(&shell, out);
}
