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

/* The number of bits that hold value: 0 for 0, 3 for 7. */
static inline uint32_t gpume_bit_width(uint64_t value)
{
    uint32_t bits = 0;
    while (value >> bits) {
        bits++;
        if (bits == 64) {
            break;
        }
    }
    return bits;
}

#endif
