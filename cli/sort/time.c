/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each method sorts a fresh copy several times within a time budget, and the median counts. Making
 * the copy is not timed. The GPU's time without transfer comes from its timestamps, for keys
 * already in its memory. Main thread only.
 */
#include "sort/time.h"

#include "base/clock.h"
#include "bench/repeat.h"
#include "console.h"
#include "library_log.h"
#include "progress.h"
#include "sort/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_NS UINT64_C(500000000) /* for each method, which runs at least once */

struct method {
    const char *name;
    gpume_compute *compute; /* NULL: qsort */
    enum gpume_sort_method sort;
    double us;           /* median; 0: not measured */
    const char *missing; /* why it is not measured; NULL: it is */
};

/* A method while it is being measured. */
struct running {
    const struct gpume_sort_timing *timing;
    const struct method *method;
    uint32_t *keys;         /* sorted on the host */
    gpume_array *on_device; /* sorted on the device */
    gpume_array *master;    /* the unsorted keys on the device */
};

/* Checks the result. */
static int accept(const struct running *running, int status)
{
    const struct gpume_sort_timing *timing = running->timing;
    const char *name = running->method->name;
    if (status != GPUME_OK) {
        gpume_console_error("--time: %s: %s", name, gpume_status_text(status));
        return status;
    }
    const uint64_t matches = gpume_sort_matches(running->keys, timing->expected, timing->count);
    if (matches != timing->count) {
        return gpume_refuse(GPUME_FORMAT,
            "--time: %s: keys matched in %" PRIu64 " of %" PRIu64
            " instances: its results are wrong",
            name, matches, timing->count);
    }
    return GPUME_OK;
}

static int sort_once(void *opaque, double *us)
{
    const struct running *running = opaque;
    const struct gpume_sort_timing *timing = running->timing;
    const struct method *method = running->method;
    struct gpume_sort_params params = timing->params;
    params.method = method->sort;
    memcpy(running->keys, timing->keys, timing->count * sizeof *running->keys);
    const uint64_t before = gpume_clock_ns();
    int status = GPUME_OK;
    if (method->compute) {
        status = gpume_sort(method->compute, &params, running->keys, NULL, timing->count);
    } else {
        gpume_sort_with_qsort(&params, running->keys, timing->count);
    }
    *us = (double)(gpume_clock_ns() - before) / 1e3;
    return accept(running, status);
}

static int sort_on_device(void *opaque, double *us)
{
    const struct running *running = opaque;
    const struct gpume_sort_timing *timing = running->timing;
    struct gpume_compute_times times = {0};
    int status = gpume_array_copy(running->on_device, 0, running->master, 0, timing->count * 4);
    if (status == GPUME_OK) {
        status = gpume_array_sort(&timing->params, running->on_device, NULL, timing->count);
    }
    gpume_compute_get_times(timing->compute, &times);
    *us = (double)times.run_ns / 1e3;
    return status;
}

/* By the device's timestamps; 0 us if it has none. */
static int measure_on_device(struct running *running, double *us)
{
    const struct gpume_sort_timing *timing = running->timing;
    const uint64_t bytes = timing->count * 4;
    int status = gpume_array_create(timing->compute, &running->master, bytes);
    status = status ? status : gpume_array_create(timing->compute, &running->on_device, bytes);
    status = status ? status : gpume_array_write(running->master, 0, timing->keys, bytes);
    status = status ? status : gpume_bench_warm_up(BUDGET_NS, sort_on_device, running);
    status = status ? status : gpume_bench_repeat(BUDGET_NS, sort_on_device, running, us);
    status = status ? status : gpume_array_read(running->on_device, 0, running->keys, bytes);
    gpume_array_destroy(&running->on_device);
    gpume_array_destroy(&running->master);
    return accept(running, status);
}

static void print_line(FILE *stream, const struct gpume_sort_timing *timing, const char *name,
    double us, double qsort_us, const char *missing)
{
    if (us > 0) {
        fprintf(stream, "%-20s  %12.3f ms  %10.2f M keys/s  %8.2f x qsort\n", name, us / 1e3,
            (double)timing->count / us, qsort_us / us);
    } else {
        fprintf(stream, "%-20s  %s\n", name, missing);
    }
}

/* Why no GPU is measured; NULL: one is. */
static const char *missing_gpu(const struct gpume_sort_timing *timing)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(timing->compute, &info);
    if (strcmp(info.backend, "vulkan") == 0) {
        return NULL;
    }
    return timing->options->params.backend == GPUME_BACKEND_CPU
               ? "not measured: --backend cpu"
               : "not measured: no usable GPU; --backend vulkan accepts software drivers";
}

static int measure_all(
    const struct gpume_sort_timing *timing, gpume_compute *cpu, uint32_t *keys, FILE *stream)
{
    struct method methods[] = {
        {"GPU with transfer", timing->compute, GPUME_SORT_AUTO, 0, missing_gpu(timing)},
        {"GPU without transfer", timing->compute, GPUME_SORT_AUTO, 0, missing_gpu(timing)},
        {"C radix", cpu, GPUME_SORT_RADIX, 0, NULL},
        {"qsort", NULL, GPUME_SORT_AUTO, 0, NULL},
        {"CPU bitonic", cpu, GPUME_SORT_BITONIC, 0, NULL},
    };
    enum { ON_DEVICE = 1, QSORT = 3, COUNT = 5 };
    for (size_t i = 0; i < COUNT; i++) {
        struct running running = {timing, &methods[i], keys, NULL, NULL};
        int status = GPUME_OK;
        if (!methods[i].missing) {
            status = i == ON_DEVICE
                         ? measure_on_device(&running, &methods[i].us)
                         : gpume_bench_repeat(BUDGET_NS, sort_once, &running, &methods[i].us);
        }
        if (status != GPUME_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        const char *why =
            i == ON_DEVICE ? "unknown: the device has no timestamps" : "too short to measure";
        print_line(stream, timing, methods[i].name, methods[i].us, methods[QSORT].us,
            methods[i].missing ? methods[i].missing : why);
    }
    return GPUME_OK;
}

enum gpume_exit gpume_sort_time(const struct gpume_sort_timing *timing, FILE *stream)
{
    if (timing->count == 0) {
        fprintf(stream, "--time: no integers to sort\n");
        return GPUME_EXIT_DONE;
    }
    struct gpume_compute_params params;
    gpume_compute *cpu = NULL;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_CPU;
    params.log = gpume_library_log;
    uint32_t *keys = malloc(timing->count * sizeof *keys);
    enum gpume_exit result = GPUME_EXIT_FAILED;
    if (keys && gpume_compute_open(&cpu, &params) == GPUME_OK) {
        result = gpume_exit_of_engine(measure_all(timing, cpu, keys, stream));
    } else {
        gpume_console_error("--time: out of memory; leave it out or sort fewer integers");
    }
    (void)gpume_compute_close(&cpu);
    free(keys);
    return result;
}
