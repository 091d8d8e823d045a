/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/comparison.h"

#include "base/base.h"
#include "draw/legend.h"
#include "media/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    uint8_t *pixels;
    struct gpume_sprite *key; /* opened with the picture */
    int64_t next_us;          /* of the next field, if it has no time */
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
    map->pixels = malloc((size_t)options->width * options->height * 3);
    if (!map->pixels) {
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

static void fill_block(const struct gpume_compare_map *map, const struct gpume_vectors_block *block,
    struct gpume_colour colour)
{
    const size_t stride = (size_t)map->options.width * 3;
    uint8_t *first = map->pixels + block->y * stride + (size_t)block->x * 3;
    for (uint32_t x = 0; x < block->w; x++) {
        memcpy(first + 3 * (size_t)x, &colour, 3);
    }
    for (uint32_t y = 1; y < block->h; y++) {
        memcpy(first + y * stride, first, 3 * (size_t)block->w);
    }
}

static void tint_block(const struct gpume_compare_map *map, const struct gpume_vectors_block *block,
    struct gpume_colour colour)
{
    const size_t stride = (size_t)map->options.width * 3;
    const unsigned r = colour.r * SHARE + 128, g = colour.g * SHARE + 128,
                   b = colour.b * SHARE + 128, rest = 256 - SHARE;
    for (uint32_t y = 0; y < block->h; y++) {
        uint8_t *p = map->pixels + (block->y + y) * stride + (size_t)block->x * 3;
        for (uint32_t x = 0; x < block->w; x++, p += 3) {
            p[0] = (uint8_t)((p[0] * rest + r) >> 8);
            p[1] = (uint8_t)((p[1] * rest + g) >> 8);
            p[2] = (uint8_t)((p[2] * rest + b) >> 8);
        }
    }
}

/* The frame in dark gray, or black, which stays where there are no blocks. */
static void lay_ground(const struct gpume_compare_map *map, const struct gpume_plane *rgb)
{
    const size_t stride = (size_t)map->options.width * 3;
    memset(map->pixels, 0, stride * map->options.height);
    for (uint32_t y = 0; rgb && y < map->options.height; y++) {
        const uint8_t *from = (const uint8_t *)rgb->data + (ptrdiff_t)y * rgb->stride;
        uint8_t *to = map->pixels + y * stride;
        for (uint32_t x = 0; x < map->options.width; x++, from += 3, to += 3) {
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
        if (!over_picture) {
            fill_block(map, &a->blocks[i], colour);
        } else if (verdict != EQUAL) {
            tint_block(map, &a->blocks[i], colour);
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
    const struct gpume_plane plane = {
        .data = map->pixels,
        .stride = (ptrdiff_t)options->width * 3,
        .width = options->width,
        .height = options->height,
        .bits = 8,
    };
    gpume_sprite_put(map->key, &plane, plane.width, plane.height);
    status = gpume_picture_write(map->picture, &plane, a->frame, now_us);
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
        free(self->pixels);
        free(self->key);
        free(self);
        *map = NULL;
    }
}
