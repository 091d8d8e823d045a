/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays on a device or in host memory, and operations on them: sorting, reduction, and kernels of
 * the caller's own.
 *
 *     gpume_compute_params_default(&params);
 *     gpume_compute_open(&compute, &params);
 *     gpume_sort_params_default(&order);
 *     gpume_sort(compute, &order, keys, NULL, count);          from and to host memory
 *
 *     gpume_array_create(compute, &array, bytes);              or step by step, on the device
 *     gpume_array_write(array, 0, data, bytes);
 *     gpume_array_sum(array, GPUME_ELEMENT_U32, 0, count, &sum);
 *     gpume_program_create(compute, &program, &kernel);        SPIR-V in, a kernel out
 *     gpume_program_run(program, arrays, &push, groups);
 *
 *     gpume_batch_copy(batch, array, 0, host, 0, bytes);       or several steps at once, while the
 *     gpume_batch_run(batch, program, arrays, &push, groups);  caller does something else
 *     gpume_batch_submit(batch);
 *     gpume_batch_wait(batch);
 *     gpume_compute_close(&compute);
 *
 * Every function but gpume_batch_submit returns when its work is done. Results are integers, the
 * same on every device, driver and processor.
 *
 * Memory: arrays, programs and batches belong to the context that created them. Byte order is the
 * host's.
 *
 * Threads: as in gpume.h: [free] needs no context; [any] may be called by any thread at any time
 * while the context is open; [alone] while no other call on the same context is under way, nor on
 * its arrays, programs and batches. Contexts share nothing but the queue of
 * their device: they wait for each other's work there, and if the device is lost, all of them fail.
 *
 * Errors: as in gpume.h: GPUME_OK or a negative gpume_status; results are untouched on failure.
 * What the caller could not have known, such as that memory has run out, is logged in one line
 * through params.log, and so is a wrong `size`. Any other argument that is out of range, or NULL
 * where it must not be, gives GPUME_INVALID without a log line.
 *
 * Structs that may grow begin with `size`, as in gpume.h. The inline functions set it; for
 * gpume_program_params write {.size = sizeof(struct gpume_program_params)}. gpume_segment and
 * gpume_minimum never grow.
 */
#ifndef GPUME_COMPUTE_H
#define GPUME_COMPUTE_H

#include <gpume/gpume.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpume_compute_params {
    size_t size; /* sizeof(struct gpume_compute_params); gpume_compute_params_default sets it */
    /* GPUME_BACKEND_AUTO, the default: the best hardware GPU, else the CPU. */
    enum gpume_backend backend;
    const char *device;    /* as gpume_params.device */
    const char *cache_dir; /* as gpume_params.cache_dir */
    bool validate;         /* as gpume_params.validate */
    gpume_log_fn log;      /* may be NULL */
    void *log_opaque;
};

/* [free] Fills in the defaults of the first params->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_compute_params_fill(struct gpume_compute_params *params);

/* [free] Fills in the defaults. */
static inline void gpume_compute_params_default(struct gpume_compute_params *params)
{
    params->size = sizeof(*params);
    (void)gpume_compute_params_fill(params);
}

typedef struct gpume_compute gpume_compute;

/* [free] On success *compute is a context for gpume_compute_close. GPUME_DEVICE: there is no such
 * device. */
GPUME_API int gpume_compute_open(
    gpume_compute **compute, const struct gpume_compute_params *params);

/* [alone] Releases the context; destroy its batches, arrays and programs first. Sets *compute to
 * NULL. NULL is fine. Returns GPUME_OK, or the failure that the validation layer reported. */
GPUME_API int gpume_compute_close(gpume_compute **compute);

/* What the context runs on. Strings live as long as the context. */
struct gpume_compute_info {
    size_t size;         /* sizeof(struct gpume_compute_info); gpume_compute_get_info sets it */
    const char *backend; /* "vulkan" or "cpu" */
    const char *device;
    const char *driver;         /* "" for the CPU */
    uint64_t array_bytes_max;   /* of one array */
    uint64_t program_bytes_max; /* of an array passed to a program; 0: programs are not supported */
    uint32_t invocations_max;   /* of a program's workgroup */
    uint32_t shared_bytes_max;  /* of a program's workgroup */
    uint32_t groups_max[3];     /* of gpume_program_run */
};

/* [any] Fills in the first info->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_compute_info_fill(
    const gpume_compute *compute, struct gpume_compute_info *info);

static inline void gpume_compute_get_info(
    const gpume_compute *compute, struct gpume_compute_info *info)
{
    info->size = sizeof(*info);
    (void)gpume_compute_info_fill(compute, info);
}

/* How long the last call that copied or computed anything took, in nanoseconds. */
struct gpume_compute_times {
    size_t size; /* sizeof(struct gpume_compute_times); gpume_compute_get_times sets it */
    uint64_t to_device_ns, from_device_ns; /* wall time of copies between host and device */
    uint64_t run_ns; /* on the device, by its own clock if it has one, else wall time */
};

/* [alone] Fills in the first times->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_compute_times_fill(
    const gpume_compute *compute, struct gpume_compute_times *times);

static inline void gpume_compute_get_times(
    const gpume_compute *compute, struct gpume_compute_times *times)
{
    times->size = sizeof(*times);
    (void)gpume_compute_times_fill(compute, times);
}

/* ---- Arrays ---- */

typedef struct gpume_array gpume_array;

/* [alone] Allocates memory on the device, with undefined content; bytes may be 0. GPUME_NOMEM,
 * GPUME_DEVICE: it does not fit. */
GPUME_API int gpume_array_create(gpume_compute *compute, gpume_array **array, uint64_t bytes);

/* [alone] The same in host memory that the device can reach. *memory is valid until the array is
 * destroyed; the caller may read and write it, except for the part of the array that a function or
 * a submitted batch works on meanwhile. Every function takes such an array, but most GPUs reach it
 * slowly: copy it to one on the device where it is read or written more than once. */
GPUME_API int gpume_array_create_host(
    gpume_compute *compute, gpume_array **array, uint64_t bytes, void **memory);

/* [alone] Sets *array to NULL. NULL is fine. */
GPUME_API void gpume_array_destroy(gpume_array **array);

/* [alone] Copies between host memory and a part of an array. GPUME_INVALID: the part extends beyond
 * the array's end. */
GPUME_API int gpume_array_write(
    gpume_array *array, uint64_t offset, const void *data, uint64_t bytes);
GPUME_API int gpume_array_read(
    const gpume_array *array, uint64_t offset, void *data, uint64_t bytes);

/* [alone] Copies on the device, within an array or to another one of the same context. Offsets and
 * bytes are multiples of 4. The parts must not overlap. */
GPUME_API int gpume_array_copy(gpume_array *to, uint64_t to_offset, const gpume_array *from,
    uint64_t from_offset, uint64_t bytes);

/* ---- Sorting ---- */

enum gpume_key_type { GPUME_KEY_U32, GPUME_KEY_I32 };

enum gpume_sort_method {
    GPUME_SORT_AUTO, /* whichever is fastest for the keys and segments */
    GPUME_SORT_RADIX,
    GPUME_SORT_BITONIC, /* a sorting network: for comparison and for very short segments */
};

/* A range of keys that is sorted independently of the others. */
struct gpume_segment {
    uint32_t first, count; /* keys */
};

struct gpume_sort_params {
    size_t size; /* sizeof(struct gpume_sort_params); gpume_sort_params_default sets it */
    enum gpume_key_type type; /* GPUME_KEY_I32: two's complement; default GPUME_KEY_U32 */
    enum gpume_sort_method method;
    bool descending;
    /* GPUME_KEY_U32: all keys are below 2^key_bits, 1 to 32; fewer bits take less time. Larger keys
     * are sorted by at least their lower key_bits bits; by how many more depends on the device.
     * Ignored for GPUME_KEY_I32. Default 32; 0 = 32. */
    uint32_t key_bits;
    /* Segments may be in any order and may be empty. They must not overlap; this is not checked,
     * and the order is then undefined. Keys outside all segments are not moved. NULL, the default:
     * all keys are one segment. Host memory, read during the call. */
    const struct gpume_segment *segments;
    uint32_t segment_count;
};

/* [free] Fills in the defaults of the first params->size bytes. GPUME_INVALID: size is 0. */
GPUME_API int gpume_sort_params_fill(struct gpume_sort_params *params);

/* [free] Fills in the defaults: ascending order, unsigned 32-bit keys, one segment. */
static inline void gpume_sort_params_default(struct gpume_sort_params *params)
{
    params->size = sizeof(*params);
    (void)gpume_sort_params_fill(params);
}

/* [alone] Sorts `count` 32-bit keys (at most 2^30) in place, together with one 32-bit payload per
 * key unless payload is NULL. Keys and payload must not overlap. Stable: equal keys keep their
 * order, in descending order too. GPUME_INVALID: a parameter is out of range, or a segment extends
 * beyond the end. GPUME_DEVICE, GPUME_NOMEM: too large. On failure keys and payload are unchanged,
 * unless the failure occurred while they were being copied back from the device:
 * gpume_compute_times.from_device_ns is then not 0. */
GPUME_API int gpume_sort(gpume_compute *compute, const struct gpume_sort_params *params,
    uint32_t *keys, uint32_t *payload, uint64_t count);

/* [alone] Sorts the first `count` words of an array in the same way. */
GPUME_API int gpume_array_sort(const struct gpume_sort_params *params, gpume_array *keys,
    gpume_array *payload, uint64_t count);

/* ---- Reduction ---- */

/* Unsigned integers. */
enum gpume_element { GPUME_ELEMENT_U8, GPUME_ELEMENT_U16, GPUME_ELEMENT_U32 };

/* Elements in one call, so that 64 bits hold their sum. */
#define GPUME_REDUCE_MAX (UINT64_C(1) << 32)

#define GPUME_HISTOGRAM_MAX 65536 /* bins */

struct gpume_minimum {
    uint64_t index; /* of its first occurrence */
    uint32_t value;
};

/* [alone] The sum of `count` elements from index `first` on; 0 if there are none. */
GPUME_API int gpume_array_sum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint64_t *sum);

/* [alone] The smallest element; its index counts from `first`. GPUME_INVALID: count is 0. */
GPUME_API int gpume_array_minimum(const gpume_array *array, enum gpume_element element,
    uint64_t first, uint64_t count, struct gpume_minimum *minimum);

/* [alone] Counts in bins[i] the elements v with v >> shift == i; elements beyond the last bin are
 * not counted. shift: 0 to 31. bin_count: 1 to GPUME_HISTOGRAM_MAX. */
GPUME_API int gpume_array_histogram(const gpume_array *array, enum gpume_element element,
    uint64_t first, uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins);

/* [alone] The same for data in host memory, aligned to the size of its elements. */
GPUME_API int gpume_sum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint64_t *sum);
GPUME_API int gpume_minimum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, struct gpume_minimum *minimum);
GPUME_API int gpume_histogram(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins);

/* ---- The caller's own kernels ---- */

#define GPUME_PROGRAM_ARRAYS_MAX 8u
#define GPUME_PROGRAM_PUSH_MAX 128u /* bytes */

struct gpume_program_params {
    size_t size; /* sizeof(struct gpume_program_params) */
    /* A compute shader in SPIR-V, version 1.5 or older, in words of the host's byte order, such as
     * glslc --target-env=vulkan1.2 produces. Read during the call. */
    const uint32_t *spirv;
    size_t spirv_bytes;
    const char *entry;    /* NULL = "main" */
    uint32_t array_count; /* storage buffers in set 0, at bindings 0 to array_count - 1 */
    uint32_t push_bytes;  /* of push constants, a multiple of 4 */
    /* Values of the 32-bit specialization constants with the ids 0 to constant_count - 1. */
    const uint32_t *constants;
    uint32_t constant_count;
};

typedef struct gpume_program gpume_program;

/* [alone] GPUME_UNSUPPORTED: the context runs on the CPU; use GPUME_BACKEND_VULKAN, which accepts a
 * software driver. The SPIR-V must be valid and require no device features beyond the core of
 * Vulkan 1.2; otherwise the process may crash, even inside the validation layer. Only that layer
 * checks that the program's use of arrays and push constants agrees with array_count and
 * push_bytes. */
GPUME_API int gpume_program_create(
    gpume_compute *compute, gpume_program **program, const struct gpume_program_params *params);

/* [alone] Sets *program to NULL. NULL is fine. */
GPUME_API void gpume_program_destroy(gpume_program **program);

/* [alone] Runs groups[0] x groups[1] x groups[2] workgroups, possibly none, on array_count arrays
 * and waits for them. The same array may be passed more than once. push may be NULL only if
 * push_bytes is 0. */
GPUME_API int gpume_program_run(
    gpume_program *program, gpume_array *const *arrays, const void *push, const uint32_t groups[3]);

/* ---- Batches ---- */

/* Steps that the device does one after the other, as one submission: each sees what those before it
 * have written, in batches that were submitted earlier too. The other functions work after all
 * batches that have been submitted. Several batches may be under way, so that one can be filled
 * while the device works on another. On the CPU gpume_batch_submit does all steps itself. */
typedef struct gpume_batch gpume_batch;

/* [alone] A batch of up to steps_max steps, 1 to GPUME_BATCH_STEPS_MAX. */
#define GPUME_BATCH_STEPS_MAX 1024u
GPUME_API int gpume_batch_create(gpume_compute *compute, gpume_batch **batch, uint32_t steps_max);

/* [alone] Waits for the batch if it is under way. Sets *batch to NULL. NULL is fine. */
GPUME_API void gpume_batch_destroy(gpume_batch **batch);

/* [alone] Adds a step: what gpume_array_copy and gpume_program_run do, with their arguments. `push`
 * and the list of arrays are read during the call. GPUME_INVALID: also if the batch is full or
 * under way. Arrays and programs must stay until the batch has been waited for. */
GPUME_API int gpume_batch_copy(gpume_batch *batch, gpume_array *to, uint64_t to_offset,
    const gpume_array *from, uint64_t from_offset, uint64_t bytes);
GPUME_API int gpume_batch_run(gpume_batch *batch, gpume_program *program,
    gpume_array *const *arrays, const void *push, const uint32_t groups[3]);

/* [alone] Starts the steps that were added, and takes them from the batch. On failure none has been
 * done. GPUME_INVALID: the batch is under way, or a step is too large for the device. */
GPUME_API int gpume_batch_submit(gpume_batch *batch);

/* [alone] Returns when a batch that was submitted is done; at once if there is none. Then new steps
 * can be added. On failure what its steps write is undefined. gpume_compute_times has the time of
 * all steps as run_ns. */
GPUME_API int gpume_batch_wait(gpume_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
