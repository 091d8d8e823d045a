/* SPDX-License-Identifier: BSD-2-Clause */
/* A few things that take long and do not need each other, such as opening devices. */
#ifndef GPUME_BASE_PARALLEL_H
#define GPUME_BASE_PARALLEL_H

#include <stdint.h>

/* Calls fn for 0 to count - 1, each on a thread of its own, the first one on the caller's; without
 * enough threads one after the other. All calls have returned on return. */
void gpume_parallel(void (*fn)(void *opaque, uint32_t index), void *opaque, uint32_t count);

#endif
