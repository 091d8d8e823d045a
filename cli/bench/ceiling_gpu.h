/* SPDX-License-Identifier: BSD-2-Clause */
/* The ceilings of the searches on a Vulkan device, one for each type that holds samples; see
 * ceiling.h and ceiling.comp. */
#ifndef GPUME_CLI_BENCH_CEILING_GPU_H
#define GPUME_CLI_BENCH_CEILING_GPU_H

#include <stdint.h>

/* Differences per second; 0: the measurement failed, without a message. The device must have half
 * floats for the last one. threads is ignored. */
double gpume_bench_ceiling_int(const char *device, uint32_t threads);
double gpume_bench_ceiling_float(const char *device, uint32_t threads);
double gpume_bench_ceiling_half(const char *device, uint32_t threads);

#endif
