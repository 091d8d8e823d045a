/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts of 32-bit keys in host memory on the calling thread, each key with a 32-bit payload or
 * without. All are stable and share no state. Parameters have been checked as for gpume_sort; the
 * payload may be NULL.
 */
#ifndef GPUME_ARRAYS_HOST_SORT_H
#define GPUME_ARRAYS_HOST_SORT_H

#include "gpume/compute.h"

/* gpume_sort with its own scratch memory. GPUME_NOMEM, not logged: the scratch memory could not
 * be allocated, and nothing has changed. */
int gpume_host_sort(
    const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload, uint64_t count);

/* gpume_sort in the caller's scratch memory of the size that the first function returns, aligned as
 * malloc aligns. */
uint64_t gpume_host_sort_scratch_bytes(
    const struct gpume_sort_params *params, uint64_t count, bool payload);
void gpume_host_sort_in(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch);

/* The radix sort of one segment; segments and method of the parameters are ignored. It needs
 * scratch memory for as many keys and payloads as it sorts. */
void gpume_radix_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch);

#define GPUME_HOST_RANK_WORDS 3u /* of scratch memory per cost */

/* ranks[i]: the place of cost i by falling cost, equal ones in their order. Costs fit cost_bits. */
void gpume_host_rank(
    const uint32_t *costs, uint32_t count, uint32_t cost_bits, uint32_t *ranks, uint32_t *scratch);

/* A key with these bits flipped sorts as a rising unsigned number. */
static inline uint32_t gpume_sort_flip(const struct gpume_sort_params *params)
{
    return (params->type == GPUME_KEY_I32 ? UINT32_C(1) << 31 : 0) ^
           (params->descending ? UINT32_MAX : 0);
}

#endif
