/* SPDX-License-Identifier: BSD-2-Clause */
/* A few things that take long and do not need each other, such as opening devices. */
#ifndef GPUME_BASE_PARALLEL_H
#define GPUME_BASE_PARALLEL_H

#include <stdint.h>

/* Calls fn for 0 to count - 1 at the same time: the first call on the caller's thread, the others
 * on new ones. Calls for which no thread can be started follow on the caller's. Returns when all
 * calls have returned. */
void gpume_parallel(void (*fn)(void *opaque, uint32_t index), void *opaque, uint32_t count);

#endif
