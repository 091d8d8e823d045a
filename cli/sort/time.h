/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume sort --time`: every method on the same integers. */
#ifndef GPUME_CLI_SORT_TIME_H
#define GPUME_CLI_SORT_TIME_H

#include "gpume/compute.h"
#include "sort/sort.h"

#include <stdio.h>

struct gpume_sort_timing {
    const struct gpume_sort_options *options;
    struct gpume_sort_params params;
    const uint32_t *keys;     /* as they came */
    const uint32_t *expected; /* in order */
    uint64_t count;
    gpume_compute *compute; /* the run's own */
};

/* Measures all, each result held against what is expected, and prints a line a method once all
 * have agreed; GPUME_EXIT_MISMATCH if one does not. */
enum gpume_exit gpume_sort_time(const struct gpume_sort_timing *timing, FILE *stream);

#endif
