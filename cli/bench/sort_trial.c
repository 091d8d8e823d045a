/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/sort_trial.h"

#include "base/base.h"
#include "base/os.h"
#include "bench/timing.h"
#include "console.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Comparison functions for qsort. */
#define COMPARE(name, number, first, second)                                                       \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const number x = *(const number *)(first), y = *(const number *)(second);                  \
        return (x > y) - (x < y);                                                                  \
    }
COMPARE(rising_u32, uint32_t, a, b)
COMPARE(rising_i32, int32_t, a, b)
COMPARE(falling_u32, uint32_t, b, a)
COMPARE(falling_i32, int32_t, b, a)
COMPARE(rising_u64, uint64_t, a, b)

void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count)
{
    const struct gpume_segment whole = {0, (uint32_t)count};
    const struct gpume_segment *segments = params->segments ? params->segments : &whole;
    const uint32_t segment_count = params->segments ? params->segment_count : 1;
    int (*compare)(const void *, const void *) =
        params->type == GPUME_KEY_I32 ? (params->descending ? falling_i32 : rising_i32)
                                      : (params->descending ? falling_u32 : rising_u32);
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].count > 0) {
            qsort(keys + segments[i].first, segments[i].count, sizeof *keys, compare);
        }
    }
}

static void sort_pairs_with_qsort(struct gpume_sort_trial *trial)
{
    for (uint64_t i = 0; i < trial->count; i++) {
        trial->work_wide[i] = (uint64_t)trial->work_keys[i] << 32 | trial->work_places[i];
    }
    qsort(trial->work_wide, trial->count, sizeof(*trial->work_wide), rising_u64);
    for (uint64_t i = 0; i < trial->count; i++) {
        trial->work_keys[i] = (uint32_t)(trial->work_wide[i] >> 32);
        trial->work_places[i] = (uint32_t)trial->work_wide[i];
    }
}

uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count)
{
    uint64_t matches = 0;
    for (uint64_t i = 0; i < count; i++) {
        matches += a[i] == b[i];
    }
    return matches;
}

static void refill(struct gpume_sort_trial *trial)
{
    memcpy(trial->work_keys, trial->keys, trial->count * sizeof(*trial->keys));
    for (uint64_t i = 0; trial->order && i < trial->count; i++) {
        trial->work_places[i] = (uint32_t)i;
    }
}

static int check_sorted(const struct gpume_sort_trial *trial, int status)
{
    if (status != GPUME_OK) {
        return gpume_refuse(
            status, "%s: %s: %s", trial->work, trial->method, gpume_status_text(status));
    }
    const size_t bytes = trial->count * sizeof(*trial->keys);
    return memcmp(trial->work_keys, trial->sorted, bytes) == 0 &&
                   (!trial->order || memcmp(trial->work_places, trial->order, bytes) == 0)
               ? GPUME_OK
               : gpume_refuse(GPUME_FORMAT, "%s: %s sorts %" PRIu64 " integers wrongly",
                     trial->work, trial->method, trial->count);
}

static int sort_on_host(void *opaque, double *us)
{
    struct gpume_sort_trial *trial = opaque;
    int status = GPUME_OK;
    refill(trial);
    const uint64_t start = gpume_clock_ns();
    if (trial->compute) {
        status = gpume_sort(trial->compute, &trial->params, trial->work_keys,
            trial->order ? trial->work_places : NULL, trial->count);
    } else if (trial->order) {
        sort_pairs_with_qsort(trial);
    } else {
        gpume_sort_with_qsort(&trial->params, trial->work_keys, trial->count);
    }
    *us = (double)(gpume_clock_ns() - start) / 1e3;
    return check_sorted(trial, status);
}

int gpume_sort_trial_on_host(struct gpume_sort_trial *trial, double *us)
{
    return gpume_bench_repeat(trial->budget_ns, sort_on_host, trial, us);
}

static int sort_on_device(void *opaque, double *us)
{
    struct gpume_sort_trial *trial = opaque;
    gpume_array *const *arrays = trial->arrays;
    const uint64_t bytes = trial->count * sizeof(*trial->keys);
    struct gpume_compute_times times;
    GPUME_CHECK(gpume_array_copy(arrays[2], 0, arrays[0], 0, bytes));
    GPUME_CHECK(trial->order ? gpume_array_copy(arrays[3], 0, arrays[1], 0, bytes) : GPUME_OK);
    GPUME_CHECK(gpume_array_sort(&trial->params, arrays[2], arrays[3], trial->count));
    gpume_compute_get_times(trial->compute, &times);
    *us = (double)times.run_ns / 1e3;
    return GPUME_OK;
}

int gpume_sort_trial_on_device(struct gpume_sort_trial *trial, double *us)
{
    uint32_t *const words[] = {trial->work_keys, trial->work_places};
    const uint64_t bytes = trial->count * sizeof(*trial->keys);
    const int kinds = trial->order ? 2 : 1;
    int status;
    refill(trial);
    for (int i = 0; i < kinds; i++) {
        GPUME_TRY(gpume_array_create(trial->compute, &trial->arrays[i], bytes));
        GPUME_TRY(gpume_array_create(trial->compute, &trial->arrays[2 + i], bytes));
        GPUME_TRY(gpume_array_write(trial->arrays[i], 0, words[i], bytes));
    }
    GPUME_TRY(gpume_bench_warm_up(trial->budget_ns, sort_on_device, trial));
    GPUME_TRY(gpume_bench_repeat(trial->budget_ns, sort_on_device, trial, us));
    for (int i = 0; i < kinds; i++) {
        GPUME_TRY(gpume_array_read(trial->arrays[2 + i], 0, words[i], bytes));
    }
fail:
    for (int i = 0; i < 4; i++) {
        gpume_array_destroy(&trial->arrays[i]);
    }
    return check_sorted(trial, status);
}
