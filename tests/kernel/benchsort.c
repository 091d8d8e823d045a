/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * benchsort [LOCAL KEYS]: the time of a sort by the device's clock: keys and pairs of random 32
 * bits, in one segment and in many, median of ROUNDS, with the given shape or the one that suits
 * the device. --max BITS, as the first option: up to 2^BITS keys (default 26). Prints one line per
 * case, in the form of tests/bench/cub_sort.cu: "gpume keys 22 0 0.123 ms 12.3 G/s", the numbers
 * being the logarithms of keys and of segments.
 */
#include "harness.h"
#include "sortrig.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 15u

static int compare_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void bench(struct sortrig *rig, uint32_t bits, uint32_t segment_bits, bool pairs,
    uint32_t key_bits, enum gpume_sort_method by)
{
    uint64_t ns[ROUNDS];
    struct gpume_sort_task task = {
        .payload = pairs,
        .count = 1u << bits,
        .segments = 1u << segment_bits,
        .stride = 1u << (bits - segment_bits),
        .longest = 1u << (bits - segment_bits),
        .key_bits = key_bits,
        .method = by,
    };
    for (uint32_t i = 0; i < 3 + ROUNDS; i++) {
        REQUIRE_EQUAL(sortrig_run(rig, &task, false, &ns[i < 3 ? 0 : i - 3]), GPUME_OK);
    }
    qsort(ns, ROUNDS, sizeof(*ns), compare_ns);
    double ms = (double)ns[ROUNDS / 2] / 1e6;
    printf("gpume%s %s %u %u %.4f ms %.2f G/s%s\n",
        by == GPUME_SORT_BITONIC ? "-network"
        : by == GPUME_SORT_RADIX ? "-radix"
                                 : "",
        pairs ? "pairs" : "keys", bits, segment_bits, ms, (double)task.count / ms / 1e6,
        key_bits < 32 ? ", 16 bits" : "");
    fflush(stdout);
}

/* The same keys for all sizes; the payload is uninitialised. */
static int load(struct sortrig *rig, uint32_t count)
{
    uint32_t *keys = malloc((size_t)count * 4);
    if (!keys) {
        return GPUME_NOMEM;
    }
    uint64_t random = 20061123;
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = harness_random(&random);
    }
    int status = sortrig_load(rig, keys, keys, count, NULL, 0);
    free(keys);
    return status;
}

int main(int argc, char **argv)
{
    static struct sortrig rig;
    uint32_t most = 26;
    if (argc > 2 && strcmp(argv[1], "--max") == 0) {
        most = (uint32_t)strtoul(argv[2], NULL, 10);
        argc -= 2;
        argv += 2;
    }
    int status = sortrig_open(&rig, 1u << most, false, false);
    if (status != GPUME_OK) {
        return 1;
    }
    if (argc > 2) {
        struct gpume_sort_shape shape = {.local = (uint32_t)strtoul(argv[1], NULL, 10),
            .keys = (uint32_t)strtoul(argv[2], NULL, 10)};
        gpume_k_sort_destroy(&rig.sort);
        REQUIRE_EQUAL(gpume_k_sort_create(&rig.gpu, &shape, NULL, &rig.sort), GPUME_OK);
        REQUIRE_EQUAL(gpume_k_sort_wait(&rig.sort), GPUME_OK);
    }
    printf("%s, %u invocations of %u keys\n", rig.gpu.properties.deviceName, rig.sort.shape.local,
        rig.sort.shape.keys);
    REQUIRE_EQUAL(load(&rig, 1u << most), GPUME_OK);
    for (uint32_t bits = 16; bits <= most; bits += 2) {
        bench(&rig, bits, 0, false, 32, GPUME_SORT_AUTO);
        bench(&rig, bits, 0, true, 32, GPUME_SORT_AUTO);
    }
    if (argc > 3) {
        sortrig_close(&rig);
        return 0;
    }
    bench(&rig, 20, 0, false, 16, GPUME_SORT_AUTO);
    bench(&rig, 20, 0, false, 32, GPUME_SORT_BITONIC);
    for (uint32_t segments = 6; most >= 22 && segments <= 18; segments += 2) {
        bench(&rig, 22, segments, false, 32, GPUME_SORT_AUTO);
        bench(&rig, 22, segments, true, 32, GPUME_SORT_AUTO);
    }
    for (uint32_t segments = 14; most >= 22 && segments <= 17; segments++) {
        bench(&rig, 22, segments, true, 32, GPUME_SORT_RADIX);
        bench(&rig, 22, segments, true, 32, GPUME_SORT_BITONIC);
    }
    sortrig_close(&rig);
    return harness_failures != 0;
}
