/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU backend: arrays in host memory, processed by the calling thread. */
#include "arrays/backend.h"
#include "arrays/host_sort.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* The state is the log alone. */
static int open_cpu(
    void **state, const struct gpume_compute_params *params, const struct gpume_log *log)
{
    (void)params;
    *state = (void *)(uintptr_t)log;
    return GPUME_OK;
}

static int close_cpu(void *state)
{
    (void)state;
    return GPUME_OK;
}

static void get_cpu_info(const void *state, struct gpume_compute_info *info)
{
    (void)state;
    info->backend = "cpu";
    info->device = "1 thread";
    info->driver = "";
    info->array_bytes_max = SIZE_MAX / 2;
}

static int create_memory(void *state, uint64_t bytes, void **memory)
{
    const struct gpume_log *log = state;
    void *made = bytes <= SIZE_MAX / 2 ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (!made) {
        return gpume_log_fail(log, GPUME_NOMEM, "out of memory for an array of %llu MiB",
            (unsigned long long)(bytes >> 20) + 1);
    }
    *memory = made;
    return GPUME_OK;
}

static int create_mapped(void *state, uint64_t bytes, void **memory, void **mapped)
{
    GPUME_CHECK(create_memory(state, bytes, memory));
    *mapped = *memory;
    return GPUME_OK;
}

static void free_memory(void *state, void *memory)
{
    (void)state;
    free(memory);
}

static int write_memory(
    void *state, void *memory, uint64_t offset, const void *data, uint64_t bytes)
{
    (void)state;
    memcpy((char *)memory + offset, data, bytes);
    return GPUME_OK;
}

static int read_memory(void *state, const void *memory, uint64_t offset, void *data, uint64_t bytes)
{
    (void)state;
    memcpy(data, (const char *)memory + offset, bytes);
    return GPUME_OK;
}

static int copy_memory(void *state, void *to, uint64_t to_offset, const void *from,
    uint64_t from_offset, uint64_t bytes, uint64_t *run_ns)
{
    (void)state;
    uint64_t start = gpume_clock_ns();
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    *run_ns = gpume_clock_ns() - start;
    return GPUME_OK;
}

static int sort_memory(void *state, const struct gpume_sort_params *params, void *keys,
    void *payload, uint64_t count, uint64_t *run_ns)
{
    const struct gpume_log *log = state;
    uint64_t start = gpume_clock_ns();
    int status = gpume_host_sort(params, keys, payload, count);
    *run_ns = gpume_clock_ns() - start;
    if (status != GPUME_OK) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%llu keys: out of memory for sorting them; sort fewer keys per call",
            (unsigned long long)count);
    }
    return status;
}

/* The functions for one element type. A sum is at most 2^32 * (2^32 - 1). */
#define REDUCTIONS(type)                                                                           \
    static uint64_t sum_##type(const type *data, uint64_t count)                                   \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            sum += data[i];                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static type least_##type(const type *data, uint64_t count)                                     \
    {                                                                                              \
        type least = data[0];                                                                      \
        for (uint64_t i = 1; i < count; i++) {                                                     \
            least = data[i] < least ? data[i] : least;                                             \
        }                                                                                          \
        return least;                                                                              \
    }                                                                                              \
    static uint64_t find_##type(const type *data, type value)                                      \
    {                                                                                              \
        uint64_t i = 0;                                                                            \
        while (data[i] != value) {                                                                 \
            i++;                                                                                   \
        }                                                                                          \
        return i;                                                                                  \
    }                                                                                              \
    static void count_##type(                                                                      \
        const type *data, uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)      \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            uint32_t bin = (uint32_t)data[i] >> shift;                                             \
            if (bin < bin_count) {                                                                 \
                bins[bin]++;                                                                       \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void reduce_##type(                                                                     \
        const struct gpume_reduction *what, const void *memory, uint64_t *results)                 \
    {                                                                                              \
        const type *data = (const type *)memory + what->first;                                     \
        if (what->kind == GPUME_REDUCE_SUM) {                                                      \
            results[0] = sum_##type(data, what->count);                                            \
        } else if (what->kind == GPUME_REDUCE_MINIMUM) {                                           \
            type least = least_##type(data, what->count);                                          \
            results[0] = least;                                                                    \
            results[1] = find_##type(data, least);                                                 \
        } else {                                                                                   \
            memset(results, 0, what->bin_count * sizeof(*results));                                \
            count_##type(data, what->count, what->shift, what->bin_count, results);                \
        }                                                                                          \
    }

REDUCTIONS(uint8_t)
REDUCTIONS(uint16_t)
REDUCTIONS(uint32_t)

static void reduce_memory(const struct gpume_reduction *what, const void *memory, uint64_t *results)
{
    switch (what->element) {
    case GPUME_ELEMENT_U8:
        reduce_uint8_t(what, memory, results);
        break;
    case GPUME_ELEMENT_U16:
        reduce_uint16_t(what, memory, results);
        break;
    case GPUME_ELEMENT_U32:
        reduce_uint32_t(what, memory, results);
        break;
    }
}

static int reduce_timed(void *state, const struct gpume_reduction *what, const void *memory,
    uint64_t *results, uint64_t *run_ns)
{
    (void)state;
    uint64_t start = gpume_clock_ns();
    reduce_memory(what, memory, results);
    *run_ns = gpume_clock_ns() - start;
    return GPUME_OK;
}

/* How long the batch took. */
static int batch_create(void *state, uint32_t steps_max, void **batch)
{
    const struct gpume_log *log = state;
    (void)steps_max;
    *batch = calloc(1, sizeof(uint64_t));
    return *batch ? GPUME_OK : gpume_log_nomem(log, "a batch");
}

static void batch_destroy(void *state, void *batch)
{
    (void)state;
    free(batch);
}

/* Only copies, since there are no programs. */
static int batch_submit(
    void *state, void *batch, const struct gpume_batch_step *steps, uint32_t count)
{
    uint64_t *run_ns = batch;
    *run_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_batch_step *step = &steps[i];
        uint64_t ns = 0;
        GPUME_CHECK(copy_memory(
            state, step->to, step->to_offset, step->from, step->from_offset, step->bytes, &ns));
        *run_ns += ns;
    }
    return GPUME_OK;
}

static int batch_wait(void *state, void *batch, uint64_t *run_ns)
{
    (void)state;
    *run_ns = *(const uint64_t *)batch;
    return GPUME_OK;
}

const struct gpume_compute_ops gpume_compute_cpu = {
    .open = open_cpu,
    .close = close_cpu,
    .get_info = get_cpu_info,
    .on_host = true,
    .create = create_memory,
    .create_host = create_mapped,
    .destroy = free_memory,
    .write = write_memory,
    .read = read_memory,
    .copy = copy_memory,
    .sort = sort_memory,
    .reduce = reduce_timed,
    .batch_create = batch_create,
    .batch_destroy = batch_destroy,
    .batch_submit = batch_submit,
    .batch_wait = batch_wait,
};
