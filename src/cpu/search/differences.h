/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of the differences between two runs of samples, as plain loops for the compiler's vectors.
 * Each implementation of the search compiles them for its own instruction set.
 */
#ifndef GPUME_CPU_SEARCH_DIFFERENCES_H
#define GPUME_CPU_SEARCH_DIFFERENCES_H

#include <stdint.h>

#define GPUME_DIFFERENCES_MAX 4096u /* samples per run: 4096 * 255^2 and 4096 * 65535 < 2^32 */

struct gpume_differences {
    uint64_t sad, sse;
};

static inline struct gpume_differences gpume_differences8(
    const uint8_t *a, const uint8_t *b, uint32_t count)
{
    uint32_t sad = 0, sse = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t difference = a[i] - b[i];
        sad += (uint32_t)(difference < 0 ? -difference : difference);
        sse += (uint32_t)(difference * difference);
    }
    return (struct gpume_differences){sad, sse};
}

/* A squared difference is at most 65535^2 < 2^32; their sum needs 64 bits. */
static inline struct gpume_differences gpume_differences16(
    const uint16_t *a, const uint16_t *b, uint32_t count)
{
    uint32_t sad = 0;
    uint64_t sse = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t difference = a[i] > b[i] ? (uint32_t)(a[i] - b[i]) : (uint32_t)(b[i] - a[i]);
        sad += difference;
        sse += difference * difference;
    }
    return (struct gpume_differences){sad, sse};
}

#endif
