/* SPDX-License-Identifier: BSD-2-Clause */
#include "sort/check.h"

#include <stdlib.h>

static int compare_u32(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int compare_i32(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static int compare_u32_falling(const void *a, const void *b)
{
    return compare_u32(b, a);
}

static int compare_i32_falling(const void *a, const void *b)
{
    return compare_i32(b, a);
}

void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count)
{
    const struct gpume_segment whole = {0, (uint32_t)count};
    const struct gpume_segment *segments = params->segments ? params->segments : &whole;
    const uint32_t segment_count = params->segments ? params->segment_count : 1;
    int (*compare)(const void *, const void *) =
        params->type == GPUME_KEY_I32 ? (params->descending ? compare_i32_falling : compare_i32)
                                      : (params->descending ? compare_u32_falling : compare_u32);
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].count > 0) {
            qsort(keys + segments[i].first, segments[i].count, sizeof *keys, compare);
        }
    }
}

uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count)
{
    uint64_t matches = 0;
    for (uint64_t i = 0; i < count; i++) {
        matches += a[i] == b[i];
    }
    return matches;
}
