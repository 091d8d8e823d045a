/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours for motion, costs and ranks. Pure functions, any thread. */
#ifndef GPUME_DRAW_COLOURS_H
#define GPUME_DRAW_COLOURS_H

#include <stdint.h>

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

/* Heat from 0 to 1, clamped: black, purple, orange, light yellow. Lightness rises monotonically, so
 * that the scale also works for the colour-blind. */
struct gpume_colour gpume_colour_of_heat(double heat);

#endif
