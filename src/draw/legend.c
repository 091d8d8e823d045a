/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw/legend.h"

#include "base/base.h"

#include <cairo.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- colours */

static const double pi = 3.14159265358979323846;

static uint8_t byte_of(double value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* The wheel has six sections, each from one corner of the RGB cube to the next. Its authors chose
 * the number of steps of each section by perception. */
static void wheel(double x, double y, double hue[3])
{
    static const struct {
        int steps;
        double from[3], to[3];
    } sections[] = {
        {15, {255, 0, 0}, {255, 255, 0}},
        {6, {255, 255, 0}, {0, 255, 0}},
        {4, {0, 255, 0}, {0, 255, 255}},
        {11, {0, 255, 255}, {0, 0, 255}},
        {13, {0, 0, 255}, {255, 0, 255}},
        {6, {255, 0, 255}, {255, 0, 0}},
    };
    const int count = 55; /* of steps; positions run from 0 to count - 1 */
    double position = (atan2(-y, -x) / pi + 1) / 2 * (count - 1);
    size_t i = 0;
    if (y == 0 && x > 0) {
        position = 0; /* to the right, where the circle closes */
    }
    while (i + 1 < COUNT(sections) && position >= sections[i].steps) {
        position -= sections[i++].steps;
    }
    const double share = position / sections[i].steps;
    for (int c = 0; c < 3; c++) {
        hue[c] = sections[i].from[c] + share * (sections[i].to[c] - sections[i].from[c]);
    }
}

struct gpume_colour gpume_colour_of_motion(double x, double y)
{
    double hue[3];
    double length = sqrt(x * x + y * y);
    length = length > 1 ? 1 : length;
    wheel(x, y, hue);
    return (struct gpume_colour){
        byte_of(255 - length * (255 - hue[0])),
        byte_of(255 - length * (255 - hue[1])),
        byte_of(255 - length * (255 - hue[2])),
    };
}

struct gpume_colour gpume_colour_of_direction(double x, double y)
{
    /* OKLCH (Ottosson, "A perceptual color space for image processing", 2020) in sRGB: lightness
     * 0.76, hues 29, 39, ... 379 degrees, and the largest chroma up to 0.2 that sRGB has. Red
     * points to the right, and hues go on clockwise, as on the wheel of flow. */
    static const uint8_t hues[36][3] = {{0xff, 0x8b, 0x7b}, {0xff, 0x8d, 0x67}, {0xff, 0x8f, 0x4e},
        {0xff, 0x91, 0x1e}, {0xf4, 0x9a, 0x00}, {0xe6, 0xa3, 0x00}, {0xd9, 0xaa, 0x00},
        {0xca, 0xb1, 0x00}, {0xba, 0xb8, 0x00}, {0xa6, 0xc0, 0x00}, {0x88, 0xc8, 0x08},
        {0x65, 0xce, 0x43}, {0x2e, 0xd2, 0x64}, {0x00, 0xd1, 0x87}, {0x00, 0xcf, 0xa0},
        {0x00, 0xcd, 0xb3}, {0x00, 0xcb, 0xc2}, {0x00, 0xc9, 0xd0}, {0x00, 0xc7, 0xde},
        {0x00, 0xc5, 0xec}, {0x00, 0xc2, 0xfc}, {0x4d, 0xbc, 0xff}, {0x6c, 0xb7, 0xff},
        {0x81, 0xb2, 0xff}, {0x91, 0xad, 0xff}, {0xa0, 0xa8, 0xff}, {0xaf, 0xa2, 0xff},
        {0xbe, 0x9b, 0xff}, {0xcf, 0x91, 0xff}, {0xe5, 0x82, 0xff}, {0xf4, 0x7c, 0xee},
        {0xff, 0x77, 0xda}, {0xff, 0x7e, 0xc2}, {0xff, 0x83, 0xaf}, {0xff, 0x86, 0x9d},
        {0xff, 0x89, 0x8d}};
    const size_t count = COUNT(hues);
    if (x == 0 && y == 0) {
        return (struct gpume_colour){245, 245, 245};
    }
    const double position = (atan2(y, x) / (2 * pi) + 1) * (double)count; /* 0.5 to 1.5 rounds */
    const uint8_t *from = hues[(size_t)position % count],
                  *to = hues[((size_t)position + 1) % count];
    const double share = position - floor(position);
    return (struct gpume_colour){
        byte_of(from[0] + share * (to[0] - from[0])),
        byte_of(from[1] + share * (to[1] - from[1])),
        byte_of(from[2] + share * (to[2] - from[2])),
    };
}

struct gpume_colour gpume_colour_of_cost(double steps)
{
    return gpume_colour_of_heat(sqrt(steps / GPUME_COLOUR_COST_FULL));
}

struct gpume_colour gpume_colour_of_heat(double heat)
{
    /* Ten even steps of "inferno", by Stefan van der Walt and Nathaniel Smith for Matplotlib, CC0;
     * interpolated linearly. */
    static const uint8_t steps[][3] = {{0x00, 0x00, 0x04}, {0x1b, 0x0c, 0x42}, {0x4b, 0x0c, 0x6b},
        {0x78, 0x1c, 0x6d}, {0xa5, 0x2c, 0x60}, {0xcf, 0x44, 0x46}, {0xed, 0x69, 0x25},
        {0xfb, 0x9a, 0x06}, {0xf7, 0xd0, 0x3c}, {0xfc, 0xff, 0xa4}};
    const size_t last = COUNT(steps) - 1;
    heat = heat > 0 ? heat : 0;
    heat = heat < 1 ? heat : 1;
    const double position = heat * (double)last;
    const size_t i = position < (double)last ? (size_t)position : last - 1;
    const double share = position - (double)i;
    return (struct gpume_colour){
        byte_of(steps[i][0] + share * (steps[i + 1][0] - steps[i][0])),
        byte_of(steps[i][1] + share * (steps[i + 1][1] - steps[i][1])),
        byte_of(steps[i][2] + share * (steps[i + 1][2] - steps[i][2])),
    };
}

void gpume_colour_blend(const struct gpume_plane *rgb, const struct gpume_rectangle *place,
    struct gpume_colour colour, unsigned share)
{
    const unsigned rest = 256 - share;
    const unsigned r = colour.r * share + 128, g = colour.g * share + 128,
                   b = colour.b * share + 128;
    for (uint32_t y = 0; y < place->height; y++) {
        uint8_t *p = gpume_plane_row(rgb, place->y + y);
        p += 3 * (size_t)place->x;
        for (uint32_t x = 0; x < place->width; x++, p += 3) {
            p[0] = (uint8_t)((p[0] * rest + r) >> 8);
            p[1] = (uint8_t)((p[1] * rest + g) >> 8);
            p[2] = (uint8_t)((p[2] * rest + b) >> 8);
        }
    }
}

/*
 * --- Cairo fills the outlines of arrows and smooths their edges: a shaft that widens towards the
 * head, with a dark rim. Blocks consist of whole pixels, so one drawing serves all blocks with the
 * same vector.
 */

/* --- sprites */

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

/* The pixels of a cairo surface, cropped to those that are visible. stride: bytes. */
static struct gpume_sprite *sprite_cut(
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

/* The drawing on an image surface of 32 bits, as gpume_sprite_cut makes it; destroys *cairo. NULL:
 * out of memory. */
static struct gpume_sprite *sprite_end(cairo_t *cairo, int origin_x, int origin_y)
{
    struct gpume_sprite *sprite = NULL;
    cairo_surface_t *surface = cairo_get_target(cairo);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) == CAIRO_STATUS_SUCCESS) {
        sprite = sprite_cut(cairo_image_surface_get_data(surface),
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
    return sprite_end(cairo, reach, reach);
}

struct gpume_sprite *gpume_sprite_dot(double cell)
{
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
    return sprite_end(cairo, reach, reach);
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
        uint8_t *const to = gpume_plane_row(rgb, top + row);
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
        uint8_t *row = gpume_plane_row(rgb, y);
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

/* --- letters: our own strokes, because fonts may be missing and differ between machines
 *
 * A glyph is a list of strokes, separated by blanks. A stroke is a list of points of two letters, x
 * and y, from a to q. Capitals and digits reach from y = a to the base line m, small letters from
 * e, and what hangs below it ends at q. The first and the last point of a stroke are its ends; the
 * others are the control points of a quadratic spline, which a point given twice passes through as
 * a corner.
 */

#define CAPITAL 12.0  /* units from a to m */
#define GLYPH_GAP 3.5 /* units from a glyph to the next */
#define BLANK 3.0     /* units of width */
#define BOLD 7.0      /* heights of a capital in the width of a line */

static const struct {
    char character;
    const char *strokes;
} glyphs[] = {
    {'0', "agaagagmamag"},
    {'1', "bcdadadm"},
    {'2', "adaagagfamamgm"},
    {'3', "acaagagfcf cfgfgmamak"},
    {'4', "fmfafaaiaigi"},
    {'5', "faaaaaafafgegmamak"},
    {'6', "faaaai aiaegegmamai"},
    {'7', "aagagacm"},
    {'8', "daaaafgfgada dfafamgmgfdf"},
    {'9', "bmgmge gegiaiaagage"},
    {'A', "ameaeaim bihi"},
    {'B', "aaam aadadagaggdgdgag agdgdghghmdmdmam"},
    {'a', "gegm ghgeaeamgmgj"},
    {'b', "aaam ahaegegmamaj"},
    {'c', "gggeaeamgmgk"},
    {'d', "gagm ghgeaeamgmgj"},
    {'e', "aigigigeaeamgmgk"},
    {'f', "facacdcdcm aeee"},
    {'g', "gegngngqaqao ghgeaeamgmgj"},
    {'h', "aaam ahaegegigigm"},
    {'i', "aeam abab"},
    {'j', "cececocqaq cbcb"},
    {'k', "aaam feai chgm"},
    {'l', "aaam"},
    {'m', "aeam ahaeeeeieiem eheeieiiiiim"},
    {'n', "aeam ahaegegigigm"},
    {'o', "aiaegegmamai"},
    {'p', "aeaq ahaegegmamaj"},
    {'q', "gegq ghgeaeamgmgj"},
    {'r', "aeam aiaeee"},
    {'s', "gggeaeaigigmamak"},
    {'t', "cbcjcjcmfm aefe"},
    {'u', "aeaiaiamgmgj gegm"},
    {'v', "aedmdmge"},
    {'w', "aecmcmeeeegmgmie"},
    {'x', "aegm geam"},
    {'y', "aedm gebq"},
    {'z', "aegegeamamgm"},
    {'.', "amam"},
    {',', "bmao"},
    {'-', "ahfh"},
    {'=', "aggg ajgj"},
    {'<', "geaiaigm"},
    {'>', "aegigiam"},
    {'/', "amga"},
    {'%', "acaadadeaeac haam ekeihihmemek"},
};

static const char *strokes_of(char character)
{
    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
        if (glyphs[i].character == character) {
            return glyphs[i].strokes;
        }
    }
    return "";
}

static double glyph_width(const char *strokes)
{
    double width = *strokes ? 0 : BLANK;
    for (; *strokes; strokes += *strokes == ' ' ? 1 : 2) {
        const double x = *strokes - 'a';
        width = *strokes != ' ' && x > width ? x : width;
    }
    return width;
}

/* The width of a line whose capitals have this height, in pixels. */
static double text_width(const char *text, double height)
{
    double width = *text ? -GLYPH_GAP : 0;
    for (; *text; text++) {
        width += glyph_width(strokes_of(*text)) + GLYPH_GAP;
    }
    return width * height / CAPITAL;
}

struct point {
    double x, y;
};

static struct point point_of(const char *stroke, size_t i)
{
    return (struct point){stroke[2 * i] - 'a', stroke[2 * i + 1] - 'a'};
}

static struct point between(struct point a, struct point b, double share)
{
    return (struct point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

static void add_stroke(cairo_t *cairo, const char *stroke, size_t count)
{
    struct point at = point_of(stroke, 0);
    cairo_move_to(cairo, at.x, at.y);
    for (size_t i = 1; i + 1 < count; i++) {
        const struct point control = point_of(stroke, i), next = point_of(stroke, i + 1);
        const struct point end = i + 2 < count ? between(control, next, 0.5) : next;
        const struct point first = between(at, control, 2.0 / 3),
                           second = between(end, control, 2.0 / 3);
        cairo_curve_to(cairo, first.x, first.y, second.x, second.y, end.x, end.y);
        at = end;
    }
    if (count == 2) {
        at = point_of(stroke, 1);
        cairo_line_to(cairo, at.x, at.y);
    }
}

static void add_glyph(cairo_t *cairo, const char *strokes)
{
    while (*strokes) {
        const size_t letters = strcspn(strokes, " ");
        add_stroke(cairo, strokes, letters / 2);
        strokes += letters;
        strokes += *strokes == ' ';
    }
}

/* Draws a line in white. (x,y): the upper left corner of its first capital; `g` and its like reach
 * a third of the height below the line. There are digits, small letters, A, B and . , - = < > / %;
 * other characters are blanks. */
static void draw_text(cairo_t *cairo, const char *text, double x, double y, double height)
{
    const double unit = height / CAPITAL, line = height / BOLD;
    cairo_save(cairo);
    cairo_translate(cairo, x, y);
    cairo_scale(cairo, unit, unit);
    cairo_new_path(cairo);
    for (; *text; text++) {
        const char *strokes = strokes_of(*text);
        add_glyph(cairo, strokes);
        cairo_translate(cairo, glyph_width(strokes) + GLYPH_GAP, 0);
    }
    cairo_restore(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, line > 1 ? line : 1);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
}

/* --- keys: wheels are computed pixel by pixel; cairo draws ramps and labels */

#define SIDE_SHARE 8.0           /* the picture's shorter side has this many times the key's */
#define RAMP_SCALE 1.25          /* ramps are larger: they are flat, with small labels */
#define SIDE_MIN 20.0            /* pixels; with GPUME_OVERLAY_KEY_ON keys are at least so large */
#define SIDE_READABLE 34.0       /* pixels; with GPUME_OVERLAY_KEY_AUTO smaller keys are omitted */
#define SIDE_MAX 200.0           /* pixels */
#define TITLE 1.25               /* lines that a ramp's title takes; letters reach below theirs */
#define COVERED_SHARE 40u        /* with KEY_AUTO a key hides less than one block in this many */
#define LABELS_MIN SIDE_READABLE /* pixels; smaller keys have no labels */
#define STRIP_SHARE 0.36         /* of a wheel's side: the height of the label below it */

/* --- wheels */

/* How much of a pixel lies inside a circle, by the distance of its centre from the circle's.
 */
static double share_inside(double radius, double distance)
{
    const double share = radius - distance + 0.5;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* One pixel of a wheel of that radius, at (x,y) from its centre. */
static uint32_t wheel_pixel(enum gpume_overlay_style style, double radius, double x, double y)
{
    const double distance = sqrt(x * x + y * y), rim = 0.93 * radius;
    const double ground = 0.6 * share_inside(radius, distance);
    double share = share_inside(rim, distance);
    struct gpume_colour colour;
    if (style == GPUME_OVERLAY_FLOW) {
        colour = gpume_colour_of_motion(x / rim, y / rim);
    } else {
        colour = gpume_colour_of_direction(x, y);
        share *= 1 - share_inside(0.42 * radius, distance);
    }
    const double alpha = share + (1 - share) * ground;
    const uint8_t bytes[] = {colour.r, colour.g, colour.b};
    uint32_t pixel = (uint32_t)(alpha * 255 + 0.5);
    for (int i = 0; i < 3; i++) { /* over black, then premultiplied */
        pixel = pixel << 8 | (uint32_t)((uint8_t)(bytes[i] * share + 0.5) * alpha + 0.5);
    }
    return pixel;
}

/* Below a wheel: the motion that its rim shows, on dark ground. pixels: of the wheel and the strip.
 */
static bool label_wheel(uint32_t *pixels, int side, int strip, double flow_max)
{
    char text[32];
    snprintf(text, sizeof(text), "%g px", flow_max);
    const int stride = side * (int)sizeof(*pixels);
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, CAIRO_FORMAT_ARGB32, side, side + strip, stride);
    cairo_t *cairo = cairo_create(surface);
    const double height = strip * 0.5, width = text_width(text, height);
    const double pad = strip * 0.25, left = (side - width) / 2;
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.6);
    cairo_rectangle(
        cairo, floor(left - pad), side + strip * 0.1, ceil(width + 2 * pad), strip * 0.9);
    cairo_fill(cairo);
    draw_text(cairo, text, left, side + strip * 0.3, height);
    cairo_surface_flush(surface);
    const bool drawn = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return drawn;
}

/* flow_max: 0 for no label. */
static struct gpume_sprite *make_wheel(
    enum gpume_overlay_style style, int side, int margin, double flow_max)
{
    const int strip = flow_max > 0 ? (int)(STRIP_SHARE * side) : 0, height = side + strip;
    uint32_t *pixels = calloc((size_t)side * (size_t)height, sizeof(*pixels));
    if (!pixels) {
        return NULL;
    }
    const double radius = side / 2.0;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            pixels[y * side + x] = wheel_pixel(style, radius, x + 0.5 - radius, y + 0.5 - radius);
        }
    }
    struct gpume_sprite *sprite = NULL;
    if (strip == 0 || label_wheel(pixels, side, strip, flow_max)) {
        sprite = sprite_cut(
            pixels, side * (int)sizeof(*pixels), side, height, side + margin, height + margin);
    }
    free(pixels);
    return sprite;
}

/* --- ramps */

/* What a ramp shows, in words above it, and the labels below it, at fractions of its width. */
struct ramp {
    const char *title;
    char labels[5][24];
    double places[5];
    int count;
};

/* label: the height of its digits, 0 where there are none. */
static void draw_key_ramp(
    cairo_t *cairo, const struct ramp *ramp, int width, int height, double pad, double label)
{
    const double inner = width - 2 * pad, line = label > 0 ? label + pad : 0;
    const double bar = height - 2 * pad - TITLE * line - line;
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.6);
    cairo_paint(cairo);
    for (int x = 0; x < (int)inner; x++) {
        const struct gpume_colour colour = gpume_colour_of_heat((x + 0.5) / inner);
        cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
        cairo_rectangle(cairo, floor(pad) + x, floor(pad + TITLE * line), 1, floor(bar));
        cairo_fill(cairo);
    }
    if (label > 0) {
        draw_text(cairo, ramp->title, pad, pad, label);
    }
    for (int i = 0; i < ramp->count; i++) {
        const double text = text_width(ramp->labels[i], label);
        const double left = pad + ramp->places[i] * (inner - text);
        draw_text(cairo, ramp->labels[i], left, height - pad - label, label);
    }
}

static uint64_t blocks_of(const struct gpume_overlay_options *options)
{
    return gpume_div_up(options->width, options->block_w) *
           gpume_div_up(options->height, options->block_h);
}

static struct ramp ramp_of(const struct gpume_overlay_options *options)
{
    struct ramp ramp = {"rank by cost", {"last", "0"}, {0, 1}, 2};
    if (options->look.style == GPUME_OVERLAY_CONFIDENCE) {
        return (struct ramp){"confidence", {"unsure", "sure"}, {0, 1}, 2};
    }
    if (options->look.style == GPUME_OVERLAY_COST || options->look.style == GPUME_OVERLAY_RETURN) {
        const bool cost = options->look.style == GPUME_OVERLAY_COST;
        const double full = cost ? GPUME_COLOUR_COST_FULL : GPUME_OVERLAY_RETURN_FULL;
        ramp = (struct ramp){cost ? "cost per pixel" : "return, pixels",
            .places = {0, 0.25, 0.5, 0.75, 1}, .count = 5};
        for (int i = 0; i < ramp.count; i++) {
            snprintf(ramp.labels[i], sizeof(ramp.labels[i]), "%.0f",
                full * ramp.places[i] * ramp.places[i]);
        }
    } else if (!options->parts) { /* else their number differs from frame to frame */
        snprintf(ramp.labels[0], sizeof(ramp.labels[0]), "%" PRIu64, blocks_of(options) - 1);
    }
    return ramp;
}

static struct gpume_sprite *make_ramp(
    const struct gpume_overlay_options *options, double side, int margin)
{
    const struct ramp ramp = side >= LABELS_MIN ? ramp_of(options) : (struct ramp){.count = 0};
    const double pad = side / 24 > 2 ? side / 24 : 2;
    const double label = ramp.count > 0 ? 0.11 * side : 0;
    const double bar = ramp.count > 0 ? 0.26 * side : 0.3 * side;
    const int width = (int)(1.8 * side);
    const int height = (int)(bar + (ramp.count > 0 ? (1 + TITLE) * (label + pad) : 0));
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* cairo holds a reference */
    draw_key_ramp(cairo, &ramp, width, height, pad, label);
    return sprite_end(cairo, width + margin, height + margin);
}

/* --- when and how large */

/* How many cells in a row of that many pixels have their centre, where the mark is, within reach of
 * the row's end. */
static uint64_t hidden_cells(uint64_t pixels, uint64_t cell, uint64_t reach)
{
    const uint64_t all = gpume_div_up(pixels, cell);
    const uint64_t seen = pixels > reach ? (pixels - reach + cell / 2) / cell : 0;
    return all > seen ? all - seen : 0;
}

/* Whether the key leaves nearly all blocks visible. */
static bool covers_little(
    const struct gpume_sprite *sprite, const struct gpume_overlay_options *options)
{
    const uint64_t scale = options->look.scale;
    const uint64_t across = hidden_cells(
        options->width * scale, options->block_w * scale, (uint64_t) - (int64_t)sprite->left);
    const uint64_t down = hidden_cells(
        options->height * scale, options->block_h * scale, (uint64_t) - (int64_t)sprite->top);
    const uint64_t all = blocks_of(options);
    return across * down * COVERED_SHARE < all;
}

static struct gpume_sprite *make_empty(void)
{
    return sprite_cut(NULL, 0, 0, 0, 0, 0);
}

struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options, double flow_max)
{
    const enum gpume_overlay_style style = options->look.style;
    const bool is_wheel = style == GPUME_OVERLAY_ARROWS || style == GPUME_OVERLAY_FLOW;
    const uint64_t shorter = gpume_min_u64(options->width, options->height) * options->look.scale;
    const bool wanted = options->look.key == GPUME_OVERLAY_KEY_ON;
    double side = (double)shorter / SIDE_SHARE;
    side = side < SIDE_MAX ? side : SIDE_MAX;
    side = wanted && side < SIDE_MIN ? SIDE_MIN : side;
    if (options->look.key == GPUME_OVERLAY_KEY_OFF || (side < SIDE_READABLE && !wanted)) {
        return make_empty();
    }
    const int margin = (int)(side / 10) + 2;
    const bool labelled = style == GPUME_OVERLAY_FLOW && flow_max > 0 && side >= LABELS_MIN;
    struct gpume_sprite *sprite =
        is_wheel ? make_wheel(style, (int)side, margin, labelled ? flow_max : 0)
                 : make_ramp(options, RAMP_SCALE * side, margin);
    if (sprite && !wanted && !covers_little(sprite, options)) {
        free(sprite);
        return make_empty();
    }
    return sprite;
}

/* --- legends: a key in words */

#define TEXT_SHARE 55.0 /* the picture's shorter side has this many heights of a letter */
#define TEXT_MIN 8.0    /* pixels */
#define TEXT_MAX 30.0   /* pixels */
#define LEGEND_LINE 1.9 /* heights from a row to the next */
#define LEGEND_RAMP 3.0 /* heights: the width of a ramp */
#define LEGEND_PAD 0.8  /* heights around all, and from a ramp to its words */

static void draw_legend_ramp(
    cairo_t *cairo, const struct gpume_legend_row *row, double x, double y, double text)
{
    cairo_pattern_t *ramp = cairo_pattern_create_linear(x, y, x + LEGEND_RAMP * text, y);
    cairo_pattern_add_color_stop_rgb(
        ramp, 0, row->from.r / 255.0, row->from.g / 255.0, row->from.b / 255.0);
    cairo_pattern_add_color_stop_rgb(
        ramp, 1, row->to.r / 255.0, row->to.g / 255.0, row->to.b / 255.0);
    cairo_set_source(cairo, ramp);
    cairo_pattern_destroy(ramp); /* cairo holds a reference */
    cairo_rectangle(cairo, x, y - 0.15 * text, LEGEND_RAMP * text, 1.3 * text);
    cairo_fill(cairo);
}

static struct gpume_sprite *draw_legend(
    const struct gpume_legend_row *rows, size_t count, int width, int height, double text)
{
    const int margin = (int)text;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* cairo holds a reference */
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.7);
    cairo_paint(cairo);
    for (size_t i = 0; i < count; i++) {
        const double x = LEGEND_PAD * text, y = (LEGEND_PAD + LEGEND_LINE * (double)i) * text;
        if (!rows[i].plain) {
            draw_legend_ramp(cairo, &rows[i], x, y, text);
        }
        const double words = rows[i].plain ? x : x + (LEGEND_RAMP + LEGEND_PAD) * text;
        draw_text(cairo, rows[i].text, words, y, text);
    }
    return sprite_end(cairo, width + margin, height + margin);
}

struct gpume_sprite *gpume_legend_create(const struct gpume_legend_row *rows, size_t count,
    uint32_t width, uint32_t height, enum gpume_overlay_key key)
{
    const double shorter = width < height ? width : height;
    const double wanted = floor(shorter / TEXT_SHARE);
    const double text = fmin(fmax(wanted, TEXT_MIN), TEXT_MAX);
    double words = 0;
    for (size_t i = 0; i < count; i++) {
        const double before = rows[i].plain ? 0 : (LEGEND_RAMP + LEGEND_PAD) * text;
        words = fmax(words, before + text_width(rows[i].text, text));
    }
    const double across = ceil(words + 2 * LEGEND_PAD * text);
    const double down = ceil((LEGEND_LINE * ((double)count - 1) + 1.2 + 2 * LEGEND_PAD) * text);
    const bool fits = across * 3 <= width && down * 3 <= height;
    if (key == GPUME_OVERLAY_KEY_OFF || (key == GPUME_OVERLAY_KEY_AUTO && !fits)) {
        return sprite_cut(NULL, 0, 0, 0, 0, 0);
    }
    return draw_legend(rows, count, (int)across, (int)down, text);
}
