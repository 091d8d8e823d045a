/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batcher's bitonic network in the form whose comparators all point the same way: two sorted halves
 * are merged by comparing each key with its mirror image, then with keys at halved distances. A
 * count that is no power of two is treated as if infinite keys followed, which no comparator moves.
 * Halves are finished one after the other, to stay in the nearest caches.
 *
 * A sorting network is not stable. With a payload, 64-bit numbers of key and position are sorted,
 * no two of which are equal.
 */
#include "arrays/host_sort.h"

#include <string.h>

/* The largest power of two below count, which is 2 or more. */
static uint64_t half_of(uint64_t count)
{
    uint64_t half = 1;
    while (half < count - half) {
        half *= 2;
    }
    return half;
}

/* The functions below, for numbers of one width. A comparator whose partner lies beyond the end
 * leaves its key in place. */
#define NETWORK(number, name)                                                                      \
    static void mirror_##name(number *keys, uint64_t half, uint64_t count)                         \
    {                                                                                              \
        for (uint64_t i = 2 * half - count; i < half; i++) {                                       \
            const number low = keys[i], high = keys[2 * half - 1 - i];                             \
            keys[i] = low < high ? low : high;                                                     \
            keys[2 * half - 1 - i] = low < high ? high : low;                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void apart_##name(number *keys, uint64_t half, uint64_t count)                          \
    {                                                                                              \
        number *restrict lower = keys, *restrict upper = keys + half;                              \
        for (uint64_t i = 0; i < count - half; i++) {                                              \
            const number low = lower[i], high = upper[i];                                          \
            lower[i] = low < high ? low : high;                                                    \
            upper[i] = low < high ? high : low;                                                    \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Sorts a block of the network, of which only `count` keys may exist. */                      \
    static void clean_##name(number *keys, uint64_t count, uint64_t block)                         \
    {                                                                                              \
        while (block > 1 && count > 1) {                                                           \
            const uint64_t half = block / 2;                                                       \
            if (count > half) {                                                                    \
                apart_##name(keys, half, count);                                                   \
                clean_##name(keys + half, count - half, half);                                     \
                count = half;                                                                      \
            }                                                                                      \
            block = half;                                                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void sort_##name(number *keys, uint64_t count)                                          \
    {                                                                                              \
        if (count < 2) {                                                                           \
            return;                                                                                \
        }                                                                                          \
        const uint64_t half = half_of(count);                                                      \
        sort_##name(keys, half);                                                                   \
        sort_##name(keys + half, count - half);                                                    \
        mirror_##name(keys, half, count);                                                          \
        clean_##name(keys, half, half);                                                            \
        clean_##name(keys + half, count - half, half);                                             \
    }

NETWORK(uint32_t, keys)
NETWORK(uint64_t, pairs)

static void sort_keys_only(uint32_t *keys, uint64_t count, uint32_t flip)
{
    for (uint64_t i = 0; flip && i < count; i++) {
        keys[i] ^= flip;
    }
    sort_keys(keys, count);
    for (uint64_t i = 0; flip && i < count; i++) {
        keys[i] ^= flip;
    }
}

static void sort_with_payload(
    uint32_t *keys, uint32_t *payload, uint64_t count, uint32_t flip, uint64_t *scratch)
{
    uint32_t *carried = (uint32_t *)(scratch + count);
    memcpy(carried, payload, count * sizeof *carried);
    for (uint64_t i = 0; i < count; i++) {
        scratch[i] = (uint64_t)(keys[i] ^ flip) << 32 | i;
    }
    sort_pairs(scratch, count);
    for (uint64_t i = 0; i < count; i++) {
        keys[i] = (uint32_t)(scratch[i] >> 32) ^ flip;
        payload[i] = carried[scratch[i] & UINT32_MAX];
    }
}

void gpume_bitonic_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch)
{
    if (payload) {
        sort_with_payload(keys, payload, count, gpume_sort_flip(params), scratch);
    } else {
        sort_keys_only(keys, count, gpume_sort_flip(params));
    }
}
