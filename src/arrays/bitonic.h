/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sorting network on one core, for comparison with the radix sort and as a second opinion: any
 * number of 32-bit keys, with a 32-bit payload each or without, in place with the caller's scratch
 * memory. Any thread; nothing is shared.
 */
#ifndef GPUME_ARRAYS_BITONIC_H
#define GPUME_ARRAYS_BITONIC_H

#include "gpume/compute.h"

/* Scratch for one call: what the largest segment asks for; 0 without payload. */
uint64_t gpume_bitonic_scratch_bytes(
    const struct gpume_sort_params *params, uint64_t count, bool payload);

/* As gpume_sort with parameters that have been checked, stable too; method does not matter.
 * scratch: so many bytes, aligned as malloc aligns. payload may be NULL. All bits of a key count,
 * whatever key_bits says. */
void gpume_bitonic_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch);

#endif
