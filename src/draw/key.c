/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wheels are computed pixel by pixel, ramps and figures drawn by cairo. Figures are strokes of our
 * own: a font would have to be there, and would differ from machine to machine.
 */
#include "draw/key.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <cairo.h>

#define SIDE_SHARE 8.0            /* of the picture's shorter side, one in so many is the key's */
#define RAMP_SCALE 1.25           /* ramps are flat, and their figures small */
#define SIDE_MIN 20.0             /* pixels of a key, so that there is something to be seen */
#define SIDE_READABLE 34.0        /* from here on it can be read */
#define SIDE_MAX 200.0            /* beyond, it only covers the picture */
#define COVERED_SHARE 40u         /* fewer blocks than one in so many may a key hide by itself */
#define FIGURES_MIN SIDE_READABLE /* a ramp's side from which its figures can be read */

/* --- figures */

/* Which of the seven strokes a digit has: top, upper left, upper right, middle, lower left, lower
 * right, bottom, from the lowest bit. */
static const uint8_t strokes_of[10] = {0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f};

static const double strokes[7][4] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}, {0, 1, 1, 1},
    {0, 1, 0, 2}, {1, 1, 1, 2}, {0, 2, 1, 2}};

static const double figure_width = 0.5, figure_step = 0.85; /* of the height */

static double text_width(const char *text, double height)
{
    double width = figure_width - figure_step;
    for (; *text; text++) {
        width += figure_step;
    }
    return width * height;
}

/* Digits, from a upper left corner; whatever else is left blank. */
static void draw_text(cairo_t *cairo, const char *text, double x, double y, double height)
{
    for (; *text; text++) {
        const unsigned digit = (unsigned)*text - '0';
        const double shift = digit == 1 ? -height * figure_width / 2 : 0; /* to the middle */
        for (unsigned i = 0; i < 7 && digit < 10; i++) {
            if (strokes_of[digit] >> i & 1) {
                const double *const s = strokes[i];
                cairo_move_to(
                    cairo, x + shift + s[0] * height * figure_width, y + s[1] * height / 2);
                cairo_line_to(
                    cairo, x + shift + s[2] * height * figure_width, y + s[3] * height / 2);
            }
        }
        x += height * figure_step;
    }
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, height / 7 > 1 ? height / 7 : 1);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_stroke(cairo);
}

/* --- wheels */

static uint32_t premultiplied(struct gpume_colour colour, double alpha)
{
    const uint32_t a = (uint32_t)(alpha * 255 + 0.5), r = (uint32_t)(colour.r * alpha + 0.5),
                   g = (uint32_t)(colour.g * alpha + 0.5), b = (uint32_t)(colour.b * alpha + 0.5);
    return a << 24 | r << 16 | g << 8 | b;
}

/* How much of a pixel lies inside a circle, by its middle's distance from the edge. */
static double inside(double radius, double distance)
{
    const double share = radius - distance + 0.5;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* One pixel of a wheel of that radius, at (x,y) from its middle. */
static uint32_t wheel_pixel(enum gpume_overlay_style style, double radius, double x, double y)
{
    const double distance = sqrt(x * x + y * y), rim = 0.93 * radius;
    const double ground = 0.6 * inside(radius, distance);
    double share = inside(rim, distance);
    struct gpume_colour colour;
    if (style == GPUME_OVERLAY_FLOW) {
        colour = gpume_colour_of_motion(x / rim, y / rim);
    } else {
        colour = gpume_colour_of_direction(x, y);
        share *= 1 - inside(0.42 * radius, distance);
    }
    return premultiplied((struct gpume_colour){(uint8_t)(colour.r * share + 0.5),
                             (uint8_t)(colour.g * share + 0.5), (uint8_t)(colour.b * share + 0.5)},
        share + (1 - share) * ground);
}

static struct gpume_sprite *make_wheel(enum gpume_overlay_style style, int side, int margin)
{
    uint32_t *pixels = malloc((size_t)side * (size_t)side * sizeof(*pixels));
    if (!pixels) {
        return NULL;
    }
    const double radius = side / 2.0;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            pixels[y * side + x] = wheel_pixel(style, radius, x + 0.5 - radius, y + 0.5 - radius);
        }
    }
    struct gpume_sprite *sprite = gpume_sprite_cut(
        pixels, side * (int)sizeof(*pixels), side, side, side + margin, side + margin);
    free(pixels);
    return sprite;
}

/* --- ramps */

/* The colours of a ramp from left to right, and figures below it at shares of its width. */
struct ramp {
    char figures[5][24];
    double places[5];
    int count;
};

static void draw_ramp(cairo_t *cairo, const struct ramp *ramp, int width, int height, double pad)
{
    const double inner = width - 2 * pad, figure = ramp->count > 0 ? height * 0.26 : 0;
    const double bar = height - 2 * pad - (ramp->count > 0 ? figure + pad : 0);
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.6);
    cairo_paint(cairo);
    for (int x = 0; x < (int)inner; x++) {
        const struct gpume_colour colour = gpume_colour_of_heat((x + 0.5) / inner);
        cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
        cairo_rectangle(cairo, floor(pad) + x, floor(pad), 1, floor(bar));
        cairo_fill(cairo);
    }
    for (int i = 0; i < ramp->count; i++) {
        const double text = text_width(ramp->figures[i], figure);
        const double left = pad + ramp->places[i] * (inner - text);
        draw_text(cairo, ramp->figures[i], left, height - pad - figure, figure);
    }
}

static void cost_figures(struct ramp *ramp)
{
    ramp->count = 5;
    for (int i = 0; i < 5; i++) {
        ramp->places[i] = i / 4.0;
        snprintf(ramp->figures[i], sizeof(ramp->figures[i]), "%.0f",
            GPUME_COLOUR_COST_FULL * ramp->places[i] * ramp->places[i]);
    }
}

static void rank_figures(struct ramp *ramp, uint64_t blocks)
{
    ramp->count = 2;
    ramp->places[1] = 1;
    snprintf(ramp->figures[0], sizeof(ramp->figures[0]), "%" PRIu64, blocks - 1);
    snprintf(ramp->figures[1], sizeof(ramp->figures[1]), "0");
}

static struct gpume_sprite *make_ramp(
    enum gpume_overlay_style style, double side, int margin, uint64_t blocks)
{
    struct gpume_sprite *sprite = NULL;
    struct ramp ramp = {.count = 0};
    if (side >= FIGURES_MIN && style == GPUME_OVERLAY_COST) {
        cost_figures(&ramp);
    } else if (side >= FIGURES_MIN) {
        rank_figures(&ramp, blocks);
    }
    const double pad = side / 24 > 2 ? side / 24 : 2;
    const int width = (int)(1.8 * side), height = (int)(ramp.count > 0 ? side * 0.42 : side * 0.3);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cairo = cairo_create(surface);
    draw_ramp(cairo, &ramp, width, height, pad);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) == CAIRO_STATUS_SUCCESS) {
        sprite = gpume_sprite_cut(cairo_image_surface_get_data(surface),
            cairo_image_surface_get_stride(surface), width, height, width + margin,
            height + margin);
    }
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return sprite;
}

/* --- when and how large */

/* Blocks in a row of so many pixels whose middle, where their mark is, lies within reach of the
 * row's end. */
static uint64_t hidden(uint64_t pixels, uint64_t cell, uint64_t reach)
{
    const uint64_t all = (pixels + cell - 1) / cell;
    const uint64_t seen = pixels > reach ? (pixels - reach + cell / 2) / cell : 0;
    return all > seen ? all - seen : 0;
}

/* Does it leave nearly all blocks to be seen? */
static bool covers_little(
    const struct gpume_sprite *sprite, uint64_t width, uint64_t height, uint64_t cell)
{
    const uint64_t across = hidden(width, cell, (uint64_t) - (int64_t)sprite->left);
    const uint64_t down = hidden(height, cell, (uint64_t) - (int64_t)sprite->top);
    const uint64_t all = ((width + cell - 1) / cell) * ((height + cell - 1) / cell);
    return across * down * COVERED_SHARE < all;
}

static struct gpume_sprite *make_none(void)
{
    return gpume_sprite_cut(NULL, 0, 0, 0, 0, 0);
}

struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options)
{
    const enum gpume_overlay_style style = options->style;
    const bool is_wheel = style == GPUME_OVERLAY_ARROWS || style == GPUME_OVERLAY_FLOW;
    const uint64_t block = options->block, scale = options->scale;
    const uint64_t width = options->width * scale, height = options->height * scale;
    const uint64_t shorter = width < height ? width : height;
    const bool wanted = options->key == GPUME_OVERLAY_KEY_ON;
    double side = (double)shorter / SIDE_SHARE;
    side = side < SIDE_MAX ? side : SIDE_MAX;
    side = wanted && side < SIDE_MIN ? SIDE_MIN : side;
    if (options->key == GPUME_OVERLAY_KEY_OFF || (side < SIDE_READABLE && !wanted)) {
        return make_none();
    }
    const int margin = (int)(side / 10) + 2;
    const uint64_t across = (options->width + block - 1) / block;
    const uint64_t down = (options->height + block - 1) / block;
    struct gpume_sprite *sprite = is_wheel
                                      ? make_wheel(style, (int)side, margin)
                                      : make_ramp(style, RAMP_SCALE * side, margin, across * down);
    if (sprite && !wanted && !covers_little(sprite, width, height, block * scale)) {
        free(sprite);
        return make_none();
    }
    return sprite;
}
