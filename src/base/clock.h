/* SPDX-License-Identifier: BSD-2-Clause */
/* Time in nanoseconds. */
#ifndef GPUME_BASE_CLOCK_H
#define GPUME_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic wall time. */
uint64_t gpume_clock_ns(void);

/* Processor time of the calling thread: what others do on the machine does not count. */
uint64_t gpume_clock_thread_ns(void);

#endif
