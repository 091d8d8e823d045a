/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of pictures, small drawings that are copied to many places, and keys to the colours.
 */
#ifndef GPUME_DRAW_LEGEND_H
#define GPUME_DRAW_LEGEND_H

#include "draw/overlay.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Colours for motion, costs and ranks. Pure functions, any thread. */

struct gpume_colour {
    uint8_t r, g, b;
};

/*
 * The Middlebury colour wheel (Baker et al., "A database and evaluation methodology for optical
 * flow", IJCV 92, 2011) for a motion of (x,y), y downwards: the hue shows the direction, and the
 * saturation the length, from white at 0 to the full hue at 1 and beyond.
 */
struct gpume_colour gpume_colour_of_motion(double x, double y);

/* The hue of a direction. All have the same lightness, 0.76 in OKLCH, so that no direction stands
 * out or drowns: with a dark rim they are readable over any picture. (0,0): near white. */
struct gpume_colour gpume_colour_of_direction(double x, double y);

/* The colour of a cost per pixel, scaled to 8-bit samples: heat by the square root, which spreads
 * the small costs of most blocks, and is full from GPUME_COLOUR_COST_FULL on. Blended over a gray
 * frame with a weight of GPUME_COLOUR_COST_SHARE in 256. */
#define GPUME_COLOUR_COST_FULL 32u
#define GPUME_COLOUR_COST_SHARE 160u
struct gpume_colour gpume_colour_of_cost(double steps);

/* The luma of R, G, B bytes, by ITU-R BT.601. */
static inline uint8_t gpume_colour_gray(const uint8_t *rgb)
{
    return (uint8_t)((77u * rgb[0] + 150u * rgb[1] + 29u * rgb[2]) >> 8);
}

struct gpume_rectangle {
    uint32_t x, y, width, height; /* pixels */
};

/* Lays the colour over a part of a picture of R, G, B bytes, with this weight in 256. */
void gpume_colour_blend(const struct gpume_plane *rgb, const struct gpume_rectangle *place,
    struct gpume_colour colour, unsigned share);

/* Heat from 0 to 1, clamped: black, purple, orange, light yellow. Lightness rises monotonically, so
 * that the scale also works for the colour-blind. */
struct gpume_colour gpume_colour_of_heat(double heat);

/*
 * --- Small drawings with transparency, drawn once by cairo and then copied to many places of a
 * picture of R, G, B bytes; and keys to the colours of pictures, which are such drawings. One
 * thread for each.
 */

struct _cairo;

struct gpume_sprite {
    int32_t left, top;      /* of the first pixel, relative to the origin */
    uint32_t width, height; /* of the part that is not transparent; may be 0 */
    uint32_t pixels[];      /* alpha, red, green, blue from the highest byte; premultiplied */
};

/* The memory that the sprite takes. */
size_t gpume_sprite_bytes(const struct gpume_sprite *sprite);

/* An arrow with its middle at the origin, pointing to (x,y), which is not (0,0), for a cell of that
 * many pixels. length: from 0 to 1, the longest that fits. width: pixels, of the shaft; 0: by the
 * cell. NULL: out of memory. Free with free(). */
struct gpume_sprite *gpume_sprite_arrow(
    double cell, double width, double x, double y, double length, struct gpume_colour colour);

/* The mark of a block with the vector (0,0). */
struct gpume_sprite *gpume_sprite_dot(double cell);

/* Blends the sprite over the picture, its origin at (x,y), clipped to the picture. */
void gpume_sprite_put(
    const struct gpume_sprite *sprite, const struct gpume_plane *rgb, int64_t x, int64_t y);

/* --- arrows of true length, drawn straight into a picture of R, G, B bytes: they differ by
 * fractions of a pixel and may cross a whole picture, so none is kept. Pure functions, any thread.
 */

struct gpume_arrow {
    double x, y;   /* its tip, in pixels of the picture */
    double dx, dy; /* from its tail to its tip; not (0,0) */
    double cell;   /* pixels from one arrow to the next: decides how bold it is */
    double width;  /* pixels, of the shaft; 0: by the cell */
    struct gpume_colour colour;
};

/* Clipped to the picture. A motion of less than the head's length is a dot with a tail. */
void gpume_arrow_put(const struct gpume_arrow *arrow, const struct gpume_plane *rgb);

/* --- keys in colours, for overlays */

/* The key for pictures and blocks of these sizes times options->look.scale; its origin belongs in
 * the picture's lower right corner. Empty if no key is to be drawn. flow_max: pixels of motion at
 * the rim of the wheel of flow, which are written below it; no more than 0: not written. NULL: out
 * of memory. */
struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options, double flow_max);

/* --- keys in words, for pictures with few kinds of colours */

/* A ramp of colours and what it means, in letters that it draws itself: digits, small letters, A, B
 * and . , - = < > / %. */
struct gpume_legend_row {
    struct gpume_colour from, to;
    bool plain; /* words alone */
    const char *text;
};

/* The legend for pictures of this size; its origin belongs in the picture's lower right corner.
 * With AUTO it is empty where it would take more than a third of the width or height, or letters
 * would be too small. NULL: out of memory. */
struct gpume_sprite *gpume_legend_create(const struct gpume_legend_row *rows, size_t count,
    uint32_t width, uint32_t height, enum gpume_overlay_key key);

#endif
