/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs and helpers that the public functions of compute.h share. */
#ifndef GPUME_ARRAYS_CONTEXT_H
#define GPUME_ARRAYS_CONTEXT_H

#include "arrays/backend.h"
#include "base/locked_log.h"

struct gpume_compute {
    struct gpume_locked_log locked;
    const struct gpume_log *log;
    const struct gpume_compute_ops *ops;
    void *state;
    struct gpume_compute_times times;
};

struct gpume_array {
    struct gpume_compute *compute;
    void *memory;
    uint64_t bytes;
};

struct gpume_program {
    struct gpume_compute *compute;
    void *state;
    uint32_t array_count, push_bytes;
};

bool gpume_array_holds(const struct gpume_array *array, uint64_t offset, uint64_t bytes);

/* Whether a part of an array can be copied to one of another: gpume_array_copy. */
bool gpume_array_can_copy(const struct gpume_array *to, uint64_t to_offset,
    const struct gpume_array *from, uint64_t from_offset, uint64_t bytes);

/* Whether the program can run on these arrays, whose memories it fills in: gpume_program_run. */
bool gpume_program_can_run(const struct gpume_program *program, gpume_array *const *arrays,
    const void *push, const uint32_t groups[3], void **memories);

/* Makes an array of host memory: the memory itself if the backend's arrays are host memory, else a
 * copy. Return it with gpume_array_give_back even after a failure; a zeroed array is fine there. */
int gpume_array_borrow(
    struct gpume_compute *compute, struct gpume_array *array, void *data, uint64_t bytes);
void gpume_array_give_back(struct gpume_array *array);

/* Copies the array back to the host memory from which it was borrowed. */
int gpume_array_fetch(const struct gpume_array *array, void *data);

#endif
