/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The enlarged frame is copied into the picture, then every block is filled or gets its mark. Marks
 * inside blocks are drawn once per vector and kept, because there are many more blocks than
 * different vectors.
 */
#include "draw/overlay.h"
#include "base/base.h"
#include "draw/legend.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES ((size_t)64 << 20) /* of marks; all are dropped when they exceed it */

#define RANK_SHARE 140u /* weight of the rank's colour in 256; the rest is the frame */

/* Brightness of flow, in 256, over black: hue and saturation stay recognisable. */
#define FLOW_DARKEST 150u

/* GPUME_OVERLAY_FLOW_AUTO chooses from few values, in pixels, so that the scale of a steady motion
 * is steady too, and from the frame alone, so that a frame looks the same in any run. Vectors
 * shorter than the first are the noise of still pictures. */
static const double flow_scales[] = {
    4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
#define FLOW_SCALES (sizeof(flow_scales) / sizeof(flow_scales[0]))
#define FLOW_PERCENT 90 /* of the area; the rest may be outliers */

struct gpume_overlay {
    struct gpume_overlay_options options;
    uint32_t cell;       /* the smaller side of the smallest block, in pixels of the picture */
    uint32_t spacing;    /* of arrows, at least */
    uint32_t arrow_cell; /* that of the smallest blocks' arrows */
    double longest;      /* vector in the window */
    double flow_max;     /* pixels that flow shows in full colour */
    struct gpume_plane picture;
    struct gpume_sprite *key, *dot;
    struct gpume_sprite **arrows; /* by dy and dx in whole pixels; NULL: not drawn yet */
    size_t arrow_count, kept_bytes;
    struct arrow_group *groups; /* of the field that is drawn, by layer and in raster order */
    size_t group_room;
};

/* Blocks of one shape that share an arrow, which is their mean. */
struct arrow_group {
    double dx, dy; /* sums, in pixels */
    uint32_t count;
    uint32_t left, top, right, bottom; /* of the visible parts, in pixels of the picture */
};

/* What is drawn of a block. */
struct look {
    struct gpume_rectangle place;
    double dx, dy; /* pixels: the content moved by (-dx,-dy) */
    uint32_t cost, second;
    double rank; /* from 0, the costliest, to 1 */
    double away; /* of the reverse vector, pixels; 0 if that is not known */
};

static void forget_arrows(struct gpume_overlay *overlay)
{
    for (size_t i = 0; overlay->arrows && i < overlay->arrow_count; i++) {
        free(overlay->arrows[i]);
        overlay->arrows[i] = NULL;
    }
    overlay->kept_bytes = 0;
}

void gpume_overlay_destroy(struct gpume_overlay **pointer)
{
    struct gpume_overlay *overlay = *pointer;
    if (!overlay) {
        return;
    }
    *pointer = NULL;
    forget_arrows(overlay);
    free(overlay->arrows);
    free(overlay->groups);
    free(overlay->dot);
    free(overlay->key);
    free(overlay->picture.data);
    free(overlay);
}

static int make_marks(struct gpume_overlay *overlay)
{
    const struct gpume_overlay_options *options = &overlay->options;
    const uint32_t shorter = gpume_min_u32(overlay->picture.width, overlay->picture.height);
    overlay->spacing = options->look.arrow_spacing > 0 ? options->look.arrow_spacing
                                                       : GPUME_OVERLAY_SPACING(shorter);
    overlay->arrow_cell = overlay->cell * (uint32_t)gpume_div_up(overlay->spacing, overlay->cell);
    overlay->dot = gpume_sprite_dot(overlay->arrow_cell);
    overlay->arrow_count =
        (2 * (size_t)options->window_x + 1) * (2 * (size_t)options->window_y + 1);
    overlay->arrows = calloc(overlay->arrow_count, sizeof(struct gpume_sprite *));
    return overlay->dot && overlay->arrows ? GPUME_OK : GPUME_NOMEM;
}

int gpume_overlay_create(struct gpume_overlay **result, const struct gpume_overlay_options *options)
{
    int status = GPUME_NOMEM;
    const uint64_t width = (uint64_t)options->width * options->look.scale;
    const uint64_t height = (uint64_t)options->height * options->look.scale;
    if (width > GPUME_OVERLAY_PIXELS_MAX || height > GPUME_OVERLAY_PIXELS_MAX / width) {
        return GPUME_INVALID;
    }
    struct gpume_overlay *overlay = calloc(1, sizeof(*overlay));
    if (!overlay) {
        return GPUME_NOMEM;
    }
    overlay->options = *options;
    overlay->cell = options->look.scale *
                    (options->block_w < options->block_h ? options->block_w : options->block_h);
    overlay->longest = hypot(options->window_x, options->window_y);
    overlay->flow_max = options->look.flow_max != 0 ? options->look.flow_max : overlay->longest;
    overlay->picture = (struct gpume_plane){
        .data = malloc(3 * width * height),
        .stride = (ptrdiff_t)(3 * width),
        .width = (uint32_t)width,
        .height = (uint32_t)height,
        .bits = 8,
    };
    GPUME_TRY(overlay->picture.data ? GPUME_OK : GPUME_NOMEM);
    if (options->look.style == GPUME_OVERLAY_ARROWS) {
        GPUME_TRY(make_marks(overlay));
    }
    overlay->key = gpume_key_create(options, options->look.flow_max);
    GPUME_TRY(overlay->key ? GPUME_OK : GPUME_NOMEM);
    *result = overlay;
    return GPUME_OK;
fail:
    gpume_overlay_destroy(&overlay);
    return status;
}

/* --- the frame */

static void enlarge_row(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t scale)
{
    for (uint32_t x = 0; x < width; x++) {
        for (uint32_t i = 0; i < scale; i++) {
            memcpy(to, from + 3 * (size_t)x, 3);
            to += 3;
        }
    }
}

static void enlarge(const struct gpume_overlay *overlay, const struct gpume_plane *rgb)
{
    const uint32_t scale = overlay->options.look.scale, dim = overlay->options.look.dim;
    const bool gray = overlay->options.look.style != GPUME_OVERLAY_ARROWS;
    const struct gpume_plane *const picture = &overlay->picture;
    for (uint32_t y = 0; y < rgb->height; y++) {
        uint8_t *const first = gpume_plane_row(picture, y * scale);
        if (scale == 1) {
            memcpy(first, gpume_plane_row(rgb, y), 3 * (size_t)rgb->width);
        } else {
            enlarge_row(first, gpume_plane_row(rgb, y), rgb->width, scale);
        }
        for (uint32_t x = 0; gray && x < picture->width; x++) {
            uint8_t *const p = first + 3 * (size_t)x;
            p[0] = p[1] = p[2] = gpume_colour_gray(p);
        }
        for (size_t i = 0; dim > 0 && i < 3 * (size_t)picture->width; i++) {
            first[i] = (uint8_t)((first[i] * (100 - dim) + 50) / 100);
        }
        for (uint32_t i = 1; i < scale; i++) {
            memcpy(gpume_plane_row(picture, y * scale + i), first, 3 * (size_t)picture->width);
        }
    }
}

/* --- fills */

static struct gpume_rectangle place_of(
    const struct gpume_overlay *overlay, const struct gpume_layer *layer, uint32_t index)
{
    const struct gpume_plane *const picture = &overlay->picture;
    const uint32_t width = layer->block_w * overlay->options.look.scale;
    const uint32_t height = layer->block_h * overlay->options.look.scale;
    struct gpume_rectangle place = {
        .x = index % layer->blocks_x * width, .y = index / layer->blocks_x * height};
    const uint32_t right = picture->width - place.x, below = picture->height - place.y;
    place.width = right < width ? right : width;
    place.height = below < height ? below : height;
    return place;
}

/* rank_last: the rank of the cheapest block. */
static struct look look_of(const struct gpume_overlay *overlay, const struct gpume_field *field,
    const struct gpume_layer *layer, uint32_t index, double rank, double rank_last)
{
    /* A vector into a later frame of several references turns: all show the motion forward in time.
     */
    const bool later = layer->refs && field->refs[layer->refs[index]] > field->frame;
    const double units = (double)field->vector_units * (later ? -1 : 1);
    return (struct look){
        .place = place_of(overlay, layer, index),
        .dx = layer->vectors[index].dx / units,
        .dy = layer->vectors[index].dy / units,
        .cost = layer->costs[index],
        .second = layer->second ? layer->second[index] : GPUME_NONE,
        .rank = rank_last > 0 ? rank / rank_last : 0,
        .away = layer->returns && layer->returns[index] != GPUME_NONE
                    ? (double)layer->returns[index] / field->vector_units
                    : 0,
    };
}

/* Like coloured glass over the gray frame: a white pixel shows the unchanged colour. */
static void tint(const struct gpume_overlay *overlay, const struct gpume_rectangle *place,
    struct gpume_colour colour)
{
    for (uint32_t y = 0; y < place->height; y++) {
        uint8_t *p = gpume_plane_row(&overlay->picture, place->y + y);
        p += 3 * (size_t)place->x;
        for (uint32_t x = 0; x < place->width; x++, p += 3) {
            const unsigned light = FLOW_DARKEST + (256 - FLOW_DARKEST) * p[0] / 255;
            p[0] = (uint8_t)(colour.r * light >> 8);
            p[1] = (uint8_t)(colour.g * light >> 8);
            p[2] = (uint8_t)(colour.b * light >> 8);
        }
    }
}

/* The upper and left edges of a block; its neighbours draw the others. */
static void draw_edges(const struct gpume_overlay *overlay, const struct gpume_rectangle *place)
{
    static const struct gpume_colour line = {255, 255, 255};
    const unsigned share = overlay->cell < 8 ? 40 : overlay->cell < 16 ? 64 : 96;
    uint32_t thick = overlay->cell / 48;
    thick = thick > 1 ? thick : 1;
    struct gpume_rectangle top = *place, left = *place;
    top.height = thick < place->height ? thick : place->height;
    left.width = thick < place->width ? thick : place->width;
    left.y += top.height;
    left.height -= top.height;
    gpume_colour_blend(&overlay->picture, &top, line, place->y > 0 ? share : 0);
    gpume_colour_blend(&overlay->picture, &left, line, place->x > 0 ? share : 0);
}

static bool is_short(const struct gpume_overlay *overlay, const struct look *look)
{
    return hypot(look->dx, look->dy) < overlay->options.look.min_length;
}

/* --- marks */

/* The arrow in the middle of a block, for a vector rounded to whole pixels. */
static int make_arrow(struct gpume_overlay *overlay, int32_t dx, int32_t dy, size_t index)
{
    if (overlay->kept_bytes > KEPT_BYTES) {
        forget_arrows(overlay);
    }
    /* Most vectors are short; the root spreads their lengths. */
    struct gpume_sprite *arrow =
        gpume_sprite_arrow(overlay->arrow_cell, overlay->options.look.arrow_width, -dx, -dy,
            sqrt(hypot(dx, dy) / overlay->longest), gpume_colour_of_direction(-dx, -dy));
    if (!arrow) {
        return GPUME_NOMEM;
    }
    overlay->arrows[index] = arrow;
    overlay->kept_bytes += gpume_sprite_bytes(arrow);
    return GPUME_OK;
}

static void draw_true_arrow(struct gpume_overlay *overlay, const struct look *look)
{
    const struct gpume_arrow arrow = {
        .x = look->place.x + look->place.width / 2.0,
        .y = look->place.y + look->place.height / 2.0,
        .dx = -look->dx * overlay->options.look.scale,
        .dy = -look->dy * overlay->options.look.scale,
        .cell = overlay->arrow_cell,
        .width = overlay->options.look.arrow_width,
        .colour = gpume_colour_of_direction(-look->dx, -look->dy),
    };
    gpume_arrow_put(&arrow, &overlay->picture);
}

/* Draws the mark in the middle of a place. */
static int draw_mark(struct gpume_overlay *overlay, const struct look *look)
{
    const struct gpume_overlay_options *options = &overlay->options;
    const bool is_true = options->look.arrow_length == GPUME_OVERLAY_TRUE;
    const int32_t dx = (int32_t)lround(look->dx), dy = (int32_t)lround(look->dy);
    const size_t column = (size_t)(dx + (int32_t)options->window_x);
    const size_t row = (size_t)(dy + (int32_t)options->window_y);
    const size_t index = row * (2 * (size_t)options->window_x + 1) + column;
    const bool is_dot = is_true ? look->dx == 0 && look->dy == 0 : dx == 0 && dy == 0;
    assert(index < overlay->arrow_count);
    if (is_true && !is_dot) {
        draw_true_arrow(overlay, look);
        return GPUME_OK;
    }
    if (!is_dot && !overlay->arrows[index] && make_arrow(overlay, dx, dy, index) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    gpume_sprite_put(is_dot ? overlay->dot : overlay->arrows[index], &overlay->picture,
        (int64_t)look->place.x + look->place.width / 2,
        (int64_t)look->place.y + look->place.height / 2);
    return GPUME_OK;
}

static void draw_block(struct gpume_overlay *overlay, const struct look *look)
{
    const struct gpume_rectangle *place = &look->place;
    const double scale = overlay->options.look.scale;
    const double most = overlay->flow_max > 0 ? overlay->flow_max : 1;
    double heat; /* or cost per pixel */
    switch (overlay->options.look.style) {
    case GPUME_OVERLAY_ARROWS:
        break; /* draw_arrows */
    case GPUME_OVERLAY_FLOW:
        if (!is_short(overlay, look)) {
            tint(overlay, place, gpume_colour_of_motion(-look->dx / most, -look->dy / most));
        }
        break;
    case GPUME_OVERLAY_COST:
        heat = look->cost / (place->width / scale * (place->height / scale)) /
               (double)(1u << (overlay->options.bits - 8));
        gpume_colour_blend(
            &overlay->picture, place, gpume_colour_of_cost(heat), GPUME_COLOUR_COST_SHARE);
        break;
    case GPUME_OVERLAY_BLOCKS:
        gpume_colour_blend(
            &overlay->picture, place, gpume_colour_of_heat(1 - look->rank), RANK_SHARE);
        draw_edges(overlay, place);
        break;
    case GPUME_OVERLAY_CONFIDENCE:
        heat = look->second == GPUME_NONE ? 1 /* there is no other candidate */
               : look->second > 0         ? 1 - (double)look->cost / look->second
                                          : 0;
        gpume_colour_blend(
            &overlay->picture, place, gpume_colour_of_heat(heat), GPUME_COLOUR_COST_SHARE);
        break;
    case GPUME_OVERLAY_RETURN:
        heat = sqrt(look->away / GPUME_OVERLAY_RETURN_FULL);
        gpume_colour_blend(&overlay->picture, place, gpume_colour_of_heat(heat),
            look->away > GPUME_OVERLAY_RETURN_SMALL ? GPUME_COLOUR_COST_SHARE : 0);
        break;
    }
}

/* --- the blocks of a field */

/* Number i of those that are drawn. */
static struct look look_at(
    const struct gpume_overlay *overlay, const struct gpume_field *field, uint32_t i)
{
    const struct gpume_layer *layer = field->layers[0];
    if (field->part_count > 0) {
        const struct gpume_part *part = &field->parts[i];
        return look_of(overlay, field, field->layers[part->layer], part->block, part->rank,
            field->part_count - 1.0);
    }
    return look_of(
        overlay, field, layer, i, layer->ranks[i], layer->blocks_x * layer->blocks_y - 1.0);
}

static uint32_t count_of(const struct gpume_field *field)
{
    return field->part_count > 0 ? field->part_count
                                 : field->layers[0]->blocks_x * field->layers[0]->blocks_y;
}

/* The motion that flow shows in full colour for GPUME_OVERLAY_FLOW_AUTO. */
static double flow_max_of(const struct gpume_overlay *overlay, const struct gpume_field *field)
{
    uint64_t areas[FLOW_SCALES] = {0}, whole = 0;
    const uint32_t count = count_of(field);
    for (uint32_t i = 0; i < count; i++) {
        const struct look look = look_at(overlay, field, i);
        const uint64_t area = (uint64_t)look.place.width * look.place.height;
        const double length = hypot(look.dx, look.dy);
        size_t scale = 0;
        while (scale + 1 < FLOW_SCALES && length > flow_scales[scale]) {
            scale++;
        }
        areas[scale] += area;
        whole += area;
    }
    size_t scale = 0;
    for (uint64_t within = areas[0]; within * 100 < whole * FLOW_PERCENT; within += areas[scale]) {
        scale++;
    }
    return flow_scales[scale];
}

/* The key is drawn again if the scale has changed. */
static int scale_flow(struct gpume_overlay *overlay, double flow_max)
{
    if (flow_max != overlay->flow_max) {
        struct gpume_sprite *key = gpume_key_create(&overlay->options, flow_max);
        if (!key) {
            return GPUME_NOMEM;
        }
        free(overlay->key);
        overlay->key = key;
        overlay->flow_max = flow_max;
    }
    return GPUME_OK;
}

/* --- arrows, of one block or of the mean of several */

/* How many blocks of the layer, across and down, share an arrow. */
static uint32_t group_side(const struct gpume_overlay *overlay, const struct gpume_layer *layer)
{
    const uint32_t side = gpume_min_u32(layer->block_w, layer->block_h);
    return (uint32_t)gpume_div_up(overlay->spacing, (uint64_t)side * overlay->options.look.scale);
}

/* The number of groups of a layer, in a row and in all. NULL has none. */
static size_t groups_of(
    const struct gpume_overlay *overlay, const struct gpume_layer *layer, size_t *across)
{
    if (!layer) {
        return 0;
    }
    const uint32_t side = group_side(overlay, layer);
    *across = (size_t)gpume_div_up(layer->blocks_x, side);
    return *across * (size_t)gpume_div_up(layer->blocks_y, side);
}

/* Empty groups for all layers. GPUME_NOMEM. */
static int clear_groups(
    struct gpume_overlay *overlay, const struct gpume_field *field, size_t *count)
{
    size_t across;
    *count = 0;
    for (uint32_t i = 0; i < (field->part_count > 0 ? field->layer_count : 1); i++) {
        *count += groups_of(overlay, field->layers[i], &across);
    }
    if (*count > overlay->group_room) {
        free(overlay->groups);
        overlay->groups = malloc(*count * sizeof(*overlay->groups));
        overlay->group_room = overlay->groups ? *count : 0;
    }
    for (size_t i = 0; overlay->groups && i < *count; i++) {
        overlay->groups[i] = (struct arrow_group){.left = UINT32_MAX, .top = UINT32_MAX};
    }
    return overlay->groups || *count == 0 ? GPUME_OK : GPUME_NOMEM;
}

static void add_to_group(struct arrow_group *group, const struct look *look)
{
    const struct gpume_rectangle *place = &look->place;
    group->dx += look->dx;
    group->dy += look->dy;
    group->count++;
    group->left = gpume_min_u32(group->left, place->x);
    group->top = gpume_min_u32(group->top, place->y);
    group->right = gpume_max_u32(group->right, place->x + place->width);
    group->bottom = gpume_max_u32(group->bottom, place->y + place->height);
}

static void fill_groups(struct gpume_overlay *overlay, const struct gpume_field *field)
{
    const uint32_t count = count_of(field);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t shape = field->part_count > 0 ? field->parts[i].layer : 0;
        const struct gpume_layer *layer = field->layers[shape];
        const uint32_t index = field->part_count > 0 ? field->parts[i].block : i;
        const struct look look = look_at(overlay, field, i);
        const uint32_t side = group_side(overlay, layer);
        size_t across, first = 0;
        for (uint32_t k = 0; k < shape; k++) {
            first += groups_of(overlay, field->layers[k], &across);
        }
        (void)groups_of(overlay, layer, &across);
        const size_t at = index / layer->blocks_x / side * across + index % layer->blocks_x / side;
        add_to_group(&overlay->groups[first + at], &look);
    }
}

static int draw_arrows(struct gpume_overlay *overlay, const struct gpume_field *field)
{
    size_t count;
    int status = clear_groups(overlay, field, &count);
    if (status == GPUME_OK) {
        fill_groups(overlay, field);
    }
    for (size_t i = 0; i < count && status == GPUME_OK; i++) {
        const struct arrow_group *group = &overlay->groups[i];
        const struct look look = {
            .place = {group->left, group->top, group->right - group->left,
                group->bottom - group->top},
            .dx = group->count > 0 ? group->dx / group->count : 0,
            .dy = group->count > 0 ? group->dy / group->count : 0,
        };
        if (group->count > 0 && !is_short(overlay, &look)) {
            status = draw_mark(overlay, &look);
        }
    }
    return status;
}

int gpume_overlay_draw(struct gpume_overlay *overlay, const struct gpume_plane *rgb,
    const struct gpume_field *field, struct gpume_plane *picture)
{
    int status = GPUME_OK;
    const uint32_t count = count_of(field);
    enlarge(overlay, rgb);
    if (overlay->options.look.flow_max == GPUME_OVERLAY_FLOW_AUTO) {
        GPUME_TRY(scale_flow(overlay, flow_max_of(overlay, field)));
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct look look = look_at(overlay, field, i);
        draw_block(overlay, &look);
    }
    if (overlay->options.look.style == GPUME_OVERLAY_ARROWS) {
        GPUME_TRY(draw_arrows(overlay, field));
    }
    gpume_sprite_put(
        overlay->key, &overlay->picture, overlay->picture.width, overlay->picture.height);
    *picture = overlay->picture;
fail:
    return status;
}
