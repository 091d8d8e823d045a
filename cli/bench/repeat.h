/* SPDX-License-Identifier: BSD-2-Clause */
/* Repeats one operation to measure its time. */
#ifndef GPUME_CLI_BENCH_REPEAT_H
#define GPUME_CLI_BENCH_REPEAT_H

#include <stdint.h>

#define GPUME_BENCH_REPEATS_MAX 64u

/* Does it once and returns the time. Any status but GPUME_OK ends the measurement. */
typedef int (*gpume_bench_repeat_fn)(void *opaque, double *us);

/* Runs `once` for 1.5 s, or 20 budgets if that is less, before anything is measured on a device: a
 * GPU that was idle while the CPU was measured runs at a fraction of its clock rate, an H200 at a
 * sixth, and needs up to a second of work to reach full speed. */
int gpume_bench_warm_up(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque);

/* Runs `once` for the budget, and on to ten times unless that takes four budgets; *us is the
 * median.
 */
int gpume_bench_repeat(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque, double *us);

/* The median of count values; sorts them. */
double gpume_bench_median(double *values, uint32_t count);

#endif
