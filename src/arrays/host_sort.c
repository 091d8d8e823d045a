/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/host_sort.h"

#include <stdlib.h>
#include <string.h>

uint64_t gpume_host_sort_scratch_bytes(
    const struct gpume_sort_params *params, uint64_t count, bool payload)
{
    uint64_t longest = params->segments ? 0 : count;
    for (uint32_t i = 0; params->segments && i < params->segment_count; i++) {
        longest = params->segments[i].count > longest ? params->segments[i].count : longest;
    }
    const uint64_t network = payload ? sizeof(uint64_t) + sizeof(uint32_t) : 0;
    const uint64_t radix = sizeof(uint32_t) * (payload ? 2 : 1);
    return longest * (params->method == GPUME_SORT_BITONIC ? network : radix);
}

void gpume_host_sort_in(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch)
{
    const struct gpume_segment whole = {0, (uint32_t)count};
    const struct gpume_segment *segments = params->segments ? params->segments : &whole;
    const uint32_t segment_count = params->segments ? params->segment_count : 1;
    for (uint32_t i = 0; i < segment_count; i++) {
        const uint32_t first = segments[i].first;
        if (segments[i].count > 0) { /* with no keys, keys may be NULL */
            (params->method == GPUME_SORT_BITONIC ? gpume_bitonic_sort : gpume_radix_sort)(
                params, keys + first, payload ? payload + first : NULL, segments[i].count, scratch);
        }
    }
}

int gpume_host_sort(
    const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload, uint64_t count)
{
    const uint64_t bytes = gpume_host_sort_scratch_bytes(params, count, payload != NULL);
    void *scratch = bytes > 0 && bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
    if (bytes > 0 && !scratch) {
        return GPUME_NOMEM;
    }
    gpume_host_sort_in(params, keys, payload, count, scratch);
    free(scratch);
    return GPUME_OK;
}

void gpume_host_rank(
    const uint32_t *costs, uint32_t count, uint32_t cost_bits, uint32_t *ranks, uint32_t *scratch)
{
    const struct gpume_sort_params falling = {.descending = true, .key_bits = cost_bits};
    uint32_t *keys = ranks; /* until the order is known */
    uint32_t *order = scratch;
    memcpy(keys, costs, count * sizeof(*keys));
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    gpume_radix_sort(&falling, keys, order, count, scratch + count);
    for (uint32_t rank = 0; rank < count; rank++) {
        ranks[order[rank]] = rank;
    }
}
