/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's order, to hold others against. */
#ifndef GPUME_CLI_SORT_CHECK_H
#define GPUME_CLI_SORT_CHECK_H

#include "gpume/compute.h"

/* By qsort, each segment by itself. */
void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count);

/* In how many places the same key stands. */
uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count);

#endif
