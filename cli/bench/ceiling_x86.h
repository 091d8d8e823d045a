/* SPDX-License-Identifier: BSD-2-Clause */
/* The ceilings of the searches for x86-64 processors; see ceiling.h. */
#ifndef GPUME_CLI_BENCH_CEILING_X86_H
#define GPUME_CLI_BENCH_CEILING_X86_H

#include <stdint.h>

/* Differences per second of all threads together; 0: the processor lacks the instructions, or the
 * measurement failed. device is ignored. */
double gpume_bench_ceiling_avx2(const char *device, uint32_t threads);
double gpume_bench_ceiling_avx512(const char *device, uint32_t threads);

/* The loops that they time, each compiled for its instruction set: the caller asks the processor
 * first. They return the number of differences. */
uint64_t gpume_bench_loop_avx2(uint64_t rounds);
uint64_t gpume_bench_loop_avx512(uint64_t rounds);

#endif
