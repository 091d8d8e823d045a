/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Radix sort, least significant digit first. One pass over the keys counts all digits; each further
 * pass moves every key to its digit's place, in order, which keeps the sort stable. A digit that
 * all keys share needs no pass. For signed and descending orders, bits are flipped while a digit is
 * extracted; the keys never change.
 */
#include "arrays/host_sort.h"

#include <string.h>

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

static struct digits plan(const struct gpume_sort_params *params, uint64_t count, bool payload)
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

static void insert(const struct digits *digits, uint32_t *keys, uint32_t *payload, uint64_t count)
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

struct run {
    uint32_t *keys, *payload; /* payload may be NULL */
};

static void scatter(struct run to, struct run from, uint64_t count, uint32_t *restrict places,
    uint32_t shift, uint32_t mask, uint32_t flip)
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
    const struct digits digits = plan(params, count, payload != NULL);
    if (count <= INSERTION_MAX) {
        insert(&digits, keys, payload, count);
        return;
    }
    uint32_t bins[PASSES_MAX][BINS_MAX];
    struct run from = {keys, payload};
    struct run to = {scratch, payload ? (uint32_t *)scratch + count : NULL};
    count_digits(&digits, keys, count, bins);
    for (uint32_t pass = 0; pass < digits.passes; pass++) {
        const uint32_t mask = mask_of(&digits, pass);
        if (make_places(bins[pass], mask, count)) {
            scatter(to, from, count, bins[pass], pass * digits.width, mask, digits.flip);
            const struct run other = from;
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
