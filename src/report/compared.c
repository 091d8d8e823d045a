/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/compared.h"

#include "base/grid.h"
#include "base/grow.h"
#include "base/status.h"
#include "files/base64.h"
#include "files/html.h"
#include "files/path.h"
#include "report/shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of packed blocks and pictures in the page. */
#define BYTES_MAX ((uint64_t)16000000)

struct compared_page {
    const struct gpume_report_compared *compared;
    const struct gpume_report_compared_totals *totals;
};

static void pack_run(struct gpume_bytes *bytes, const struct gpume_vectors_field *field)
{
    const bool has_cost = field->columns & GPUME_VECTORS_COST;
    for (size_t i = 0; i < field->count; i++) {
        gpume_bytes_signed(bytes, field->blocks[i].dx);
    }
    for (size_t i = 0; i < field->count; i++) {
        gpume_bytes_signed(bytes, field->blocks[i].dy);
    }
    for (size_t i = 0; i < field->count; i++) {
        gpume_bytes_number(bytes, has_cost ? field->blocks[i].cost : 0);
    }
}

static void pack(struct gpume_bytes *bytes, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b)
{
    gpume_bytes_number(bytes, a->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct gpume_vectors_block *block = &a->blocks[i];
        gpume_bytes_number(bytes, block->x);
        gpume_bytes_number(bytes, block->y);
        gpume_bytes_number(bytes, block->w);
        gpume_bytes_number(bytes, block->h);
    }
    pack_run(bytes, a);
    pack_run(bytes, b);
}

static uint64_t bytes_of(const struct gpume_report_compared_pair *pair)
{
    return gpume_base64_length(pair->packed.count) + gpume_base64_length(pair->picture.count);
}

/* Drops the blocks of every second frame pair that has some. */
static void thin(struct gpume_report_compared *compared)
{
    compared->step *= 2;
    compared->bytes = 0;
    for (size_t i = 0; i < compared->count; i++) {
        struct gpume_report_compared_pair *pair = &compared->pairs[i];
        if (i % compared->step != 0) {
            gpume_bytes_finish(&pair->packed);
            gpume_bytes_finish(&pair->picture);
        }
        compared->bytes += bytes_of(pair);
    }
}

/* The smaller side of a block and of those before; 0: none yet. Those at the picture's far edge may
 * be cut. */
static uint32_t smaller_side(uint32_t known, uint32_t at, uint32_t side, uint32_t picture)
{
    const bool cut = at > 0 && at + side >= picture;
    return cut || (known && known < side) ? known : side;
}

/* The area and the smallest blocks of all fields. */
static void measure(struct gpume_report_compared *compared, const struct gpume_vectors_field *field)
{
    compared->width = gpume_max_u32(compared->width, field->width);
    compared->height = gpume_max_u32(compared->height, field->height);
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        compared->cell_w = smaller_side(compared->cell_w, block->x, block->w, field->width);
        compared->cell_h = smaller_side(compared->cell_h, block->y, block->h, field->height);
    }
}

int gpume_report_compared_add(struct gpume_report_compared *compared,
    struct gpume_report_compared_pair *pair, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b)
{
    struct gpume_report_compared_pair *pairs =
        gpume_grow(compared->pairs, compared->count, &compared->room, sizeof(*pairs));
    if (!pairs) {
        return GPUME_NOMEM;
    }
    compared->pairs = pairs;
    struct gpume_report_compared_pair *added = &compared->pairs[compared->count];
    *added = *pair;
    added->packed = pair->picture = (struct gpume_bytes){0};
    compared->step = compared->step ? compared->step : 1;
    if (compared->count++ % compared->step == 0) {
        pack(&added->packed, a, b);
        compared->bytes += bytes_of(added);
    } else {
        gpume_bytes_finish(&added->picture);
    }
    measure(compared, a);
    while (compared->bytes > BYTES_MAX && compared->step < compared->count) {
        thin(compared);
    }
    return added->packed.failed ? GPUME_NOMEM : GPUME_OK;
}

static void put_two(struct gpume_json *json, const char *key, const uint64_t values[2])
{
    char text[64];
    snprintf(text, sizeof(text), "[%" PRIu64 ", %" PRIu64 "]", values[0], values[1]);
    gpume_json_digits(json, key, text);
}

/* Pages name no folders. */
static void put_name(struct gpume_json *json, const char *path)
{
    char *name = path ? gpume_path_last(path) : NULL;
    gpume_json_text(json, NULL, path && !name ? "" : name);
    free(name);
}

/* Whether the values of this setting name files. */
static bool is_file(const char *name)
{
    return strcmp(name, "input name") == 0 || strcmp(name, "input reference") == 0 ||
           strcmp(name, "--predictor") == 0 || strcmp(name, "--prefilter") == 0;
}

static void put_totals(struct gpume_json *json, const struct gpume_report_compared_totals *totals)
{
    gpume_json_text(json, "gpume", gpume_version());
    gpume_json_begin_list(json, "names");
    put_name(json, totals->names[0]);
    put_name(json, totals->names[1]);
    gpume_json_end_list(json);
    gpume_json_truth(json, "costs", totals->has_costs);
    gpume_json_count(json, "blocks", totals->blocks);
    gpume_json_count(json, "vectors_equal", totals->vectors_equal);
    put_two(json, "cheaper", totals->cheaper);
    put_two(json, "cost_sums", totals->costs);
    put_two(json, "only", totals->only);
    gpume_json_begin_list(json, "settings");
    for (size_t i = 0; i < totals->setting_count; i++) {
        const struct gpume_report_compared_setting *setting = &totals->settings[i];
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "name", setting->name);
        gpume_json_begin_list(json, "values");
        for (size_t k = 0; k < 2; k++) {
            is_file(setting->name) ? put_name(json, setting->values[k])
                                   : gpume_json_text(json, NULL, setting->values[k]);
        }
        gpume_json_end_list(json);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static void put_pair(struct gpume_json *json, const struct gpume_report_compared_pair *pair)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "frame", pair->frame);
    gpume_json_count(json, "blocks", pair->blocks);
    gpume_json_count(json, "differ", pair->differ);
    put_two(json, "cheaper", pair->cheaper);
    if (pair->has_refs) {
        put_two(json, "refs", pair->refs);
    }
    gpume_json_truth(json, "kept", pair->packed.count > 0);
    gpume_json_end(json);
}

/* An element with bytes, if there are some. */
static void put_element(
    struct gpume_out *out, const char *name, size_t index, const struct gpume_bytes *bytes)
{
    if (bytes->count > 0) {
        gpume_html_print(out, "<script type=\"text/plain\" id=\"%s-%zu\">", name, index);
        gpume_base64_write(out, bytes->data, bytes->count);
        gpume_html_put(out, "</script>\n");
    }
}

static void put_compared_data(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct compared_page *page = opaque;
    const struct gpume_report_compared *compared = page->compared;
    struct gpume_json embedded = {.out = out, .embedded = true}, *json = &embedded;
    (void)mark;
    gpume_html_put(out, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(json, NULL);
    put_totals(json, page->totals);
    gpume_json_count(json, "width", compared->width);
    gpume_json_count(json, "height", compared->height);
    gpume_json_count(json, "cell_w", compared->cell_w);
    gpume_json_count(json, "cell_h", compared->cell_h);
    gpume_json_count(json, "scale", page->totals->picture.scale);
    gpume_json_text(json, "type", page->totals->picture.lossless ? "image/png" : "image/jpeg");
    gpume_json_count(json, "units", GPUME_VECTORS_UNITS);
    gpume_json_count(json, "step", compared->step);
    gpume_report_put_colours(json);
    gpume_json_begin_list(json, "pairs");
    for (size_t i = 0; i < compared->count; i++) {
        put_pair(json, &compared->pairs[i]);
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
    gpume_html_put(out, "</script>\n");
    for (size_t i = 0; i < compared->count; i++) {
        put_element(out, "pair", i, &compared->pairs[i].packed);
        put_element(out, "picture", i, &compared->pairs[i].picture);
    }
}

void gpume_report_compared_write(const struct gpume_report_compared *compared,
    const struct gpume_report_compared_totals *totals, struct gpume_out *out)
{
    const struct compared_page page = {compared, totals};
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_compared, .put = put_compared_data, .opaque = &page};
    gpume_report_shell_write(&shell, out);
}

void gpume_report_compared_finish(struct gpume_report_compared *compared)
{
    for (size_t i = 0; i < compared->count; i++) {
        gpume_bytes_finish(&compared->pairs[i].packed);
        gpume_bytes_finish(&compared->pairs[i].picture);
    }
    free(compared->pairs);
    *compared = (struct gpume_report_compared){0};
}
