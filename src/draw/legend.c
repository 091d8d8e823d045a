/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw/legend.h"

#include "draw/text.h"

#include <math.h>

#include <cairo.h>

#define TEXT_SHARE 55.0 /* the picture's shorter side has this many heights of a letter */
#define TEXT_MIN 8.0    /* pixels */
#define TEXT_MAX 30.0   /* pixels */
#define LINE 1.9        /* heights from a row to the next */
#define RAMP 3.0        /* heights: the width of a ramp */
#define PAD 0.8         /* heights around all, and from a ramp to its words */

static void draw_ramp(
    cairo_t *cairo, const struct gpume_legend_row *row, double x, double y, double text)
{
    cairo_pattern_t *ramp = cairo_pattern_create_linear(x, y, x + RAMP * text, y);
    cairo_pattern_add_color_stop_rgb(
        ramp, 0, row->from.r / 255.0, row->from.g / 255.0, row->from.b / 255.0);
    cairo_pattern_add_color_stop_rgb(
        ramp, 1, row->to.r / 255.0, row->to.g / 255.0, row->to.b / 255.0);
    cairo_set_source(cairo, ramp);
    cairo_pattern_destroy(ramp); /* cairo holds a reference */
    cairo_rectangle(cairo, x, y - 0.15 * text, RAMP * text, 1.3 * text);
    cairo_fill(cairo);
}

static struct gpume_sprite *draw(
    const struct gpume_legend_row *rows, size_t count, int width, int height, double text)
{
    const int margin = (int)text;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* cairo holds a reference */
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.7);
    cairo_paint(cairo);
    for (size_t i = 0; i < count; i++) {
        const double x = PAD * text, y = (PAD + LINE * (double)i) * text;
        if (!rows[i].plain) {
            draw_ramp(cairo, &rows[i], x, y, text);
        }
        const double words = rows[i].plain ? x : x + (RAMP + PAD) * text;
        gpume_text_draw(cairo, rows[i].text, words, y, text);
    }
    return gpume_sprite_end(cairo, width + margin, height + margin);
}

struct gpume_sprite *gpume_legend_create(const struct gpume_legend_row *rows, size_t count,
    uint32_t width, uint32_t height, enum gpume_overlay_key key)
{
    const double shorter = width < height ? width : height;
    const double wanted = floor(shorter / TEXT_SHARE);
    const double text = fmin(fmax(wanted, TEXT_MIN), TEXT_MAX);
    double words = 0;
    for (size_t i = 0; i < count; i++) {
        const double before = rows[i].plain ? 0 : (RAMP + PAD) * text;
        words = fmax(words, before + gpume_text_width(rows[i].text, text));
    }
    const double across = ceil(words + 2 * PAD * text);
    const double down = ceil((LINE * ((double)count - 1) + 1.2 + 2 * PAD) * text);
    const bool fits = across * 3 <= width && down * 3 <= height;
    if (key == GPUME_OVERLAY_KEY_OFF || (key == GPUME_OVERLAY_KEY_AUTO && !fits)) {
        return gpume_sprite_cut(NULL, 0, 0, 0, 0, 0);
    }
    return draw(rows, count, (int)across, (int)down, text);
}
