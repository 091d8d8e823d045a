/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cairo fills the outlines of arrows and smooths their edges: a shaft that widens towards the head,
 * with a dark rim. Blocks consist of whole pixels, so one drawing serves all blocks with the same
 * vector.
 */
#include "draw/sprite.h"

#include <cairo.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TINY 12 /* pixels; arrows for smaller cells are simplified */

/* An arrow's dimensions in pixels. */
struct sprite_shape {
    double rim;
    double length, shaft, tail, head, head_width;
};

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

size_t gpume_sprite_bytes(const struct gpume_sprite *sprite)
{
    return sizeof(*sprite) + (size_t)sprite->width * sprite->height * sizeof(uint32_t);
}

static const uint32_t *argb_row(const void *argb, int stride, int y)
{
    return (const uint32_t *)(const void *)((const char *)argb + (ptrdiff_t)y * stride);
}

struct gpume_sprite *gpume_sprite_cut(
    const void *argb, int stride, int width, int height, int origin_x, int origin_y)
{
    int left = width, right = 0, top = height, bottom = 0;
    for (int y = 0; y < height; y++) {
        const uint32_t *const row = argb_row(argb, stride, y);
        for (int x = 0; x < width; x++) {
            if (row[x] != 0) {
                left = x < left ? x : left;
                right = x + 1 > right ? x + 1 : right;
                top = y < top ? y : top;
                bottom = y + 1;
            }
        }
    }
    const size_t columns = right > left ? (size_t)(right - left) : 0;
    const size_t rows = bottom > top ? (size_t)(bottom - top) : 0;
    struct gpume_sprite *sprite = malloc(sizeof(*sprite) + columns * rows * sizeof(uint32_t));
    if (!sprite) {
        return NULL;
    }
    sprite->left = left - origin_x;
    sprite->top = top - origin_y;
    sprite->width = (uint32_t)columns;
    sprite->height = (uint32_t)rows;
    for (size_t y = 0; y < rows; y++) {
        memcpy(sprite->pixels + y * columns, argb_row(argb, stride, top + (int)y) + left,
            columns * sizeof(uint32_t));
    }
    return sprite;
}

/* A canvas with the cell's centre as its origin, reaching that far in each direction. The centre is
 * the corner of a pixel; for tiny arrows, whose lines are one pixel wide, it is moved to a pixel's
 * centre. NULL: out of memory. */
static cairo_t *begin_drawing(int reach, double cell)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 2 * reach, 2 * reach);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* cairo holds a reference */
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(cairo);
        return NULL;
    }
    cairo_translate(cairo, reach + (cell < TINY ? 0.5 : 0), reach + (cell < TINY ? 0.5 : 0));
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    return cairo;
}

struct gpume_sprite *gpume_sprite_end(cairo_t *cairo, int origin_x, int origin_y)
{
    struct gpume_sprite *sprite = NULL;
    cairo_surface_t *surface = cairo_get_target(cairo);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) == CAIRO_STATUS_SUCCESS) {
        sprite = gpume_sprite_cut(cairo_image_surface_get_data(surface),
            cairo_image_surface_get_stride(surface), cairo_image_surface_get_width(surface),
            cairo_image_surface_get_height(surface), origin_x, origin_y);
    }
    cairo_destroy(cairo);
    return sprite;
}

/* The arrow along the x axis, its middle at 0. */
static void draw_outline(cairo_t *cairo, const struct sprite_shape *shape)
{
    const double tip = shape->length / 2, neck = tip - shape->head;
    cairo_new_path(cairo);
    cairo_move_to(cairo, tip, 0);
    cairo_line_to(cairo, neck, shape->head_width / 2);
    cairo_line_to(cairo, neck, shape->shaft / 2);
    cairo_line_to(cairo, -tip, shape->tail / 2);
    cairo_line_to(cairo, -tip, -shape->tail / 2);
    cairo_line_to(cairo, neck, -shape->shaft / 2);
    cairo_line_to(cairo, neck, -shape->head_width / 2);
    cairo_close_path(cairo);
}

/* The arrow for a cell of that many pixels; length is from 0 to 1. */
static struct sprite_shape shape_in(double cell, double width, double length)
{
    const double rim = width > 0 ? clamp(0.4 * width, 0.5, 4) : clamp(0.4 + 0.022 * cell, 0.4, 4);
    const double span = cell - 2 * rim;
    const double longest = 0.9 * span; /* leaves a gap between arrows in a line */
    const double shortest = clamp(0.62 - 0.009 * cell, 0.33, 0.6) * span;
    struct sprite_shape shape = {
        .rim = rim,
        .length = shortest + (longest - shortest) * clamp(length, 0, 1),
        .shaft = width > 0 ? width : clamp(1 + 0.05 * cell, 1.2, 14),
    };
    shape.tail = 0.55 * shape.shaft;
    shape.head = clamp(0.2 * span + shape.shaft, 1.5, 0.62 * shape.length);
    shape.head_width = clamp(0.14 * span + 1.3 * shape.shaft, 1.5, 1.3 * shape.head);
    return shape;
}

/* The arrow for a cell of a few pixels: a line one pixel wide, with a wider head if it fits. */
static struct sprite_shape tiny_shape_in(double cell, double length)
{
    const double shortest = 1.5 + 0.2 * cell, longest = cell - 0.8;
    const double along = shortest + (longest - shortest) * clamp(length, 0, 1);
    return (struct sprite_shape){
        .rim = 0.55,
        .length = along,
        .shaft = 1.1,
        .tail = 0.9,
        .head = cell < 8 ? along / 2 : 2.4,
        .head_width = cell < 8 ? 1.3 : 2.8,
    };
}

/* Darkens towards the tail, to which `tail` gives the brightness: tiny arrows have hardly a head.
 */
static void set_colour(
    cairo_t *cairo, const struct sprite_shape *shape, struct gpume_colour colour, double tail)
{
    const double r = colour.r / 255.0, g = colour.g / 255.0, b = colour.b / 255.0;
    cairo_pattern_t *pattern =
        cairo_pattern_create_linear(-shape->length / 2, 0, shape->length / 2, 0);
    cairo_pattern_add_color_stop_rgb(pattern, 0, tail * r, tail * g, tail * b);
    cairo_pattern_add_color_stop_rgb(pattern, 0.45, r, g, b);
    cairo_set_source(cairo, pattern);
    cairo_pattern_destroy(pattern); /* cairo holds a reference */
}

struct gpume_sprite *gpume_sprite_arrow(
    double cell, double width, double x, double y, double length, struct gpume_colour colour)
{
    const bool tiny = cell < TINY && width == 0;
    const struct sprite_shape shape =
        tiny ? tiny_shape_in(cell, length) : shape_in(cell, width, length);
    const int reach = (int)ceil(shape.length / 2 + shape.head_width / 2 + shape.rim) + 2;
    cairo_t *cairo = begin_drawing(reach, cell);
    if (!cairo) {
        return NULL;
    }
    cairo_rotate(cairo, atan2(y, x));
    draw_outline(cairo, &shape);
    cairo_set_source_rgba(cairo, 0, 0, 0, tiny ? 0.35 : clamp(0.3 + 0.035 * cell, 0.5, 0.8));
    cairo_set_line_width(cairo, 2 * shape.rim);
    cairo_stroke_preserve(cairo);
    set_colour(cairo, &shape, colour, tiny ? 0.35 : 1);
    cairo_fill(cairo);
    return gpume_sprite_end(cairo, reach, reach);
}

struct gpume_sprite *gpume_sprite_dot(double cell)
{
    const double pi = 3.14159265358979323846;
    const double radius = clamp(0.45 + 0.022 * cell, 0.56, 5);
    const double rim = clamp(0.015 * cell, 0.3, 2);
    const int reach = (int)ceil(radius + rim) + 2;
    const struct gpume_colour light = gpume_colour_of_direction(0, 0);
    cairo_t *cairo = begin_drawing(reach, cell);
    if (!cairo) {
        return NULL;
    }
    cairo_arc(cairo, 0, 0, radius + rim, 0, 2 * pi);
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.35);
    cairo_fill(cairo);
    cairo_arc(cairo, 0, 0, radius, 0, 2 * pi);
    cairo_set_source_rgba(cairo, light.r / 255.0, light.g / 255.0, light.b / 255.0, 0.65);
    cairo_fill(cairo);
    return gpume_sprite_end(cairo, reach, reach);
}

/* a * b / 255, rounded to nearest; exact for bytes. */
static unsigned scaled_byte(unsigned a, unsigned b)
{
    const unsigned product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

static void blend_pixel(uint8_t *to, uint32_t pixel)
{
    const unsigned through = 255 - (pixel >> 24);
    to[0] = (uint8_t)((pixel >> 16 & 255) + scaled_byte(to[0], through));
    to[1] = (uint8_t)((pixel >> 8 & 255) + scaled_byte(to[1], through));
    to[2] = (uint8_t)((pixel & 255) + scaled_byte(to[2], through));
}

void gpume_sprite_put(
    const struct gpume_sprite *sprite, const struct gpume_plane *rgb, int64_t x, int64_t y)
{
    const int64_t left = x + sprite->left, top = y + sprite->top;
    const int64_t first = left < 0 ? -left : 0, first_row = top < 0 ? -top : 0;
    int64_t columns = (int64_t)rgb->width - left, rows = (int64_t)rgb->height - top;
    columns = columns < sprite->width ? columns : sprite->width;
    rows = rows < sprite->height ? rows : sprite->height;
    for (int64_t row = first_row; row < rows; row++) {
        const uint32_t *const from = sprite->pixels + row * sprite->width;
        uint8_t *const to = (uint8_t *)rgb->data + (top + row) * rgb->stride;
        for (int64_t column = first; column < columns; column++) {
            if (from[column] != 0) {
                blend_pixel(to + 3 * (left + column), from[column]);
            }
        }
    }
}

/* --- arrows of true length
 *
 * Every pixel near the arrow is coloured by its distance from the outline, which smooths the edges.
 * A thin shaft and a small head leave the frame visible where arrows overlap; the shaft fades
 * towards its tail, so that the grid of tips stands out.
 */
#define RIM 0.9         /* pixels: the dark line around it */
#define RIM_ALPHA 0.6   /* of the rim */
#define TAIL_ALPHA 0.45 /* of the shaft's end; 1 at the tip */

/* Dimensions in pixels. Lengths are counted backwards from the tip. */
struct arrow_shape {
    double length, shaft; /* half of the shaft's width */
    double head, half;    /* length of the head and half of its width */
    double dot;           /* radius of a dot at the tip; 0: there is none */
};

static struct arrow_shape arrow_shape_of(double length, double cell, double wanted)
{
    const double width = wanted > 0 ? wanted : clamp(0.45 + 0.05 * cell, 0.9, 5);
    struct arrow_shape shape = {
        .length = length,
        .shaft = width / 2,
        .head = 3.2 * width + 0.6,
        .half = 1.5 * width + 0.3,
    };
    if (length < shape.head) { /* a dot whose tail is as long as the motion */
        shape.dot = 0.8 * width + 0.2;
        shape.head = shape.half = 0;
    }
    return shape;
}

/* The distance from the outline of a point that lies `back` behind the tip and `aside` of
 * the line; negative inside. */
static double outline_distance(const struct arrow_shape *shape, double back, double aside)
{
    const double begin = shape->head / 2; /* of the shaft: hidden by the head */
    const double past = back < begin           ? begin - back
                        : back > shape->length ? back - shape->length
                                               : 0;
    double least = sqrt(past * past + aside * aside) - shape->shaft;
    if (shape->dot > 0) {
        least = fmin(least, sqrt(back * back + aside * aside) - shape->dot);
    } else {
        const double side = sqrt(shape->head * shape->head + shape->half * shape->half);
        const double slant = (aside * shape->head - back * shape->half) / side;
        least = fmin(least, fmax(slant, back - shape->head));
    }
    return least;
}

static uint8_t mix(uint8_t below, double above, double share)
{
    return (uint8_t)(below + share * (above - below) + 0.5);
}

static void blend_share(uint8_t *pixel, struct gpume_colour colour, double share, double rim)
{
    const double dark = rim * (1 - share);
    pixel[0] = mix(mix(pixel[0], 0, dark), colour.r, share);
    pixel[1] = mix(mix(pixel[1], 0, dark), colour.g, share);
    pixel[2] = mix(mix(pixel[2], 0, dark), colour.b, share);
}

/* The whole numbers of a range that lie from 0 to limit - 1. */
struct span {
    int64_t first, end;
};

static struct span span_of(double low, double high, uint32_t limit)
{
    return (struct span){
        (int64_t)clamp(floor(low), 0, limit), (int64_t)clamp(ceil(high), 0, limit)};
}

/* Pixels of a row may be touched if the line passes within `reach` of them. */
static struct span columns_of(
    const struct gpume_arrow *arrow, double length, double reach, double y, uint32_t width)
{
    const double tail = arrow->x - arrow->dx;
    double low = fmin(arrow->x, tail) - reach, high = fmax(arrow->x, tail) + reach;
    if (fabs(arrow->dy) > 1e-6) {
        const double at = arrow->x + (y - arrow->y) * arrow->dx / arrow->dy;
        const double wide = reach * length / fabs(arrow->dy);
        low = fmax(low, at - wide);
        high = fmin(high, at + wide);
    }
    return span_of(low, high, width);
}

void gpume_arrow_put(const struct gpume_arrow *arrow, const struct gpume_plane *rgb)
{
    const double length = sqrt(arrow->dx * arrow->dx + arrow->dy * arrow->dy);
    const double along_x = arrow->dx / length, along_y = arrow->dy / length;
    const struct arrow_shape shape = arrow_shape_of(length, arrow->cell, arrow->width);
    const double reach = fmax(fmax(shape.shaft, shape.half), shape.dot) + RIM + 1;
    const double tail = arrow->y - arrow->dy;
    const struct span rows =
        span_of(fmin(arrow->y, tail) - reach, fmax(arrow->y, tail) + reach, rgb->height);
    for (int64_t y = rows.first; y < rows.end; y++) {
        const double below = (double)y + 0.5 - arrow->y;
        const struct span columns = columns_of(arrow, length, reach, (double)y + 0.5, rgb->width);
        uint8_t *row = (uint8_t *)rgb->data + (ptrdiff_t)y * rgb->stride;
        for (int64_t x = columns.first; x < columns.end; x++) {
            const double right = (double)x + 0.5 - arrow->x;
            const double back = -(right * along_x + below * along_y);
            const double aside = fabs(right * along_y - below * along_x);
            const double from = outline_distance(&shape, back, aside);
            const double fade = 1 - (1 - TAIL_ALPHA) * clamp(back / length, 0, 1);
            if (from < RIM + 0.5) {
                blend_share(row + 3 * x, arrow->colour, fade * clamp(0.5 - from, 0, 1),
                    fade * RIM_ALPHA * clamp(0.5 + RIM - from, 0, 1));
            }
        }
    }
}
