/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUME_CLI_SORT_TIME_H
#define GPUME_CLI_SORT_TIME_H

#include "bench/sort_trial.h"
#include "exit.h"

#include <stdio.h>

/* `gpume sort --time`: measures every method, and prints one line for each if all results are as
 * expected; GPUME_EXIT_MISMATCH if one is not. work: params, count, keys, sorted, and compute,
 * which has sorted them. asked: --backend. */
enum gpume_exit gpume_sort_time(
    const struct gpume_sort_trial *work, enum gpume_backend asked, FILE *stream);

#endif
