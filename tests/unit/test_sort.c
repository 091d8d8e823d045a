/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the sorts of src/arrays with a stable sort that shares no code with them: qsort of
 * (value, position), compared as 64-bit numbers. Every sort runs with canaries around keys, payload
 * and scratch, and with scratch memory that holds a pattern.
 */
#include "arrays/host_sort.h"
#include "harness.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CANARY UINT32_C(0xDEC0ADDE)
#define GUARD 8u /* words */
#define POISON 0xCD

struct entry {
    int64_t value;
    uint32_t position;
};

static bool falling;

static int compare(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->value != right->value) {
        return (left->value < right->value) != falling ? -1 : 1;
    }
    return left->position < right->position ? -1 : 1;
}

/* Positions of the keys in sorted order, segment by segment. */
static void solve(
    const struct gpume_sort_params *params, const uint32_t *keys, uint32_t *order, uint32_t count)
{
    const struct gpume_segment whole = {0, count};
    const struct gpume_segment *segments = params->segments ? params->segments : &whole;
    const uint32_t segment_count = params->segments ? params->segment_count : 1;
    struct entry *entries = malloc((count ? count : 1) * sizeof *entries);
    const uint64_t mask = (UINT64_C(1) << (params->key_bits ? params->key_bits : 32)) - 1;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    falling = params->descending;
    for (uint32_t s = 0; s < segment_count; s++) {
        const uint32_t first = segments[s].first;
        for (uint32_t i = 0; i < segments[s].count; i++) {
            const uint32_t key = keys[first + i];
            entries[i].value =
                params->type == GPUME_KEY_I32 ? (int64_t)(int32_t)key : (int64_t)(key & mask);
            entries[i].position = first + i;
        }
        qsort(entries, segments[s].count, sizeof *entries, compare);
        for (uint32_t i = 0; i < segments[s].count; i++) {
            order[first + i] = entries[i].position;
        }
    }
    free(entries);
}

/* Words with a guard on both sides. */
static uint32_t *guarded(size_t words)
{
    uint32_t *memory = malloc((words + 2 * GUARD) * sizeof *memory);
    memset(memory, POISON, (words + 2 * GUARD) * sizeof *memory);
    for (size_t i = 0; i < GUARD; i++) {
        memory[i] = CANARY;
        memory[GUARD + words + i] = CANARY;
    }
    return memory + GUARD;
}

static bool release(uint32_t *memory, size_t words)
{
    bool whole = true;
    for (size_t i = 0; i < GUARD; i++) {
        whole = whole && (memory - GUARD)[i] == CANARY && memory[words + i] == CANARY;
    }
    free(memory - GUARD);
    return whole;
}

enum { RADIX, BITONIC, SORTS };

static bool check_one(const struct gpume_sort_params *any, const uint32_t *input,
    const uint32_t *order, uint32_t count, int sort, bool pairs)
{
    struct gpume_sort_params params = *any;
    params.method = sort == RADIX ? GPUME_SORT_RADIX : GPUME_SORT_BITONIC;
    const uint64_t bytes = gpume_host_sort_scratch_bytes(&params, count, pairs);
    uint32_t *keys = guarded(count), *payload = guarded(count), *scratch = guarded(bytes / 4);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = input[i];
        payload[i] = i ^ CANARY;
    }
    gpume_host_sort_in(&params, keys, pairs ? payload : NULL, count, scratch);
    bool right = true;
    for (uint32_t i = 0; i < count; i++) {
        right = right && keys[i] == input[order[i]];
        right = right && payload[i] == ((pairs ? order[i] : i) ^ CANARY);
    }
    right = release(keys, count) && right;
    right = release(payload, count) && right;
    return release(scratch, bytes / 4) && right;
}

static void check(const struct gpume_sort_params *params, const uint32_t *input, uint32_t count)
{
    uint32_t *order = malloc((count ? count : 1) * sizeof *order);
    solve(params, input, order, count);
    for (int sort = RADIX; sort < SORTS; sort++) {
        for (int pairs = 0; pairs < 2; pairs++) {
            const bool right = check_one(params, input, order, count, sort, pairs != 0);
            REQUIRE(right);
            if (!right) {
                fprintf(stderr, "  %s, %u %s, type %d, %s, %u bits\n",
                    sort == RADIX ? "radix" : "bitonic", (unsigned)count, pairs ? "pairs" : "keys",
                    (int)params->type, params->descending ? "falling" : "rising",
                    (unsigned)params->key_bits);
            }
        }
    }
    free(order);
}

#define CONTENTS 17u

/* The i-th of count keys. */
static uint32_t content(unsigned kind, uint32_t i, uint32_t count, uint64_t *seed)
{
    static const uint32_t extremes[] = {0x80000000, 0xffffffff, 0, 0x7fffffff, 1, 0x80000001};
    const uint32_t random = harness_random(seed);
    switch (kind) {
    case 0:
        return random;
    case 1:
        return 0;
    case 2:
        return UINT32_MAX;
    case 3:
        return 0x7fff8000;
    case 4: /* in order */
        return i * 3;
    case 5: /* reversed */
        return (count - i) * 5;
    case 6:
        return i % 2 ? UINT32_MAX : 0;
    case 7:
        return (random & 3) * 0x40000001;
    case 8: /* one byte varies */
    case 9:
    case 10:
    case 11:
        return 0x01020304 ^ (random & 255) << (kind - 8) * 8;
    case 12: /* low entropy */
        return random & harness_random(seed) & harness_random(seed) & harness_random(seed);
    case 13: /* one element out of place */
        return i == count / 2 ? 0 : 0x12345678;
    case 14: /* saw teeth */
        return i % 1000 * 0x10001;
    case 15: /* runs */
        return (i / 4096) * 0x9e3779b9;
    default:
        return extremes[random % 6];
    }
}

static void test_sizes(void)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 39, 40, 41,
        42, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2047,
        2048, 2049, 4095, 4096, 4097, 7919, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20,
        (1 << 20) + 1};
    unsigned turn = 0;
    uint64_t seed = 1;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t count = sizes[s];
        uint32_t *keys = malloc((count ? count : 1) * sizeof *keys);
        for (unsigned kind = 0; kind < CONTENTS; kind++) {
            if (count >= 1 << 20 && (kind + s) % 6 != 0) {
                continue;
            }
            for (uint32_t i = 0; i < count; i++) {
                keys[i] = content(kind, i, count, &seed);
            }
            /* All four orders for short arrays, in turn for long ones. */
            for (unsigned order = 0; order < (count < 5000 ? 4 : 1); order++, turn++) {
                const struct gpume_sort_params params = {
                    .type = turn & 1 ? GPUME_KEY_I32 : GPUME_KEY_U32,
                    .descending = (turn & 2) != 0,
                    .key_bits = turn & 4 ? 32 : 0,
                };
                check(&params, keys, count);
            }
        }
        free(keys);
    }
}

/* Every size up to a limit, so that every shape of the network occurs. */
static void test_every_size(void)
{
    uint64_t seed = 2;
    uint32_t keys[300] = {0};
    for (uint32_t count = 0; count <= 300; count++) {
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = harness_random(&seed) % (count + 1);
        }
        const struct gpume_sort_params params = {.descending = count % 2 != 0};
        check(&params, keys, count);
    }
}

static void test_key_bits(void)
{
    static const uint32_t sizes[] = {33, 1000, 70000};
    uint64_t seed = 3;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t count = sizes[s];
        uint32_t *keys = malloc(count * sizeof *keys), *order = malloc(count * sizeof *order);
        for (uint32_t bits = 1; bits <= 32; bits++) {
            struct gpume_sort_params params = {.key_bits = bits, .descending = bits % 2 != 0};
            for (uint32_t i = 0; i < count; i++) {
                keys[i] = harness_random(&seed) >> (32 - bits);
            }
            check(&params, keys, count);
            /* The radix sort ignores the bits above key_bits. */
            for (uint32_t i = 0; i < count; i++) {
                keys[i] = harness_random(&seed);
            }
            solve(&params, keys, order, count);
            REQUIRE(check_one(&params, keys, order, count, RADIX, true));
            /* Signed keys ignore key_bits. */
            params.type = GPUME_KEY_I32;
            params.key_bits = 32;
            check(&params, keys, count);
        }
        free(order);
        free(keys);
    }
}

static void test_segments(void)
{
    enum { COUNT = 20000 };
    static uint32_t keys[COUNT];
    static struct gpume_segment segments[COUNT];
    uint64_t seed = 4;
    for (unsigned round = 0; round < 12; round++) {
        uint32_t used = 0, at = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            keys[i] = harness_random(&seed) >> (round % 3) * 12;
        }
        /* Segments of different lengths, some empty, with gaps between some of them. */
        while (at < COUNT && used < COUNT) {
            uint32_t length = harness_random(&seed) % (round < 6 ? 70 : 3000);
            length = harness_random(&seed) % 5 ? length : 0;
            length = length < COUNT - at ? length : COUNT - at;
            segments[used++] = (struct gpume_segment){at, length};
            at += length + harness_random(&seed) % 3;
        }
        for (uint32_t i = used - 1; i > 0; i--) { /* in no order */
            const uint32_t other = harness_random(&seed) % (i + 1);
            const struct gpume_segment moved = segments[i];
            segments[i] = segments[other];
            segments[other] = moved;
        }
        const struct gpume_sort_params params = {
            .type = round % 2 ? GPUME_KEY_I32 : GPUME_KEY_U32,
            .descending = round % 4 > 1,
            .segments = segments,
            .segment_count = round == 5 ? 0 : used,
        };
        check(&params, keys, COUNT);
    }
}

static void test_host_sort(void)
{
    uint64_t seed = 5;
    enum { COUNT = 5000 };
    uint32_t keys[COUNT], payload[COUNT], input[COUNT], order[COUNT];
    for (int method = GPUME_SORT_AUTO; method <= GPUME_SORT_BITONIC; method++) {
        const struct gpume_sort_params params = {.method = (enum gpume_sort_method)method};
        for (uint32_t i = 0; i < COUNT; i++) {
            input[i] = keys[i] = harness_random(&seed) % 100;
            payload[i] = i;
        }
        solve(&params, input, order, COUNT);
        REQUIRE_EQUAL(gpume_host_sort(&params, keys, payload, COUNT), GPUME_OK);
        REQUIRE(memcmp(payload, order, sizeof order) == 0);
        REQUIRE_EQUAL(gpume_host_sort(&params, keys, NULL, COUNT), GPUME_OK);
        REQUIRE_EQUAL(gpume_host_sort(&params, NULL, NULL, 0), GPUME_OK);
    }
}

int main(void)
{
    test_every_size();
    test_sizes();
    test_key_bits();
    test_segments();
    test_host_sort();
    return harness_verdict();
}
