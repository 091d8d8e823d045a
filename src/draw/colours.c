/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw/colours.h"

#include <math.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const double pi = 3.14159265358979323846;

/* Least perceived lightness of an arrow's colour, 0 to 255: with a black outline it then stands out
 * from dark and from bright ground. */
static const double light_enough = 120;

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
    double hue[3];
    if (x == 0 && y == 0) {
        return (struct gpume_colour){245, 245, 245};
    }
    wheel(x, y, hue);
    const double light = 0.30 * hue[0] + 0.59 * hue[1] + 0.11 * hue[2];
    const double white = light < light_enough ? (light_enough - light) / (255 - light) : 0;
    return (struct gpume_colour){
        byte_of(hue[0] + white * (255 - hue[0])),
        byte_of(hue[1] + white * (255 - hue[1])),
        byte_of(hue[2] + white * (255 - hue[2])),
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
