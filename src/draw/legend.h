/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small drawings with transparency, drawn once by cairo and then copied to many places of a picture
 * of R, G, B bytes; and keys to the colours of pictures, which are such drawings. One thread for
 * each.
 */
#ifndef GPUME_DRAW_LEGEND_H
#define GPUME_DRAW_LEGEND_H

#include "draw/colours.h"
#include "draw/overlay.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
