/* SPDX-License-Identifier: BSD-2-Clause */
/* Sum, minimum and histogram of host memory, on the calling thread. */
#ifndef GPUME_ARRAYS_REDUCE_H
#define GPUME_ARRAYS_REDUCE_H

#include "arrays/backend.h"

void gpume_reduce(const struct gpume_reduction *what, const void *memory, uint64_t *results);

#endif
