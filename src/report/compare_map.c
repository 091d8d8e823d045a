/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/compare_map.h"

#include "base/status.h"
#include "media/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIXELS_MAX (UINT64_C(1) << 29) /* of a picture: 1.5 GiB of colours */
#define RATE 25u                       /* fields a second, where nothing is known */
#define APART_MAX 64.0                 /* pixels at which the colour is lightest */

struct colour {
    uint8_t r, g, b;
};

struct gpume_compare_map {
    const char *path;
    struct gpume_out_set set;
    struct gpume_log log;
    struct gpume_picture *picture;
    uint32_t width, height;
    uint8_t *pixels;
    uint32_t rate_num, rate_den;
    int64_t now_us, next_us; /* of the last field; of one without a time */
    uint64_t drawn, last;    /* fields; frame of the last one */
};

int gpume_compare_map_check(const char *path, bool overwrite, const struct gpume_log *log)
{
    int status = gpume_picture_check_name(path, false, 8, true, log);
    if (status == GPUME_OK && !overwrite && gpume_picture_exists(path)) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: exists already; replace it with -y or choose another name", path);
        status = GPUME_INVALID;
    }
    return status;
}

int gpume_compare_map_create(struct gpume_compare_map **map, const char *path, bool overwrite,
    uint32_t rate_num, uint32_t rate_den, const struct gpume_log *log)
{
    struct gpume_compare_map *self = calloc(1, sizeof(*self));
    if (!self) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s: out of memory", path);
        return GPUME_NOMEM;
    }
    self->path = path;
    self->set = (struct gpume_out_set){.overwrite = overwrite, .alone = true};
    const bool known = rate_num > 0 && rate_den > 0;
    self->rate_num = known ? rate_num : RATE;
    self->rate_den = known ? rate_den : 1;
    gpume_picture_clear(path);
    self->log = *log;
    *map = self;
    return GPUME_OK;
}

static int open_picture(struct gpume_compare_map *map, const struct gpume_vectors_field *field)
{
    const uint64_t pixels = (uint64_t)field->width * field->height;
    if (pixels > PIXELS_MAX) {
        gpume_log_write(&map->log, GPUME_LOG_ERROR,
            "%s: the blocks of frame %" PRIu64 " make a picture of %" PRIu32 "x%" PRIu32
            " pixels, which is too large",
            map->path, field->frame, field->width, field->height);
        return GPUME_INVALID;
    }
    map->pixels = malloc((size_t)pixels * 3);
    if (!map->pixels) {
        gpume_log_write(&map->log, GPUME_LOG_ERROR, "%s: out of memory", map->path);
        return GPUME_NOMEM;
    }
    map->width = field->width;
    map->height = field->height;
    const struct gpume_picture_options options = {
        .path = map->path,
        .width = map->width,
        .height = map->height,
        .bits = 8,
        .colour = true,
        .rate_num = map->rate_num,
        .rate_den = map->rate_den,
        .set = &map->set,
        .log = map->log,
    };
    return gpume_picture_open(&map->picture, &options);
}

/* 0 for the same vector, 1 from 64 pixels on, by the logarithm between. */
static double lightness(const struct gpume_vectors_block *a, const struct gpume_vectors_block *b)
{
    const double apart = hypot(a->dx - b->dx, a->dy - b->dy);
    return fmin(log2(1 + apart) / log2(1 + APART_MAX), 1);
}

static uint8_t mix(double share, int dark, int light)
{
    return (uint8_t)lrint(dark + share * (light - dark));
}

/* has_costs: both know them. */
static struct colour colour_of(
    const struct gpume_vectors_block *a, const struct gpume_vectors_block *b, bool has_costs)
{
    static const struct {
        uint8_t dark[3], light[3];
    } ramps[] = {
        {{30, 110, 50}, {170, 255, 180}}, /* the same cost */
        {{140, 70, 10}, {255, 205, 130}}, /* A is cheaper */
        {{30, 70, 160}, {150, 205, 255}}, /* B is cheaper */
    };
    if (a->dx == b->dx && a->dy == b->dy && (!has_costs || a->cost == b->cost)) {
        return (struct colour){64, 64, 64};
    }
    const size_t i = !has_costs || a->cost == b->cost ? 0 : a->cost < b->cost ? 1 : 2;
    const double share = lightness(a, b);
    return (struct colour){mix(share, ramps[i].dark[0], ramps[i].light[0]),
        mix(share, ramps[i].dark[1], ramps[i].light[1]),
        mix(share, ramps[i].dark[2], ramps[i].light[2])};
}

static void fill_block(
    struct gpume_compare_map *map, const struct gpume_vectors_block *block, struct colour colour)
{
    const size_t stride = (size_t)map->width * 3;
    uint8_t *first = map->pixels + block->y * stride + (size_t)block->x * 3;
    for (uint32_t x = 0; x < block->w; x++) {
        memcpy(first + 3 * (size_t)x, &colour, 3);
    }
    for (uint32_t y = 1; y < block->h; y++) {
        memcpy(first + y * stride, first, 3 * (size_t)block->w);
    }
}

int gpume_compare_map_draw(struct gpume_compare_map *map, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const int64_t *time_us)
{
    int status = GPUME_OK;
    /* The second field of a frame comes behind the first. */
    const bool timed = time_us && (map->drawn == 0 || *time_us > map->now_us);
    const int64_t now_us = timed ? *time_us : map->next_us;
    map->now_us = now_us;
    map->next_us = now_us + (int64_t)(UINT64_C(1000000) * map->rate_den / map->rate_num);
    if (!map->picture) {
        GPUME_TRY(open_picture(map, a));
    }
    if (a->width != map->width || a->height != map->height) {
        gpume_log_write(&map->log, GPUME_LOG_ERROR,
            "%s: the blocks of frame %" PRIu64 " make a picture of %" PRIu32 "x%" PRIu32
            " pixels, those before of %" PRIu32 "x%" PRIu32,
            map->path, a->frame, a->width, a->height, map->width, map->height);
        return GPUME_INVALID;
    }
    const bool has_costs = a->columns & b->columns & GPUME_VECTORS_COST;
    if (map->drawn > 0 && a->frame == map->last && strchr(map->path, '%')) {
        gpume_log_write(&map->log, GPUME_LOG_ERROR,
            "%s: frame %" PRIu64 " has two fields, and pictures are numbered by frame; name a "
            "video, such as map.mkv",
            map->path, a->frame);
        return GPUME_INVALID;
    }
    map->last = a->frame;
    map->drawn++;
    memset(map->pixels, 0, (size_t)map->width * map->height * 3); /* where there are no blocks */
    for (size_t i = 0; i < a->count; i++) {
        fill_block(map, &a->blocks[i], colour_of(&a->blocks[i], &b->blocks[i], has_costs));
    }
    const struct gpume_plane plane = {
        .data = map->pixels,
        .stride = (ptrdiff_t)map->width * 3,
        .width = map->width,
        .height = map->height,
        .bits = 8,
    };
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
        free(self);
        *map = NULL;
    }
}
