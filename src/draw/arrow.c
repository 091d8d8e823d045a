/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every pixel near the arrow is coloured by its distance from the outline, which smooths the edges.
 * A thin shaft and a small head leave the frame visible where arrows overlap; the shaft fades
 * towards its tail, so that the grid of tips stands out.
 */
#include "draw/arrow.h"

#include <math.h>

#define RIM 0.9         /* pixels: the dark line around it */
#define RIM_ALPHA 0.6   /* of the rim */
#define TAIL_ALPHA 0.45 /* of the shaft's end; 1 at the tip */

/* Dimensions in pixels. Lengths are counted backwards from the tip. */
struct shape {
    double length, shaft; /* half of the shaft's width */
    double head, half;    /* length of the head and half of its width */
    double dot;           /* radius of a dot at the tip; 0: there is none */
};

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static struct shape shape_of(double length, double cell)
{
    const double width = clamp(0.45 + 0.05 * cell, 0.9, 5);
    struct shape shape = {
        .length = length,
        .shaft = width / 2,
        .head = 3.2 * width + 0.6,
        .half = 1.5 * width + 0.3,
    };
    if (length < shape.head) { /* a dot whose tail is as long as the motion */
        shape.dot = 0.8 * width + 0.2;
        shape.head = shape.half = 0;
    }
    return shape;
}

/* The distance from the outline of a point that lies `back` behind the tip and `aside` of the line;
 * negative inside. */
static double distance(const struct shape *shape, double back, double aside)
{
    const double begin = shape->head / 2; /* of the shaft: hidden by the head */
    const double past = back < begin           ? begin - back
                        : back > shape->length ? back - shape->length
                                               : 0;
    double least = sqrt(past * past + aside * aside) - shape->shaft;
    if (shape->dot > 0) {
        least = fmin(least, sqrt(back * back + aside * aside) - shape->dot);
    } else {
        const double side = sqrt(shape->head * shape->head + shape->half * shape->half);
        const double slant = (aside * shape->head - back * shape->half) / side;
        least = fmin(least, fmax(slant, back - shape->head));
    }
    return least;
}

static uint8_t mix(uint8_t below, double above, double share)
{
    return (uint8_t)(below + share * (above - below) + 0.5);
}

static void blend(uint8_t *pixel, struct gpume_colour colour, double share, double rim)
{
    const double dark = rim * (1 - share);
    pixel[0] = mix(mix(pixel[0], 0, dark), colour.r, share);
    pixel[1] = mix(mix(pixel[1], 0, dark), colour.g, share);
    pixel[2] = mix(mix(pixel[2], 0, dark), colour.b, share);
}

/* The whole numbers of a range that lie from 0 to limit - 1. */
struct span {
    int64_t first, end;
};

static struct span span_of(double low, double high, uint32_t limit)
{
    return (struct span){
        (int64_t)clamp(floor(low), 0, limit), (int64_t)clamp(ceil(high), 0, limit)};
}

/* Pixels of a row may be touched if the line passes within `reach` of them. */
static struct span columns_of(
    const struct gpume_arrow *arrow, double length, double reach, double y, uint32_t width)
{
    const double tail = arrow->x - arrow->dx;
    double low = fmin(arrow->x, tail) - reach, high = fmax(arrow->x, tail) + reach;
    if (fabs(arrow->dy) > 1e-6) {
        const double at = arrow->x + (y - arrow->y) * arrow->dx / arrow->dy;
        const double wide = reach * length / fabs(arrow->dy);
        low = fmax(low, at - wide);
        high = fmin(high, at + wide);
    }
    return span_of(low, high, width);
}

void gpume_arrow_put(const struct gpume_arrow *arrow, const struct gpume_plane *rgb)
{
    const double length = sqrt(arrow->dx * arrow->dx + arrow->dy * arrow->dy);
    const double along_x = arrow->dx / length, along_y = arrow->dy / length;
    const struct shape shape = shape_of(length, arrow->cell);
    const double reach = fmax(fmax(shape.shaft, shape.half), shape.dot) + RIM + 1;
    const double tail = arrow->y - arrow->dy;
    const struct span rows =
        span_of(fmin(arrow->y, tail) - reach, fmax(arrow->y, tail) + reach, rgb->height);
    for (int64_t y = rows.first; y < rows.end; y++) {
        const double below = (double)y + 0.5 - arrow->y;
        const struct span columns = columns_of(arrow, length, reach, (double)y + 0.5, rgb->width);
        uint8_t *row = (uint8_t *)rgb->data + (ptrdiff_t)y * rgb->stride;
        for (int64_t x = columns.first; x < columns.end; x++) {
            const double right = (double)x + 0.5 - arrow->x;
            const double back = -(right * along_x + below * along_y);
            const double aside = fabs(right * along_y - below * along_x);
            const double from = distance(&shape, back, aside);
            const double fade = 1 - (1 - TAIL_ALPHA) * clamp(back / length, 0, 1);
            if (from < RIM + 0.5) {
                blend(row + 3 * x, arrow->colour, fade * clamp(0.5 - from, 0, 1),
                    fade * RIM_ALPHA * clamp(0.5 + RIM - from, 0, 1));
            }
        }
    }
}
