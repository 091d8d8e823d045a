/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists what to measure on this machine: FFmpeg's mestimate; every search of the CPU engine on one
 * thread and on all, and every variant on every Vulkan device, each with and without elimination,
 * as far as --backend, --device and --search select them; and the devices of a list together.
 */
#ifndef GPUME_CLI_BENCH_SETUPS_H
#define GPUME_CLI_BENCH_SETUPS_H

#include "bench/bench.h"
#include "bench/rows.h"
#include "bench/timing.h"

#define GPUME_BENCH_SETUPS_MAX 64u

struct gpume_bench_one {
    const char *engine;         /* "cpu", "vulkan", "ffmpeg", "several" */
    struct gpume_params params; /* of the work, with engine, search, threads and elimination */
    gpume_bench_once_fn once;
    gpume_bench_measure_fn measure;
    struct gpume_bench_setup setup;
    double ceiling; /* differences per second; 0: unknown */
};

struct gpume_bench_setups {
    struct gpume_bench_one ones[GPUME_BENCH_SETUPS_MAX];
    uint32_t count;
    /* The CPU engine's fastest search without elimination, on all threads: it supplies the expected
     * results. */
    struct gpume_params reference;
};

/* work: size, depth and search parameters. Adds notes about setups that are not measured. Failures
 * are reported in one line. */
enum gpume_exit gpume_bench_setups_find(struct gpume_bench_setups *setups,
    const struct gpume_bench_options *options, const struct gpume_params *work,
    struct gpume_bench *bench);

#endif
