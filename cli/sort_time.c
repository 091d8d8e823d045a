/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each method sorts a fresh copy several times, the fewer the longer it takes; the median counts.
 * The copy is made off the clock. What the GPU takes without transfers is its own measure of the
 * same calls. Main thread only.
 */
#include "sort_time.h"

#include "console.h"
#include "progress.h"
#include "sort_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 25u
#define BUDGET_NS UINT64_C(500000000) /* of a method's runs; one is made in any case */

struct method {
    const char *name;
    gpume_compute *compute; /* NULL: qsort */
    enum gpume_sort_method sort;
    double wall_ns, run_ns; /* medians; 0: not measured */
    const char *missing;    /* why */
};

static int compare_times(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 2];
}

static enum gpume_exit sort_once(const struct gpume_sort_timing *timing,
    const struct method *method, uint32_t *keys, double *wall_ns, double *run_ns)
{
    struct gpume_compute_times times = {0};
    struct gpume_sort_params params = timing->params;
    params.method = method->sort;
    memcpy(keys, timing->keys, timing->count * sizeof *keys);
    const uint64_t before = gpume_progress_clock_ns();
    int status = GPUME_OK;
    if (method->compute) {
        status = gpume_sort(method->compute, &params, keys, NULL, timing->count);
    } else {
        gpume_sort_with_qsort(&params, keys, timing->count);
    }
    *wall_ns = (double)(gpume_progress_clock_ns() - before);
    if (method->compute) {
        gpume_compute_get_times(method->compute, &times);
    }
    *run_ns = (double)times.run_ns;
    if (status != GPUME_OK) {
        gpume_console_error("--time: %s: %s", method->name, gpume_status_text(status));
        return GPUME_EXIT_FAILED;
    }
    const uint64_t matches = gpume_sort_matches(keys, timing->expected, timing->count);
    if (matches != timing->count) {
        gpume_console_error("--time: %s: keys matched in %" PRIu64 " of %" PRIu64
                            " instances: its results are wrong",
            method->name, matches, timing->count);
        return GPUME_EXIT_MISMATCH;
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit measure(
    const struct gpume_sort_timing *timing, struct method *method, uint32_t *keys)
{
    double wall[RUNS_MAX], run[RUNS_MAX], spent = 0;
    size_t runs = 0;
    while (runs < RUNS_MAX && (runs == 0 || spent < (double)BUDGET_NS)) {
        const enum gpume_exit result = sort_once(timing, method, keys, &wall[runs], &run[runs]);
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
        spent += wall[runs++];
    }
    method->wall_ns = median(wall, runs);
    method->run_ns = median(run, runs);
    return GPUME_EXIT_DONE;
}

static void print_line(FILE *stream, const struct gpume_sort_timing *timing, const char *name,
    double ns, double qsort_ns, const char *missing)
{
    if (ns > 0) {
        fprintf(stream, "%-20s  %12.3f ms  %10.2f M keys/s  %8.2f x qsort\n", name, ns / 1e6,
            (double)timing->count / ns * 1e3, qsort_ns / ns);
    } else {
        fprintf(stream, "%-20s  %s\n", name, missing);
    }
}

/* Why there is no GPU to measure; NULL: there is one. */
static const char *missing_gpu(const struct gpume_sort_timing *timing)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(timing->compute, &info);
    if (strcmp(info.backend, "vulkan") == 0) {
        return NULL;
    }
    return timing->options->params.backend == GPUME_BACKEND_CPU
               ? "left out: --backend cpu"
               : "left out: no hardware GPU does it here; --backend vulkan takes a software driver";
}

static enum gpume_exit measure_all(
    const struct gpume_sort_timing *timing, gpume_compute *cpu, uint32_t *keys, FILE *stream)
{
    struct method methods[] = {
        {"GPU", timing->compute, GPUME_SORT_AUTO, 0, 0, missing_gpu(timing)},
        {"C radix", cpu, GPUME_SORT_RADIX, 0, 0, NULL},
        {"qsort", NULL, GPUME_SORT_AUTO, 0, 0, NULL},
        {"CPU bitonic", cpu, GPUME_SORT_BITONIC, 0, 0, NULL},
    };
    enum { GPU, RADIX, QSORT, BITONIC, COUNT };
    for (size_t i = 0; i < COUNT; i++) {
        const enum gpume_exit result =
            methods[i].missing ? GPUME_EXIT_DONE : measure(timing, &methods[i], keys);
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
    }
    const double base = methods[QSORT].wall_ns;
    const struct method *gpu = &methods[GPU];
    print_line(stream, timing, "GPU with transfer", gpu->wall_ns, base, gpu->missing);
    print_line(stream, timing, "GPU without transfer", gpu->run_ns, base,
        gpu->missing ? gpu->missing : "not known: the device cannot tell time");
    for (size_t i = RADIX; i < COUNT; i++) {
        print_line(stream, timing, methods[i].name, methods[i].wall_ns, base, "too short a time");
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_sort_time(const struct gpume_sort_timing *timing, FILE *stream)
{
    if (timing->count == 0) {
        fprintf(stream, "--time: there are no integers to sort\n");
        return GPUME_EXIT_DONE;
    }
    struct gpume_compute_params params;
    gpume_compute *cpu = NULL;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_CPU;
    params.log = gpume_console_log;
    uint32_t *keys = malloc(timing->count * sizeof *keys);
    enum gpume_exit result = GPUME_EXIT_FAILED;
    if (keys && gpume_compute_open(&cpu, &params) == GPUME_OK) {
        result = measure_all(timing, cpu, keys, stream);
    } else {
        gpume_console_error("--time: out of memory; leave it out or sort less");
    }
    (void)gpume_compute_close(&cpu);
    free(keys);
    return result;
}
