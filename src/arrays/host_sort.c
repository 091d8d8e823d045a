/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/host_sort.h"

#include "arrays/bitonic.h"
#include "arrays/radix.h"

#include <stdlib.h>

int gpume_host_sort(
    const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload, uint64_t count)
{
    const bool network = params->method == GPUME_SORT_BITONIC;
    const uint64_t bytes = network ? gpume_bitonic_scratch_bytes(params, count, payload != NULL)
                                   : gpume_radix_scratch_bytes(params, count, payload != NULL);
    void *scratch = bytes > 0 && bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
    if (bytes > 0 && !scratch) {
        return GPUME_NOMEM;
    }
    if (network) {
        gpume_bitonic_sort(params, keys, payload, count, scratch);
    } else {
        gpume_radix_sort(params, keys, payload, count, scratch);
    }
    free(scratch);
    return GPUME_OK;
}
