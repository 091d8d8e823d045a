/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compute_sort cpu|vulkan [--validate]: compares gpume_sort and gpume_array_sort with qsort of
 * (key, position), which is stable: segments of all lengths, gaps between them, and every refusal.
 */
#include "gpume/compute.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 60000u
#define SEGMENTS 400u

static gpume_compute *compute;
static uint64_t random_state = 20211123;

struct arrays {
    uint32_t keys[WORDS], payload[WORDS];
};

static struct arrays before, after, expected;
static struct gpume_segment segments[SEGMENTS];
static uint64_t order[WORDS];

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void expect_segment(const struct gpume_sort_params *params, uint32_t first, uint32_t count)
{
    uint32_t flip = params->type == GPUME_KEY_I32 ? 0x80000000u : 0;
    flip ^= params->descending ? 0xffffffffu : 0;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint64_t)(before.keys[first + i] ^ flip) << 32 | (first + i);
    }
    qsort(order, count, sizeof(*order), compare_words);
    for (uint32_t i = 0; i < count; i++) {
        expected.keys[first + i] = before.keys[(uint32_t)order[i]];
        expected.payload[first + i] = before.payload[(uint32_t)order[i]];
    }
}

static void check(const struct gpume_sort_params *params, uint32_t count, bool pairs)
{
    expected = before;
    if (params->segments) {
        for (uint32_t i = 0; i < params->segment_count; i++) {
            expect_segment(params, params->segments[i].first, params->segments[i].count);
        }
    } else {
        expect_segment(params, 0, count);
    }
    if (!pairs) {
        memcpy(expected.payload, before.payload, sizeof(before.payload));
    }
    after = before;
    REQUIRE_EQUAL(
        gpume_sort(compute, params, after.keys, pairs ? after.payload : NULL, count), GPUME_OK);
    REQUIRE(memcmp(&after, &expected, sizeof(after)) == 0);
}

static void fill(uint32_t key_bits, bool few)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        before.keys[i] = harness_random(&random_state) >> (32 - key_bits);
        before.keys[i] = few ? before.keys[i] % 5 : before.keys[i];
        before.payload[i] = harness_random(&random_state);
    }
}

/* In no order, with gaps; one is long, most are short. */
static void make_segments(void)
{
    uint32_t end = 5;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        uint32_t r = harness_random(&random_state), length = r % 8 < 5 ? r >> 8 & 31 : r >> 8 & 255;
        length = i == 100 ? 12345 : i == 101 ? 700 : i == 102 ? 3000 : length;
        uint32_t at = i * 37 % SEGMENTS; /* 37 and SEGMENTS have no common divisor */
        segments[at] = (struct gpume_segment){end, length};
        end += length + r % 3;
    }
    REQUIRE(end < WORDS);
}

static void test_results(void)
{
    struct gpume_sort_params params;
    gpume_sort_params_default(&params);
    for (uint32_t i = 0; i < 24; i++) {
        params.type = i & 1 ? GPUME_KEY_I32 : GPUME_KEY_U32;
        params.descending = i & 2;
        params.method = (enum gpume_sort_method)(i / 8);
        params.key_bits = i % 8 == 4 ? 16 : i % 8 == 0 ? 0 : 32;
        params.segments = NULL;
        fill(params.key_bits == 16 ? 16 : 32, i % 3 == 0);
        check(&params, i % 2 ? 1000 + i : 20001, i & 4);
        make_segments();
        params.segments = segments;
        params.segment_count = SEGMENTS;
        check(&params, WORDS, !(i & 4));
    }
    params.segment_count = 0;
    check(&params, WORDS, true);
    params.segments = NULL;
    check(&params, 0, true);
    check(&params, 1, true);
}

/* Programs that were compiled for a newer, an older or no version of the library. */
static void test_sizes(const struct gpume_sort_params *params, gpume_array *keys)
{
    struct {
        struct gpume_sort_params params;
        uint64_t later;
    } newer = {.params = *params, .later = 1};
    newer.params.size = sizeof(newer);
    REQUIRE_EQUAL(gpume_array_sort(&newer.params, keys, NULL, WORDS), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(gpume_sort(compute, &newer.params, after.keys, NULL, WORDS), GPUME_UNSUPPORTED);
    newer.later = 0;
    REQUIRE_EQUAL(gpume_array_sort(&newer.params, keys, NULL, WORDS), GPUME_OK);
    newer.params.size = offsetof(struct gpume_sort_params, segments);
    newer.params.segments = &(struct gpume_segment){WORDS, 1}; /* beyond the end, but not read */
    newer.params.segment_count = 1;
    REQUIRE_EQUAL(gpume_array_sort(&newer.params, keys, NULL, WORDS), GPUME_OK);
    newer.params.size = 0;
    REQUIRE_EQUAL(gpume_array_sort(&newer.params, keys, NULL, WORDS), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sort(compute, &newer.params, after.keys, NULL, WORDS), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sort_params_fill(&newer.params), GPUME_INVALID);
}

static void test_arrays(void)
{
    gpume_array *keys = NULL, *payload = NULL;
    struct gpume_sort_params params;
    gpume_sort_params_default(&params);
    fill(32, false);
    REQUIRE_EQUAL(gpume_array_create(compute, &keys, sizeof(before.keys)), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_create(compute, &payload, sizeof(before.keys)), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_write(keys, 0, before.keys, sizeof(before.keys)), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_write(payload, 0, before.payload, sizeof(before.keys)), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_sort(&params, keys, payload, WORDS - 3), GPUME_OK);
    struct gpume_compute_times times;
    gpume_compute_get_times(compute, &times);
    REQUIRE(times.run_ns > 0);
    REQUIRE_EQUAL(gpume_array_read(keys, 0, after.keys, sizeof(before.keys)), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_read(payload, 0, after.payload, sizeof(before.keys)), GPUME_OK);
    expected = before;
    expect_segment(&params, 0, WORDS - 3);
    REQUIRE(memcmp(&after, &expected, sizeof(after)) == 0);
    REQUIRE_EQUAL(gpume_array_sort(&params, keys, payload, WORDS + 1), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_sort(&params, keys, keys, WORDS), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sort(compute, &params, after.keys, after.keys, WORDS), GPUME_INVALID);
    struct gpume_segment empty[2] = {{2, 0}, {3, 0}};
    params.segments = empty;
    params.segment_count = 2;
    params.method = GPUME_SORT_BITONIC;
    REQUIRE_EQUAL(gpume_sort(compute, &params, after.keys, after.payload, WORDS), GPUME_OK);
    REQUIRE(memcmp(&after, &expected, sizeof(after)) == 0);
    struct gpume_segment beyond = {WORDS - 3, 4};
    params.segments = &beyond;
    params.segment_count = 1;
    REQUIRE_EQUAL(gpume_array_sort(&params, keys, NULL, WORDS), GPUME_INVALID);
    params.segments = NULL;
    REQUIRE_EQUAL(gpume_array_sort(&params, keys, NULL, WORDS), GPUME_OK);
    test_sizes(&params, keys);
    gpume_array_destroy(&keys);
    gpume_array_destroy(&payload);
}

int main(int argc, char **argv)
{
    struct gpume_compute_params params;
    if (argc < 2) {
        return 1;
    }
    gpume_compute_params_default(&params);
    params.backend = strcmp(argv[1], "cpu") == 0 ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    params.validate = argc > 2 && strcmp(argv[2], "--validate") == 0;
    params.cache_dir = getenv("GPUME_TEST_CACHE");
    if (params.backend == GPUME_BACKEND_VULKAN) {
        vulkan_probe_or_skip(params.validate);
    }
    REQUIRE_EQUAL(gpume_compute_open(&compute, &params), GPUME_OK);
    if (!compute) {
        return harness_verdict();
    }
    test_results();
    test_arrays();
    REQUIRE_EQUAL(gpume_compute_close(&compute), GPUME_OK);
    return harness_verdict();
}
