/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrows of true length, drawn straight into a picture of R, G, B bytes: they differ by fractions
 * of a pixel and may cross a whole picture, so none is kept. Pure functions, any thread. */
#ifndef GPUME_DRAW_ARROW_H
#define GPUME_DRAW_ARROW_H

#include "draw/colours.h"
#include "gpume/gpume.h"

struct gpume_arrow {
    double x, y;   /* its tip, in pixels of the picture */
    double dx, dy; /* from its tail to its tip; not (0,0) */
    double cell;   /* pixels from one arrow to the next: decides how bold it is */
    struct gpume_colour colour;
};

/* Clipped to the picture. A motion of less than the head's length is a dot with a tail. */
void gpume_arrow_put(const struct gpume_arrow *arrow, const struct gpume_plane *rgb);

#endif
