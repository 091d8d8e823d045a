/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/host_sort.h"

#include <stdlib.h>
#include <string.h>

/* --- the radix sort: least significant digit first. One pass over the keys counts all digits; each
 * further pass moves every key to its digit's place, in order, which keeps the sort stable. A digit
 * that all keys share needs no pass. For signed and descending orders, bits are flipped while a
 * digit is extracted; the keys never change.
 */

#define INSERTION_MAX 40u /* keys; for fewer, counting costs more */
#define NARROW_BITS 8u
#define WIDE_BITS 11u
#define WIDE_MIN                                                                                   \
    ((uint64_t)1 << 16) /* keys; clearing the counters costs more than it saves below */
#define PASSES_MAX (32 / NARROW_BITS)     /* 3 suffice with wide digits */
#define BINS_MAX ((size_t)1 << WIDE_BITS) /* per pass */

/* Bytes of keys, payload and scratch between which narrow digits are faster. If all of them fit a
 * near cache, or none do, three passes that write to many places beat four that write to few
 * (measured). */
#define NARROW_BYTES_MIN ((uint64_t)12 << 20)
#define NARROW_BYTES_MAX ((uint64_t)64 << 20)

struct digits {
    uint32_t flip; /* see gpume_sort_flip */
    uint32_t bits; /* low bits of the key that are compared, 1 to 32 */
    uint32_t width, passes;
};

static struct digits plan_digits(
    const struct gpume_sort_params *params, uint64_t count, bool payload)
{
    const bool all_bits = params->type != GPUME_KEY_U32 || params->key_bits == 0;
    struct digits digits = {
        .flip = gpume_sort_flip(params), .bits = all_bits ? 32 : params->key_bits};
    const uint64_t bytes = count * sizeof(uint32_t) * (payload ? 4 : 2);
    const bool wide = count >= WIDE_MIN && (bytes < NARROW_BYTES_MIN || bytes > NARROW_BYTES_MAX);
    const uint32_t widest = wide ? WIDE_BITS : NARROW_BITS;
    digits.passes = (digits.bits + widest - 1) / widest;
    digits.width = (digits.bits + digits.passes - 1) / digits.passes;
    return digits;
}

/* The last digit may be narrower than the others. */
static uint32_t mask_of(const struct digits *digits, uint32_t pass)
{
    const uint32_t left = digits->bits - pass * digits->width;
    return (UINT32_C(1) << (left < digits->width ? left : digits->width)) - 1;
}

static void insertion_sort(
    const struct digits *digits, uint32_t *keys, uint32_t *payload, uint64_t count)
{
    const uint32_t mask = digits->bits < 32 ? (UINT32_C(1) << digits->bits) - 1 : UINT32_MAX;
    for (uint64_t i = 1; i < count; i++) {
        const uint32_t key = keys[i], carried = payload ? payload[i] : 0;
        const uint32_t rank = (key ^ digits->flip) & mask;
        uint64_t at = i;
        for (; at > 0 && ((keys[at - 1] ^ digits->flip) & mask) > rank; at--) {
            keys[at] = keys[at - 1];
            if (payload) {
                payload[at] = payload[at - 1];
            }
        }
        keys[at] = key;
        if (payload) {
            payload[at] = carried;
        }
    }
}

/* Counts the keys that have each digit in each pass; fewer than 2^32 keys. */
static void count_digits(const struct digits *digits, const uint32_t *keys, uint64_t count,
    uint32_t bins[PASSES_MAX][BINS_MAX])
{
    uint32_t masks[PASSES_MAX], shifts[PASSES_MAX];
    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        const bool present = pass < digits->passes; /* else its counts are never read */
        masks[pass] = present ? mask_of(digits, pass) : 0;
        shifts[pass] = present ? pass * digits->width : 0;
        memset(bins[pass], 0, sizeof bins[pass][0] << digits->width);
    }
    if (digits->passes <= 3) {
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t key = keys[i] ^ digits->flip;
            bins[0][key >> shifts[0] & masks[0]]++;
            bins[1][key >> shifts[1] & masks[1]]++;
            bins[2][key >> shifts[2] & masks[2]]++;
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t key = keys[i] ^ digits->flip;
        bins[0][key >> shifts[0] & masks[0]]++;
        bins[1][key >> shifts[1] & masks[1]]++;
        bins[2][key >> shifts[2] & masks[2]]++;
        bins[3][key >> shifts[3] & masks[3]]++;
    }
}

/* Replaces counts by start positions. False: all keys share one digit. */
static bool make_places(uint32_t *bins, uint32_t mask, uint64_t count)
{
    uint32_t place = 0;
    for (size_t bin = 0; bin <= mask; bin++) {
        const uint32_t here = bins[bin];
        if (here == count) {
            return false;
        }
        bins[bin] = place;
        place += here;
    }
    return true;
}

struct key_run {
    uint32_t *keys, *payload; /* payload may be NULL */
};

static void scatter(struct key_run to, struct key_run from, uint64_t count,
    uint32_t *restrict places, uint32_t shift, uint32_t mask, uint32_t flip)
{
    const uint32_t *restrict in = from.keys, *restrict with = from.payload;
    uint32_t *restrict out = to.keys, *restrict carry = to.payload;
    if (!with) {
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t key = in[i];
            out[places[(key ^ flip) >> shift & mask]++] = key;
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t key = in[i];
        const uint32_t place = places[(key ^ flip) >> shift & mask]++;
        out[place] = key;
        carry[place] = with[i];
    }
}

void gpume_radix_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch)
{
    const struct digits digits = plan_digits(params, count, payload != NULL);
    if (count <= INSERTION_MAX) {
        insertion_sort(&digits, keys, payload, count);
        return;
    }
    uint32_t bins[PASSES_MAX][BINS_MAX];
    struct key_run from = {keys, payload};
    struct key_run to = {scratch, payload ? (uint32_t *)scratch + count : NULL};
    count_digits(&digits, keys, count, bins);
    for (uint32_t pass = 0; pass < digits.passes; pass++) {
        const uint32_t mask = mask_of(&digits, pass);
        if (make_places(bins[pass], mask, count)) {
            scatter(to, from, count, bins[pass], pass * digits.width, mask, digits.flip);
            const struct key_run other = from;
            from = to;
            to = other;
        }
    }
    if (from.keys != keys) {
        memcpy(keys, from.keys, count * sizeof *keys);
        if (payload) {
            memcpy(payload, from.payload, count * sizeof *payload);
        }
    }
}

/* --- Batcher's bitonic network in the form whose comparators all point the same way: two sorted
 * halves are merged by comparing each key with its mirror image, then with keys at halved
 * distances. A count that is no power of two is treated as if infinite keys followed, which no
 * comparator moves. Halves are finished one after the other, to stay in the nearest caches.
 *
 * A sorting network is not stable. With a payload, 64-bit numbers of key and position are sorted,
 * no two of which are equal.
 */

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
        uint64_t half = 1; /* the largest power of two below count */                              \
        while (half < count - half) {                                                              \
            half *= 2;                                                                             \
        }                                                                                          \
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

/* Of one segment. It exists for comparison and as a second opinion, and compares all bits of a key,
 * whatever key_bits says. */
static void bitonic_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch)
{
    if (payload) {
        sort_with_payload(keys, payload, count, gpume_sort_flip(params), scratch);
    } else {
        sort_keys_only(keys, count, gpume_sort_flip(params));
    }
}

/* --- sorting and ranking */

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
            (params->method == GPUME_SORT_BITONIC ? bitonic_sort : gpume_radix_sort)(
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
