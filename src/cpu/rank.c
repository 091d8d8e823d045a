/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/rank.h"

#include "arrays/host_sort.h"

#include <string.h>

void gpume_rank_costs(const struct gpume_shape *layer, uint32_t cost_bits, const uint32_t *costs,
    uint32_t *ranks, uint32_t *scratch)
{
    const struct gpume_sort_params falling = {.descending = true, .key_bits = cost_bits};
    uint32_t *keys = ranks; /* until the order is known */
    uint32_t *blocks = scratch;
    memcpy(keys, costs, layer->blocks * sizeof(*keys));
    for (uint32_t i = 0; i < layer->blocks; i++) {
        blocks[i] = i;
    }
    gpume_radix_sort(&falling, keys, blocks, layer->blocks, scratch + layer->blocks);
    for (uint32_t rank = 0; rank < layer->blocks; rank++) {
        ranks[blocks[rank]] = rank;
    }
}
