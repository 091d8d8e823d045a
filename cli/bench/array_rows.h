/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sorts.c and reductions.c share: the engines that they measure, the time for each, and the
 * resulting rows. Main thread only.
 */
#ifndef GPUME_CLI_BENCH_ARRAY_ROWS_H
#define GPUME_CLI_BENCH_ARRAY_ROWS_H

#include "bench/bench.h"
#include "bench/repeat.h"
#include "bench/rows.h"
#include "console.h"

#include <gpume/compute.h>

/* One way to do the work. */
struct gpume_bench_method {
    gpume_compute *compute;
    struct gpume_compute_info info;
    const char *name;
    enum gpume_sort_method sort;
    bool qsort;
    bool slow; /* not measured at larger sizes: they would take too long */
};

struct gpume_bench_places {
    const struct gpume_bench_options *options;
    gpume_compute *cpu, *gpu; /* gpu NULL: none */
    uint64_t budget_ns;       /* for one row of the table */
    struct gpume_progress progress;
    struct gpume_bench bench;
};

/* A hash: pseudorandom numbers from consecutive ones. */
static inline uint32_t gpume_bench_noise(uint32_t i)
{
    uint32_t bits = i * 0x9E3779B1u + 0x7F4A7C15u;
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12)) * 0x297A2D39u;
    return bits ^ (bits >> 15);
}

/* A new row; NULL if the table is full. */
struct gpume_bench_row *gpume_bench_row(struct gpume_bench_places *places,
    const struct gpume_bench_method *method, const char *work, uint64_t items, uint32_t bits);

/* Shows on the terminal what is measured now. */
void gpume_bench_show(const struct gpume_bench_places *places, const char *work,
    const struct gpume_bench_method *method, uint64_t items);

/* Would a work `times` as large take too long? */
bool gpume_bench_too_slow(const struct gpume_bench_places *places, double us, double times);

/* The two kinds of work: measure, compare the results, and add rows. Failures are logged. */
int gpume_bench_sorts(struct gpume_bench_places *places);
int gpume_bench_reductions(struct gpume_bench_places *places);

#endif
