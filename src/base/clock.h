/* SPDX-License-Identifier: BSD-2-Clause */
/* Monotonic wall time in nanoseconds. */
#ifndef GPUME_BASE_CLOCK_H
#define GPUME_BASE_CLOCK_H

#include <stdint.h>

uint64_t gpume_clock_ns(void);

#endif
