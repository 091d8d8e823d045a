/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays in device memory, worked on one submission at a time; batches are submitted ahead. */
#include "arrays/backend.h"
#include "arrays/host_sort.h"
#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "gpu/arrays/array_kernels.h"
#include "gpu/arrays/segment_sort.h"
#include "gpu/arrays/transfer.h"
#include "gpu/vk/device.h"
#include "gpu/vk/device_cache.h"

#include <stdlib.h>
#include <string.h>

#define QUAD_BYTES 16u /* kernels may read to the end of the last quad */

struct gpu_compute {
    struct gpume_gpu gpu;
    struct gpume_cache cache;
    char *cache_dir;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    struct gpume_transfer transfer;
    struct gpume_array_kernels kernels;
    struct gpume_segment_sort sort;
};

static int close_gpu(void *state)
{
    struct gpu_compute *compute = state;
    struct gpume_gpu *gpu = &compute->gpu;
    if (gpu->device) {
        (void)gpume_device_cache_save(gpu, &compute->cache);
        gpume_segment_sort_destroy(gpu, &compute->sort);
        gpume_array_kernels_destroy(gpu, &compute->kernels);
        gpume_transfer_destroy(gpu, &compute->transfer);
        gpume_slot_destroy(&compute->slot);
        gpume_timeline_destroy(gpu, &compute->timeline);
    }
    gpume_gpu_close(gpu);
    const int status = gpume_gpu_verdict(gpu);
    free(compute->cache_dir);
    free(compute);
    return status;
}

static int require_addresses(const struct gpume_gpu *gpu)
{
    if (!gpu->addresses) {
        return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
            "%s has no buffer device addresses; choose another device or the CPU",
            gpu->properties.deviceName);
    }
    return GPUME_OK;
}

static int keep_folder(struct gpu_compute *compute, const char *folder)
{
    compute->cache.log = compute->gpu.log;
    if (folder) {
        compute->cache_dir = strdup(folder);
        compute->cache.folder = compute->cache_dir;
    }
    return folder && !compute->cache_dir ? GPUME_NOMEM : GPUME_OK;
}

static int open_gpu(
    void **state, const struct gpume_compute_params *params, const struct gpume_log *log)
{
    struct gpu_compute *compute = calloc(1, sizeof(*compute));
    if (!compute) {
        return gpume_log_nomem(log, "a context");
    }
    struct gpume_gpu *gpu = &compute->gpu;
    int status;
    bool software = params->backend == GPUME_BACKEND_VULKAN;
    GPUME_TRY(gpume_gpu_open(gpu, log, params->device, software, params->validate));
    GPUME_TRY(require_addresses(gpu));
    GPUME_TRY(keep_folder(compute, params->cache_dir));
    gpume_device_cache_open(gpu, &compute->cache);
    GPUME_TRY(gpume_timeline_create(gpu, &compute->timeline));
    GPUME_TRY(gpume_slot_create(gpu, 1, 0, &compute->slot));
    GPUME_TRY(gpume_transfer_create(gpu, &compute->timeline, &compute->transfer));
    GPUME_TRY(gpume_gpu_verdict(gpu));
    *state = compute;
    return GPUME_OK;
fail:
    (void)close_gpu(compute);
    return status;
}

static void get_info(const void *state, struct gpume_compute_info *info)
{
    const struct gpume_gpu *gpu = &((const struct gpu_compute *)state)->gpu;
    const VkPhysicalDeviceLimits *limits = &gpu->properties.limits;
    info->backend = "vulkan";
    info->device = gpu->properties.deviceName;
    info->driver = gpu->driver;
    info->array_bytes_max = gpume_min_u64(gpu->allocation_max, gpu->heap_bytes);
    info->program_bytes_max = limits->maxStorageBufferRange;
    info->invocations_max = limits->maxComputeWorkGroupInvocations;
    info->shared_bytes_max = limits->maxComputeSharedMemorySize;
    for (uint32_t i = 0; i < 3; i++) {
        info->groups_max[i] = limits->maxComputeWorkGroupCount[i];
    }
}

static int create_buffer(struct gpu_compute *compute, enum gpume_buffer_kind kind, uint64_t bytes,
    struct gpume_buffer **out)
{
    struct gpume_buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer) {
        return gpume_log_nomem(compute->gpu.log, "an array");
    }
    uint64_t whole = bytes > UINT64_MAX - QUAD_BYTES
                         ? bytes /* more than any device has */
                         : gpume_div_up(bytes > 0 ? bytes : 1, QUAD_BYTES) * QUAD_BYTES;
    int status = gpume_buffer_create(&compute->gpu, kind, whole, buffer);
    if (status != GPUME_OK) {
        free(buffer);
        return status;
    }
    *out = buffer;
    return GPUME_OK;
}

static int create(void *state, uint64_t bytes, void **memory)
{
    struct gpume_buffer *buffer = NULL;
    GPUME_CHECK(create_buffer(state, GPUME_BUFFER_DEVICE, bytes, &buffer));
    *memory = buffer;
    return GPUME_OK;
}

static int create_host(void *state, uint64_t bytes, void **memory, void **mapped)
{
    struct gpume_buffer *buffer = NULL;
    GPUME_CHECK(create_buffer(state, GPUME_BUFFER_SHARED, bytes, &buffer));
    *memory = buffer;
    *mapped = buffer->mapped;
    return GPUME_OK;
}

static void destroy(void *state, void *memory)
{
    struct gpu_compute *compute = state;
    gpume_buffer_destroy(&compute->gpu, memory);
    free(memory);
}

static int write_array(void *state, void *memory, uint64_t offset, const void *data, uint64_t bytes)
{
    struct gpu_compute *compute = state;
    return gpume_transfer_write(&compute->transfer, memory, offset, data, bytes);
}

static int read_array(void *state, const void *memory, uint64_t offset, void *data, uint64_t bytes)
{
    struct gpu_compute *compute = state;
    return gpume_transfer_read(&compute->transfer, memory, offset, data, bytes);
}

/* What is recorded between begin and end runs after everything before it, and is timed. */
static void begin(struct gpu_compute *compute)
{
    gpume_slot_begin(&compute->slot);
    gpume_barrier_all(&compute->slot);
}

static int end(struct gpu_compute *compute, uint64_t *run_ns)
{
    uint64_t row_ns[GPUME_ROW_COUNT] = {0}, start = gpume_clock_ns();
    gpume_slot_row_done(&compute->slot, GPUME_ROW_UPLOAD); /* the only stage there is */
    gpume_barrier_all_to_host(&compute->slot);
    GPUME_CHECK(gpume_slot_submit(&compute->slot, &compute->timeline));
    GPUME_CHECK(gpume_slot_wait(&compute->slot, &compute->timeline, row_ns));
    *run_ns = row_ns[GPUME_ROW_UPLOAD] > 0 ? row_ns[GPUME_ROW_UPLOAD] : gpume_clock_ns() - start;
    return GPUME_OK;
}

static void record_copy(struct gpume_slot *slot, void *to, uint64_t to_offset, const void *from,
    uint64_t from_offset, uint64_t bytes)
{
    const struct gpume_buffer *source = from, *sink = to;
    struct gpume_view from_view = {source->buffer, from_offset, bytes};
    struct gpume_view to_view = {sink->buffer, to_offset, bytes};
    gpume_slot_copy_view(slot, &from_view, &to_view);
}

static int copy(void *state, void *to, uint64_t to_offset, const void *from, uint64_t from_offset,
    uint64_t bytes, uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    begin(compute);
    record_copy(&compute->slot, to, to_offset, from, from_offset, bytes);
    return end(compute, run_ns);
}

static int reduce(void *state, const struct gpume_reduction *what, const void *memory,
    uint64_t *results, uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    const struct gpume_buffer *data = memory;
    bool histogram = what->kind == GPUME_REDUCE_HISTOGRAM;
    if (what->count == 0) {
        for (uint32_t i = 0; i < (histogram ? what->bin_count : 1); i++) {
            results[i] = 0;
        }
        return GPUME_OK;
    }
    GPUME_CHECK(gpume_array_kernels_prepare(&compute->gpu, what, &compute->kernels));
    begin(compute);
    gpume_array_kernels_record(&compute->slot, what, &compute->kernels, data->address);
    GPUME_CHECK(end(compute, run_ns));
    GPUME_CHECK(gpume_transfer_read(&compute->transfer, &compute->kernels.results, 0, results,
        (histogram ? what->bin_count : 1) * sizeof(*results)));
    if (what->kind == GPUME_REDUCE_MINIMUM) {
        results[1] = results[0] >> 32; /* the high word is the index */
        results[0] &= UINT32_MAX;
    }
    return GPUME_OK;
}

static int sort_on_host(struct gpu_compute *compute, const struct gpume_sort_params *params,
    void *keys, void *payload, uint64_t count)
{
    size_t bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *words = malloc(bytes), *others = payload ? malloc(bytes) : NULL;
    int status = words && (others || !payload) ? GPUME_OK : GPUME_NOMEM;
    GPUME_TRY(status);
    GPUME_TRY(gpume_transfer_read(&compute->transfer, keys, 0, words, bytes));
    if (payload) {
        GPUME_TRY(gpume_transfer_read(&compute->transfer, payload, 0, others, bytes));
    }
    GPUME_TRY(gpume_host_sort(params, words, others, count));
    GPUME_TRY(gpume_transfer_write(&compute->transfer, keys, 0, words, bytes));
    if (payload) {
        GPUME_TRY(gpume_transfer_write(&compute->transfer, payload, 0, others, bytes));
    }
fail:
    free(others);
    free(words);
    return status == GPUME_NOMEM ? gpume_log_nomem(compute->gpu.log, "sorting") : status;
}

static int sort_arrays(void *state, const struct gpume_sort_params *params, void *keys,
    void *payload, uint64_t count, uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    uint64_t start = gpume_clock_ns();
    GPUME_CHECK(gpume_segment_sort_prepare(&compute->gpu, &compute->transfer, &compute->cache,
        params, keys, payload, count, &compute->sort));
    if (compute->gpu.sorts_wrongly) {
        GPUME_CHECK(sort_on_host(compute, params, keys, payload, count));
        *run_ns = gpume_clock_ns() - start;
        return GPUME_OK;
    }
    begin(compute);
    gpume_segment_sort_record(&compute->sort, &compute->slot);
    return end(compute, run_ns);
}

static int program_create(void *state, const struct gpume_program_params *params, void **out)
{
    struct gpu_compute *compute = state;
    struct gpume_kernel *kernel = calloc(1, sizeof(*kernel));
    if (!kernel) {
        return gpume_log_nomem(compute->gpu.log, "a program");
    }
    struct gpume_kernel_info info = {
        .words = params->spirv,
        .bytes = params->spirv_bytes,
        .buffer_count = params->array_count,
        .push_bytes = params->push_bytes,
        .entry = params->entry,
        .constants = params->constants,
        .constant_count = params->constant_count,
    };
    int status;
    GPUME_TRY(gpume_kernel_create(&compute->gpu, &info, kernel));
    GPUME_TRY(gpume_kernel_wait(&compute->gpu, kernel));
    *out = kernel;
    return GPUME_OK;
fail:
    gpume_kernel_destroy(&compute->gpu, kernel);
    free(kernel);
    return status;
}

static void program_destroy(void *state, void *kernel)
{
    struct gpu_compute *compute = state;
    gpume_kernel_destroy(&compute->gpu, kernel);
    free(kernel);
}

static int check_run(const struct gpume_gpu *gpu, uint32_t array_count, void *const *memories,
    const uint32_t groups[3])
{
    const VkPhysicalDeviceLimits *limits = &gpu->properties.limits;
    for (uint32_t i = 0; i < 3; i++) {
        if (groups[i] > limits->maxComputeWorkGroupCount[i]) {
            return gpume_log_fail(gpu->log, GPUME_INVALID,
                "a program's groups[%u] = %u: %s takes at most %u", i, groups[i],
                gpu->properties.deviceName, limits->maxComputeWorkGroupCount[i]);
        }
    }
    for (uint32_t i = 0; i < array_count; i++) {
        const struct gpume_buffer *array = memories[i];
        if (array->bytes > limits->maxStorageBufferRange) {
            return gpume_log_fail(gpu->log, GPUME_INVALID,
                "a program's array %u of %llu MiB: %s takes at most %u MiB", i,
                (unsigned long long)(array->bytes >> 20), gpu->properties.deviceName,
                limits->maxStorageBufferRange >> 20);
        }
    }
    return GPUME_OK;
}

static void record_run(struct gpume_slot *slot, const struct gpume_kernel *kernel,
    void *const *memories, const void *push, const uint32_t groups[3])
{
    struct gpume_view views[GPUME_PROGRAM_ARRAYS_MAX];
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        views[i] = gpume_buffer_view(memories[i]);
    }
    gpume_slot_bind(slot, kernel, views);
    gpume_slot_dispatch(slot, kernel, push, groups[0], groups[1], groups[2]);
}

static int program_run(void *state, void *opaque, void *const *memories, const void *push,
    const uint32_t groups[3], uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    const struct gpume_kernel *kernel = opaque;
    GPUME_CHECK(check_run(&compute->gpu, kernel->buffer_count, memories, groups));
    begin(compute);
    record_run(&compute->slot, kernel, memories, push, groups);
    return end(compute, run_ns);
}

static int batch_create(void *state, uint32_t steps_max, void **batch)
{
    struct gpu_compute *compute = state;
    struct gpume_slot *slot = calloc(1, sizeof(*slot));
    if (!slot) {
        return gpume_log_nomem(compute->gpu.log, "a batch");
    }
    int status = gpume_slot_create(&compute->gpu, steps_max, 0, slot);
    if (status != GPUME_OK) {
        free(slot);
        return status;
    }
    *batch = slot;
    return GPUME_OK;
}

static void batch_destroy(void *state, void *batch)
{
    (void)state;
    gpume_slot_destroy(batch);
    free(batch);
}

static int batch_submit(
    void *state, void *batch, const struct gpume_batch_step *steps, uint32_t count)
{
    struct gpu_compute *compute = state;
    struct gpume_slot *slot = batch;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_kernel *kernel = steps[i].program;
        if (kernel) {
            GPUME_CHECK(
                check_run(&compute->gpu, kernel->buffer_count, steps[i].memories, steps[i].groups));
        }
    }
    gpume_slot_begin(slot);
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_batch_step *step = &steps[i];
        gpume_barrier_all(slot);
        if (step->program) {
            record_run(slot, step->program, step->memories, step->push, step->groups);
        } else {
            record_copy(
                slot, step->to, step->to_offset, step->from, step->from_offset, step->bytes);
        }
    }
    gpume_slot_row_done(slot, GPUME_ROW_UPLOAD);
    gpume_barrier_all_to_host(slot);
    return gpume_slot_submit(slot, &compute->timeline);
}

static int batch_wait(void *state, void *batch, uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    GPUME_CHECK(gpume_slot_wait(batch, &compute->timeline, row_ns));
    *run_ns = row_ns[GPUME_ROW_UPLOAD];
    return GPUME_OK;
}

const struct gpume_compute_ops gpume_compute_gpu = {
    .open = open_gpu,
    .close = close_gpu,
    .get_info = get_info,
    .create = create,
    .create_host = create_host,
    .destroy = destroy,
    .write = write_array,
    .read = read_array,
    .copy = copy,
    .sort = sort_arrays,
    .reduce = reduce,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .program_run = program_run,
    .batch_create = batch_create,
    .batch_destroy = batch_destroy,
    .batch_submit = batch_submit,
    .batch_wait = batch_wait,
};
