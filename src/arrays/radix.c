/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Least significant digit first. All digits are counted in one pass over the keys; each pass then
 * moves every key to its digit's place, in order, so that equal digits keep theirs. A digit that
 * all keys share needs no pass. Signed and falling orders come from flipping bits where a digit is
 * taken; the keys themselves are never changed.
 */
#include "arrays/radix.h"

#include "arrays/longest.h"

#include <string.h>

#define INSERTION_MAX 40u /* keys; counting costs more below */
#define NARROW_BITS 8u
#define WIDE_BITS 11u
#define WIDE_MIN ((uint64_t)1 << 16)      /* keys; fewer do not pay for so many counters */
#define PASSES_MAX (32 / NARROW_BITS)     /* 3 of the wide ones */
#define BINS_MAX ((size_t)1 << WIDE_BITS) /* of a pass */

/* Keys, payload and scratch. Where all of it lies in a nearer cache or in none, three passes with
 * many places to write to beat four with few; between these sizes they lose (measured). */
#define NARROW_BYTES_MIN ((uint64_t)12 << 20)
#define NARROW_BYTES_MAX ((uint64_t)64 << 20)

struct digits {
    uint32_t flip; /* a key with these bits flipped sorts as an unsigned number, rising */
    uint32_t bits; /* of the key that count, 1 to 32 */
    uint32_t width, passes;
};

static uint32_t bits_of(const struct gpume_sort_params *params)
{
    return params->type == GPUME_KEY_U32 && params->key_bits > 0 ? params->key_bits : 32;
}

static struct digits plan(const struct gpume_sort_params *params, uint64_t count, bool payload)
{
    struct digits digits = {.bits = bits_of(params)};
    const uint64_t bytes = count * sizeof(uint32_t) * (payload ? 4 : 2);
    const bool wide = count >= WIDE_MIN && (bytes < NARROW_BYTES_MIN || bytes > NARROW_BYTES_MAX);
    const uint32_t widest = wide ? WIDE_BITS : NARROW_BITS;
    digits.passes = (digits.bits + widest - 1) / widest;
    digits.width = (digits.bits + digits.passes - 1) / digits.passes;
    digits.flip = params->type == GPUME_KEY_I32 ? UINT32_C(1) << 31 : 0;
    digits.flip ^= params->descending ? UINT32_MAX : 0;
    return digits;
}

/* The last digit may be narrower than the others: what lies beyond the bits that count is cut. */
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

/* Numbers of keys with each digit of each pass; fewer than 2^32 keys. */
static void count_digits(const struct digits *digits, const uint32_t *keys, uint64_t count,
    uint32_t bins[PASSES_MAX][BINS_MAX])
{
    uint32_t masks[PASSES_MAX], shifts[PASSES_MAX];
    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        /* Passes that there are not count what nobody reads. */
        const bool present = pass < digits->passes;
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

/* Counts become places; false: all keys have one digit. */
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
    uint32_t *keys, *payload; /* payload: NULL where there is none */
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

static void sort_run(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, uint32_t *scratch)
{
    const struct digits digits = plan(params, count, payload != NULL);
    if (count <= INSERTION_MAX) {
        insert(&digits, keys, payload, count);
        return;
    }
    uint32_t bins[PASSES_MAX][BINS_MAX];
    struct run from = {keys, payload};
    struct run to = {scratch, payload ? scratch + count : NULL};
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

uint64_t gpume_radix_scratch_bytes(
    const struct gpume_sort_params *params, uint64_t count, bool payload)
{
    return gpume_sort_longest(params, count) * sizeof(uint32_t) * (payload ? 2 : 1);
}

void gpume_radix_sort(const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload,
    uint64_t count, void *scratch)
{
    if (!params->segments) {
        sort_run(params, keys, payload, count, scratch);
        return;
    }
    for (uint32_t i = 0; i < params->segment_count; i++) {
        const struct gpume_segment *segment = &params->segments[i];
        if (segment->count > 0) { /* else there may be no memory at all */
            sort_run(params, keys + segment->first, payload ? payload + segment->first : NULL,
                segment->count, scratch);
        }
    }
}
