/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUME_ARRAYS_LONGEST_H
#define GPUME_ARRAYS_LONGEST_H

#include "gpume/compute.h"

/* Keys of the largest segment. */
static inline uint64_t gpume_sort_longest(const struct gpume_sort_params *params, uint64_t count)
{
    if (!params->segments) {
        return count;
    }
    uint64_t longest = 0;
    for (uint32_t i = 0; i < params->segment_count; i++) {
        if (params->segments[i].count > longest) {
            longest = params->segments[i].count;
        }
    }
    return longest;
}

#endif
