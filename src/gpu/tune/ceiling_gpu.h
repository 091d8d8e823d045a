/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device could do if it did nothing but compare samples, held as a variant of the match
 * stage holds them: the measure that searches are held against. See ceiling.comp.
 */
#ifndef GPUME_GPU_TUNE_CEILING_GPU_H
#define GPUME_GPU_TUNE_CEILING_GPU_H

#include <stdint.h>

/* engine_ops.measure_ceiling of the Vulkan engine, on a device of its own for as long as it takes.
 * Any thread. The caller hears of a failure by the status alone: there is no log. */
int gpume_ceiling_gpu_measure(
    const char *device, const char *search, uint32_t threads, double *differences_per_second);

#endif
