/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate that no search on a device can exceed without elimination: `gpume bench` gives every
 * search's rate as a share of it.
 */
#ifndef GPUME_CLI_BENCH_CEILING_H
#define GPUME_CLI_BENCH_CEILING_H

#include "gpume/gpume.h"

/* Differences of 8-bit samples per second in a loop that only executes the instructions with which
 * this search compares samples, on values in registers. device, threads: as in gpume_params. 0: not
 * known, not available on this machine, or the measurement failed. Takes some tenths of a second;
 * any thread. */
double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads);

#if defined(__x86_64__)
/* Loops for searches on the CPU: return the number of differences. Ask the processor first whether
 * it has the instructions. */
uint64_t gpume_bench_loop_avx2(uint64_t rounds);
uint64_t gpume_bench_loop_avx512(uint64_t rounds);
#endif

#endif
