/* SPDX-License-Identifier: BSD-2-Clause */
/* Doing one thing many times, to learn how long it takes. */
#ifndef GPUME_CLI_BENCH_REPEAT_H
#define GPUME_CLI_BENCH_REPEAT_H

#include <stdint.h>

#define GPUME_BENCH_REPEATS_MAX 64u

/* Does it once, and says how long that took. Anything but GPUME_OK ends the measurement. */
typedef int (*gpume_bench_repeat_fn)(void *opaque, double *us);

/* Runs `once` for a second and a half, or 20 budgets if that is less, before anything is measured
 * on a device: a GPU that had nothing to do while one core was measured is at a fraction of its
 * clock, an H200 at a sixth, and takes up to a second of work to leave it. */
int gpume_bench_warm_up(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque);

/* Runs `once` for the budget, ten times at least where that is less than four budgets; the median
 * of what it gives. */
int gpume_bench_repeat(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque, double *us);

/* Of count values, which are sorted. */
double gpume_bench_median(double *values, uint32_t count);

#endif
