/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small drawings with transparency, made once by cairo and then put on many places of a picture of
 * R, G, B bytes. One thread a sprite.
 */
#ifndef GPUME_DRAW_SPRITE_H
#define GPUME_DRAW_SPRITE_H

#include "draw/colours.h"
#include "gpume/gpume.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_sprite {
    int32_t left, top;      /* of the first pixel, from the sprite's origin */
    uint32_t width, height; /* of what is not transparent; may be 0 */
    uint32_t pixels[];      /* alpha, red, green, blue from the highest byte; premultiplied */
};

/* Memory of the sprite alone. */
size_t gpume_sprite_bytes(const struct gpume_sprite *sprite);

/* An arrow with its middle at the origin, towards (x,y), which is not (0,0), at home in a cell that
 * many pixels wide; length: 0 to 1, of what a cell can hold. NULL: out of memory. free() it. */
struct gpume_sprite *gpume_sprite_arrow(
    double cell, double x, double y, double length, struct gpume_colour colour);

/* The mark of a block that has not moved. */
struct gpume_sprite *gpume_sprite_dot(double cell);

/* A cairo surface's worth of pixels, cut to what is seen. stride in bytes. */
struct gpume_sprite *gpume_sprite_cut(
    const void *argb, int stride, int width, int height, int origin_x, int origin_y);

/* Over the picture, the origin at (x,y); what lies outside is left out. */
void gpume_sprite_put(
    const struct gpume_sprite *sprite, const struct gpume_plane *rgb, int64_t x, int64_t y);

#endif
