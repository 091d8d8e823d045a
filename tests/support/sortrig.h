/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device with memory for one sort at a time: keys and payload lie between guard words, scratch
 * memory is poisoned before every run, and data are copied between host and device.
 */
#ifndef GPUME_TESTS_SORTRIG_H
#define GPUME_TESTS_SORTRIG_H

#include "gpu/arrays/sort.h"
#include "gpu/vk/gpu.h"

#define SORTRIG_GUARD 64u /* words before and after */
#define SORTRIG_POISON 0xcdcdcdcdu

#define SORTRIG_SHARED_MIN 16384u /* that every device has */

struct sortrig {
    struct gpume_log log;
    struct gpume_gpu gpu;
    struct gpume_k_sort sort;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    /* Each holds capacity words and two guards: the data to sort, and a copy of the input. */
    struct gpume_buffer keys, payload, keys_before, payload_before;
    struct gpume_buffer table, scratch, staging;
    uint32_t capacity;
    /* Not NULL: records in place of `sort`; the task's addresses are filled in. */
    const struct gpume_sorter *sorter;
    struct gpume_sorter_task *sorter_task;
};

/* capacity: in keys; small: as if the device had SORTRIG_SHARED_MIN bytes of shared memory.
 * GPUME_DEVICE: no Vulkan driver. Close it even after a failure. */
int sortrig_open(struct sortrig *rig, uint32_t capacity, bool validate, bool small);

/* Errors that the validation layer reported. */
unsigned sortrig_close(struct sortrig *rig);

/* Loads host arrays of `count` words. payload may be NULL; segments NULL: one, or uniform ones as
 * the task states. Guards are SORTRIG_POISON. */
int sortrig_load(struct sortrig *rig, const uint32_t *keys, const uint32_t *payload, uint32_t count,
    const uint32_t *segments, uint32_t segment_count);

/* Fills in the task's addresses (payload, table and ranks, which go where payload lies: if not 0 in
 * the task), and sorts a copy of the loaded data. run_ns: on the device; may be NULL. poison:
 * scratch memory as well. GPUME_NOMEM: scratch does not suffice. */
int sortrig_run(struct sortrig *rig, struct gpume_sort_task *task, bool poison, uint64_t *run_ns);

/* Copies the results back with both guards: 2 * SORTRIG_GUARD + count words; payload may be NULL.
 * False: the last task wrote past the scratch memory that it had requested. */
bool sortrig_read(struct sortrig *rig, const struct gpume_sort_task *task, uint32_t *keys,
    uint32_t *payload, uint32_t count);

#endif
