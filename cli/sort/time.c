/* SPDX-License-Identifier: BSD-2-Clause */
#include "sort/time.h"

#include "base/params.h"
#include "console.h"
#include "exit.h"
#include "host.h"
#include "library_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_NS UINT64_C(500000000) /* for each method, which runs at least once */

struct method {
    const char *name;
    gpume_compute *compute; /* NULL: qsort */
    enum gpume_sort_method sort;
    int (*measure)(struct gpume_sort_trial *trial, double *us);
    const char *missing; /* why it is not measured; NULL: it is */
    const char *unknown; /* why its time may be 0 */
    double us;           /* median */
};

static void print_method_line(
    FILE *stream, uint64_t count, const struct method *method, double qsort_us)
{
    if (method->us > 0) {
        fprintf(stream, "%-25s  %12.3f ms  %10.2f M keys/s  %8.2f x qsort\n", method->name,
            method->us / 1e3, (double)count / method->us, qsort_us / method->us);
    } else {
        fprintf(stream, "%-25s  %s\n", method->name,
            method->missing ? method->missing : method->unknown);
    }
}

/* What the times of a Vulkan device are called: hardware is a GPU, anything else what `gpume
 * devices` calls it. */
static const char *device_word(const gpume_compute *compute)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    const enum gpume_device_type type = strcmp(info.backend, "vulkan") == 0
                                            ? gpume_host_device_type(info.device)
                                            : GPUME_DEVICE_DISCRETE;
    return type == GPUME_DEVICE_SOFTWARE || type == GPUME_DEVICE_OTHER
               ? gpume_names_device_type[type]
               : "GPU";
}

/* Why no GPU is measured; NULL: one is. */
static const char *missing_gpu(gpume_compute *compute, enum gpume_backend asked)
{
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    if (strcmp(info.backend, "vulkan") == 0) {
        return NULL;
    }
    return asked == GPUME_BACKEND_CPU
               ? "not measured: --backend cpu"
               : "not measured: no usable GPU; --backend vulkan accepts software drivers";
}

static int measure_methods(struct gpume_sort_trial *trial, gpume_compute *gpu, gpume_compute *cpu,
    const char *missing, FILE *stream)
{
    enum { QSORT = 3, COUNT = 5 };
    static const char no_stamps[] = "unknown: the device has no timestamps";
    static const char too_short[] = "too short to measure";
    const char *word = device_word(gpu);
    char with[32], without[32];
    snprintf(with, sizeof(with), "%s with transfer", word);
    snprintf(without, sizeof(without), "%s without transfer", word);
    struct method methods[COUNT] = {
        {with, gpu, GPUME_SORT_AUTO, gpume_sort_trial_on_host, missing, too_short, 0},
        {without, gpu, GPUME_SORT_AUTO, gpume_sort_trial_on_device, missing, no_stamps, 0},
        {"C radix", cpu, GPUME_SORT_RADIX, gpume_sort_trial_on_host, NULL, too_short, 0},
        {"qsort", NULL, GPUME_SORT_AUTO, gpume_sort_trial_on_host, NULL, too_short, 0},
        {"CPU bitonic", cpu, GPUME_SORT_BITONIC, gpume_sort_trial_on_host, NULL, too_short, 0},
    };
    int status = GPUME_OK;
    for (size_t i = 0; i < COUNT && status == GPUME_OK; i++) {
        trial->method = methods[i].name;
        trial->compute = methods[i].compute;
        trial->params.method = methods[i].sort;
        status = methods[i].missing ? GPUME_OK : methods[i].measure(trial, &methods[i].us);
    }
    for (size_t i = 0; i < COUNT && status == GPUME_OK; i++) {
        print_method_line(stream, trial->count, &methods[i], methods[QSORT].us);
    }
    return status;
}

enum gpume_exit gpume_sort_time(
    const struct gpume_sort_trial *work, enum gpume_backend asked, FILE *stream)
{
    if (work->count == 0) {
        fprintf(stream, "--time: no integers to sort\n");
        return GPUME_EXIT_DONE;
    }
    struct gpume_compute_params params;
    gpume_compute *cpu = NULL;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_CPU;
    params.log = gpume_library_log;
    struct gpume_sort_trial trial = *work;
    trial.work = "--time";
    trial.budget_ns = BUDGET_NS;
    trial.work_keys = malloc(work->count * sizeof *trial.work_keys);
    enum gpume_exit result = GPUME_EXIT_FAILED;
    if (trial.work_keys && gpume_compute_open(&cpu, &params) == GPUME_OK) {
        const char *missing = missing_gpu(work->compute, asked);
        result = gpume_exit_of_engine(measure_methods(&trial, work->compute, cpu, missing, stream));
    } else {
        gpume_console_error("--time: out of memory; leave it out or sort fewer integers");
    }
    (void)gpume_compute_close(&cpu);
    free(trial.work_keys);
    return result;
}
