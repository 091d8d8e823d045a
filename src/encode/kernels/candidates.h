/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Candidates for a block's match, and which is best: what searches for whole pixels (whole.h) and
 * for quarters of them (refine.h) have in common. Candidates are compared with their block side by
 * side.
 */
#ifndef GPUME_ENCODE_KERNELS_CANDIDATES_H
#define GPUME_ENCODE_KERNELS_CANDIDATES_H

#include "encode/kernels/match.h"

#define LIMIT (4 * (int32_t)GPUME_HALF_WINDOW)

/* A candidate as a number: the better one is smaller. SAD or SATD, then (0,0), then dy, then dx,
 * which are in quarter pixels. */
static inline uint64_t rank_of(uint32_t difference, int32_t dx, int32_t dy)
{
    const uint64_t moves = (dx | dy) != 0;
    return (uint64_t)difference << 33 | moves << 32 | (uint64_t)(uint32_t)(dy + LIMIT) << 16 |
           (uint32_t)(dx + LIMIT);
}

static inline int32_t dx_of(uint64_t rank)
{
    return (int32_t)(rank & 0xffff) - LIMIT;
}

static inline int32_t dy_of(uint64_t rank)
{
    return (int32_t)(rank >> 16 & 0xffff) - LIMIT;
}

static inline struct gpume_vector vector_of(uint64_t rank)
{
    return (struct gpume_vector){(int16_t)dx_of(rank), (int16_t)dy_of(rank)};
}

/* A vector and its neighbours: three by three places from the upper left one on. */
#define PLACES 9u

static inline int32_t across(uint32_t place)
{
    return (int32_t)(place % 3) - 1;
}

static inline int32_t down(uint32_t place)
{
    return (int32_t)(place / 3) - 1;
}

/* The low bits of a candidate, which decide between equal differences: (0,0) comes first, then the
 * places in their order. The highest bit makes one outside the window worse than any inside, as
 * differences are at most 32640 and take the bits from 5 to 19. */
#define FIRST(place) (place)
#define LATER(place) (16u | (place))
#define OUTSIDE (1u << 31)

/* Of all places, `step` quarters of a pixel away. */
static inline const uint32_t *orders_of(
    struct gpume_vector vector, int32_t step, uint32_t other[PLACES])
{
    static const uint32_t far[PLACES] = {
        LATER(0), LATER(1), LATER(2), LATER(3), LATER(4), LATER(5), LATER(6), LATER(7), LATER(8)};
    static const uint32_t still[PLACES] = {
        LATER(0), LATER(1), LATER(2), LATER(3), FIRST(4), LATER(5), LATER(6), LATER(7), LATER(8)};
    const int32_t x = vector.dx < 0 ? -vector.dx : vector.dx;
    const int32_t y = vector.dy < 0 ? -vector.dy : vector.dy;
    const int32_t larger = x > y ? x : y;
    if (larger > step && larger + step <= LIMIT) {
        return far;
    }
    if (larger == 0) {
        return still;
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        const int32_t dx = vector.dx + across(i) * step, dy = vector.dy + down(i) * step;
        const bool inside = dx >= -LIMIT && dx <= LIMIT && dy >= -LIMIT && dy <= LIMIT;
        other[i] = !inside ? OUTSIDE : (dx | dy) == 0 ? FIRST(i) : LATER(i);
    }
    return other;
}

/* The least of `least` and some candidates: a difference and a place for each block side by side.
 */
static inline uint32_t least_of(
    uint32_t least, gpume_words differences, const uint32_t *orders, const uint32_t *places)
{
    uint32_t all[4 * GPUME_BLOCKS];
    memcpy(all, &differences, sizeof(all));
    for (uint32_t i = 0; i < GPUME_BLOCKS; i++) {
        const uint32_t offer = all[4 * i] << 5 | orders[places[i]];
        least = offer < least ? offer : least;
    }
    return least;
}

/* The better one of `best` and the least of the places around a vector. */
static inline uint64_t better_of(
    uint64_t best, uint32_t least, struct gpume_vector vector, int32_t step)
{
    const uint32_t place = least & 15;
    const uint64_t rank =
        rank_of(least >> 5, vector.dx + across(place) * step, vector.dy + down(place) * step);
    return rank < best ? rank : best;
}

#endif
