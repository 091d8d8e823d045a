/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small drawings with transparency, drawn once by cairo and then copied to many places of a picture
 * of R, G, B bytes. One thread per sprite.
 */
#ifndef GPUME_DRAW_SPRITE_H
#define GPUME_DRAW_SPRITE_H

#include "draw/colours.h"
#include "gpume/gpume.h"

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

/* The pixels of a cairo surface, cropped to those that are visible. stride: bytes. */
struct gpume_sprite *gpume_sprite_cut(
    const void *argb, int stride, int width, int height, int origin_x, int origin_y);

/* The drawing on an image surface of 32 bits, as gpume_sprite_cut makes it; destroys *cairo. NULL:
 * out of memory. */
struct gpume_sprite *gpume_sprite_end(struct _cairo *cairo, int origin_x, int origin_y);

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

#endif
