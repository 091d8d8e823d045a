/* SPDX-License-Identifier: BSD-2-Clause */
/* What a comparison shows: a map of the differences, and the page. */
#include "compare/comparison.h"

#include "base/base.h"
#include "draw/legend.h"
#include "files/forms.h"
#include "files/path.h"
#include "media/picture.h"
#include "report/report.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the map */

#define PIXELS_MAX (UINT64_C(1) << 29) /* of a picture: 1.5 GiB of memory */
#define RATE 25u                       /* frames per second if the rate is unknown */
#define DISTANCE_MAX 64.0              /* pixels at which the colour is lightest */

#define GROUND 150u /* brightness of a picture below, in 256 */
#define SHARE 160u  /* weight of a colour over a picture, in 256 */

/* What a block's colour says; the ramp shows the distance of the vectors. */
enum verdict { EQUAL, AS_CHEAP, A_CHEAPER, B_CHEAPER, VERDICTS };

static const struct gpume_legend_row verdicts[VERDICTS] = {
    {{64, 64, 64}, {64, 64, 64}, false, "same vector and cost"},
    {{30, 110, 50}, {170, 255, 180}, false, "other vector, same cost"},
    {{140, 70, 10}, {255, 205, 130}, false, "A costs less"},
    {{30, 70, 160}, {150, 205, 255}, false, "B costs less"},
};

struct gpume_compare_map {
    struct gpume_compare_map_options options; /* size is set with the first field */
    struct gpume_out_set set;
    struct gpume_picture *picture;
    struct gpume_plane pixels; /* R, G, B bytes */
    struct gpume_sprite *key;  /* opened with the picture */
    int64_t next_us;           /* of the next field, if it has no time */
};

int gpume_compare_map_check(const char *path, const struct gpume_log *log)
{
    return gpume_picture_check_name(path, false, 8, true, log);
}

bool gpume_compare_map_is_series(const char *path)
{
    return gpume_picture_is_series(path);
}

static int check_size(const struct gpume_compare_map_options *options)
{
    if ((uint64_t)options->width * options->height <= PIXELS_MAX) {
        return GPUME_OK;
    }
    return gpume_log_fail(&options->log, GPUME_INVALID,
        "%s: the blocks make a picture of %" PRIu32 "x%" PRIu32
        " pixels, which is too large; leave out --map",
        options->path, options->width, options->height);
}

int gpume_compare_map_create(
    struct gpume_compare_map **map, const struct gpume_compare_map_options *options)
{
    const int status = check_size(options);
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume_compare_map *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(&options->log, options->path);
    }
    self->options = *options;
    self->set = (struct gpume_out_set){.overwrite = options->overwrite, .alone = true};
    if (options->rate_num == 0 || options->rate_den == 0) {
        self->options.rate_num = RATE;
        self->options.rate_den = 1;
    }
    *map = self;
    return GPUME_OK;
}

/* Without costs vectors are equal or not. */
static int make_key(struct gpume_compare_map *map, bool has_costs)
{
    const struct gpume_compare_map_options *options = &map->options;
    struct gpume_legend_row rows[VERDICTS + 1];
    memcpy(rows, verdicts, sizeof(verdicts));
    size_t count = VERDICTS;
    if (!has_costs) {
        rows[EQUAL].text = "same vector";
        rows[AS_CHEAP].text = "other vector";
        count = AS_CHEAP + 1;
    }
    rows[count++] =
        (struct gpume_legend_row){.plain = true, .text = "lighter = further apart, to 64 px"};
    map->key = gpume_legend_create(rows, count, options->width, options->height, options->key);
    return map->key ? GPUME_OK : gpume_log_nomem(&options->log, options->path);
}

static int open_picture(
    struct gpume_compare_map *map, const struct gpume_vectors_field *first, bool has_costs)
{
    struct gpume_compare_map_options *options = &map->options;
    if (options->width == 0 || options->height == 0) {
        options->width = first->width;
        options->height = first->height;
    }
    int status = check_size(options);
    status = status ? status : make_key(map, has_costs);
    if (status != GPUME_OK) {
        return status;
    }
    map->pixels = (struct gpume_plane){
        .data = malloc((size_t)options->width * options->height * 3),
        .stride = (ptrdiff_t)options->width * 3,
        .width = options->width,
        .height = options->height,
        .bits = 8,
    };
    if (!map->pixels.data) {
        return gpume_log_nomem(&options->log, options->path);
    }
    const struct gpume_source_info video = {
        .rate_num = options->rate_num, .rate_den = options->rate_den};
    const struct gpume_picture_options picture = {
        .path = options->path,
        .width = options->width,
        .height = options->height,
        .bits = 8,
        .colour = true,
        .video = &video,
        .set = &map->set,
        .log = options->log,
    };
    return gpume_picture_open(&map->picture, &picture);
}

/* 0 for equal vectors, 1 from a distance of 64 pixels on, logarithmic in between. */
static double lightness(const struct gpume_vectors_block *a, const struct gpume_vectors_block *b)
{
    const double distance = hypot(a->dx - b->dx, a->dy - b->dy) / GPUME_VECTORS_UNITS;
    return fmin(log2(1 + distance) / log2(1 + DISTANCE_MAX), 1);
}

static enum verdict verdict_of(
    const struct gpume_vectors_block *a, const struct gpume_vectors_block *b, bool has_costs)
{
    if (has_costs && a->cost != b->cost) {
        return a->cost < b->cost ? A_CHEAPER : B_CHEAPER;
    }
    return a->dx == b->dx && a->dy == b->dy ? EQUAL : AS_CHEAP;
}

static uint8_t mix(double share, int dark, int light)
{
    return (uint8_t)lrint(dark + share * (light - dark));
}

static struct gpume_colour colour_of(enum verdict verdict, double share)
{
    const struct gpume_legend_row *row = &verdicts[verdict];
    return (struct gpume_colour){mix(share, row->from.r, row->to.r),
        mix(share, row->from.g, row->to.g), mix(share, row->from.b, row->to.b)};
}

/* The frame in dark gray, or black, which stays where there are no blocks. */
static void lay_ground(const struct gpume_compare_map *map, const struct gpume_plane *rgb)
{
    memset(map->pixels.data, 0, (size_t)map->pixels.stride * map->pixels.height);
    for (uint32_t y = 0; rgb && y < map->pixels.height; y++) {
        const uint8_t *from = gpume_plane_row(rgb, y);
        uint8_t *to = gpume_plane_row(&map->pixels, y);
        for (uint32_t x = 0; x < map->pixels.width; x++, from += 3, to += 3) {
            to[0] = to[1] = to[2] = (uint8_t)(gpume_colour_gray(from) * GROUND >> 8);
        }
    }
}

static void draw_blocks(const struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, bool over_picture)
{
    const bool has_costs = a->columns & b->columns & GPUME_VECTORS_COST;
    for (size_t i = 0; i < a->count; i++) {
        const enum verdict verdict = verdict_of(&a->blocks[i], &b->blocks[i], has_costs);
        const struct gpume_colour colour =
            colour_of(verdict, lightness(&a->blocks[i], &b->blocks[i]));
        const struct gpume_vectors_block *block = &a->blocks[i];
        const struct gpume_rectangle place = {block->x, block->y, block->w, block->h};
        if (!over_picture || verdict != EQUAL) {
            gpume_colour_blend(&map->pixels, &place, colour, over_picture ? SHARE : 256);
        }
    }
}

/* The time of the next picture by the rate, without overflow: tables may contain any time. */
static int64_t after(const struct gpume_compare_map_options *options, int64_t now_us)
{
    /* rate_den below 2^32: no more than 2^52 us */
    const int64_t step_us = (int64_t)(UINT64_C(1000000) * options->rate_den / options->rate_num);
    return now_us > INT64_MAX - step_us ? INT64_MAX : now_us + step_us;
}

int gpume_compare_map_draw(struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_plane *rgb, const int64_t *time_us)
{
    int status = GPUME_OK;
    const struct gpume_compare_map_options *options = &map->options;
    const int64_t now_us = time_us ? *time_us : map->next_us;
    map->next_us = after(options, now_us);
    if (!map->picture) {
        GPUME_TRY(open_picture(map, a, a->columns & b->columns & GPUME_VECTORS_COST));
    }
    if (a->width > options->width || a->height > options->height) {
        return gpume_log_fail(&options->log, GPUME_INVALID,
            "%s: the blocks of frame %" PRIu64 " make a picture of %" PRIu32 "x%" PRIu32
            " pixels, but the first frame's one of %" PRIu32 "x%" PRIu32,
            options->path, a->frame, a->width, a->height, options->width, options->height);
    }
    lay_ground(map, rgb);
    draw_blocks(map, a, b, rgb != NULL);
    gpume_sprite_put(map->key, &map->pixels, options->width, options->height);
    status = gpume_picture_write(map->picture, &map->pixels, a->frame, now_us);
fail:
    return status;
}

int gpume_compare_map_finish(struct gpume_compare_map *map)
{
    return map->picture ? gpume_picture_finish(map->picture) : GPUME_OK;
}

void gpume_compare_map_destroy(struct gpume_compare_map **map)
{
    struct gpume_compare_map *self = *map;
    if (self) {
        gpume_picture_close(&self->picture);
        free(self->pixels.data);
        free(self->key);
        free(self);
        *map = NULL;
    }
}

/* --- the page */

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
