/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/reduce.h"

#include <string.h>

/* The functions for one element type. A sum is at most 2^32 * (2^32 - 1). */
#define REDUCTIONS(type)                                                                           \
    static uint64_t sum_##type(const type *data, uint64_t count)                                   \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            sum += data[i];                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static type least_##type(const type *data, uint64_t count)                                     \
    {                                                                                              \
        type least = data[0];                                                                      \
        for (uint64_t i = 1; i < count; i++) {                                                     \
            least = data[i] < least ? data[i] : least;                                             \
        }                                                                                          \
        return least;                                                                              \
    }                                                                                              \
    static uint64_t find_##type(const type *data, type value)                                      \
    {                                                                                              \
        uint64_t i = 0;                                                                            \
        while (data[i] != value) {                                                                 \
            i++;                                                                                   \
        }                                                                                          \
        return i;                                                                                  \
    }                                                                                              \
    static void count_##type(                                                                      \
        const type *data, uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)      \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            uint32_t bin = (uint32_t)data[i] >> shift;                                             \
            if (bin < bin_count) {                                                                 \
                bins[bin]++;                                                                       \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void reduce_##type(                                                                     \
        const struct gpume_reduction *what, const void *memory, uint64_t *results)                 \
    {                                                                                              \
        const type *data = (const type *)memory + what->first;                                     \
        if (what->kind == GPUME_REDUCE_SUM) {                                                      \
            results[0] = sum_##type(data, what->count);                                            \
        } else if (what->kind == GPUME_REDUCE_MINIMUM) {                                           \
            type least = least_##type(data, what->count);                                          \
            results[0] = least;                                                                    \
            results[1] = find_##type(data, least);                                                 \
        } else {                                                                                   \
            memset(results, 0, what->bin_count * sizeof(*results));                                \
            count_##type(data, what->count, what->shift, what->bin_count, results);                \
        }                                                                                          \
    }

REDUCTIONS(uint8_t)
REDUCTIONS(uint16_t)
REDUCTIONS(uint32_t)

void gpume_reduce(const struct gpume_reduction *what, const void *memory, uint64_t *results)
{
    switch (what->element) {
    case GPUME_ELEMENT_U8:
        reduce_uint8_t(what, memory, results);
        break;
    case GPUME_ELEMENT_U16:
        reduce_uint16_t(what, memory, results);
        break;
    case GPUME_ELEMENT_U32:
        reduce_uint32_t(what, memory, results);
        break;
    }
}
