/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw/colours.h"

#include <math.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const double pi = 3.14159265358979323846;

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
    /* OKLCH (Ottosson, "A perceptual color space for image processing", 2020) in sRGB: lightness
     * 0.76, hues 29, 39, ... 379 degrees, and the largest chroma up to 0.2 that sRGB has. Red
     * points to the right, and hues go on clockwise, as on the wheel of flow. */
    static const uint8_t hues[36][3] = {{0xff, 0x8b, 0x7b}, {0xff, 0x8d, 0x67}, {0xff, 0x8f, 0x4e},
        {0xff, 0x91, 0x1e}, {0xf4, 0x9a, 0x00}, {0xe6, 0xa3, 0x00}, {0xd9, 0xaa, 0x00},
        {0xca, 0xb1, 0x00}, {0xba, 0xb8, 0x00}, {0xa6, 0xc0, 0x00}, {0x88, 0xc8, 0x08},
        {0x65, 0xce, 0x43}, {0x2e, 0xd2, 0x64}, {0x00, 0xd1, 0x87}, {0x00, 0xcf, 0xa0},
        {0x00, 0xcd, 0xb3}, {0x00, 0xcb, 0xc2}, {0x00, 0xc9, 0xd0}, {0x00, 0xc7, 0xde},
        {0x00, 0xc5, 0xec}, {0x00, 0xc2, 0xfc}, {0x4d, 0xbc, 0xff}, {0x6c, 0xb7, 0xff},
        {0x81, 0xb2, 0xff}, {0x91, 0xad, 0xff}, {0xa0, 0xa8, 0xff}, {0xaf, 0xa2, 0xff},
        {0xbe, 0x9b, 0xff}, {0xcf, 0x91, 0xff}, {0xe5, 0x82, 0xff}, {0xf4, 0x7c, 0xee},
        {0xff, 0x77, 0xda}, {0xff, 0x7e, 0xc2}, {0xff, 0x83, 0xaf}, {0xff, 0x86, 0x9d},
        {0xff, 0x89, 0x8d}};
    const size_t count = COUNT(hues);
    if (x == 0 && y == 0) {
        return (struct gpume_colour){245, 245, 245};
    }
    const double position = (atan2(y, x) / (2 * pi) + 1) * (double)count; /* 0.5 to 1.5 rounds */
    const uint8_t *from = hues[(size_t)position % count],
                  *to = hues[((size_t)position + 1) % count];
    const double share = position - floor(position);
    return (struct gpume_colour){
        byte_of(from[0] + share * (to[0] - from[0])),
        byte_of(from[1] + share * (to[1] - from[1])),
        byte_of(from[2] + share * (to[2] - from[2])),
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
