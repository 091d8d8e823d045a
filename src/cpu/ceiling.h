/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a processor could do if it did nothing but compare samples: the measure that searches are
 * held against. The loops live beside the searches' instruction sets, a file each.
 */
#ifndef GPUME_CPU_CEILING_H
#define GPUME_CPU_CEILING_H

#include <stdint.h>

/* Each runs a search's own instruction on registers and gives the pixel differences it made. */
uint64_t gpume_ceiling_avx2(uint64_t rounds);   /* x86-64 only */
uint64_t gpume_ceiling_avx512(uint64_t rounds); /* x86-64 only */

/* engine_ops.measure_ceiling of the CPU engine. */
int gpume_ceiling_measure(
    const char *device, const char *search, uint32_t threads, double *differences_per_second);

#endif
