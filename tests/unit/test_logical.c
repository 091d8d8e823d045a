/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts share a logical device, unless they validate or it is lost; and two of them compute
 * at the same time, each in a thread, while others are opened and closed.
 */
#include "gpu/vk/gpu.h"
#include "gpume/compute.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <pthread.h>

#define KEYS 5000u
#define ROUNDS 20u

static const struct gpume_log silent;

static void open_gpu(struct gpume_gpu *gpu)
{
    REQUIRE_EQUAL(gpume_gpu_open(gpu, &silent, NULL, true, false), GPUME_OK);
}

static void test_sharing(void)
{
    struct gpume_gpu one, two, three;
    open_gpu(&one);
    open_gpu(&two);
    REQUIRE(one.device == two.device);
    REQUIRE_EQUAL(one.queue_family, two.queue_family);
    REQUIRE_EQUAL(one.timestamp_bits, two.timestamp_bits);
    gpume_gpu_close(&one);
    open_gpu(&three);
    REQUIRE(three.device == two.device);
    gpume_logical_fail(&three, VK_ERROR_OUT_OF_HOST_MEMORY);
    gpume_gpu_close(&two);
    open_gpu(&two);
    REQUIRE(three.device == two.device);

    gpume_logical_fail(&two, VK_ERROR_DEVICE_LOST);
    open_gpu(&one);
    REQUIRE(one.device != two.device);
    gpume_gpu_close(&two);
    open_gpu(&two);
    REQUIRE(two.device == one.device);
    gpume_gpu_close(&three);
    gpume_gpu_close(&one);
    gpume_gpu_close(&two);
    gpume_gpu_close(&two); /* closed: fine */
}

static void test_validation(void)
{
    struct gpume_gpu one, two;
    if (gpume_gpu_open(&one, &silent, NULL, true, true) == GPUME_OK) {
        REQUIRE_EQUAL(gpume_gpu_open(&two, &silent, NULL, true, true), GPUME_OK);
        REQUIRE(one.device != two.device);
        gpume_gpu_close(&two);
    } else {
        printf("no validation layer: only contexts without it are tested\n");
    }
    gpume_gpu_close(&one);
}

struct sorter {
    uint64_t seed;
    uint32_t sorted; /* rounds */
};

static bool is_sorted(const uint32_t *keys, uint64_t sum)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        sum -= keys[i];
        if (i > 0 && keys[i - 1] > keys[i]) {
            return false;
        }
    }
    return sum == 0;
}

/* Sorts other keys in each round, by its own context. */
static void *sort_all(void *opaque)
{
    struct sorter *sorter = opaque;
    uint32_t *keys = malloc(KEYS * sizeof(*keys));
    for (uint32_t round = 0; round < ROUNDS && keys; round++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < KEYS; i++) {
            sum += keys[i] = harness_random(&sorter->seed);
        }
        gpume_compute *compute = NULL;
        struct gpume_compute_params params;
        struct gpume_sort_params sort;
        gpume_compute_params_default(&params);
        gpume_sort_params_default(&sort);
        params.backend = GPUME_BACKEND_VULKAN;
        if (gpume_compute_open(&compute, &params) == GPUME_OK &&
            gpume_sort(compute, &sort, keys, NULL, KEYS) == GPUME_OK && is_sorted(keys, sum) &&
            gpume_compute_close(&compute) == GPUME_OK) {
            sorter->sorted++;
        }
    }
    free(keys);
    return NULL;
}

static void test_threads(void)
{
    static struct sorter sorters[2] = {
        {.seed = 88172645463325252u}, {.seed = 1181783497276652981u}};
    pthread_t threads[2];
    struct gpume_gpu held; /* so that both share a device all the time */
    open_gpu(&held);
    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE_EQUAL(pthread_create(&threads[i], NULL, sort_all, &sorters[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE_EQUAL(pthread_join(threads[i], NULL), 0);
        REQUIRE_EQUAL(sorters[i].sorted, ROUNDS);
    }
    gpume_gpu_close(&held);
}

int main(void)
{
    vulkan_probe_or_skip(false);
    test_sharing();
    test_validation();
    test_threads();
    return harness_verdict();
}
