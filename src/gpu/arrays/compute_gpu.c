/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays in device memory, worked on one submission at a time; batches are submitted ahead. */
#include "arrays/backend.h"
#include "arrays/host_sort.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/os.h"
#include "common/shared.h"
#include "gpu/arrays/sort.h"
#include "gpu/vk/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "array_histogram.inc"
#include "array_reduce.inc"

#define TRANSFER_LANES 2u
#define QUAD_BYTES 16u /* kernels may read to the end of the last quad */
#define REDUCTION_KERNELS (2 * 9 + 5)
#define SORT_CLASSES 32u /* by the bits of a length */

struct gpu_compute {
    struct gpume_gpu gpu;
    struct gpume_cache cache;
    char *cache_dir;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    struct {
        struct gpume_slot slot;
        struct gpume_buffer staging;
        void *sink; /* where to put what has arrived */
        uint64_t bytes;
        bool busy;
    } lanes[TRANSFER_LANES];
    union { /* of reductions, made when they are first needed */
        struct {
            struct gpume_kernel reduce[2][9]; /* sum or minimum; by bytes of an element, 8: pairs */
            struct gpume_kernel histogram[5]; /* by bytes of an element */
        };
        struct gpume_kernel reductions[REDUCTION_KERNELS];
    };
    struct gpume_buffer partials, results;
    struct gpume_k_sort sort; /* made for the first sort */
    struct gpume_buffer scratch, table;
    struct gpume_sort_task task;
    struct {
        uint32_t first, count; /* of the table */
        uint32_t longest;
    } classes[SORT_CLASSES];
};

/* --- transfers
 *
 * Between host memory and buffers that the host cannot see: in pieces through two staging buffers,
 * of which one is filled or emptied while the device works on the other.
 */

#define PIECE_BYTES (8u << 20) /* large enough that a submission costs nothing beside it */

/* Waits until the lane is free; what it was reading is then with the caller. */
static int free_lane(struct gpu_compute *compute, uint32_t i)
{
    uint64_t ignored[GPUME_ROW_COUNT] = {0};
    if (!compute->lanes[i].busy) {
        return GPUME_OK;
    }
    compute->lanes[i].busy = false;
    int status = gpume_slot_wait(&compute->lanes[i].slot, &compute->timeline, ignored);
    if (status == GPUME_OK && compute->lanes[i].sink) {
        memcpy(compute->lanes[i].sink, compute->lanes[i].staging.mapped,
            (size_t)compute->lanes[i].bytes);
    }
    return status;
}

static int start_piece(struct gpu_compute *compute, uint32_t i, const struct gpume_view *from,
    const struct gpume_view *to, void *sink)
{
    struct gpume_slot *slot = &compute->lanes[i].slot;
    gpume_slot_begin(slot);
    gpume_barrier_all(slot);
    gpume_slot_copy_view(slot, from, to);
    if (sink) {
        gpume_barrier_copy_to_host(slot);
    }
    int status = gpume_slot_submit(slot, &compute->timeline);
    compute->lanes[i].busy = status == GPUME_OK;
    compute->lanes[i].sink = sink;
    compute->lanes[i].bytes = from->bytes;
    return status;
}

/* The lanes in turn; one of data and sink is NULL. */
static int move_bytes(struct gpu_compute *compute, const struct gpume_buffer *buffer,
    uint64_t offset, const char *data, char *sink, uint64_t bytes)
{
    int status = GPUME_OK;
    uint32_t lane = 0;
    for (uint64_t done = 0; done < bytes && status == GPUME_OK; lane ^= 1) {
        uint64_t piece = gpume_min_u64(bytes - done, PIECE_BYTES);
        struct gpume_view part = {buffer->buffer, offset + done, piece};
        struct gpume_view staging = {compute->lanes[lane].staging.buffer, 0, piece};
        status = free_lane(compute, lane);
        if (status == GPUME_OK && data) {
            memcpy(compute->lanes[lane].staging.mapped, data + done, (size_t)piece);
        }
        if (status == GPUME_OK) {
            status = start_piece(compute, lane, data ? &staging : &part, data ? &part : &staging,
                sink ? sink + done : NULL);
        }
        done += piece;
    }
    for (uint32_t i = 0; i < TRANSFER_LANES; i++, lane ^= 1) {
        int freed = free_lane(compute, lane);
        status = status == GPUME_OK ? freed : status;
    }
    return status;
}

/* Whole when they return. */
static int write_array(void *state, void *memory, uint64_t offset, const void *data, uint64_t bytes)
{
    return move_bytes(state, memory, offset, data, NULL, bytes);
}

static int read_array(void *state, const void *memory, uint64_t offset, void *data, uint64_t bytes)
{
    return move_bytes(state, memory, offset, NULL, data, bytes);
}

/* Makes a buffer hold at least `bytes`, the content undefined. */
static int grow_buffer(struct gpu_compute *compute, VkDeviceSize bytes, struct gpume_buffer *buffer)
{
    if (buffer->bytes >= bytes) {
        return GPUME_OK;
    }
    gpume_buffers_destroy(&compute->gpu, 1, buffer);
    return gpume_buffers_create(&compute->gpu, GPUME_BUFFER_DEVICE, bytes, 1, buffer);
}

/* --- reductions: kernels are made when they are first needed */

_Static_assert(sizeof(struct gpume_array_push) == 9 * 4, "words without gaps, as GLSL lays them");

static int prepare_reduction_kernel(struct gpume_gpu *gpu, const uint32_t *words, size_t bytes,
    uint32_t element_bytes, bool minimum, struct gpume_kernel *kernel)
{
    if (kernel->pipeline) {
        return GPUME_OK;
    }
    uint32_t constants[GPUME_ARRAY_SPEC_COUNT] = {0};
    constants[GPUME_ARRAY_SPEC_ELEMENT] = element_bytes;
    constants[GPUME_ARRAY_SPEC_MINIMUM] = minimum;
    struct gpume_kernel_info info = {
        .words = words,
        .bytes = bytes,
        .push_bytes = sizeof(struct gpume_array_push),
        .constants = constants,
        .constant_count = GPUME_ARRAY_SPEC_COUNT,
    };
    GPUME_CHECK(gpume_kernel_create(gpu, &info, kernel));
    return gpume_kernel_wait(gpu, kernel);
}

/* Makes what the reduction needs, if it is not there. */
static int prepare_reduction(struct gpu_compute *compute, const struct gpume_reduction *what)
{
    struct gpume_gpu *gpu = &compute->gpu;
    uint32_t bytes = gpume_element_bytes(what->element);
    bool minimum = what->kind == GPUME_REDUCE_MINIMUM;
    GPUME_CHECK(grow_buffer(compute, GPUME_ARRAY_GROUPS * 8, &compute->partials));
    GPUME_CHECK(grow_buffer(compute, GPUME_HISTOGRAM_MAX * 8, &compute->results));
    if (what->kind == GPUME_REDUCE_HISTOGRAM) {
        return prepare_reduction_kernel(gpu, array_histogram, sizeof(array_histogram), bytes, false,
            &compute->histogram[bytes]);
    }
    GPUME_CHECK(prepare_reduction_kernel(
        gpu, array_reduce, sizeof(array_reduce), bytes, minimum, &compute->reduce[minimum][bytes]));
    return prepare_reduction_kernel(
        gpu, array_reduce, sizeof(array_reduce), 8, minimum, &compute->reduce[minimum][8]);
}

static void set_address(GPUME_U32 words[2], VkDeviceAddress address)
{
    words[0] = (uint32_t)address;
    words[1] = (uint32_t)(address >> 32);
}

/* The quads that hold the elements. At most 2^32 elements of 4 bytes and one quad: 2^30 + 1. */
static struct gpume_array_push push_for(const struct gpume_reduction *what, VkDeviceAddress data)
{
    uint64_t in_quad = QUAD_BYTES / gpume_element_bytes(what->element);
    uint64_t first_quad = what->first / in_quad, last = what->first + what->count - 1;
    struct gpume_array_push push = {
        .quads = (uint32_t)(last / in_quad - first_quad + 1),
        .skip = (uint32_t)(what->first % in_quad),
        .keep = (uint32_t)(last % in_quad + 1),
        .shift = what->shift,
        .bins = what->bin_count,
    };
    set_address(push.data, data + first_quad * QUAD_BYTES);
    return push;
}

/* Of prepared kernels. Leaves one pair of words or the bins in compute->results, not yet visible.
 * what->count > 0. */
static void record_reduction(
    struct gpu_compute *compute, const struct gpume_reduction *what, VkDeviceAddress data)
{
    struct gpume_slot *slot = &compute->slot;
    uint32_t bytes = gpume_element_bytes(what->element);
    struct gpume_array_push push = push_for(what, data);
    uint32_t groups =
        (uint32_t)gpume_min_u64(gpume_div_up(push.quads, GPUME_ARRAY_LOCAL), GPUME_ARRAY_GROUPS);
    if (what->kind == GPUME_REDUCE_HISTOGRAM) {
        struct gpume_view bins = {compute->results.buffer, 0, (VkDeviceSize)what->bin_count * 8};
        gpume_slot_clear(slot, &bins);
        gpume_barrier_clear_to_kernel(slot);
        set_address(push.results, compute->results.address);
        gpume_slot_bind(slot, &compute->histogram[bytes], NULL);
        gpume_slot_dispatch(slot, &compute->histogram[bytes], &push, groups,
            (uint32_t)gpume_div_up(what->bin_count, GPUME_ARRAY_BINS), 1);
        return;
    }
    const struct gpume_kernel *of_kind = compute->reduce[what->kind == GPUME_REDUCE_MINIMUM];
    set_address(push.results, compute->partials.address);
    gpume_slot_bind(slot, &of_kind[bytes], NULL);
    gpume_slot_dispatch(slot, &of_kind[bytes], &push, groups, 1, 1);
    gpume_barrier_kernel_to_kernel(slot);
    push.quads = groups;
    set_address(push.data, compute->partials.address);
    set_address(push.results, compute->results.address);
    gpume_slot_bind(slot, &of_kind[8], NULL);
    gpume_slot_dispatch(slot, &of_kind[8], &push, 1, 1, 1);
}

/* --- sorting
 *
 * gpume_array_sort on a device: scratch memory and a table of segments grown as they are needed,
 * segments by classes of like length, so that one long segment among many short ones costs no
 * more than itself.
 */

static uint32_t class_of(const struct gpume_segment *segment)
{
    return gpume_bit_width(segment->count);
}

/* Segments of two keys or more, by class, and where in the table each class lies. Returns their
 * number. */
static uint32_t classify(struct gpu_compute *compute, const struct gpume_sort_params *params,
    struct gpume_segment *table)
{
    uint32_t at[SORT_CLASSES], end = 0;
    for (uint32_t i = 0; i < params->segment_count; i++) {
        const struct gpume_segment *segment = &params->segments[i];
        uint32_t class = class_of(segment);
        compute->classes[class].count++;
        if (segment->count > compute->classes[class].longest) {
            compute->classes[class].longest = segment->count;
        }
    }
    compute->classes[0].count = compute->classes[1].count = 0;
    for (uint32_t class = 0; class < SORT_CLASSES; class ++) {
        compute->classes[class].first = at[class] = end;
        end += compute->classes[class].count;
    }
    for (uint32_t i = 0; i < params->segment_count; i++) {
        if (params->segments[i].count > 1) {
            table[at[class_of(&params->segments[i])]++] = params->segments[i];
        }
    }
    return end;
}

static int fill_table(struct gpu_compute *compute, const struct gpume_sort_params *params)
{
    int status = GPUME_OK;
    size_t bytes = (size_t)params->segment_count * sizeof(*params->segments);
    struct gpume_segment *table = malloc(bytes > 0 ? bytes : 1);
    if (!table) {
        return gpume_log_nomem(compute->gpu.log, "the table of segments");
    }
    bytes = classify(compute, params, table) * sizeof(*table);
    if (bytes > 0) {
        GPUME_TRY(grow_buffer(compute, bytes, &compute->table));
        GPUME_TRY(write_array(compute, &compute->table, 0, table, bytes));
    }
fail:
    free(table);
    return status;
}

/* Everything that may fail: kernels and their check, memory, the table. */
static int prepare_sort(struct gpu_compute *compute, const struct gpume_sort_params *params,
    const struct gpume_buffer *keys, const struct gpume_buffer *payload, uint64_t count)
{
    struct gpume_k_sort *sort = &compute->sort;
    int status;
    if (!sort->gpu) {
        GPUME_TRY(gpume_k_sort_create(&compute->gpu, NULL, NULL, sort));
        GPUME_TRY(gpume_k_sort_wait(sort));
        GPUME_TRY(gpume_sort_check(sort, NULL, &compute->cache));
    }
    VkDeviceSize scratch = 0;
    compute->task = (struct gpume_sort_task){
        .keys = keys->address,
        .payload = payload ? payload->address : 0,
        .count = (uint32_t)count,
        .key_bits = params->key_bits,
        .flip = gpume_sort_flip(params),
        .method = params->method,
    };
    memset(compute->classes, 0, sizeof(compute->classes));
    if (params->segments) {
        GPUME_CHECK(fill_table(compute, params));
    } else {
        compute->classes[0].count = 1;
        compute->classes[0].longest = (uint32_t)count;
    }
    for (uint32_t class = 0; class < SORT_CLASSES; class ++) {
        compute->task.longest = compute->classes[class].longest;
        scratch = gpume_max_u64(scratch, gpume_k_sort_scratch(sort, &compute->task));
    }
    GPUME_CHECK(grow_buffer(compute, scratch, &compute->scratch));
    compute->task.scratch = compute->scratch.address;
    compute->task.table = params->segments ? compute->table.address : 0;
    return GPUME_OK;
fail:
    gpume_k_sort_destroy(sort);
    return status;
}

/* No barrier between classes: segments do not overlap, nor does what they take of scratch memory.
 */
static void record_sort(const struct gpu_compute *compute)
{
    for (uint32_t class = 0; class < SORT_CLASSES && compute->slot.status == GPUME_OK; class ++) {
        struct gpume_sort_task task = compute->task;
        task.segments = compute->classes[class].count;
        task.longest = compute->classes[class].longest;
        task.table += task.table ? compute->classes[class].first * sizeof(struct gpume_segment) : 0;
        gpume_k_sort_record(&compute->sort, compute->slot.commands, &task);
    }
}

/* --- the backend */

static int close_gpu(void *state)
{
    struct gpu_compute *compute = state;
    struct gpume_gpu *gpu = &compute->gpu;
    if (gpu->device) {
        (void)gpume_device_cache_save(gpu, &compute->cache);
        gpume_k_sort_destroy(&compute->sort);
        gpume_buffers_destroy(gpu, 1, &compute->scratch);
        gpume_buffers_destroy(gpu, 1, &compute->table);
        for (uint32_t i = 0; i < REDUCTION_KERNELS; i++) {
            gpume_kernel_destroy(gpu, &compute->reductions[i]);
        }
        gpume_buffers_destroy(gpu, 1, &compute->partials);
        gpume_buffers_destroy(gpu, 1, &compute->results);
        for (uint32_t i = 0; i < TRANSFER_LANES; i++) {
            gpume_slot_destroy(&compute->lanes[i].slot);
            gpume_buffers_destroy(gpu, 1, &compute->lanes[i].staging);
        }
        gpume_slot_destroy(&compute->slot);
        gpume_timeline_destroy(gpu, &compute->timeline);
    }
    gpume_gpu_close(gpu);
    const int status = gpume_gpu_verdict(gpu);
    free(compute->cache_dir);
    free(compute);
    return status;
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
    GPUME_TRY(gpu->addresses ? GPUME_OK
                             : gpume_log_fail(log, GPUME_UNSUPPORTED,
                                   "%s has no buffer device addresses; choose another device or "
                                   "the CPU",
                                   gpu->properties.deviceName));
    compute->cache_dir = params->cache_dir ? strdup(params->cache_dir) : NULL;
    GPUME_TRY(params->cache_dir && !compute->cache_dir ? GPUME_NOMEM : GPUME_OK);
    compute->cache = (struct gpume_cache){compute->cache_dir, log};
    gpume_device_cache_open(gpu, &compute->cache);
    GPUME_TRY(gpume_timeline_create(gpu, &compute->timeline));
    GPUME_TRY(gpume_slot_create(gpu, 1, 0, &compute->slot));
    for (uint32_t i = 0; i < TRANSFER_LANES; i++) {
        GPUME_TRY(gpume_slot_create(gpu, 0, 0, &compute->lanes[i].slot));
        GPUME_TRY(gpume_buffers_create(
            gpu, GPUME_BUFFER_STAGING, PIECE_BYTES, 1, &compute->lanes[i].staging));
    }
    GPUME_TRY(gpume_gpu_verdict(gpu));
    *state = compute;
    return GPUME_OK;
fail:
    (void)close_gpu(compute);
    return status;
}

static void get_gpu_info(const void *state, struct gpume_compute_info *info)
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

static int create_array_buffer(struct gpu_compute *compute, enum gpume_buffer_kind kind,
    uint64_t bytes, struct gpume_buffer **out)
{
    struct gpume_buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer) {
        return gpume_log_nomem(compute->gpu.log, "an array");
    }
    uint64_t whole = bytes > UINT64_MAX - QUAD_BYTES
                         ? bytes /* more than any device has */
                         : gpume_div_up(bytes > 0 ? bytes : 1, QUAD_BYTES) * QUAD_BYTES;
    int status = gpume_buffers_create(&compute->gpu, kind, whole, 1, buffer);
    if (status != GPUME_OK) {
        free(buffer);
        return status;
    }
    *out = buffer;
    return GPUME_OK;
}

static int create_array(void *state, uint64_t bytes, void **memory)
{
    struct gpume_buffer *buffer = NULL;
    GPUME_CHECK(create_array_buffer(state, GPUME_BUFFER_DEVICE, bytes, &buffer));
    *memory = buffer;
    return GPUME_OK;
}

static int create_host_array(void *state, uint64_t bytes, void **memory, void **mapped)
{
    struct gpume_buffer *buffer = NULL;
    GPUME_CHECK(create_array_buffer(state, GPUME_BUFFER_SHARED, bytes, &buffer));
    *memory = buffer;
    *mapped = buffer->mapped;
    return GPUME_OK;
}

static void destroy_array(void *state, void *memory)
{
    struct gpu_compute *compute = state;
    gpume_buffers_destroy(&compute->gpu, 1, memory);
    free(memory);
}

/* What is recorded between begin_work and end_work runs after everything before it, and is timed.
 */
static void begin_work(struct gpu_compute *compute)
{
    gpume_slot_begin(&compute->slot);
    gpume_barrier_all(&compute->slot);
}

static int end_work(struct gpu_compute *compute, uint64_t *run_ns)
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

static int copy_arrays(void *state, void *to, uint64_t to_offset, const void *from,
    uint64_t from_offset, uint64_t bytes, uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    begin_work(compute);
    record_copy(&compute->slot, to, to_offset, from, from_offset, bytes);
    return end_work(compute, run_ns);
}

static int reduce_array(void *state, const struct gpume_reduction *what, const void *memory,
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
    GPUME_CHECK(prepare_reduction(compute, what));
    begin_work(compute);
    record_reduction(compute, what, data->address);
    GPUME_CHECK(end_work(compute, run_ns));
    GPUME_CHECK(read_array(compute, &compute->results, 0, results,
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
    GPUME_TRY(read_array(compute, keys, 0, words, bytes));
    if (payload) {
        GPUME_TRY(read_array(compute, payload, 0, others, bytes));
    }
    GPUME_TRY(gpume_host_sort(params, words, others, count));
    GPUME_TRY(write_array(compute, keys, 0, words, bytes));
    if (payload) {
        GPUME_TRY(write_array(compute, payload, 0, others, bytes));
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
    GPUME_CHECK(prepare_sort(compute, params, keys, payload, count));
    if (compute->gpu.sorts_wrongly) {
        GPUME_CHECK(sort_on_host(compute, params, keys, payload, count));
        *run_ns = gpume_clock_ns() - start;
        return GPUME_OK;
    }
    begin_work(compute);
    record_sort(compute);
    return end_work(compute, run_ns);
}

static int create_program(void *state, const struct gpume_program_params *params, void **out)
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

static void destroy_program(void *state, void *kernel)
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

static int run_program(void *state, void *opaque, void *const *memories, const void *push,
    const uint32_t groups[3], uint64_t *run_ns)
{
    struct gpu_compute *compute = state;
    const struct gpume_kernel *kernel = opaque;
    GPUME_CHECK(check_run(&compute->gpu, kernel->buffer_count, memories, groups));
    begin_work(compute);
    record_run(&compute->slot, kernel, memories, push, groups);
    return end_work(compute, run_ns);
}

static int create_batch(void *state, uint32_t steps_max, void **batch)
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

static void destroy_batch(void *state, void *batch)
{
    (void)state;
    gpume_slot_destroy(batch);
    free(batch);
}

static int submit_batch(
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

static int wait_for_batch(void *state, void *batch, uint64_t *run_ns)
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
    .get_info = get_gpu_info,
    .create = create_array,
    .create_host = create_host_array,
    .destroy = destroy_array,
    .write = write_array,
    .read = read_array,
    .copy = copy_arrays,
    .sort = sort_arrays,
    .reduce = reduce_array,
    .program_create = create_program,
    .program_destroy = destroy_program,
    .program_run = run_program,
    .batch_create = create_batch,
    .batch_destroy = destroy_batch,
    .batch_submit = submit_batch,
    .batch_wait = wait_for_batch,
};
