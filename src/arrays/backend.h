/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface between the public functions of compute.h and a backend that holds the arrays.
 * Arguments have been checked: no access goes beyond an array's end. Every call returns when its
 * work is done. run_ns: time of the work alone, without transfers.
 */
#ifndef GPUME_ARRAYS_BACKEND_H
#define GPUME_ARRAYS_BACKEND_H

#include "base/log.h"
#include "gpume/compute.h"

enum gpume_reduce_kind { GPUME_REDUCE_SUM, GPUME_REDUCE_MINIMUM, GPUME_REDUCE_HISTOGRAM };

struct gpume_reduction {
    enum gpume_reduce_kind kind;
    enum gpume_element element;
    uint64_t first, count;     /* elements */
    uint32_t shift, bin_count; /* histogram only */
};

/* A copy, or a program with its arrays. */
struct gpume_batch_step {
    void *program; /* NULL: a copy */
    void *memories[GPUME_PROGRAM_ARRAYS_MAX];
    unsigned char push[GPUME_PROGRAM_PUSH_MAX];
    uint32_t groups[3];
    void *to;
    const void *from;
    uint64_t to_offset, from_offset, bytes;
};

struct gpume_compute_ops {
    int (*open)(
        void **state, const struct gpume_compute_params *params, const struct gpume_log *log);
    /* GPUME_OK, or the status for errors that the validation layer reported. */
    int (*close)(void *state);
    void (*get_info)(const void *state, struct gpume_compute_info *info);

    /* Arrays are host memory, so that a caller's data need no copy. */
    bool on_host;
    int (*create)(void *state, uint64_t bytes, void **memory);
    /* In host memory, at *mapped. */
    int (*create_host)(void *state, uint64_t bytes, void **memory, void **mapped);
    void (*destroy)(void *state, void *memory);
    int (*write)(void *state, void *memory, uint64_t offset, const void *data, uint64_t bytes);
    int (*read)(void *state, const void *memory, uint64_t offset, void *data, uint64_t bytes);
    int (*copy)(void *state, void *to, uint64_t to_offset, const void *from, uint64_t from_offset,
        uint64_t bytes, uint64_t *run_ns);

    int (*sort)(void *state, const struct gpume_sort_params *params, void *keys, void *payload,
        uint64_t count, uint64_t *run_ns);
    /* results: the sum; the minimum and its index; or the bins. */
    int (*reduce)(void *state, const struct gpume_reduction *what, const void *memory,
        uint64_t *results, uint64_t *run_ns);

    /* NULL: this backend runs no programs. */
    int (*program_create)(void *state, const struct gpume_program_params *params, void **program);
    void (*program_destroy)(void *state, void *program);
    int (*program_run)(void *state, void *program, void *const *memories, const void *push,
        const uint32_t groups[3], uint64_t *run_ns);

    /* Submit does not wait unless the backend does the work itself. A batch is submitted again, or
     * destroyed, only after it was waited for. */
    int (*batch_create)(void *state, uint32_t steps_max, void **batch);
    void (*batch_destroy)(void *state, void *batch);
    int (*batch_submit)(
        void *state, void *batch, const struct gpume_batch_step *steps, uint32_t count);
    int (*batch_wait)(void *state, void *batch, uint64_t *run_ns);
};

extern const struct gpume_compute_ops gpume_compute_gpu;

static inline uint32_t gpume_element_bytes(enum gpume_element element)
{
    return element == GPUME_ELEMENT_U8 ? 1 : element == GPUME_ELEMENT_U16 ? 2 : 4;
}

#endif
