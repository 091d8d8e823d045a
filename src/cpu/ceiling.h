/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast the processor would be if it only compared samples: the limit that searches are compared
 * with. There is one loop, in a file of its own, for each instruction set that has a search.
 */
#ifndef GPUME_CPU_CEILING_H
#define GPUME_CPU_CEILING_H

#include <stdint.h>

/* Each repeats a search's main instruction on registers and returns the number of pixel differences
 * that it has made. */
uint64_t gpume_ceiling_avx2(uint64_t rounds);   /* x86-64 only */
uint64_t gpume_ceiling_avx512(uint64_t rounds); /* x86-64 only */

/* engine_ops.measure_ceiling of the CPU engine. */
int gpume_ceiling_measure(
    const char *device, const char *search, uint32_t threads, double *differences_per_second);

#endif
