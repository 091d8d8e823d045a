/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What there is to measure on this machine: every search of the CPU engine on one thread and on
 * all, every variant of every Vulkan device, each with and without elimination; less what
 * --backend,
 * --device and --search leave out.
 */
#ifndef GPUME_CLI_BENCH_SETUPS_H
#define GPUME_CLI_BENCH_SETUPS_H

#include "bench/bench.h"
#include "bench/rows.h"
#include "bench/timing.h"

#define GPUME_BENCH_SETUPS_MAX 64u

struct gpume_bench_one {
    struct gpume_params params; /* the work's, with engine, search, threads and elimination */
    struct gpume_bench_setup setup;
    double ceiling; /* differences per second; 0: not known */
};

struct gpume_bench_setups {
    struct gpume_bench_one ones[GPUME_BENCH_SETUPS_MAX];
    uint32_t count;
    /* The fastest search of the CPU engine, every candidate compared, on all threads: what all are
     * held against. */
    struct gpume_params reference;
};

/* work: size, depth and search of the fields. Notes what is left out. One line on failure. */
enum gpume_exit gpume_bench_setups_find(struct gpume_bench_setups *setups,
    const struct gpume_bench_options *options, const struct gpume_params *work,
    struct gpume_bench *bench);

/* A line among the notes; further ones than there is room for are dropped. */
void gpume_bench_note(struct gpume_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
