/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume_array_sort on a device: scratch memory and a table of segments grown as they are needed,
 * segments by classes of like length, so that one long segment among many short ones costs no
 * more than itself.
 */
#ifndef GPUME_GPU_ARRAYS_SEGMENT_SORT_H
#define GPUME_GPU_ARRAYS_SEGMENT_SORT_H

#include "arrays/backend.h"
#include "base/cache.h"
#include "gpu/arrays/sort.h"
#include "gpu/arrays/transfer.h"

#define GPUME_SORT_CLASSES 32u /* by the bits of a length */

struct gpume_segment_sort {
    struct gpume_k_sort sort; /* made for the first sort */
    struct gpume_buffer scratch, table;
    struct gpume_sort_task task;
    struct {
        uint32_t first, count; /* of the table */
        uint32_t longest;
    } classes[GPUME_SORT_CLASSES];
};

/* Everything that may fail: kernels and their check (sort_check.h), memory, the table. key_bits: 1
 * to 32. The arrays hold `count` words and are not touched; payload may be NULL. */
int gpume_segment_sort_prepare(struct gpume_gpu *gpu, struct gpume_transfer *transfer,
    const struct gpume_cache *cache, const struct gpume_sort_params *params,
    const struct gpume_buffer *keys, const struct gpume_buffer *payload, uint64_t count,
    struct gpume_segment_sort *sort);

/* What was prepared. */
void gpume_segment_sort_record(
    const struct gpume_segment_sort *sort, const struct gpume_slot *slot);

/* Zeroed is fine. */
void gpume_segment_sort_destroy(struct gpume_gpu *gpu, struct gpume_segment_sort *sort);

#endif
