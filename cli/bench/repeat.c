/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/repeat.h"

#include "base/clock.h"
#include "base/status.h"

#include <gpume/gpume.h>
#include <stdlib.h>

#define REPEATS_MIN 10u
#define WARM_UP_NS UINT64_C(1500000000)
#define WARM_UP_BUDGETS 20u

static int compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double gpume_bench_median(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

int gpume_bench_warm_up(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque)
{
    const uint64_t start = gpume_clock_ns();
    const uint64_t time_ns =
        budget_ns < WARM_UP_NS / WARM_UP_BUDGETS ? WARM_UP_BUDGETS * budget_ns : WARM_UP_NS;
    int status = GPUME_OK;
    double us;
    while (status == GPUME_OK && gpume_clock_ns() - start < time_ns) {
        status = once(opaque, &us);
    }
    return status;
}

int gpume_bench_repeat(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque, double *us)
{
    double all[GPUME_BENCH_REPEATS_MAX];
    const uint64_t start = gpume_clock_ns();
    uint32_t count = 0;
    uint64_t spent = 0;
    while (
        count == 0 || (count < GPUME_BENCH_REPEATS_MAX &&
                          (spent < budget_ns || (count < REPEATS_MIN && spent < 4 * budget_ns)))) {
        GPUME_CHECK(once(opaque, &all[count]));
        count++;
        spent = gpume_clock_ns() - start;
    }
    *us = gpume_bench_median(all, count);
    return GPUME_OK;
}
