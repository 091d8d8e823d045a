/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/angular.h"

#include <string.h>

enum { SIDE = 8, EDGE = 2 * SIDE };

/* Samples along an edge of the block, from the corner; those before it continue along the other
 * edge as an angle projects them. */
struct line {
    int16_t samples[SIDE + 1 + EDGE]; /* the corner is number SIDE */
};

/* The samples along one edge, counted from 1; `along` leads from one to the next. */
struct edge {
    const uint8_t *corner;
    ptrdiff_t along;
};

static struct line line_of(const struct edge *main)
{
    struct line line;
    for (ptrdiff_t i = 0; i <= EDGE; i++) {
        line.samples[SIDE + i] = main->corner[i * main->along];
    }
    return line;
}

/* Fills in what an angle below 0 sees of the other edge. inverse: 256 * 32 / -angle. */
static void project(struct line *line, const struct edge *other, ptrdiff_t angle, ptrdiff_t inverse)
{
    const ptrdiff_t count = (SIDE * -angle + 31) / 32;
    for (ptrdiff_t i = 1; i <= count && i <= SIDE; i++) {
        line->samples[SIDE - i] = other->corner[((i * inverse + 128) >> 8) * other->along];
    }
}

static gpume_eight load(const int16_t *at)
{
    gpume_eight v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static uint32_t satd_along(const struct gpume_rows *block, const struct line *line, ptrdiff_t angle)
{
    struct gpume_rows match;
    for (ptrdiff_t y = 0; y < SIDE; y++) {
        const ptrdiff_t place = (y + 1) * angle;
        const int16_t *at = line->samples + SIDE + 1 + (place >> 5);
        const int16_t fraction = (int16_t)(place & 31);
        const gpume_eight a = load(at), b = fraction ? load(at + 1) : a;
        match.row[y] = (a * (int16_t)(32 - fraction) + b * fraction + 16) >> 5;
    }
    return gpume_satd(block, &match);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t gpume_angular_satd(const struct gpume_rows *block, const uint8_t *at, ptrdiff_t stride)
{
    const struct edge above = {at - stride - 1, 1}, left = {at - stride - 1, stride};
    struct line line = line_of(&above);
    uint32_t best = smaller(satd_along(block, &line, 13), satd_along(block, &line, 32));
    project(&line, &left, -32, 256);
    best = smaller(best, satd_along(block, &line, -32));
    project(&line, &left, -13, 630);
    best = smaller(best, satd_along(block, &line, -13));
    /* from horizontal: the same with rows and columns exchanged, which keeps the SATD */
    struct gpume_rows turned = *block;
    gpume_transpose(&turned);
    line = line_of(&left);
    best = smaller(best, satd_along(&turned, &line, 13));
    project(&line, &above, -13, 630);
    return smaller(best, satd_along(&turned, &line, -13));
}
