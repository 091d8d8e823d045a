/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * saxpy: y = a * x + y on arrays of floats, with your own kernel: the shortest complete use of
 * gpume_program_*.
 *
 *     saxpy [COUNT]
 *
 * saxpy.comp is the kernel, which `glslc -mfmt=c` compiles to the words of saxpy.inc at build time.
 * The steps, as in on_device():
 *
 *     1. gpume_compute_open    with GPUME_BACKEND_VULKAN, since the CPU cannot run your kernels
 *     2. gpume_array_create    twice; gpume_array_write fills the arrays
 *     3. gpume_program_create  SPIR-V, the number of arrays, the bytes of push constants
 *     4. gpume_program_run     the arrays in the order of their bindings, a struct with the layout
 *                              of the kernel's push constants, the numbers of workgroups
 *     5. gpume_array_read      reads the result
 *     6. gpume_program_destroy, gpume_array_destroy, gpume_compute_close
 *
 * Output: the device, the largest difference from the C loop in units in the last place, the
 * shortest device time of ten runs and the memory bandwidth that follows from it. The difference is
 * 0 on devices that round to nearest, as all known ones do. Vulkan also allows rounding towards
 * zero; then each of the two operations is off by one unit at most, since all numbers are positive,
 * and only a difference above 2 is a failure.
 *
 * Exit status: 0 success, 1 failure or wrong result, 2 wrong usage, 3 no Vulkan device.
 */
#include <gpume/compute.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t code[] =
#include "saxpy.inc"
    ;

/* Push of the kernel. */
struct push {
    uint32_t count;
    float a;
};

enum { GROUP = 256 /* invocations, as in the kernel */, RUNS = 10, NO_DEVICE = 1 };

static const uint32_t ulps_max = 2;

/* Inputs and results. */
struct saxpy {
    struct push push;
    float *x, *y;
    float *result; /* y after one run */
    uint64_t best_ns;
    bool logged; /* the library has logged an error */
};

static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    struct saxpy *saxpy = opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "saxpy: %s\n", line);
        saxpy->logged = saxpy->logged || level == GPUME_LOG_ERROR;
    }
}

static int fail(const char *why)
{
    fprintf(stderr, "saxpy: %s\n", why);
    return 1;
}

/* From 1 to below 2 in steps of 2^-23, so that products and sums have to be rounded. */
static float noise(uint32_t i)
{
    uint32_t bits = (i + 1) * 0x9E3779B1u;
    bits = (bits ^ (bits >> 15)) * 0x85EBCA77u;
    return 1.0f + (float)(bits >> 9) / 8388608.0f;
}

static int make_arrays(struct saxpy *saxpy)
{
    const size_t bytes = saxpy->push.count * sizeof(float);
    saxpy->x = malloc(bytes);
    saxpy->y = malloc(bytes);
    saxpy->result = malloc(bytes);
    if (!saxpy->x || !saxpy->y || !saxpy->result) {
        return fail("out of memory");
    }
    for (uint32_t i = 0; i < saxpy->push.count; i++) {
        saxpy->x[i] = noise(2 * i);
        saxpy->y[i] = noise(2 * i + 1);
    }
    return 0;
}

/* The result is that of the first run. The others, which continue from it, are only timed. */
static int run(struct saxpy *saxpy, gpume_compute *compute, gpume_program *program,
    gpume_array *const arrays[2])
{
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    const uint32_t whole = (saxpy->push.count - 1) / GROUP + 1;
    const uint32_t groups[3] = {whole < info.groups_max[0] ? whole : info.groups_max[0], 1, 1};
    const uint64_t bytes = saxpy->push.count * sizeof(float);
    saxpy->best_ns = UINT64_MAX;
    int status = GPUME_OK;
    for (int i = 0; i < RUNS && status == GPUME_OK; i++) {
        struct gpume_compute_times times;
        status = gpume_program_run(program, arrays, &saxpy->push, groups);
        gpume_compute_get_times(compute, &times);
        saxpy->best_ns = times.run_ns < saxpy->best_ns ? times.run_ns : saxpy->best_ns;
        if (i == 0 && status == GPUME_OK) {
            status = gpume_array_read(arrays[1], 0, saxpy->result, bytes);
        }
    }
    printf("device %s\n", info.device);
    return status;
}

static int on_device(struct saxpy *saxpy)
{
    const uint64_t bytes = saxpy->push.count * sizeof(float);
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_VULKAN;
    params.log = print_log;
    params.log_opaque = saxpy;
    gpume_compute *compute = NULL;
    int status = gpume_compute_open(&compute, &params);
    if (status != GPUME_OK) {
        return status == GPUME_DEVICE ? NO_DEVICE : status;
    }

    gpume_array *arrays[2] = {NULL, NULL}; /* x and y, the kernel's bindings 0 and 1 */
    const float *const content[2] = {saxpy->x, saxpy->y};
    for (int i = 0; i < 2 && status == GPUME_OK; i++) {
        status = gpume_array_create(compute, &arrays[i], bytes);
        if (status == GPUME_OK) {
            status = gpume_array_write(arrays[i], 0, content[i], bytes);
        }
    }
    gpume_program *program = NULL;
    const struct gpume_program_params kernel = {.size = sizeof(kernel),
        .spirv = code,
        .spirv_bytes = sizeof code,
        .array_count = 2,
        .push_bytes = sizeof(struct push)};
    if (status == GPUME_OK) {
        status = gpume_program_create(compute, &program, &kernel);
    }
    if (status == GPUME_OK) {
        status = run(saxpy, compute, program, arrays);
    }
    gpume_program_destroy(&program);
    gpume_array_destroy(&arrays[1]);
    gpume_array_destroy(&arrays[0]);
    const int closed = gpume_compute_close(&compute);
    return status != GPUME_OK ? status : closed;
}

/* The distance of two positive floats in units in the last place. */
static uint32_t ulps_between(float one, float other)
{
    uint32_t a, b;
    memcpy(&a, &one, sizeof a);
    memcpy(&b, &other, sizeof b);
    return a > b ? a - b : b - a;
}

static int compare(const struct saxpy *saxpy)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < saxpy->push.count; i++) {
        const float product = saxpy->push.a * saxpy->x[i];
        const float sum = product + saxpy->y[i];
        const uint32_t ulps = ulps_between(sum, saxpy->result[i]);
        largest = ulps > largest ? ulps : largest;
    }
    const double moved = 3.0 * sizeof(float) * saxpy->push.count; /* x and y read, y written */
    printf("%" PRIu32 " floats\n", saxpy->push.count);
    printf("largest difference %" PRIu32 " ulp\n", largest);
    printf("%.6f ms, %.3f GB/s\n", (double)saxpy->best_ns / 1e6, moved / (double)saxpy->best_ns);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output cannot be written");
    }
    return largest <= ulps_max ? 0 : fail("the kernel and the C loop differ");
}

/* Up to 2^29, 2 GiB per array. Where the driver allows less, the library returns an error. */
static bool parse_count(const char *text, uint32_t *count)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *count = (uint32_t)number;
    return *text >= '1' && *text <= '9' && *end == '\0' && number <= 1ul << 29;
}

int main(int argc, char **argv)
{
    struct saxpy saxpy = {.push = {.count = 1u << 24, .a = 2.7182817f}};
    if (argc > 2 || (argc == 2 && !parse_count(argv[1], &saxpy.push.count))) {
        fprintf(stderr, "usage: saxpy [COUNT], COUNT from 1 to 536870912\n");
        return 2;
    }
    int result = make_arrays(&saxpy);
    if (result == 0) {
        const int status = on_device(&saxpy);
        if (status < 0 && !saxpy.logged) {
            fail(gpume_status_text(status));
        }
        result = status == NO_DEVICE ? 3 : status != GPUME_OK ? 1 : compare(&saxpy);
    }
    free(saxpy.result);
    free(saxpy.y);
    free(saxpy.x);
    return result;
}
