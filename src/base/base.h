/* SPDX-License-Identifier: BSD-2-Clause */
/* What every module uses: ways out after a failure, integer arithmetic, samples of planes, arrays
 * that grow, and a checksum. Nothing here has state. */
#ifndef GPUME_BASE_BASE_H
#define GPUME_BASE_BASE_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- Helpers for status codes. */

/* True for failures after which GPUME_BACKEND_AUTO takes the CPU instead: the GPU is missing, lost,
 * lacks a feature, or has run out of memory (its own, or the host's that its driver needs). */
static inline bool gpume_status_is_of_gpu(int status)
{
    return status == GPUME_DEVICE || status == GPUME_UNSUPPORTED || status == GPUME_NOMEM ||
           status == GPUME_DEVICE_LOST;
}

/* Returns the value of the expression if it is not GPUME_OK. For functions that release nothing. */
#define GPUME_CHECK(expression)                                                                    \
    do {                                                                                           \
        const int checked = (expression);                                                          \
        if (checked != GPUME_OK) {                                                                 \
            return checked;                                                                        \
        }                                                                                          \
    } while (0)

/* Jumps to the label `fail` if the expression, stored in `int status`, is not GPUME_OK. */
#define GPUME_TRY(expression)                                                                      \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

/* --- Integer arithmetic for sizes. The caller makes sure that nothing wraps around. */

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

/* --- Planes. */

/* The first sample of a row. */
static inline void *gpume_plane_row(const struct gpume_plane *plane, int64_t y)
{
    return (char *)plane->data + (ptrdiff_t)y * plane->stride;
}

/* Of its samples, without what a stride leaves between rows. */
static inline size_t gpume_plane_row_bytes(const struct gpume_plane *plane)
{
    return (size_t)plane->width * (plane->bits > 8 ? 2 : 1);
}

/* The samples; `from` has at least the size of `to`, and its bits. */
static inline void gpume_plane_copy(const struct gpume_plane *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        memcpy(gpume_plane_row(to, y), gpume_plane_row(from, y), gpume_plane_row_bytes(to));
    }
}

static inline uint32_t gpume_plane_sample(const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    const void *row = gpume_plane_row(plane, y);
    return plane->bits > 8 ? ((const uint16_t *)row)[x] : ((const uint8_t *)row)[x];
}

/* --- Arrays that grow by doubling. */

#define GPUME_GROW_FIRST ((size_t)64) /* items */

/* Makes room for one more item, of `bytes` bytes, after the first `count` ones. Returns the array,
 * which may have moved. NULL: out of memory; the array and its room are unchanged. */
static inline void *gpume_grow(void *items, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) {
        return items;
    }
    const size_t more = *room > 0 ? 2 * *room : GPUME_GROW_FIRST;
    void *larger = realloc(items, more * bytes);
    *room = larger ? more : *room;
    return larger;
}

/* Makes room for this many items. Returns the array as gpume_grow does. */
static inline void *gpume_reserve(void *items, size_t count, size_t *room, size_t bytes)
{
    void *larger = count <= *room ? items : realloc(items, count * bytes);
    *room = larger && count > *room ? count : *room;
    return larger;
}

/* --- FNV-1a, to detect damage. It does not protect against malice: whoever can write gpume's files
 * can do worse. */

/* The checksum of no bytes. */
#define GPUME_CHECKSUM_BEGIN UINT64_C(14695981039346656037)

/* The checksum of the bytes of `sum` followed by these bytes. */
static inline uint64_t gpume_checksum(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

#endif
