/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts the same keys again and again by one method, checks the results, and measures the time: for
 * `gpume bench --sort` and `gpume sort --time`. Main thread only.
 */
#ifndef GPUME_CLI_BENCH_SORT_TRIAL_H
#define GPUME_CLI_BENCH_SORT_TRIAL_H

#include "gpume/compute.h"

struct gpume_sort_trial {
    const char *work, *method; /* for messages */
    gpume_compute *compute;    /* NULL: qsort */
    struct gpume_sort_params params;
    uint64_t budget_ns, count;
    const uint32_t *keys;   /* unsorted */
    const uint32_t *sorted; /* the expected result */
    /* The expected positions of keys that are sorted with their positions, unsigned and ascending
     * in one segment; NULL: keys are sorted alone. */
    const uint32_t *order;
    /* The caller's memory: `count` numbers each; the last two only for keys with positions. */
    uint32_t *work_keys, *work_places;
    uint64_t *work_wide;
    gpume_array *arrays[4]; /* private: keys and positions on the device, unsorted and sorted */
};

/* The median time in microseconds of a sort in host memory, which includes copies to and from the
 * device. Failures are logged; GPUME_FORMAT: a result is wrong. */
int gpume_sort_trial_on_host(struct gpume_sort_trial *trial, double *us);

/* The same in the device's memory, without copies and by the device's timestamps; 0 us if it has
 * none. Checks the last result. */
int gpume_sort_trial_on_device(struct gpume_sort_trial *trial, double *us);

/* Sorts each segment with qsort. */
void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count);

/* The number of positions at which the keys are equal. */
uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count);

#endif
