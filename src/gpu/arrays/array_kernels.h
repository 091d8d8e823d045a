/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions of arrays that are reached by address: kernels, made when they are first needed, and
 * how they are recorded. */
#ifndef GPUME_GPU_ARRAYS_ARRAY_KERNELS_H
#define GPUME_GPU_ARRAYS_ARRAY_KERNELS_H

#include "arrays/backend.h"
#include "gpu/vk/slot.h"

struct gpume_array_kernels {
    struct gpume_kernel reduce[2][9]; /* sum or minimum; by bytes of an element, 8 for pairs */
    struct gpume_kernel histogram[5]; /* by bytes of an element */
    struct gpume_buffer partials, results;
};

/* Makes what the reduction needs, if it is not there. */
int gpume_array_kernels_prepare(
    struct gpume_gpu *gpu, const struct gpume_reduction *what, struct gpume_array_kernels *kernels);

/* Zeroed is fine. */
void gpume_array_kernels_destroy(struct gpume_gpu *gpu, struct gpume_array_kernels *kernels);

/* Of prepared kernels. Leaves one pair of words or the bins in kernels->results, not yet visible.
 * what->count > 0. */
void gpume_array_kernels_record(struct gpume_slot *slot, const struct gpume_reduction *what,
    const struct gpume_array_kernels *kernels, VkDeviceAddress data);

#endif
