/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions of compute.h: arguments, and the backend that does the work. */
#include "arrays/backend.h"
#include "arrays/host_sort.h"
#include "base/base.h"
#include "base/os.h"
#include "base/params.h"

#include <stdlib.h>
#include <string.h>

/* --- the CPU backend: arrays in host memory, processed by the calling thread */

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

static const struct gpume_compute_ops cpu_ops = {
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

/* --- the public functions */

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

/* --- contexts */

int gpume_compute_params_fill(struct gpume_compute_params *params)
{
    static const struct gpume_compute_params defaults = {.backend = GPUME_BACKEND_AUTO};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

static int open_backend(struct gpume_compute *compute, const struct gpume_compute_params *params,
    const struct gpume_compute_ops *ops)
{
    int status = ops->open(&compute->state, params, compute->log);
    compute->ops = status == GPUME_OK ? ops : NULL;
    return status;
}

static int choose_backend(struct gpume_compute *compute, const struct gpume_compute_params *params)
{
    bool fixed = params->device || params->validate;
    if (params->backend == GPUME_BACKEND_CPU) {
        int checked = gpume_args_check_cpu(params->device, params->validate, compute->log);
        return checked ? checked : open_backend(compute, params, &cpu_ops);
    }
    int status = open_backend(compute, params, &gpume_compute_gpu);
    if (params->backend == GPUME_BACKEND_AUTO && !fixed && gpume_status_is_of_gpu(status)) {
        return open_backend(compute, params, &cpu_ops);
    }
    return status;
}

int gpume_compute_open(gpume_compute **out, const struct gpume_compute_params *params)
{
    if (!out || !params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    struct gpume_compute_params own;
    int status = gpume_sized_read(&own, sizeof(own), params, "gpume_compute_params", &log);
    status = status == GPUME_OK
                 ? gpume_args_check_number(GPUME_PARAM(backend), (unsigned)own.backend, &log)
                 : status;
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume_compute *compute = calloc(1, sizeof(*compute));
    if (!compute) {
        return gpume_log_nomem(&log, "a context");
    }
    gpume_locked_log_init(&compute->locked, log.fn, log.opaque);
    compute->log = &compute->locked.log;
    status = choose_backend(compute, &own);
    if (status != GPUME_OK) {
        gpume_compute_close(&compute);
        return status;
    }
    *out = compute;
    return GPUME_OK;
}

int gpume_compute_close(gpume_compute **out)
{
    if (!out || !*out) {
        return GPUME_OK;
    }
    struct gpume_compute *compute = *out;
    int status = compute->ops ? compute->ops->close(compute->state) : GPUME_OK;
    gpume_locked_log_finish(&compute->locked);
    free(compute);
    *out = NULL;
    return status;
}

int gpume_compute_info_fill(const gpume_compute *compute, struct gpume_compute_info *info)
{
    if (!compute || !info) {
        return GPUME_INVALID;
    }
    struct gpume_compute_info own = {0};
    compute->ops->get_info(compute->state, &own);
    return gpume_sized_write(info, &own, sizeof(own));
}

int gpume_compute_times_fill(const gpume_compute *compute, struct gpume_compute_times *times)
{
    if (!compute || !times) {
        return GPUME_INVALID;
    }
    return gpume_sized_write(times, &compute->times, sizeof(compute->times));
}

/* --- arrays */

static void destroy_memory(struct gpume_array *array)
{
    if (array->memory) {
        array->compute->ops->destroy(array->compute->state, array->memory);
    }
}

/* mapped: NULL for an array that the host does not reach. */
static int create_handle(
    struct gpume_compute *compute, struct gpume_array **out, uint64_t bytes, void **mapped)
{
    struct gpume_array *array = malloc(sizeof(*array));
    if (!array) {
        return gpume_log_nomem(compute->log, "an array");
    }
    *array = (struct gpume_array){.compute = compute, .bytes = bytes};
    int status = mapped ? compute->ops->create_host(compute->state, bytes, &array->memory, mapped)
                        : compute->ops->create(compute->state, bytes, &array->memory);
    if (status != GPUME_OK) {
        free(array);
        return status;
    }
    *out = array;
    return GPUME_OK;
}

int gpume_array_create(gpume_compute *compute, gpume_array **out, uint64_t bytes)
{
    return compute && out ? create_handle(compute, out, bytes, NULL) : GPUME_INVALID;
}

int gpume_array_create_host(
    gpume_compute *compute, gpume_array **out, uint64_t bytes, void **memory)
{
    return compute && out && memory ? create_handle(compute, out, bytes, memory) : GPUME_INVALID;
}

void gpume_array_destroy(gpume_array **array)
{
    if (array && *array) {
        destroy_memory(*array);
        free(*array);
        *array = NULL;
    }
}

static bool array_holds(const struct gpume_array *array, uint64_t offset, uint64_t bytes)
{
    return offset <= array->bytes && bytes <= array->bytes - offset;
}

/* Adds to the times, because one call may transfer several arrays. */
static int move_in(struct gpume_array *array, uint64_t offset, const void *data, uint64_t bytes)
{
    struct gpume_compute *compute = array->compute;
    uint64_t start = gpume_clock_ns();
    int status = bytes > 0 ? compute->ops->write(compute->state, array->memory, offset, data, bytes)
                           : GPUME_OK;
    compute->times.to_device_ns += gpume_clock_ns() - start;
    return status;
}

static int move_out(const struct gpume_array *array, uint64_t offset, void *data, uint64_t bytes)
{
    struct gpume_compute *compute = array->compute;
    uint64_t start = gpume_clock_ns();
    int status = bytes > 0 ? compute->ops->read(compute->state, array->memory, offset, data, bytes)
                           : GPUME_OK;
    compute->times.from_device_ns += gpume_clock_ns() - start;
    return status;
}

int gpume_array_write(gpume_array *array, uint64_t offset, const void *data, uint64_t bytes)
{
    if (!array || (!data && bytes > 0) || !array_holds(array, offset, bytes)) {
        return GPUME_INVALID;
    }
    array->compute->times = (struct gpume_compute_times){0};
    return move_in(array, offset, data, bytes);
}

int gpume_array_read(const gpume_array *array, uint64_t offset, void *data, uint64_t bytes)
{
    if (!array || (!data && bytes > 0) || !array_holds(array, offset, bytes)) {
        return GPUME_INVALID;
    }
    array->compute->times = (struct gpume_compute_times){0};
    return move_out(array, offset, data, bytes);
}

/* Whether a part of an array can be copied to one of another: gpume_array_copy. */
static bool can_copy_array(const struct gpume_array *to, uint64_t to_offset,
    const struct gpume_array *from, uint64_t from_offset, uint64_t bytes)
{
    return to && from && to->compute == from->compute && array_holds(to, to_offset, bytes) &&
           array_holds(from, from_offset, bytes) && (to_offset | from_offset | bytes) % 4 == 0 &&
           (to != from || to_offset >= from_offset + bytes || from_offset >= to_offset + bytes);
}

int gpume_array_copy(gpume_array *to, uint64_t to_offset, const gpume_array *from,
    uint64_t from_offset, uint64_t bytes)
{
    if (!can_copy_array(to, to_offset, from, from_offset, bytes)) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = to->compute;
    compute->times = (struct gpume_compute_times){0};
    return bytes == 0 ? GPUME_OK
                      : compute->ops->copy(compute->state, to->memory, to_offset, from->memory,
                            from_offset, bytes, &compute->times.run_ns);
}

/* Makes an array of host memory: the memory itself if the backend's arrays are host memory, else a
 * copy. Return it with give_back_array even after a failure; a zeroed array is fine there. */
static int borrow_array(
    struct gpume_compute *compute, struct gpume_array *array, void *data, uint64_t bytes)
{
    if (compute->ops->on_host) {
        *array = (struct gpume_array){.compute = compute, .memory = data, .bytes = bytes};
        return GPUME_OK;
    }
    *array = (struct gpume_array){.compute = compute, .bytes = bytes};
    GPUME_CHECK(compute->ops->create(compute->state, bytes, &array->memory));
    return move_in(array, 0, data, bytes);
}

static void give_back_array(struct gpume_array *array)
{
    if (array->compute && !array->compute->ops->on_host) {
        destroy_memory(array);
    }
}

/* Copies the array back to the host memory from which it was borrowed. */
static int fetch_array(const struct gpume_array *array, void *data)
{
    return array->compute->ops->on_host ? GPUME_OK : move_out(array, 0, data, array->bytes);
}

/* --- sorting */

#define SORT_MAX (UINT64_C(1) << 30)

int gpume_sort_params_fill(struct gpume_sort_params *params)
{
    static const struct gpume_sort_params defaults = {.key_bits = 32};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

static bool can_sort(const struct gpume_sort_params *params, uint64_t count)
{
    if ((unsigned)params->type > GPUME_KEY_I32 || (unsigned)params->method > GPUME_SORT_BITONIC ||
        params->key_bits > 32 || count > SORT_MAX) {
        return false;
    }
    for (uint32_t i = 0; params->segments && i < params->segment_count; i++) {
        const struct gpume_segment *segment = &params->segments[i];
        if (segment->first > count || segment->count > count - segment->first) {
            return false;
        }
    }
    return true;
}

/* The caller's parameters for `count` keys, checked and in the library's own form. */
static int read_sort_params(const struct gpume_compute *compute,
    const struct gpume_sort_params *params, uint64_t count, struct gpume_sort_params *own)
{
    int status = gpume_sized_read(own, sizeof(*own), params, "gpume_sort_params", compute->log);
    if (status == GPUME_OK && !can_sort(own, count)) {
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK && (own->key_bits == 0 || own->type == GPUME_KEY_I32)) {
        own->key_bits = 32;
    }
    return status;
}

static int sort_arrays(const struct gpume_sort_params *own, struct gpume_array *keys,
    struct gpume_array *payload, uint64_t count)
{
    struct gpume_compute *compute = keys->compute;
    if (count == 0 || (own->segments && own->segment_count == 0)) {
        return GPUME_OK;
    }
    return compute->ops->sort(compute->state, own, keys->memory, payload ? payload->memory : NULL,
        count, &compute->times.run_ns);
}

int gpume_array_sort(
    const struct gpume_sort_params *params, gpume_array *keys, gpume_array *payload, uint64_t count)
{
    if (!params || !keys) {
        return GPUME_INVALID;
    }
    struct gpume_sort_params own;
    GPUME_CHECK(read_sort_params(keys->compute, params, count, &own));
    if (!array_holds(keys, 0, count * 4) ||
        (payload && (payload == keys || payload->compute != keys->compute ||
                        !array_holds(payload, 0, count * 4)))) {
        return GPUME_INVALID;
    }
    keys->compute->times = (struct gpume_compute_times){0};
    return sort_arrays(&own, keys, payload, count);
}

int gpume_sort(gpume_compute *compute, const struct gpume_sort_params *params, uint32_t *keys,
    uint32_t *payload, uint64_t count)
{
    if (!compute || !params || (!keys && count > 0) || (keys && keys == payload)) {
        return GPUME_INVALID;
    }
    struct gpume_sort_params own;
    struct gpume_array keys_array = {0}, payload_array = {0};
    int status = read_sort_params(compute, params, count, &own);
    if (status != GPUME_OK) {
        return status;
    }
    compute->times = (struct gpume_compute_times){0};
    if (count == 0) {
        return GPUME_OK;
    }
    GPUME_TRY(borrow_array(compute, &keys_array, keys, count * 4));
    if (payload) {
        GPUME_TRY(borrow_array(compute, &payload_array, payload, count * 4));
    }
    GPUME_TRY(sort_arrays(&own, &keys_array, payload ? &payload_array : NULL, count));
    GPUME_TRY(fetch_array(&keys_array, keys));
    if (payload) {
        GPUME_TRY(fetch_array(&payload_array, payload));
    }
fail:
    give_back_array(&payload_array);
    give_back_array(&keys_array);
    return status;
}

/* --- reductions */

static bool is_valid_reduction(const struct gpume_reduction *what, const uint64_t *results)
{
    return results && (unsigned)what->element <= GPUME_ELEMENT_U32 &&
           what->count <= GPUME_REDUCE_MAX &&
           (what->kind != GPUME_REDUCE_MINIMUM || what->count > 0) &&
           (what->kind != GPUME_REDUCE_HISTOGRAM || (what->shift <= 31 && what->bin_count >= 1 &&
                                                        what->bin_count <= GPUME_HISTOGRAM_MAX));
}

static int reduce_array(
    const struct gpume_array *array, const struct gpume_reduction *what, uint64_t *results)
{
    if (!array || !is_valid_reduction(what, results)) {
        return GPUME_INVALID;
    }
    const uint64_t elements = array->bytes / gpume_element_bytes(what->element);
    if (what->first > elements || what->count > elements - what->first) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = array->compute;
    compute->times = (struct gpume_compute_times){0};
    return compute->ops->reduce(
        compute->state, what, array->memory, results, &compute->times.run_ns);
}

static int reduce_host(struct gpume_compute *compute, const struct gpume_reduction *what,
    const void *data, uint64_t *results)
{
    if (!compute || (!data && what->count > 0) || !is_valid_reduction(what, results)) {
        return GPUME_INVALID;
    }
    struct gpume_array array = {0};
    int status;
    compute->times = (struct gpume_compute_times){0};
    /* Reductions only read the array, so const may be cast away. */
    GPUME_TRY(borrow_array(compute, &array, (void *)(uintptr_t)data,
        what->count * gpume_element_bytes(what->element)));
    const uint64_t moved_ns = compute->times.to_device_ns;
    status = reduce_array(&array, what, results);
    compute->times.to_device_ns = moved_ns;
fail:
    give_back_array(&array);
    return status;
}

static int take_minimum(int status, const uint64_t results[2], struct gpume_minimum *minimum)
{
    if (status == GPUME_OK) {
        *minimum = (struct gpume_minimum){.index = results[1], .value = (uint32_t)results[0]};
    }
    return status;
}

#define REDUCTION(what, ...)                                                                       \
    &(struct gpume_reduction)                                                                      \
    {                                                                                              \
        .kind = (what), .element = element, .count = count, __VA_ARGS__                            \
    }

int gpume_array_sum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint64_t *sum)
{
    return reduce_array(array, REDUCTION(GPUME_REDUCE_SUM, .first = first), sum);
}

int gpume_sum(gpume_compute *compute, enum gpume_element element, const void *data, uint64_t count,
    uint64_t *sum)
{
    return reduce_host(compute, REDUCTION(GPUME_REDUCE_SUM, .first = 0), data, sum);
}

int gpume_array_minimum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    const int status = reduce_array(
        array, REDUCTION(GPUME_REDUCE_MINIMUM, .first = first), minimum ? results : NULL);
    return take_minimum(status, results, minimum);
}

int gpume_minimum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    const int status = reduce_host(
        compute, REDUCTION(GPUME_REDUCE_MINIMUM, .first = 0), data, minimum ? results : NULL);
    return take_minimum(status, results, minimum);
}

int gpume_array_histogram(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return reduce_array(array,
        REDUCTION(GPUME_REDUCE_HISTOGRAM, .first = first, .shift = shift, .bin_count = bin_count),
        bins);
}

int gpume_histogram(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return reduce_host(compute,
        REDUCTION(GPUME_REDUCE_HISTOGRAM, .shift = shift, .bin_count = bin_count), data, bins);
}

/* --- programs */

static bool is_valid_program(const struct gpume_program_params *params)
{
    return params->spirv && params->spirv_bytes > 0 && params->spirv_bytes % 4 == 0 &&
           params->array_count <= GPUME_PROGRAM_ARRAYS_MAX &&
           params->push_bytes <= GPUME_PROGRAM_PUSH_MAX && params->push_bytes % 4 == 0 &&
           (params->constant_count == 0 || params->constants);
}

int gpume_program_create(
    gpume_compute *compute, gpume_program **out, const struct gpume_program_params *params)
{
    if (!compute || !out || !params) {
        return GPUME_INVALID;
    }
    struct gpume_program_params own;
    int status = gpume_sized_read(&own, sizeof(own), params, "gpume_program_params", compute->log);
    if (status != GPUME_OK) {
        return status;
    }
    if (!is_valid_program(&own)) {
        return GPUME_INVALID;
    }
    if (!compute->ops->program_create) {
        return gpume_log_refuse(compute->log, GPUME_UNSUPPORTED,
            gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "vulkan"),
            "programs need a Vulkan device; use");
    }
    struct gpume_program *program = malloc(sizeof(*program));
    if (!program) {
        return gpume_log_nomem(compute->log, "a program");
    }
    *program = (struct gpume_program){
        .compute = compute, .array_count = own.array_count, .push_bytes = own.push_bytes};
    status = compute->ops->program_create(compute->state, &own, &program->state);
    if (status != GPUME_OK) {
        free(program);
        return status;
    }
    *out = program;
    return GPUME_OK;
}

void gpume_program_destroy(gpume_program **program)
{
    if (program && *program) {
        (*program)->compute->ops->program_destroy((*program)->compute->state, (*program)->state);
        free(*program);
        *program = NULL;
    }
}

/* Whether the program can run on these arrays, whose memories it fills in: gpume_program_run. */
static bool can_run_program(const struct gpume_program *program, gpume_array *const *arrays,
    const void *push, const uint32_t groups[3], void **memories)
{
    if (!program || (!arrays && program->array_count > 0) || (!push && program->push_bytes > 0) ||
        !groups) {
        return false;
    }
    for (uint32_t i = 0; i < program->array_count; i++) {
        if (!arrays[i] || arrays[i]->compute != program->compute) {
            return false;
        }
        memories[i] = arrays[i]->memory;
    }
    return true;
}

int gpume_program_run(
    gpume_program *program, gpume_array *const *arrays, const void *push, const uint32_t groups[3])
{
    void *memories[GPUME_PROGRAM_ARRAYS_MAX];
    if (!can_run_program(program, arrays, push, groups, memories)) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = program->compute;
    compute->times = (struct gpume_compute_times){0};
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {
        return GPUME_OK;
    }
    return compute->ops->program_run(
        compute->state, program->state, memories, push, groups, &compute->times.run_ns);
}

/* --- batches */

struct gpume_batch {
    struct gpume_compute *compute;
    void *state;
    bool busy; /* submitted and not waited for */
    uint32_t count, count_max;
    struct gpume_batch_step steps[];
};

int gpume_batch_create(gpume_compute *compute, gpume_batch **out, uint32_t steps_max)
{
    if (!compute || !out || steps_max == 0 || steps_max > GPUME_BATCH_STEPS_MAX) {
        return GPUME_INVALID;
    }
    struct gpume_batch *batch = malloc(sizeof(*batch) + steps_max * sizeof(batch->steps[0]));
    if (!batch) {
        return gpume_log_nomem(compute->log, "a batch");
    }
    *batch = (struct gpume_batch){.compute = compute, .count_max = steps_max};
    const int status = compute->ops->batch_create(compute->state, steps_max, &batch->state);
    if (status != GPUME_OK) {
        free(batch);
        return status;
    }
    *out = batch;
    return GPUME_OK;
}

void gpume_batch_destroy(gpume_batch **batch)
{
    if (batch && *batch) {
        (void)gpume_batch_wait(*batch);
        (*batch)->compute->ops->batch_destroy((*batch)->compute->state, (*batch)->state);
        free(*batch);
        *batch = NULL;
    }
}

static bool can_add(const struct gpume_batch *batch)
{
    return batch && !batch->busy && batch->count < batch->count_max;
}

int gpume_batch_copy(gpume_batch *batch, gpume_array *to, uint64_t to_offset,
    const gpume_array *from, uint64_t from_offset, uint64_t bytes)
{
    if (!can_add(batch) || !can_copy_array(to, to_offset, from, from_offset, bytes) ||
        to->compute != batch->compute) {
        return GPUME_INVALID;
    }
    if (bytes > 0) {
        batch->steps[batch->count++] = (struct gpume_batch_step){.to = to->memory,
            .to_offset = to_offset,
            .from = from->memory,
            .from_offset = from_offset,
            .bytes = bytes};
    }
    return GPUME_OK;
}

int gpume_batch_run(gpume_batch *batch, gpume_program *program, gpume_array *const *arrays,
    const void *push, const uint32_t groups[3])
{
    void *memories[GPUME_PROGRAM_ARRAYS_MAX] = {NULL};
    if (!can_add(batch) || !can_run_program(program, arrays, push, groups, memories) ||
        program->compute != batch->compute) {
        return GPUME_INVALID;
    }
    if (groups[0] > 0 && groups[1] > 0 && groups[2] > 0) {
        struct gpume_batch_step *step = &batch->steps[batch->count++];
        *step = (struct gpume_batch_step){.program = program->state};
        memcpy(step->memories, memories, sizeof(memories));
        memcpy(step->groups, groups, sizeof(step->groups));
        if (program->push_bytes > 0) {
            memcpy(step->push, push, program->push_bytes);
        }
    }
    return GPUME_OK;
}

int gpume_batch_submit(gpume_batch *batch)
{
    if (!batch || batch->busy) {
        return GPUME_INVALID;
    }
    const struct gpume_compute *compute = batch->compute;
    const uint32_t count = batch->count;
    batch->count = 0;
    const int status =
        compute->ops->batch_submit(compute->state, batch->state, batch->steps, count);
    batch->busy = status == GPUME_OK;
    return status;
}

int gpume_batch_wait(gpume_batch *batch)
{
    if (!batch) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = batch->compute;
    compute->times = (struct gpume_compute_times){0};
    if (!batch->busy) {
        return GPUME_OK;
    }
    batch->busy = false;
    return compute->ops->batch_wait(compute->state, batch->state, &compute->times.run_ns);
}
