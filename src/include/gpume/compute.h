/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays on a device, and what gpume does with arrays: sorting, reduction, and kernels of the
 * caller's own.
 *
 *     gpume_compute_params_default(&params);
 *     gpume_compute_open(&compute, &params);
 *     gpume_sort(compute, &sort, keys, NULL, count);           host memory in, host memory out
 *
 *     gpume_array_create(compute, &array, bytes);              or step by step, on the device
 *     gpume_array_write(array, 0, data, bytes);
 *     gpume_array_sum(array, GPUME_ELEMENT_U32, 0, count, &sum);
 *     gpume_program_create(compute, &program, &kernel);        SPIR-V in, a kernel out
 *     gpume_program_run(program, arrays, &push, groups);
 *     gpume_compute_close(&compute);
 *
 * Every function returns when its work is done. Results are integers and the same on every device,
 * driver and processor.
 *
 * Memory: arrays belong to the context that made them. Byte order is the host's.
 *
 * Threads: one thread at a time may use a context and what it made. Contexts are independent.
 *
 * Errors: as in gpume.h: GPUME_OK or a negative gpume_status, results untouched on failure. What a
 * caller could not know, such as memory that has run out, is told in one line through params.log;
 * an argument that is out of range, or memory that must not be NULL, is GPUME_INVALID without one.
 * Reserved bytes of structs must be zero, GPUME_INVALID if they are not; the functions _default see
 * to that.
 */
#ifndef GPUME_COMPUTE_H
#define GPUME_COMPUTE_H

#include <gpume/gpume.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpume_compute_params {
    /* GPUME_BACKEND_AUTO: the best hardware GPU, else the CPU. */
    enum gpume_backend backend;
    const char *device;    /* as gpume_params.device */
    const char *cache_dir; /* as gpume_params.cache_dir */
    bool validate;         /* as gpume_params.validate */
    gpume_log_fn log;      /* may be NULL */
    void *log_opaque;
    uint8_t reserved[64]; /* zero */
};

GPUME_API void gpume_compute_params_default(struct gpume_compute_params *params);

typedef struct gpume_compute gpume_compute;

/* GPUME_DEVICE: no such device. On success *compute is for gpume_compute_close. */
GPUME_API int gpume_compute_open(
    gpume_compute **compute, const struct gpume_compute_params *params);

/* Releases the context; destroy its arrays and programs first. Sets *compute to NULL; NULL is fine.
 * Returns GPUME_OK, or what the validation layer found. */
GPUME_API int gpume_compute_close(gpume_compute **compute);

/* What the context runs on. Strings live as long as the context. */
struct gpume_compute_info {
    const char *backend; /* "vulkan" or "cpu" */
    const char *device;
    const char *driver;         /* "" for the CPU */
    uint64_t array_bytes_max;   /* of one array */
    uint64_t program_bytes_max; /* of an array that a program takes; 0: no programs here */
    uint32_t invocations_max;   /* of a program's workgroup */
    uint32_t shared_bytes_max;  /* of a program's workgroup */
    uint32_t groups_max[3];     /* of gpume_program_run */
    uint8_t reserved[64];
};
GPUME_API void gpume_compute_get_info(
    const gpume_compute *compute, struct gpume_compute_info *info);

/* What the last call that moved or computed anything took, nanoseconds. */
struct gpume_compute_times {
    uint64_t to_device_ns, from_device_ns; /* wall time of copies between host and device */
    uint64_t run_ns; /* on the device, by its own clock where it has one, else wall time */
};
GPUME_API void gpume_compute_get_times(
    const gpume_compute *compute, struct gpume_compute_times *times);

/* ---- Arrays ---- */

typedef struct gpume_array gpume_array;

/* Memory on the device, its content undefined; bytes may be 0. GPUME_NOMEM, GPUME_DEVICE: it does
 * not fit. */
GPUME_API int gpume_array_create(gpume_compute *compute, gpume_array **array, uint64_t bytes);

/* Sets *array to NULL; NULL is fine. */
GPUME_API void gpume_array_destroy(gpume_array **array);

/* Between host memory and a part of an array. GPUME_INVALID: it passes the array's end. */
GPUME_API int gpume_array_write(
    gpume_array *array, uint64_t offset, const void *data, uint64_t bytes);
GPUME_API int gpume_array_read(
    const gpume_array *array, uint64_t offset, void *data, uint64_t bytes);

/* From one array to another of the same context, on the device. Offsets and bytes: multiples of 4.
 * The parts must not overlap. */
GPUME_API int gpume_array_copy(gpume_array *to, uint64_t to_offset, const gpume_array *from,
    uint64_t from_offset, uint64_t bytes);

/* ---- Sorting ---- */

enum gpume_key_type { GPUME_KEY_U32, GPUME_KEY_I32 };

enum gpume_sort_method {
    GPUME_SORT_AUTO, /* the fastest for the task */
    GPUME_SORT_RADIX,
    GPUME_SORT_BITONIC, /* a sorting network: for comparison, and for very short segments */
};

/* A run of keys that is sorted by itself. */
struct gpume_segment {
    uint32_t first, count; /* keys */
};

struct gpume_sort_params {
    enum gpume_key_type type; /* two's complement for GPUME_KEY_I32 */
    enum gpume_sort_method method;
    bool descending;
    /* Keys of GPUME_KEY_U32 are below 2^key_bits, 1 to 32; fewer bits take less time. 0 = 32. Keys
     * beyond are sorted by their lower bits or by more, which may differ from device to device. Of
     * no account for GPUME_KEY_I32. */
    uint32_t key_bits;
    /* Segments must not overlap, which is not checked (the order is then undefined), need no order,
     * may be empty; keys in none of them stay as they are. NULL: all keys are one segment. Host
     * memory, read during the call. */
    const struct gpume_segment *segments;
    uint32_t segment_count;
    uint8_t reserved[32]; /* zero */
};

/* Rising order, unsigned 32-bit keys, one segment. */
GPUME_API void gpume_sort_params_default(struct gpume_sort_params *params);

/* Sorts `count` 32-bit keys (at most 2^30), with a 32-bit payload each unless payload is NULL, in
 * place; keys and payload must not overlap. Stable: equal keys keep their order, falling ones too.
 * GPUME_INVALID: a parameter, or a segment that passes the end. GPUME_DEVICE, GPUME_NOMEM: too
 * large. Whatever has failed, keys and payload are as they were, unless they were on their way back
 * from the device: then gpume_compute_times.from_device_ns is not 0. */
GPUME_API int gpume_sort(gpume_compute *compute, const struct gpume_sort_params *params,
    uint32_t *keys, uint32_t *payload, uint64_t count);

/* The same on arrays, of their first `count` words. */
GPUME_API int gpume_array_sort(const struct gpume_sort_params *params, gpume_array *keys,
    gpume_array *payload, uint64_t count);

/* ---- Reduction ---- */

/* Unsigned integers. */
enum gpume_element { GPUME_ELEMENT_U8, GPUME_ELEMENT_U16, GPUME_ELEMENT_U32 };

#define GPUME_REDUCE_MAX                                                                           \
    (UINT64_C(1) << 32)           /* elements in one call, so that 64 bits hold a sum              \
                                   */
#define GPUME_HISTOGRAM_MAX 65536 /* bins */

struct gpume_minimum {
    uint64_t index; /* of the first one */
    uint32_t value;
};

/* The sum of `count` elements from `first` on; 0 of none. */
GPUME_API int gpume_array_sum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint64_t *sum);

/* The smallest element; index counts from `first`. GPUME_INVALID: count is 0. */
GPUME_API int gpume_array_minimum(const gpume_array *array, enum gpume_element element,
    uint64_t first, uint64_t count, struct gpume_minimum *minimum);

/* How many elements have the value v with v >> shift == i, into bins[i]; others are not counted.
 * shift: 0 to 31. bins: `bin_count` numbers, 1 to GPUME_HISTOGRAM_MAX. */
GPUME_API int gpume_array_histogram(const gpume_array *array, enum gpume_element element,
    uint64_t first, uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins);

/* The same on host memory, aligned as its elements are. */
GPUME_API int gpume_sum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint64_t *sum);
GPUME_API int gpume_minimum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, struct gpume_minimum *minimum);
GPUME_API int gpume_histogram(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins);

/* ---- One's own kernels ---- */

#define GPUME_PROGRAM_ARRAYS_MAX 8u
#define GPUME_PROGRAM_PUSH_MAX 128u /* bytes */

struct gpume_program_params {
    /* A compute shader in SPIR-V, version 1.5 or older, words in host order; as
     * glslc --target-env=vulkan1.2 makes it. Read during the call. */
    const uint32_t *spirv;
    size_t spirv_bytes;
    const char *entry; /* NULL = "main" */
    /* Storage buffers of set 0, bindings 0 to array_count - 1. */
    uint32_t array_count;
    uint32_t push_bytes; /* of push constants, a multiple of 4 */
    /* Specialisation constants with the ids 0 to constant_count - 1, 32 bits each. */
    const uint32_t *constants;
    uint32_t constant_count;
    uint8_t reserved[32]; /* zero */
};

typedef struct gpume_program gpume_program;

/* GPUME_UNSUPPORTED: the context runs on the CPU; take GPUME_BACKEND_VULKAN, where a software
 * driver will do. A program that is not valid SPIR-V, or that asks for features of a device beyond
 * Vulkan 1.2's core, may bring the process down, in the validation layer too; neither is its use of
 * arrays and push constants compared with array_count and push_bytes without that layer. */
GPUME_API int gpume_program_create(
    gpume_compute *compute, gpume_program **program, const struct gpume_program_params *params);

/* Sets *program to NULL; NULL is fine. */
GPUME_API void gpume_program_destroy(gpume_program **program);

/* Runs groups[0] x groups[1] x groups[2] workgroups, which may be none, on array_count arrays, and
 * waits for them. One array may be given more than once. push: NULL only where push_bytes is 0. */
GPUME_API int gpume_program_run(
    gpume_program *program, gpume_array *const *arrays, const void *push, const uint32_t groups[3]);

#ifdef __cplusplus
}
#endif

#endif
