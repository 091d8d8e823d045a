/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Radix sort on one core, stable: 32-bit keys, with a 32-bit payload each or without, in place with
 * the caller's scratch memory. Any thread; nothing is shared.
 */
#ifndef GPUME_ARRAYS_RADIX_H
#define GPUME_ARRAYS_RADIX_H

#include "gpume/compute.h"

/* Scratch for one call: what the largest segment asks for. */
uint64_t gpume_radix_scratch_bytes(
    const struct gpume_sort_params *params, uint64_t count, bool payload);

/* As gpume_sort with parameters that have been checked; method does not matter. scratch: so many
 * bytes, aligned as malloc aligns. payload may be NULL. Of key_bits just so many count. */
void gpume_radix_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch);

#endif
