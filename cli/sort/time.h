/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume sort --time`: times every method on the same integers. */
#ifndef GPUME_CLI_SORT_TIME_H
#define GPUME_CLI_SORT_TIME_H

#include "gpume/compute.h"
#include "sort/options.h"

#include <stdio.h>

struct gpume_sort_timing {
    const struct gpume_sort_options *options;
    struct gpume_sort_params params;
    const uint32_t *keys;     /* unsorted */
    const uint32_t *expected; /* sorted */
    uint64_t count;
    gpume_compute *compute; /* the one that sorted them */
};

/* Times all methods and prints one line per method if all results are as expected;
 * GPUME_EXIT_MISMATCH if one is not. */
enum gpume_exit gpume_sort_time(const struct gpume_sort_timing *timing, FILE *stream);

#endif
