/* SPDX-License-Identifier: BSD-2-Clause */
/* qsort's result, to compare others with. */
#ifndef GPUME_CLI_SORT_CHECK_H
#define GPUME_CLI_SORT_CHECK_H

#include "gpume/compute.h"

/* Sorts each segment with qsort. */
void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count);

/* The number of positions at which the keys are equal. */
uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count);

#endif
