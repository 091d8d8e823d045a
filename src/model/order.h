/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tie rule, once for all CPU code; shaders/search/match.comp has the same order as a number.
 */
#ifndef GPUME_MODEL_ORDER_H
#define GPUME_MODEL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_candidate {
    uint32_t cost;
    int32_t dx, dy;
};

/* Does a win over b? Smallest cost; then (0,0); then the smallest dy; then the smallest dx. */
static inline bool gpume_candidate_wins(struct gpume_candidate a, struct gpume_candidate b)
{
    if (a.cost != b.cost) {
        return a.cost < b.cost;
    }
    bool a_zero = a.dx == 0 && a.dy == 0, b_zero = b.dx == 0 && b.dy == 0;
    if (a_zero != b_zero) {
        return a_zero;
    }
    return a.dy != b.dy ? a.dy < b.dy : a.dx < b.dx;
}

#endif
