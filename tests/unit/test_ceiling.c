/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ceiling [cpu|vulkan]: every available search has a ceiling, except CPU searches without a
 * loop for it; no other search has one. Each loop counts its differences.
 */
#include "bench/bench.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <stdbool.h>
#include <string.h>

#define SEARCHES_MAX 32u

static bool has_loop(const struct gpume_search_info *search)
{
    return search->backend == GPUME_BACKEND_VULKAN || strcmp(search->name, "avx2") == 0 ||
           strcmp(search->name, "avx512") == 0;
}

static void test_searches(enum gpume_backend backend)
{
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0, available = 0;
    REQUIRE_EQUAL(gpume_list_searches(NULL, searches, SEARCHES_MAX, &count), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_search_info *search = &searches[i];
        if (search->backend == backend) {
            const double ceiling = gpume_bench_ceiling(search, NULL, 1);
            printf("ceiling of %s: %.3g differences per second\n", search->name, ceiling);
            REQUIRE((ceiling > 0) == (search->available && has_loop(search)));
            available += search->available;
            search->available = false;
            REQUIRE(gpume_bench_ceiling(search, NULL, 1) == 0);
        }
    }
    REQUIRE(available > 0);
}

static void test_no_device(void)
{
    const struct gpume_search_info search = {
        .backend = GPUME_BACKEND_VULKAN, .available = true, .name = "int"};
    REQUIRE(gpume_bench_ceiling(&search, "no such device", 1) == 0);
}

/* A round is eight instructions; one compares a register's worth of places with four samples. */
static void test_loops(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        REQUIRE_EQUAL(gpume_bench_loop_avx2(3), 3 * 8 * 16 * 4);
    }
    if (__builtin_cpu_supports("avx512bw")) {
        REQUIRE_EQUAL(gpume_bench_loop_avx512(3), 3 * 8 * 32 * 4);
    }
#endif
}

int main(int argc, char **argv)
{
    const bool cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
    if (!cpu) {
        vulkan_probe_or_skip(false);
    }
    test_searches(cpu ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN);
    test_no_device();
    test_loops();
    return harness_verdict();
}
