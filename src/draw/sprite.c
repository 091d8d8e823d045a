/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrows are outlines filled by cairo, which smooths their edges: a shaft that widens towards the
 * head, a dark rim around both. Blocks have whole numbers of pixels and the same middle, so that
 * one drawing serves all blocks with the same vector.
 */
#include "draw/sprite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairo.h>

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

size_t gpume_sprite_bytes(const struct gpume_sprite *sprite)
{
    return sizeof(*sprite) + (size_t)sprite->width * sprite->height * sizeof(uint32_t);
}

static const uint32_t *row_of(const void *argb, int stride, int y)
{
    return (const uint32_t *)(const void *)((const char *)argb + (ptrdiff_t)y * stride);
}

struct gpume_sprite *gpume_sprite_cut(
    const void *argb, int stride, int width, int height, int origin_x, int origin_y)
{
    int left = width, right = 0, top = height, bottom = 0;
    for (int y = 0; y < height; y++) {
        const uint32_t *const row = row_of(argb, stride, y);
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
        memcpy(sprite->pixels + y * columns, row_of(argb, stride, top + (int)y) + left,
            columns * sizeof(uint32_t));
    }
    return sprite;
}

/* A canvas that reaches so far from its origin. NULL: out of memory. */
static cairo_t *begin(int reach)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 2 * reach, 2 * reach);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the context holds it */
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(cairo);
        return NULL;
    }
    cairo_translate(cairo, reach, reach);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    return cairo;
}

static struct gpume_sprite *end(cairo_t *cairo, int reach)
{
    struct gpume_sprite *sprite = NULL;
    cairo_surface_t *surface = cairo_get_target(cairo);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) == CAIRO_STATUS_SUCCESS) {
        sprite = gpume_sprite_cut(cairo_image_surface_get_data(surface),
            cairo_image_surface_get_stride(surface), 2 * reach, 2 * reach, reach, reach);
    }
    cairo_destroy(cairo);
    return sprite;
}

/* The arrow of that length along x, its middle at 0. */
static void outline(cairo_t *cairo, double length, double shaft, double head, double head_width)
{
    const double tip = length / 2, neck = tip - head;
    cairo_new_path(cairo);
    cairo_move_to(cairo, tip, 0);
    cairo_line_to(cairo, neck, head_width / 2);
    cairo_line_to(cairo, neck, shaft / 2);
    cairo_line_to(cairo, -tip, shaft / 4);
    cairo_line_to(cairo, -tip, -shaft / 4);
    cairo_line_to(cairo, neck, -shaft / 2);
    cairo_line_to(cairo, neck, -head_width / 2);
    cairo_close_path(cairo);
}

struct gpume_sprite *gpume_sprite_arrow(
    double cell, double x, double y, double length, struct gpume_colour colour)
{
    /* Two outlines side by side leave a gap; below 4 pixels nothing can be told apart. */
    const double rim = clamp(0.35 + 0.022 * cell, 0.4, 4);
    const double span = cell - 2 * rim > 3 ? cell - 2 * rim : 3;
    const double shortest = clamp(0.62 - 0.009 * cell, 0.33, 0.6);
    const double along = span * (shortest + (1 - shortest) * clamp(length, 0, 1));
    const double shaft = clamp(0.5 + 0.05 * cell, 0.9, 14);
    const double head = clamp(0.2 * span + shaft, 1.5, 0.62 * along);
    const double head_width = clamp(0.14 * span + 1.3 * shaft, 1.5, 1.3 * head);
    const int reach = (int)ceil(along / 2 + head_width / 2 + rim) + 2;
    cairo_t *cairo = begin(reach);
    if (!cairo) {
        return NULL;
    }
    cairo_rotate(cairo, atan2(y, x));
    outline(cairo, along, shaft, head, head_width);
    cairo_set_source_rgba(cairo, 0, 0, 0, clamp(0.3 + 0.035 * cell, 0.4, 0.8));
    cairo_set_line_width(cairo, 2 * rim);
    cairo_stroke_preserve(cairo);
    cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
    cairo_fill(cairo);
    return end(cairo, reach);
}

struct gpume_sprite *gpume_sprite_dot(double cell)
{
    const double pi = 3.14159265358979323846;
    const double radius = clamp(0.45 + 0.022 * cell, 0.5, 5);
    const double rim = clamp(0.015 * cell, 0.3, 2);
    const int reach = (int)ceil(radius + rim) + 2;
    const struct gpume_colour light = gpume_colour_of_direction(0, 0);
    cairo_t *cairo = begin(reach);
    if (!cairo) {
        return NULL;
    }
    cairo_arc(cairo, 0, 0, radius + rim, 0, 2 * pi);
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.35);
    cairo_fill(cairo);
    cairo_arc(cairo, 0, 0, radius, 0, 2 * pi);
    cairo_set_source_rgba(cairo, light.r / 255.0, light.g / 255.0, light.b / 255.0, 0.65);
    cairo_fill(cairo);
    return end(cairo, reach);
}

/* (a * b) / 255 to the nearest, exact for bytes. */
static unsigned scaled(unsigned a, unsigned b)
{
    const unsigned product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

static void blend(uint8_t *to, uint32_t pixel)
{
    const unsigned through = 255 - (pixel >> 24);
    to[0] = (uint8_t)((pixel >> 16 & 255) + scaled(to[0], through));
    to[1] = (uint8_t)((pixel >> 8 & 255) + scaled(to[1], through));
    to[2] = (uint8_t)((pixel & 255) + scaled(to[2], through));
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
                blend(to + 3 * (left + column), from[column]);
            }
        }
    }
}
