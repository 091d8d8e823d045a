/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every metric of each instruction set that this processor has gives what the plain loops give: of
 * random samples and of the largest differences, in blocks of every shape, also such as the
 * picture's edge cuts, of one match and of a mean of two.
 */
#include "cpu/search/search.h"
#include "harness.h"

#include <stdlib.h>

#define SIDE 64u
#define RUNS 400u
#define MATCHES 3u /* compared in one call, at most */

static uint64_t state = 5;

static uint32_t below(uint32_t count)
{
    return harness_random(&state) % count;
}

/* extreme: 0 or the peak alone. */
static void fill(void *plane, uint32_t bytes, bool extreme)
{
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint32_t peak = bytes == 2 ? 65535 : 255;
        uint32_t value = extreme ? below(2) * peak : below(peak + 1);
        if (bytes == 2) {
            ((uint16_t *)plane)[i] = (uint16_t)value;
        } else {
            ((uint8_t *)plane)[i] = (uint8_t)value;
        }
    }
}

/* The squares of 16-bit samples of a large block do not fit, and no plan asks for them. */
static bool is_planned(enum gpume_metric metric, uint32_t bytes)
{
    return metric != GPUME_METRIC_SSD || bytes == 1;
}

static void compare_one(
    gpume_distortion_fn fn, const struct gpume_target *target, const void *match, uint32_t expected)
{
    REQUIRE_EQUAL(fn(target, match, UINT32_MAX), expected);
    REQUIRE_EQUAL(fn(target, match, expected), expected);
    REQUIRE(expected == 0 || fn(target, match, expected - 1) >= expected);
}

/* With the limit of one of them, none below it may come out above, nor the other way round. */
static void compare_several(gpume_distortions_fn fn, const struct gpume_target *target,
    const void *const *matches, uint32_t count, const uint32_t *expected)
{
    uint32_t d[MATCHES];
    fn(target, matches, count, UINT32_MAX, d);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(d[i], expected[i]);
    }
    fn(target, matches, count, expected[0], d);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(d[i] == expected[i] || (d[i] > expected[0] && expected[i] > expected[0]));
    }
}

/* target: of a mean. */
static void compare(const struct gpume_general_kernels *kernels, const struct gpume_target *target,
    const void *const matches[MATCHES], uint32_t bytes)
{
    for (uint32_t metric = 0; metric <= GPUME_METRIC_SSD; metric++) {
        for (uint32_t mean = 0; mean < 2 && is_planned(metric, bytes); mean++) {
            struct gpume_target t = *target;
            uint32_t expected[MATCHES];
            t.other = mean ? target->other : NULL;
            for (uint32_t i = 0; i < MATCHES; i++) {
                expected[i] =
                    gpume_kernels_plain.distortions[metric][bytes == 2](&t, matches[i], UINT32_MAX);
                compare_one(kernels->distortions[metric][bytes == 2], &t, matches[i], expected[i]);
            }
            bool several = kernels->several_satd8 && metric == GPUME_METRIC_SATD && bytes == 1;
            for (uint32_t i = 1; several && i <= MATCHES; i++) {
                compare_several(kernels->several_satd8, &t, matches, i, expected);
            }
        }
    }
}

static void check(const struct gpume_general_kernels *kernels)
{
    static uint16_t planes[3][SIDE * SIDE];
    for (uint32_t i = 0; i < RUNS; i++) {
        uint32_t bytes = 1 + i % 2, tile = below(2) ? 8 : 4;
        bool cut = below(4) == 0;
        for (uint32_t j = 0; j < 3; j++) {
            fill(planes[j], bytes, i % 8 == 0);
        }
        struct gpume_target target = {.samples = (uint8_t *)planes[0] + below(8) * bytes,
            .other = (uint8_t *)planes[1] + below(8) * bytes,
            .stride = SIDE,
            .width = tile * (1 + below(48 / tile)),
            .height = tile * (1 + below(48 / tile)),
            .tile = tile};
        target.width -= cut ? below(tile) : 0;
        target.height -= cut ? below(tile) : 0;
        const void *matches[MATCHES];
        for (uint32_t j = 0; j < MATCHES; j++) {
            matches[j] = (uint8_t *)planes[2] + below(8) * bytes;
        }
        compare(kernels, &target, matches, bytes);
    }
}

int main(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; gpume_search_at(i); i++) {
        if (gpume_search_at(i)->available()) {
            check(gpume_search_at(i)->general);
            count++;
        }
    }
    REQUIRE(count > 0);
    return harness_verdict();
}
