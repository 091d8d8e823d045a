/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions of host memory, one thread. See gpume_array_sum and its neighbours for what they mean.
 */
#ifndef GPUME_ARRAYS_REDUCE_H
#define GPUME_ARRAYS_REDUCE_H

#include "arrays/backend.h"

void gpume_reduce(const struct gpume_reduction *what, const void *memory, uint64_t *results);

#endif
