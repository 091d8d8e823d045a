/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/comparison.h"

#include "base/base.h"
#include "files/forms.h"
#include "files/path.h"
#include "report/report.h"
#include "report/shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of packed blocks and pictures in the page. */
#define BYTES_MAX ((uint64_t)16000000)

/* [0] is A, [1] is B. */
struct page_pair {
    uint64_t frame, refs[2]; /* refs: if has_refs */
    bool has_refs;
    uint64_t blocks, differ; /* by vector or cost */
    uint64_t cheaper[2];
    struct gpume_bytes picture; /* a file of it; empty: none */
    struct gpume_bytes packed;  /* empty: the page does not hold its blocks */
};

struct gpume_comparison_page {
    const char *path;
    const struct gpume_log *log;
    struct gpume_out *out;
    struct gpume_report_small *pictures; /* NULL: no picture yet */
    struct page_pair *pairs;
    size_t count, room;
    uint64_t bytes, step;
    uint32_t width, height;                    /* of the area that all blocks cover */
    uint32_t cell_w, cell_h;                   /* sides of the smallest blocks */
    const struct gpume_comparison *comparison; /* when it is written */
};

int gpume_comparison_page_open(struct gpume_comparison_page **result, struct gpume_out *out,
    const char *path, const struct gpume_log *log)
{
    struct gpume_comparison_page *page = calloc(1, sizeof(*page));
    *result = page;
    if (!page) {
        return gpume_log_nomem(log, path);
    }
    page->out = out;
    page->path = path;
    page->log = log;
    page->step = 1;
    return GPUME_OK;
}

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

static uint64_t bytes_of(const struct page_pair *pair)
{
    return gpume_base64_length(pair->packed.count) + gpume_base64_length(pair->picture.count);
}

/* Drops the blocks of every second frame pair that has some. */
static void thin(struct gpume_comparison_page *page)
{
    page->step *= 2;
    page->bytes = 0;
    for (size_t i = 0; i < page->count; i++) {
        struct page_pair *pair = &page->pairs[i];
        if (i % page->step != 0) {
            gpume_bytes_finish(&pair->packed);
            gpume_bytes_finish(&pair->picture);
        }
        page->bytes += bytes_of(pair);
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
static void measure(struct gpume_comparison_page *page, const struct gpume_vectors_field *field)
{
    page->width = gpume_max_u32(page->width, field->width);
    page->height = gpume_max_u32(page->height, field->height);
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        page->cell_w = smaller_side(page->cell_w, block->x, block->w, field->width);
        page->cell_h = smaller_side(page->cell_h, block->y, block->h, field->height);
    }
}

/* Blocks may leave edges of the picture out. */
static int add_picture(
    struct gpume_comparison_page *page, const struct gpume_plane *rgb, struct gpume_bytes *picture)
{
    const int status = page->pictures ? GPUME_OK
                                      : gpume_report_small_open(&page->pictures, page->path,
                                            rgb->width, rgb->height, page->log);
    page->width = rgb->width;
    page->height = rgb->height;
    return status ? status : gpume_report_small_encode(page->pictures, rgb, picture);
}

int gpume_comparison_page_add(struct gpume_comparison_page *page,
    const struct gpume_compared_field *field, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb)
{
    const struct gpume_compared *blocks = &field->blocks;
    struct page_pair *pairs = gpume_grow(page->pairs, page->count, &page->room, sizeof(*pairs));
    if (!pairs) {
        return gpume_log_nomem(page->log, page->path);
    }
    page->pairs = pairs;
    struct page_pair *added = &page->pairs[page->count];
    *added = (struct page_pair){
        .frame = field->frame,
        .refs = {field->ref[0], field->ref[1]},
        .has_refs = field->has_refs,
        .blocks = blocks->blocks,
        .differ = blocks->blocks - blocks->both_equal,
        .cheaper = {blocks->cheaper[0], blocks->cheaper[1]},
    };
    const int status = rgb ? add_picture(page, rgb, &added->picture) : GPUME_OK;
    if (page->count++ % page->step == 0) {
        pack(&added->packed, a, b);
        page->bytes += bytes_of(added);
    } else {
        gpume_bytes_finish(&added->picture);
    }
    measure(page, a);
    while (page->bytes > BYTES_MAX && page->step < page->count) {
        thin(page);
    }
    return status                 ? status
           : added->packed.failed ? gpume_log_nomem(page->log, page->path)
                                  : GPUME_OK;
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

static void put_totals(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    const char *name, *values[2];
    uint32_t at = 0;
    gpume_json_text(json, "gpume", gpume_version());
    gpume_json_begin_list(json, "names");
    put_name(json, comparison->names[0]);
    put_name(json, comparison->names[1]);
    gpume_json_end_list(json);
    gpume_json_truth(json, "costs", blocks->has_costs);
    gpume_json_count(json, "blocks", blocks->blocks);
    gpume_json_count(json, "vectors_equal", blocks->vectors_equal);
    put_two(json, "cheaper", blocks->cheaper);
    put_two(json, "cost_sums", blocks->costs);
    put_two(json, "only", comparison->only);
    gpume_json_begin_list(json, "settings");
    while (gpume_comparison_setting(comparison, &at, &name, values)) {
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "name", name);
        gpume_json_begin_list(json, "values");
        for (size_t i = 0; i < 2; i++) {
            is_file(name) ? put_name(json, values[i]) : gpume_json_text(json, NULL, values[i]);
        }
        gpume_json_end_list(json);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static void put_pair(struct gpume_json *json, const struct page_pair *pair)
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
    const struct gpume_comparison_page *page = opaque;
    const struct gpume_report_size picture =
        page->pictures ? gpume_report_small_size(page->pictures) : (struct gpume_report_size){0};
    struct gpume_json embedded = {.out = out, .embedded = true}, *json = &embedded;
    (void)mark;
    gpume_html_put(out, "<script type=\"application/json\" id=\"data\">");
    gpume_json_begin(json, NULL);
    put_totals(json, page->comparison);
    gpume_json_count(json, "width", page->width);
    gpume_json_count(json, "height", page->height);
    gpume_json_count(json, "cell_w", page->cell_w);
    gpume_json_count(json, "cell_h", page->cell_h);
    gpume_json_count(json, "scale", picture.scale);
    gpume_json_text(json, "type", picture.lossless ? "image/png" : "image/jpeg");
    gpume_json_count(json, "units", GPUME_VECTORS_UNITS);
    gpume_json_count(json, "step", page->step);
    gpume_report_put_colours(json);
    gpume_json_begin_list(json, "pairs");
    for (size_t i = 0; i < page->count; i++) {
        put_pair(json, &page->pairs[i]);
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
    gpume_html_put(out, "</script>\n");
    for (size_t i = 0; i < page->count; i++) {
        put_element(out, "pair", i, &page->pairs[i].packed);
        put_element(out, "picture", i, &page->pairs[i].picture);
    }
}

int gpume_comparison_page_finish(
    struct gpume_comparison_page *page, const struct gpume_comparison *comparison)
{
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_compared, .put = put_compared_data, .opaque = page};
    page->comparison = comparison;
    gpume_report_shell_write(&shell, page->out);
    return gpume_out_finish(page->out);
}

void gpume_comparison_page_close(struct gpume_comparison_page **pointer)
{
    struct gpume_comparison_page *page = *pointer;
    if (!page) {
        return;
    }
    for (size_t i = 0; i < page->count; i++) {
        gpume_bytes_finish(&page->pairs[i].packed);
        gpume_bytes_finish(&page->pairs[i].picture);
    }
    gpume_report_small_close(&page->pictures);
    free(page->pairs);
    free(page);
    *pointer = NULL;
}
