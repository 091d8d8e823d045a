/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tie rule, once: C and GLSL both read this file. Among candidates of equal cost (0,0) wins,
 * then the smallest dy, then the smallest dx.
 */
#ifndef GPUME_MODEL_ORDER_H
#define GPUME_MODEL_ORDER_H

#ifdef GL_core_profile
#define GPUME_ORDER_FUNCTION uint
#define GPUME_ORDER_NUMBER(value) uint(value)
#else
#include <stdbool.h>
#include <stdint.h>
#define GPUME_ORDER_FUNCTION static inline uint32_t
#define GPUME_ORDER_NUMBER(value) ((uint32_t)(value))
#endif

/* The place of a vector in that order, among those of a window: at most 4097^2 for the
 * largest, in quarter pixels. */
GPUME_ORDER_FUNCTION gpume_order(int dx, int dy, int window_x, int window_y)
{
    int index = (dy + window_y) * (2 * window_x + 1) + dx + window_x;
    return dx == 0 && dy == 0 ? 0u : 1u + GPUME_ORDER_NUMBER(index);
}

#ifndef GL_core_profile
struct gpume_candidate {
    uint32_t cost;
    int32_t dx, dy;
};

#define GPUME_ORDER_WINDOW                                                                         \
    2048 /* the largest, in quarter pixels: vectors have the same order in every window */

/* Whether a wins over b. */
static inline bool gpume_candidate_wins(struct gpume_candidate a, struct gpume_candidate b)
{
    return a.cost != b.cost ? a.cost < b.cost
                            : gpume_order(a.dx, a.dy, GPUME_ORDER_WINDOW, GPUME_ORDER_WINDOW) <
                                  gpume_order(b.dx, b.dy, GPUME_ORDER_WINDOW, GPUME_ORDER_WINDOW);
}
#endif

#endif
