/* SPDX-License-Identifier: BSD-2-Clause */
/* What colours mean on pictures of motion. Pure functions, any thread. */
#ifndef GPUME_DRAW_COLOURS_H
#define GPUME_DRAW_COLOURS_H

#include <stdint.h>

struct gpume_colour {
    uint8_t r, g, b;
};

/*
 * The Middlebury colour wheel (Baker et al., "A database and evaluation methodology for optical
 * flow", IJCV 92, 2011) at a motion of (x,y), y downwards: the hue is its direction, and white
 * turns into the full hue as its length goes from 0 to 1; longer ones count as 1.
 */
struct gpume_colour gpume_colour_of_motion(double x, double y);

/* The hue of a direction, never darker than reads well on a dark picture. (0,0): near white. */
struct gpume_colour gpume_colour_of_direction(double x, double y);

/* Of a cost a pixel, in steps of 8-bit samples: heat by the square root, which spreads the small
 * costs that most blocks have, full from GPUME_COLOUR_COST_FULL on. Over a frame in gray it takes
 * GPUME_COLOUR_COST_SHARE of 256. */
#define GPUME_COLOUR_COST_FULL 32u
#define GPUME_COLOUR_COST_SHARE 160u
struct gpume_colour gpume_colour_of_cost(double steps);

/* Heat 0 to 1, from black over purple and orange to light yellow: growing in lightness, for any
 * eye. Values outside count as the nearest. */
struct gpume_colour gpume_colour_of_heat(double heat);

#endif
