/* SPDX-License-Identifier: BSD-2-Clause */
/* Integer arithmetic for sizes. The caller makes sure that nothing wraps around. */
#ifndef GPUME_BASE_GRID_H
#define GPUME_BASE_GRID_H

#include <stdint.h>

static inline uint64_t gpume_div_up(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

static inline uint64_t gpume_round_up(uint64_t value, uint64_t to)
{
    return gpume_div_up(value, to) * to;
}

static inline uint64_t gpume_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t gpume_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint32_t gpume_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t gpume_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* value / by, rounded to the nearest whole number; halves away from zero. by > 0. */
static inline int64_t gpume_div_nearest(int64_t value, int64_t by)
{
    return (value + (value < 0 ? -(by / 2) : by / 2)) / by;
}

/* The index nearest to `at` of an array that is not empty. */
static inline int64_t gpume_nearest(int64_t at, int64_t count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

/* The number of bits that hold value: 0 for 0, 3 for 7. */
static inline uint32_t gpume_bit_width(uint64_t value)
{
    return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

#endif
