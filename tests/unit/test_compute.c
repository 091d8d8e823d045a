/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compute cpu|vulkan [--validate]: arrays, reductions compared with plain loops, programs,
 * batches.
 * Arrays are filled with noise first, so that missing writes are detected.
 */
#include "gpume/compute.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#include "doubling.inc"

static enum gpume_backend backend;
static bool validate;
static gpume_compute *compute;
static unsigned errors;
static char said[200]; /* the last error */

static void count_errors(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    errors += level == GPUME_LOG_ERROR;
    if (level == GPUME_LOG_ERROR) {
        fprintf(stderr, "(%s)\n", line);
        snprintf(said, sizeof said, "%s", line);
    }
}

static gpume_compute *open_compute(void)
{
    gpume_compute *opened = NULL;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = backend;
    params.validate = validate;
    params.log = count_errors;
    params.cache_dir = getenv("GPUME_TEST_CACHE");
    REQUIRE_EQUAL(gpume_compute_open(&opened, &params), GPUME_OK);
    return opened;
}

static uint32_t random_word(void)
{
    static uint64_t state = 88172645463325252u;
    return harness_random(&state);
}

static gpume_array *noise_array(uint64_t bytes)
{
    gpume_array *array = NULL;
    uint8_t *noise = malloc(bytes + 1);
    REQUIRE(noise);
    for (uint64_t i = 0; i < bytes; i++) {
        noise[i] = (uint8_t)random_word();
    }
    REQUIRE_EQUAL(gpume_array_create(compute, &array, bytes), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_write(array, 0, noise, bytes), GPUME_OK);
    free(noise);
    return array;
}

static void test_context(void)
{
    struct gpume_compute_params params;
    struct gpume_compute_info info;
    gpume_compute *none = NULL;
    gpume_compute_params_default(&params);
    params.log = count_errors;
    REQUIRE_EQUAL(gpume_compute_open(NULL, &params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_compute_open(&none, NULL), GPUME_INVALID);
    params.backend = (enum gpume_backend)7;
    REQUIRE_EQUAL(gpume_compute_open(&none, &params), GPUME_INVALID);
    params.backend = GPUME_BACKEND_VULKAN;
    params.device = "no such device";
    REQUIRE_EQUAL(gpume_compute_open(&none, &params), GPUME_DEVICE);
    params.backend = GPUME_BACKEND_CPU; /* refused with gpume_open's message */
    REQUIRE_EQUAL(gpume_compute_open(&none, &params), GPUME_INVALID);
    REQUIRE(strstr(said, "params.device no such device: the CPU has no devices") != NULL);
    REQUIRE(!none);
    errors = 0;
    REQUIRE_EQUAL(gpume_compute_close(&none), GPUME_OK);
    REQUIRE_EQUAL(gpume_compute_close(NULL), GPUME_OK);
    gpume_compute_get_info(compute, &info);
    REQUIRE(strcmp(info.backend, backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan") == 0);
    REQUIRE(info.array_bytes_max >= 1u << 27);
    REQUIRE_EQUAL(info.program_bytes_max > 0, backend == GPUME_BACKEND_VULKAN);
}

/* Programs that were compiled for a newer, an older or no version of the library. */
static void test_sizes(void)
{
    struct {
        struct gpume_compute_params params;
        uint64_t later;
    } newer;
    gpume_compute *other = NULL;
    gpume_compute_params_default(&newer.params);
    newer.params.backend = backend;
    newer.params.log = count_errors;
    newer.params.size = sizeof(newer);
    newer.later = 1;
    REQUIRE_EQUAL(gpume_compute_open(&other, &newer.params), GPUME_UNSUPPORTED);
    REQUIRE(strstr(said, "struct gpume_compute_params: ") != NULL);
    newer.later = 0;
    REQUIRE_EQUAL(gpume_compute_open(&other, &newer.params), GPUME_OK);
    REQUIRE_EQUAL(gpume_compute_close(&other), GPUME_OK);
    newer.params.size = 0;
    newer.params.log = NULL;
    REQUIRE_EQUAL(gpume_compute_open(&other, &newer.params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_compute_params_fill(&newer.params), GPUME_INVALID);
    REQUIRE(!other);

    struct gpume_compute_info info = {
        .size = offsetof(struct gpume_compute_info, device), .device = "untouched"};
    REQUIRE_EQUAL(gpume_compute_info_fill(compute, &info), GPUME_OK);
    REQUIRE(info.backend != NULL && strcmp(info.device, "untouched") == 0);
    REQUIRE_EQUAL(info.size, offsetof(struct gpume_compute_info, device));
    info.size = 0;
    REQUIRE_EQUAL(gpume_compute_info_fill(compute, &info), GPUME_INVALID);
    struct gpume_compute_times times = {
        .size = offsetof(struct gpume_compute_times, run_ns), .run_ns = 7};
    REQUIRE_EQUAL(gpume_compute_times_fill(compute, &times), GPUME_OK);
    REQUIRE_EQUAL(times.run_ns, 7);
    times.size = 0;
    REQUIRE_EQUAL(gpume_compute_times_fill(compute, &times), GPUME_INVALID);
    errors = 0;
}

/* Larger than one staging transfer, and at odd offsets. */
static void test_arrays(void)
{
    enum { BYTES = (20 << 20) + 13 };
    struct gpume_compute_times times;
    uint8_t *in = malloc(BYTES), *out = calloc(1, BYTES);
    gpume_array *array = noise_array(BYTES), *other = noise_array(BYTES), *empty = noise_array(0);
    REQUIRE(in && out);
    for (size_t i = 0; i < BYTES; i++) {
        in[i] = (uint8_t)(i * 7 + i / 251);
    }
    REQUIRE_EQUAL(gpume_array_write(array, 3, in + 3, BYTES - 3), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_write(array, 0, in, 3), GPUME_OK);
    gpume_compute_get_times(compute, &times);
    REQUIRE_EQUAL(times.run_ns, 0);
    REQUIRE_EQUAL(gpume_array_read(array, 0, out, BYTES), GPUME_OK);
    REQUIRE(memcmp(in, out, BYTES) == 0);
    REQUIRE_EQUAL(gpume_array_copy(other, 4, array, 1024, 9 << 20), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_read(other, 4, out, 9 << 20), GPUME_OK);
    REQUIRE(memcmp(in + 1024, out, 9 << 20) == 0);
    REQUIRE_EQUAL(gpume_array_copy(array, 0, array, 1 << 20, 1 << 20), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_copy(array, 0, array, 4, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_copy(array, 2, other, 4, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_write(array, BYTES, in, 1), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_write(array, UINT64_MAX, in, 2), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_read(array, 1, out, BYTES), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_read(empty, 0, out, 1), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_read(empty, 0, NULL, 0), GPUME_OK);
    errors = 0;
    gpume_array *huge = NULL;
    int status = gpume_array_create(compute, &huge, UINT64_MAX / 2);
    REQUIRE(status == GPUME_NOMEM || status == GPUME_DEVICE);
    REQUIRE(!huge && errors == 1);
    status = gpume_array_create(compute, &huge, UINT64_MAX);
    REQUIRE(status == GPUME_NOMEM || status == GPUME_DEVICE);
    REQUIRE(!huge && errors == 2);
    gpume_array_destroy(&empty);
    gpume_array_destroy(&other);
    gpume_array_destroy(&array);
    gpume_array_destroy(&array);
    free(out);
    free(in);
}

static uint32_t element_of(const void *data, uint32_t bytes, uint64_t i)
{
    return bytes == 1   ? ((const uint8_t *)data)[i]
           : bytes == 2 ? ((const uint16_t *)data)[i]
                        : ((const uint32_t *)data)[i];
}

static uint64_t bins[GPUME_HISTOGRAM_MAX], expected[GPUME_HISTOGRAM_MAX];

/* Applies every reduction to one range of an array. */
static void check_reductions(const void *data, gpume_array *array, enum gpume_element element,
    uint64_t first, uint64_t count, uint32_t shift, uint32_t bin_count)
{
    const uint32_t bytes = 1u << element;
    uint64_t sum = 0, result = ~(uint64_t)0;
    struct gpume_minimum least = {0, UINT32_MAX}, minimum = {~(uint64_t)0, 1};
    memset(expected, 0, sizeof(expected));
    memset(bins, 0xCD, sizeof(bins));
    for (uint64_t i = 0; i < count; i++) {
        uint32_t value = element_of(data, bytes, first + i);
        sum += value;
        if (value < least.value) {
            least = (struct gpume_minimum){i, value};
        }
        if (value >> shift < bin_count) {
            expected[value >> shift]++;
        }
    }
    REQUIRE_EQUAL(gpume_array_sum(array, element, first, count, &result), GPUME_OK);
    REQUIRE_EQUAL(result, sum);
    if (count > 0) {
        REQUIRE_EQUAL(gpume_array_minimum(array, element, first, count, &minimum), GPUME_OK);
        REQUIRE_EQUAL(minimum.value, least.value);
        REQUIRE_EQUAL(minimum.index, least.index);
    }
    REQUIRE_EQUAL(
        gpume_array_histogram(array, element, first, count, shift, bin_count, bins), GPUME_OK);
    REQUIRE(memcmp(bins, expected, bin_count * sizeof(*bins)) == 0);
}

/* kind 0: noise; 1: all bits set; 2: the least one twice, near the end; 3: few different values. */
static void fill(uint8_t *data, uint64_t bytes, uint32_t kind)
{
    for (uint64_t i = 0; i < bytes; i++) {
        data[i] = kind == 0   ? (uint8_t)random_word()
                  : kind == 3 ? (uint8_t)(random_word() % 3)
                              : 0xff;
    }
    if (kind == 2 && bytes >= 64) {
        memset(data + bytes - 32, 0x11, 8);
        memset(data + bytes - 16, 0x11, 8);
    }
}

static void test_reductions(void)
{
    static const uint64_t counts[] = {
        0, 1, 2, 3, 4, 5, 15, 16, 17, 255, 256, 257, 4095, 4097, 65537, 1048575, 1500001};
    static const uint64_t firsts[] = {0, 1, 3, 8, 17};
    static const struct {
        uint32_t shift, bins;
    } shapes[3][2] = {{{0, 256}, {3, 7}}, {{0, 65536}, {9, 100}}, {{16, 65536}, {31, 2}}};
    enum { BYTES = 1500100 * 4 };
    uint8_t *data = malloc(BYTES);
    REQUIRE(data);
    for (uint32_t kind = 0; kind < 4; kind++) {
        fill(data, BYTES, kind);
        gpume_array *array = noise_array(BYTES);
        REQUIRE_EQUAL(gpume_array_write(array, 0, data, BYTES), GPUME_OK);
        for (uint32_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
            for (uint32_t element = 0; element < 3; element++) {
                check_reductions(data, array, (enum gpume_element)element,
                    firsts[(c + element) % 5], counts[c], shapes[element][c % 2].shift,
                    shapes[element][c % 2].bins);
            }
        }
        gpume_array_destroy(&array);
    }
    uint64_t sum = 0;
    struct gpume_minimum minimum;
    REQUIRE_EQUAL(gpume_sum(compute, GPUME_ELEMENT_U16, data, 1000, &sum), GPUME_OK);
    uint64_t expected_sum = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        expected_sum += element_of(data, 2, i);
    }
    REQUIRE_EQUAL(sum, expected_sum);
    REQUIRE_EQUAL(gpume_minimum(compute, GPUME_ELEMENT_U8, data, 1000, &minimum), GPUME_OK);
    REQUIRE_EQUAL(minimum.value, 0);
    REQUIRE_EQUAL(gpume_histogram(compute, GPUME_ELEMENT_U8, data, 1000, 0, 3, bins), GPUME_OK);
    REQUIRE_EQUAL(bins[0] + bins[1] + bins[2], 1000);
    REQUIRE_EQUAL(gpume_minimum(compute, GPUME_ELEMENT_U8, data, 0, &minimum), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sum(compute, GPUME_ELEMENT_U8, NULL, 5, &sum), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sum(compute, (enum gpume_element)3, data, 5, &sum), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_histogram(compute, GPUME_ELEMENT_U8, data, 5, 32, 3, bins), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_histogram(compute, GPUME_ELEMENT_U8, data, 5, 0, 0, bins), GPUME_INVALID);
    gpume_array *small = noise_array(10);
    REQUIRE_EQUAL(gpume_array_sum(small, GPUME_ELEMENT_U16, 0, 5, &sum), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_sum(small, GPUME_ELEMENT_U16, 1, 5, &sum), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_sum(small, GPUME_ELEMENT_U32, 3, 0, &sum), GPUME_INVALID);
    gpume_array_destroy(&small);
    free(data);
}

static const struct gpume_program_params double_params = {
    .size = sizeof(double_params),
    .spirv = doubling,
    .spirv_bytes = sizeof(doubling),
    .array_count = 2,
    .push_bytes = 8,
    .constants = (const uint32_t[]){1, 3},
    .constant_count = 2,
};

static void test_programs(void)
{
    enum { COUNT = 1000 };
    uint32_t numbers[COUNT], results[COUNT];
    gpume_program *program = NULL;
    struct gpume_program_params params = double_params;
    if (backend == GPUME_BACKEND_CPU) {
        REQUIRE_EQUAL(gpume_program_create(compute, &program, &params), GPUME_UNSUPPORTED);
        return;
    }
    REQUIRE_EQUAL(gpume_program_create(compute, &program, &params), GPUME_OK);
    gpume_array *arrays[] = {noise_array(sizeof(numbers)), noise_array(sizeof(results))};
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = random_word();
    }
    REQUIRE_EQUAL(gpume_array_write(arrays[0], 0, numbers, sizeof(numbers)), GPUME_OK);
    for (uint32_t add = 0; add < 3; add++) {
        const uint32_t push[2] = {COUNT, add}, groups[3] = {(COUNT + 63) / 64, 1, 1};
        REQUIRE_EQUAL(gpume_program_run(program, arrays, push, groups), GPUME_OK);
        REQUIRE_EQUAL(gpume_array_read(arrays[1], 0, results, sizeof(results)), GPUME_OK);
        for (uint32_t i = 0; i < COUNT; i++) {
            REQUIRE_EQUAL(results[i], 3 * numbers[i] + add);
        }
    }
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    const uint32_t push[2] = {0, 0}, none[3] = {0, 1, 1};
    const uint32_t many[3] = {1, info.groups_max[1] + 1, 1};
    REQUIRE_EQUAL(gpume_program_run(program, arrays, push, none), GPUME_OK);
    REQUIRE_EQUAL(gpume_program_run(program, arrays, push, many), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_program_run(program, NULL, push, none), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_program_run(program, arrays, NULL, none), GPUME_INVALID);
    gpume_program_destroy(&program);
    params.spirv_bytes = 3;
    REQUIRE_EQUAL(gpume_program_create(compute, &program, &params), GPUME_INVALID);
    params = double_params;
    params.array_count = GPUME_PROGRAM_ARRAYS_MAX + 1;
    REQUIRE_EQUAL(gpume_program_create(compute, &program, &params), GPUME_INVALID);
    params = double_params;
    params.size = 0;
    REQUIRE_EQUAL(gpume_program_create(compute, &program, &params), GPUME_INVALID);
    gpume_array_destroy(&arrays[0]);
    gpume_array_destroy(&arrays[1]);
}

enum { BATCHES = 3, BATCH_WORDS = 5000 };

/* What one batch works on: its part of a host array, and its own arrays. */
struct batch_job {
    gpume_batch *batch;
    uint32_t *words; /* numbers, then results */
    gpume_array *arrays[2];
};

/* There and back, and on a device through the program twice: 9 n + 3 add + add. */
static void add_steps(
    const struct batch_job *job, gpume_array *host, gpume_program *program, uint32_t add)
{
    const uint64_t bytes = BATCH_WORDS * sizeof(uint32_t), in = 2 * bytes * add;
    const uint32_t push[2] = {BATCH_WORDS, add}, groups[3] = {(BATCH_WORDS + 63) / 64, 1, 1};
    gpume_array *back[] = {job->arrays[1], job->arrays[0]};
    REQUIRE_EQUAL(gpume_batch_copy(job->batch, job->arrays[0], 0, host, in, bytes), GPUME_OK);
    if (program) {
        REQUIRE_EQUAL(gpume_batch_run(job->batch, program, job->arrays, push, groups), GPUME_OK);
        REQUIRE_EQUAL(gpume_batch_run(job->batch, program, back, push, groups), GPUME_OK);
    }
    REQUIRE_EQUAL(
        gpume_batch_copy(job->batch, host, in + bytes, job->arrays[0], 0, bytes), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_copy(job->batch, host, in, job->arrays[0], 0, bytes), GPUME_OK);
}

/* Several under way at a time, over and over. */
static void test_batches(void)
{
    const uint64_t bytes = BATCH_WORDS * sizeof(uint32_t);
    struct batch_job jobs[BATCHES] = {0};
    gpume_array *host = NULL;
    gpume_program *program = NULL;
    void *memory = NULL;
    uint32_t numbers[BATCHES][BATCH_WORDS];
    REQUIRE_EQUAL(gpume_array_create_host(compute, &host, 2 * bytes * BATCHES, &memory), GPUME_OK);
    if (backend == GPUME_BACKEND_VULKAN) {
        REQUIRE_EQUAL(gpume_program_create(compute, &program, &double_params), GPUME_OK);
    }
    for (uint32_t i = 0; i < BATCHES; i++) {
        jobs[i].words = (uint32_t *)memory + (size_t)2 * BATCH_WORDS * i;
        jobs[i].arrays[0] = noise_array(bytes);
        jobs[i].arrays[1] = noise_array(bytes);
        REQUIRE_EQUAL(gpume_batch_create(compute, &jobs[i].batch, 5), GPUME_OK);
    }
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < BATCHES; i++) {
            REQUIRE_EQUAL(gpume_batch_wait(jobs[i].batch), GPUME_OK);
            add_steps(&jobs[i], host, program, i);
            for (uint32_t j = 0; j < BATCH_WORDS; j++) {
                jobs[i].words[j] = numbers[i][j] = random_word();
            }
            REQUIRE_EQUAL(gpume_batch_submit(jobs[i].batch), GPUME_OK);
        }
        for (uint32_t i = 0; i < BATCHES; i++) {
            const uint32_t factor = program ? 9 : 1, add = program ? 4 * i : 0;
            REQUIRE_EQUAL(gpume_batch_wait(jobs[i].batch), GPUME_OK);
            for (uint32_t j = 0; j < BATCH_WORDS; j++) {
                REQUIRE_EQUAL(jobs[i].words[j], factor * numbers[i][j] + add);
                REQUIRE_EQUAL(jobs[i].words[BATCH_WORDS + j], jobs[i].words[j]);
            }
        }
    }
    for (uint32_t i = 0; i < BATCHES; i++) {
        gpume_batch_destroy(&jobs[i].batch);
        REQUIRE(!jobs[i].batch);
        gpume_array_destroy(&jobs[i].arrays[0]);
        gpume_array_destroy(&jobs[i].arrays[1]);
    }
    gpume_program_destroy(&program);
    gpume_array_destroy(&host);
}

/* Limits, wrong arguments, and calls at the wrong time. */
static void test_batch_rules(void)
{
    gpume_batch *batch = NULL;
    gpume_array *host = NULL, *array = noise_array(64);
    void *memory = NULL;
    uint32_t words[4];
    REQUIRE_EQUAL(gpume_array_create_host(compute, &host, 64, NULL), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_array_create_host(compute, &host, 64, &memory), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_create(compute, &batch, 0), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_create(compute, &batch, GPUME_BATCH_STEPS_MAX + 1), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_create(NULL, &batch, 1), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_create(compute, &batch, 1), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_submit(batch), GPUME_OK); /* nothing to do */
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 0, host, 0, 16), GPUME_INVALID); /* under way */
    REQUIRE_EQUAL(gpume_batch_submit(batch), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_wait(batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_wait(batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 0, host, 60, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 2, host, 0, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 0, array, 4, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_copy(batch, NULL, 0, host, 0, 8), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 0, host, 0, 0), GPUME_OK); /* no step */
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 0, host, 0, 16), GPUME_OK);
    REQUIRE_EQUAL(gpume_batch_copy(batch, array, 16, host, 0, 16), GPUME_INVALID); /* full */
    REQUIRE_EQUAL(gpume_batch_run(batch, NULL, &array, NULL, NULL), GPUME_INVALID);
    for (uint32_t i = 0; i < 4; i++) {
        ((uint32_t *)memory)[i] = 100 + i;
    }
    REQUIRE_EQUAL(gpume_batch_submit(batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_array_read(array, 0, words, sizeof(words)), GPUME_OK); /* comes after it */
    REQUIRE_EQUAL(words[3], 103);
    gpume_batch_destroy(&batch); /* not waited for */
    gpume_batch_destroy(&batch);
    gpume_batch_destroy(NULL);
    REQUIRE_EQUAL(gpume_batch_submit(NULL), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_batch_wait(NULL), GPUME_INVALID);
    gpume_array_destroy(&array);
    gpume_array_destroy(&host);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 1;
    }
    backend = strcmp(argv[1], "cpu") == 0 ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    validate = argc > 2 && strcmp(argv[2], "--validate") == 0;
    if (backend == GPUME_BACKEND_VULKAN) {
        vulkan_probe_or_skip(validate);
    }
    compute = open_compute();
    test_context();
    test_sizes();
    test_arrays();
    test_reductions();
    test_programs();
    test_batches();
    test_batch_rules();
    REQUIRE_EQUAL(gpume_compute_close(&compute), GPUME_OK);
    return harness_verdict();
}
